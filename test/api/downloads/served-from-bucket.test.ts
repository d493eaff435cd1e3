import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { checkVersion, collectGarbage, listVersions } from '../../../pipelines/caches/store/artefact-check.ts';
import { openArtefactStore } from '../../../pipelines/caches/store/open-artefact-store.ts';
import { loadConfig } from '../../../runtime/config.ts';
import { useTestDatabase } from '../../support/database.ts';
import { outcomes, runWholeNight } from '../../support/night.ts';
import { manyNumbers, putNumbers } from '../../support/numbers.ts';
import { useObjectStore, type Fault } from '../../support/object-store.ts';
import { sha256Of } from '../support/artefacts.ts';
import { until, useTestApi } from '../support/running-api.ts';

const database = await useTestDatabase();
const objects = await useObjectStore();
const served = await useTestApi(database, objects.settings);
const redirecting = await useTestApi(database, { ...objects.settings, API_DELIVERY: 'object-store' });
const directory = await mkdtemp(join(tmpdir(), 'caller-trust-copies-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const store = openArtefactStore(loadConfig({ ...objects.settings, ARTEFACT_DIR: directory }));
const path = '/v1/caches/spammer_phones';

beforeEach(() => {
  objects.fault = () => 'pass';
});

await putNumbers(database.db, manyNumbers(2000));

it('a night is published to an object store, and served from there', async () => {
  const report = await runWholeNight({ db: database.db, url: database.url, store });
  expect(new Set(Object.values(outcomes(report)))).toEqual(new Set(['published']));
  await until(async () => (await served.get(path, {}, 'HEAD')).status === 200);
  const whole = await served.get(path);
  const bytes = Buffer.from(await whole.arrayBuffer());
  expect(whole.headers.get('etag')).toBe(`"${sha256Of(bytes)}"`);
  const part = await served.get(path, { range: 'bytes=100-199' });
  expect(part.status).toBe(206);
  expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(100, 200))).toBe(true);
  expect((await served.get(path, { 'if-none-match': `"${sha256Of(bytes)}"` })).status).toBe(304);
  for (const version of await listVersions(database.db))
    expect(await checkVersion(store, version)).toMatchObject({ verdict: 'ok' });
});

it('a client is sent to the object store with an address that is good for a while, where that is set', async () => {
  await until(async () => (await redirecting.get(path, {}, 'HEAD')).status === 200);
  const authorization = { authorization: `Bearer ${redirecting.key}` };
  const sent = await fetch(`${redirecting.url}${path}`, { headers: authorization, redirect: 'manual' });
  expect(sent.status).toBe(307);
  expect(sent.headers.get('cache-control')).toBe('no-store');
  expect(sent.headers.get('location')).toContain('X-Amz-Signature=');
  expect(sent.headers.get('location')).not.toContain(redirecting.key);
  const [direct, followed] = await Promise.all([
    served.get(path),
    fetch(`${redirecting.url}${path}`, { headers: authorization }),
  ]);
  expect(followed.status).toBe(200);
  expect(followed.headers.get('content-type')).toBe('application/gzip');
  expect(followed.headers.get('content-disposition')).toBe(direct.headers.get('content-disposition'));
  expect(Buffer.from(await followed.arrayBuffer()).equals(Buffer.from(await direct.arrayBuffer()))).toBe(true);
  const part = await fetch(`${redirecting.url}${path}`, { headers: { ...authorization, range: 'bytes=3-5' } });
  expect(part.status).toBe(206);
  expect((await part.arrayBuffer()).byteLength).toBe(3);
  expect((await fetch(`${redirecting.url}${path}`, { method: 'HEAD', headers: authorization })).status).toBe(200);
});

it('a download continues where the connection to the object store breaks off', async () => {
  const starts: number[] = [];
  objects.fault = ({ method, url, headers: { range } }) => {
    if (method !== 'GET' || range === undefined || url?.includes('/phones/') !== true) return 'pass';
    const start = Number(/\d+/.exec(range)![0]);
    starts.push(start);
    return start < 1000 ? { cutAfter: 500 } : 'pass';
  };
  const whole = await served.get('/v1/caches/phones?country=US');
  const bytes = Buffer.from(await whole.arrayBuffer());
  expect(`"${sha256Of(bytes)}"`).toBe(whole.headers.get('etag'));
  expect(starts.length).toBeGreaterThanOrEqual(3);
  expect(Math.max(...starts)).toBeGreaterThanOrEqual(1000);
});

it.each<[string, Fault]>([
  ['refuses', { status: 503 }],
  ['is silent', 'silent'],
])('a store that %s is answered with an error in time, before a byte of the file', async (_what, fault) => {
  await until(async () => (await served.get(path, {}, 'HEAD')).status === 200);
  objects.fault = ({ method }) => (method === 'GET' ? fault : 'pass');
  const answer = await served.get(path);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).not.toBeNull();
  expect(await answer.json()).toMatchObject({ code: 'storage_unavailable' });
});

it('a night whose upload fails publishes nothing of it, and the version before is served', async () => {
  const before = (await served.get(path, {}, 'HEAD')).headers.get('etag');
  await database.db.query(
    `UPDATE phone_number SET reputation_level = 'FRAUD', reputation_category = 7 WHERE phone IN (SELECT phone FROM phone_number ORDER BY phone LIMIT 500)`,
  ); // fewer than gates of labels look at
  objects.fault = ({ method, url }) =>
    method === 'PUT' && url?.includes('/spammer_phones/') === true ? { status: 503 } : 'pass';
  const report = await runWholeNight({ db: database.db, url: database.url, store });
  expect(outcomes(report)['spammer_phones']).toBe('failed');
  expect((await served.get(path, {}, 'HEAD')).headers.get('etag')).toBe(before);
  const failure = report.artefacts.find(({ cache }) => cache === 'spammer_phones')?.failure;
  expect(failure?.code).toBe('storage_unavailable');
  expect(JSON.stringify(report)).not.toContain('S3RVER');
});

it('old versions leave the object store', async () => {
  await runWholeNight({ db: database.db, url: database.url, store });
  const { files } = await collectGarbage({ db: database.db, store, versionsKept: 1, dryRun: false });
  expect(files.length).toBeGreaterThan(0);
  const left = (await store.list()).filter(({ cache, kind }) => cache === 'spammer_phones' && kind === 'artefact');
  expect(left).toHaveLength(1);
  for (const version of (await listVersions(database.db)).filter(({ current }) => current))
    expect(await checkVersion(store, version)).toMatchObject({ verdict: 'ok' });
});

it('an unchanged night puts back what the object store has lost', async () => {
  const elsewhere = openArtefactStore(loadConfig({ ...objects.settings, ARTEFACT_DIR: join(directory, 'elsewhere') }));
  const spammers = async () =>
    (await listVersions(database.db)).find(({ cache, current }) => cache === 'spammer_phones' && current)!;
  const { file, index } = await spammers();
  const name = { cache: 'spammer_phones', country: '' };
  await elsewhere.remove({ ...name, sha256: file.sha256 });
  await elsewhere.remove({ ...name, sha256: index.sha256, kind: 'index' });
  expect(await checkVersion(store, await spammers())).toMatchObject({ verdict: 'missing' });
  const report = await runWholeNight({ db: database.db, url: database.url, store, only: 'spammer_phones' });
  expect(report.artefacts.find(({ cache }) => cache === 'spammer_phones')).toMatchObject({ outcome: 'unchanged' });
  expect(await checkVersion(store, await spammers())).toMatchObject({ verdict: 'ok' });
});

it('deltas and indexes are answered 503 while the object store is away, and are there when it is back', async () => {
  const paths = ['/v1/caches/phones/delta?from=1&country=US', '/v1/caches/phones/index?country=US'];
  await until(async () => (await served.get(paths[0]!, {}, 'HEAD')).status === 200);
  objects.fault = () => ({ status: 503 });
  for (const answer of await Promise.all(paths.map((each) => served.get(each)))) {
    expect([
      answer.status,
      ((await answer.json()) as { code: string }).code,
      answer.headers.get('retry-after'),
    ]).toEqual([503, 'not_ready', '5']);
  }
  objects.fault = () => 'pass';
  for (const each of paths) expect((await served.get(each)).status).toBe(200);
});
