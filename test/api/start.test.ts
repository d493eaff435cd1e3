import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, inject, it } from 'vitest';
import { readinessSchema } from '../../api/documents/schemas.ts';
import { startApi } from '../../api/start.ts';
import { childEnvironment, loadConfig } from '../../runtime/config.ts';
import { createLog } from '../../runtime/log.ts';
import { useTestDatabase } from '../support/database.ts';
import { noise, publish, sha256Of } from './support/artefacts.ts';
import { useCuttableRoad } from './support/cuttable-road.ts';
import { openRaw, secret, until, useTestApi } from './support/running-api.ts';
import { createKey } from '../../pipelines/access/keys.ts';
import { ArtefactDirectory } from '../../pipelines/caches/store/artefact-directory.ts';

const database = await useTestDatabase();
const log = createLog({ level: 'silent', process: 'api' });
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-start-'));
afterAll(() => rm(stateDir, { recursive: true, force: true }));
const settings = {
  STATE_DIR: stateDir,
  API_KEY_SECRET: secret,
  API_PORT: '0',
  METRICS_PORT: '0',
  POLL_MS: '50',
  SHUTDOWN_GRACE_SECONDS: '3',
};
const old = await useTestApi(database);
const readyz = async (url: string) => {
  const response = await fetch(`${url}/readyz`);
  return { http: response.status, ...readinessSchema.parse(await response.json()) };
};

it('answers 503 until the database is there, serves from memory when it goes away, and finds it again', async () => {
  const road = await useCuttableRoad(database.apiUrl);
  road.cut();
  const config = loadConfig({ ...settings, API_DATABASE_URL: road.url });
  const store = new ArtefactDirectory(config.artefactDir);
  const { key } = await createKey(database.db, { client: 'Away', scopes: ['caches:read'], secret });
  const headers = { authorization: `Bearer ${key}` };
  const api = await startApi(config, { log });
  try {
    const early = await fetch(`${api.url}/v1/caches`, { headers });
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '5']);
    expect(await early.json()).toMatchObject({ code: 'not_ready' });
    expect(await readyz(api.url)).toMatchObject({
      http: 503,
      status: 'not_ready',
      database: { reachable: false, problem: 'unreachable', lastReadAt: null },
    });
    expect((await fetch(`${api.url}/healthz`)).status).toBe(200);

    const published = await publish(database.db, store, { cache: 'phones', country: 'US' });
    await road.restore();
    await until(async () => (await readyz(api.url)).status === 'ready');
    const path = `${api.url}/v1/caches/phones?country=US`;
    expect((await fetch(path, { headers })).status).toBe(200);

    road.cut();
    await until(async () => !(await readyz(api.url)).database.reachable);
    expect(await readyz(api.url)).toMatchObject({
      http: 200,
      status: 'degraded',
      publications: { known: true, served: 1 },
    });
    const served = await fetch(path, { headers });
    expect(sha256Of(Buffer.from(await served.arrayBuffer()))).toBe(published.sha256);
    expect((await fetch(path, { headers: { ...headers, 'if-none-match': `"${published.sha256}"` } })).status).toBe(304);
    expect((await fetch(`${api.url}/v1/caches`)).status).toBe(401);

    const next = await publish(database.db, store, { cache: 'phones', country: 'US' });
    await road.restore();
    await until(
      async () => (await fetch(path, { method: 'HEAD', headers })).headers.get('etag') === `"${next.sha256}"`,
    );
    await until(async () => (await readyz(api.url)).status === 'ready');
  } finally {
    await api.close();
  }
});

it.each([
  ['the owner of the tables', () => database.url],
  ['a superuser', () => inject('databaseUrl').replace(/[^/]+$/, 'postgres')],
])('refuses the role of %s', async (_name, url) => {
  const api = await startApi(loadConfig({ ...settings, API_DATABASE_URL: url() }), { log });
  try {
    expect(await api.failed).toMatchObject({ code: 'database_role_writes' });
    expect((await readyz(api.url)).http).toBe(503);
  } finally {
    await api.close();
  }
});

it('refuses a role that may only insert into one table', async () => {
  const name = database.url.replace(/.*\//, '');
  await database.db.query(`CREATE ROLE ${name}_clerk LOGIN PASSWORD 'x' IN ROLE caller_trust_reader`);
  await database.db.query(`GRANT INSERT (client) ON api_key TO ${name}_clerk`);
  const url = new URL(database.url);
  url.username = `${name}_clerk`;
  url.password = 'x';
  const api = await startApi(loadConfig({ ...settings, API_DATABASE_URL: url.href }), { log });
  const error = await api.failed;
  await api.close();
  await database.db.query(`DROP OWNED BY ${name}_clerk`);
  await database.db.query(`DROP ROLE ${name}_clerk`);
  expect(error.message).toContain('api_key');
});

it("reads with the owner's DATABASE_URL under the reading role", async () => {
  const api = await startApi(loadConfig({ ...settings, DATABASE_URL: database.url }), { log });
  await until(async () => (await readyz(api.url)).publications.known);
  await api.close();
});

it('waits for the schema', async () => {
  const empty = new URL(database.apiUrl);
  empty.pathname = '/postgres';
  const api = await startApi(loadConfig({ ...settings, API_DATABASE_URL: empty.href }), { log });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect((await readyz(api.url)).status).toBe('not_ready');
  await api.close();
});

it('says that an address is taken', async () => {
  const config = loadConfig({ ...settings, API_DATABASE_URL: database.apiUrl });
  const api = await startApi(config, { log });
  await expect(startApi({ ...config, apiPort: Number(new URL(api.url).port) }, { log })).rejects.toMatchObject({
    code: 'address_unavailable',
  });
  await expect(
    startApi({ ...config, metricsPort: Number(new URL(api.metricsUrl).port) }, { log }),
  ).rejects.toMatchObject({ code: 'address_unavailable' });
  await api.close();
});

it('reports artefacts that are stale or that no night has confirmed for too long', async () => {
  await old.publish({ cache: 'spammer_phones', confirmedAsOf: new Date(Date.now() - 27 * 3_600_000) });
  await old.publish({ cache: 'branded_phones', confirmedAsOf: new Date(Date.now() - 25 * 3_600_000) });
  await database.db.query(
    "UPDATE publication SET status = 'stale', stale_code = 'copy_cut', stale_reason = '/secret/path', stale_since = now() WHERE cache = 'branded_phones'",
  );
  await until(async () => (await readyz(old.url)).stale.length === 1);
  const state = await readyz(old.url);
  expect(state).toMatchObject({
    http: 200,
    status: 'degraded',
    stale: [{ artefact: 'branded_phones', code: 'copy_cut' }],
    old: [{ artefact: 'spammer_phones', ageHours: 27 }],
  });
  expect(JSON.stringify(state)).not.toContain('secret');
});

it('runs as a process: says where it listens, lets a download end on SIGTERM, and exits with 0', async () => {
  const processState = await mkdtemp(join(tmpdir(), 'caller-trust-process-'));
  const config = loadConfig({ ...settings, STATE_DIR: processState });
  const store = new ArtefactDirectory(config.artefactDir);
  const big = await publish(database.db, store, { cache: 'phones', country: 'FR', gzip: noise(24 * 1024 * 1024) });
  const { key } = await createKey(database.db, { client: 'Process', scopes: ['caches:read'], secret });
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../dist/api/main.js')], {
    env: childEnvironment({
      ...settings,
      STATE_DIR: processState,
      API_DATABASE_URL: database.apiUrl,
      SHUTDOWN_GRACE_SECONDS: '60', // the reader below is slow beside other work
      LOG_LEVEL: 'info',
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  try {
    await until(() => errors.includes('"listening"'));
  } catch {
    throw new Error(errors);
  }
  const line = errors
    .split('\n')
    .map((text) => (text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)))
    .find(({ msg }) => msg === 'listening');
  const found = JSON.parse(await readFile(join(processState, 'api.json'), 'utf8')) as {
    url: string;
    metricsUrl: string;
    pid: number;
  };
  expect(found).toMatchObject({ url: line?.['url'], metricsUrl: line?.['metricsUrl'], pid: child.pid });
  expect((await fetch(`${found.metricsUrl}/metrics`)).status).toBe(200);
  await until(async () => (await readyz(found.url)).http === 200);

  const raw = await openRaw(found.url);
  raw.socket.once('data', () => raw.socket.pause());
  raw.send(`GET /v1/caches/phones?country=FR HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  await until(() => raw.received().length > 0);
  const idle = await openRaw(found.url);
  child.kill('SIGTERM');
  await idle.closed();
  await until(async () =>
    fetch(`${found.url}/healthz`).then(
      () => false,
      () => true,
    ),
  );
  raw.socket.resume();
  const received = await raw.closed();
  expect(received.length - received.indexOf('\r\n\r\n') - 4).toBe(big.gzip.length);
  expect(sha256Of(received.subarray(received.indexOf('\r\n\r\n') + 4))).toBe(big.sha256);
  expect(await exited).toBe(0);
  await expect(readFile(join(processState, 'api.json'))).rejects.toThrow('ENOENT');
  await rm(processState, { recursive: true, force: true });
});

it('reports a feed that has stopped coming, and serves on', async () => {
  await database.db
    .query(`INSERT INTO feed_load (feed, source, file_name, file_sha256, file_bytes, submitted_by, state, requested_at, rows_given, rows_accepted, rows_rejected, rows_changed)
    SELECT 'complaints', 'ftc', 'f', repeat('a', 64), 1, 'test', 'done', now() - make_interval(days => day + 40), 10, 10, 0, 10 FROM generate_series(1, 9) AS day ORDER BY day DESC`);
  await until(async () => (await readyz(old.url)).lateFeeds.length === 1);
  expect(await readyz(old.url)).toMatchObject({
    http: 200,
    status: 'degraded',
    lateFeeds: [{ feed: 'complaints', source: 'ftc', expectedHours: 24, ageHours: 984 }],
  });
  await database.db.query('DELETE FROM feed_load');
});
