import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { openArtefactStore } from '../../pipelines/caches/store/open-artefact-store.ts';
import { loadConfig } from '../../runtime/config.ts';
import { connect, createPool } from '../../runtime/postgres.ts';
import { runCli, runCliJson } from '../support/cli.ts';
import { runWholeNight } from '../support/night.ts';
import { manyNumbers, putNumbers } from '../support/numbers.ts';
import { killProcessesAfterEach, startProcess, until } from '../support/service-process.ts';

const run = promisify(execFile);

/** PostgreSQL of the system: the embedded one has no pg_dump. */
const programs = (existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [])
  .map((version) => `/usr/lib/postgresql/${version}/bin`)
  .find((bin) => ['initdb', 'pg_ctl', 'pg_dump', 'pg_restore'].every((name) => existsSync(join(bin, name))));
if (programs === undefined && process.env['CI_REQUIRE_POSTGRES'] === '1')
  throw new Error('the programs of a PostgreSQL server are missing');

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-restore-'));
const account = process.getuid?.() === 0 ? await accountOf('postgres') : undefined;
if (account !== undefined) await chown(directory, account.uid, account.gid);
const stops: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const stop of stops) await stop();
  await rm(directory, { recursive: true, force: true });
});
killProcessesAfterEach();

async function accountOf(name: string): Promise<{ uid: number; gid: number }> {
  const [{ stdout: uid }, { stdout: gid }] = [await run('id', ['-u', name]), await run('id', ['-g', name])];
  return { uid: Number(uid), gid: Number(gid) };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Cluster {
  /** The URL of a database, for a login. */
  url(login: string): string;
}

/** A fresh cluster with an owner of the database who is no superuser. */
async function startCluster(name: string): Promise<Cluster> {
  const data = join(directory, name);
  const port = await freePort();
  const options = { ...account, cwd: directory, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } };
  await run(
    join(programs!, 'initdb'),
    ['-D', data, '-U', 'postgres', '--auth=trust', '--encoding=UTF8', '--locale=C'],
    options,
  );
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''`;
  await run(join(programs!, 'pg_ctl'), ['-D', data, '-l', `${data}.log`, '-o', settings, '-w', 'start'], options);
  stops.push(() => run(join(programs!, 'pg_ctl'), ['-D', data, '-m', 'immediate', 'stop'], options));
  const url = (login: string) => `postgres://${login}@127.0.0.1:${port}/caller_trust`;
  await query(
    url('postgres').replace(/caller_trust$/, 'postgres'),
    'CREATE ROLE owner LOGIN CREATEROLE',
    'CREATE DATABASE caller_trust OWNER owner',
  );
  return { url };
}

async function query(url: string, ...statements: string[]): Promise<void> {
  const client = await connect({ url, applicationName: 'test' });
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

interface Finding {
  readonly thing: string;
  readonly good: boolean;
  readonly detail: string;
}

async function doctor(env: Record<string, string>): Promise<{ code: number; bad: Record<string, string> }> {
  const { code, stdout } = await runCli(env, 'doctor', '--json');
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return {
    code,
    bad: Object.fromEntries(findings.filter(({ good }) => !good).map(({ thing, detail }) => [thing, detail])),
  };
}

describe.skipIf(programs === undefined)(
  'a database that pg_dump saved (skipped without the programs of a PostgreSQL server)',
  () => {
    it('is restored into a fresh cluster as docs/operations/backup-and-restore.md says, and serves again', async () => {
      // What there was.
      const before = await startCluster('before');
      const stateDir = join(directory, 'state');
      const was = { DATABASE_URL: before.url('owner'), STATE_DIR: stateDir };
      await runCliJson(was, 'migrate');
      const db = createPool({
        url: before.url('owner'),
        applicationName: 'test',
        connectionsMax: 4,
        onIdleError: () => {},
      });
      await putNumbers(db, manyNumbers(200));
      await runWholeNight({ db, url: before.url('owner'), store: openArtefactStore(loadConfig(was)) });
      await db.end();
      const { key } = await runCliJson<{ key: string }>(was, 'keys', 'create', 'acme');
      expect(await doctor(was)).toEqual({ code: 0, bad: {} });

      // pg_dump has no roles: the privileges of the API's role are reported as errors and left out.
      const dump = join(directory, 'dump');
      await run(join(programs!, 'pg_dump'), ['-Fc', '-f', dump, before.url('owner')]);
      const after = await startCluster('after');
      const restoring = run(join(programs!, 'pg_restore'), ['-d', after.url('owner'), dump]);
      await expect(restoring).rejects.toThrow('role "caller_trust_reader" does not exist');

      const now = { ...was, DATABASE_URL: after.url('owner') };
      const api = { ...now, API_PORT: '0', METRICS_PORT: '0', POLL_MS: '100' };
      const served = startProcess('api/main.js', api);
      const url = await until(async () => /"url":"(http:[^"]+)"/.exec(served.log())?.[1], 'the API listens');
      const ready = async () =>
        (await (await fetch(`${url}/readyz`)).json()) as {
          status: string;
          database: { reachable: boolean; problem: string | null };
        };
      expect(
        await until(
          async () => ((await ready()).database.problem === 'role_missing' ? ready() : undefined),
          'the problem',
        ),
      ).toMatchObject({ status: 'not_ready', database: { reachable: true, problem: 'role_missing' } });
      const found = await doctor(now);
      expect(found.code).toBe(69);
      expect(found.bad).toEqual({ reader: expect.stringContaining('Run `caller-trust migrate`') as string });

      // The same API serves, without a restart.
      expect(await runCliJson(now, 'migrate')).toEqual({ applied: [] });
      const headers = { authorization: `Bearer ${key}` };
      const get = (path: string) => fetch(`${url}${path}`, { headers });
      await until(async () => (await get('/v1/caches/phones?country=US')).status === 200, 'the API serves');
      expect((await get('/v1/numbers/+12025550001')).status).toBe(403); // not 503: the key has not this scope
      expect(await doctor(now)).toEqual({ code: 0, bad: {} });
      expect((await ready()).database).toMatchObject({ reachable: true, problem: null });

      // A login of its own has to be made again, and is refused until then.
      const withLogin = { ...now, API_DATABASE_URL: after.url('reading') };
      expect((await doctor(withLogin)).bad).toEqual({
        reader: expect.stringContaining('Make the login of API_DATABASE_URL again') as string,
      });
      await query(after.url('owner'), 'CREATE ROLE reading LOGIN', 'GRANT caller_trust_reader TO reading');
      expect(await doctor(withLogin)).toEqual({ code: 0, bad: {} });

      // A state directory that was forgotten or moved: its files and secret are missed, and no key is made with another secret.
      const elsewhere = join(directory, 'elsewhere');
      const moved = { ...now, STATE_DIR: elsewhere };
      const missed = await doctor(moved);
      expect(missed.code).toBe(69);
      expect(missed.bad).toEqual({
        artefacts: expect.stringMatching(/\d+ of \d+ are not in .*STATE_DIR/) as string,
        keys: expect.stringContaining('no file api-key-secret in STATE_DIR') as string,
      });
      expect(await runCli(moved, 'keys', 'create', 'acme')).toMatchObject({
        code: 69,
        stderr: expect.stringContaining('key_secret_differs') as string,
      });
      expect(existsSync(join(elsewhere, 'api-key-secret'))).toBe(false);
      await mkdir(elsewhere, { recursive: true });
      await writeFile(join(elsewhere, 'api-key-secret'), 'f'.repeat(64));
      expect(await runCli(moved, 'keys', 'create', 'acme')).toMatchObject({
        code: 69,
        stderr: expect.stringContaining('key_secret_differs') as string,
      });
    });
  },
);

describe('the role of the API', () => {
  it.skipIf(programs === undefined)(
    'has no temporary tables, no large objects and no advisory locks (skipped without the programs of a PostgreSQL server)',
    async () => {
      const cluster = await startCluster('privileges');
      const attempts = {
        temporary: 'CREATE TEMPORARY TABLE t ()',
        object: 'SELECT lo_create(0)',
        lock: 'SELECT pg_advisory_lock(1)',
        tryLock: 'SELECT pg_try_advisory_xact_lock(1)',
      };
      const allowed = async (login: string) => {
        const outcomes = await Promise.all(
          Object.entries(attempts).map(async ([name, statement]) =>
            query(cluster.url(login), statement).then(
              () => [name],
              (error: unknown) => ((error as { code?: string }).code === '42501' ? [] : Promise.reject(error as Error)),
            ),
          ),
        );
        return outcomes.flat();
      };
      const migrateAs = async (login: string) =>
        runCliJson({ DATABASE_URL: cluster.url(login), STATE_DIR: join(directory, 'p') }, 'migrate');
      await migrateAs('owner');
      await query(
        cluster.url('postgres'),
        'CREATE ROLE reading LOGIN',
        'GRANT caller_trust_reader TO reading',
        'CREATE ROLE working LOGIN',
        'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO working',
      );
      expect(await allowed('reading')).toEqual(['object', 'lock', 'tryLock']); // only a superuser can take these away
      await migrateAs('postgres');
      expect(await allowed('reading')).toEqual([]);
      for (const writer of ['owner', 'working'])
        expect(await allowed(writer)).toEqual(['temporary', 'lock', 'tryLock']);
      expect(
        await runCli({ DATABASE_URL: cluster.url('owner'), STATE_DIR: join(directory, 'p') }, 'night', 'run'),
      ).toMatchObject({ code: 0 });
    },
  );

  it.skipIf(programs === undefined)(
    'may be granted by two databases of one owner at the same time (skipped without the programs of a PostgreSQL server)',
    async () => {
      const cluster = await startCluster('owners');
      const other = cluster.url('owner').replace(/caller_trust$/, 'other');
      await query(cluster.url('postgres'), 'CREATE DATABASE other OWNER owner');
      const watching = await connect({ url: cluster.url('postgres'), applicationName: 'watching' });
      const roles = ['caller_trust_reader', 'caller_trust_submitter'];
      await query(cluster.url('owner'), ...roles.map((role) => `CREATE ROLE ${role} NOLOGIN`));
      for (const role of roles) {
        await query(cluster.url('owner'), `REVOKE ${role} FROM owner`);
        const first = await connect({ url: cluster.url('owner'), applicationName: 'first' });
        await first.query('BEGIN');
        await first.query(`GRANT ${role} TO owner`);
        const second = runCliJson({ DATABASE_URL: other, STATE_DIR: join(directory, 'o') }, 'migrate');
        await until(async () => {
          const { rows } = await watching.query(
            "SELECT FROM pg_stat_activity WHERE datname = 'other' AND wait_event_type = 'Lock'",
          );
          return rows.length === 1;
        }, 'the second waits for the first');
        await first.query('COMMIT');
        await first.end();
        expect(await second).toMatchObject({ applied: expect.any(Array) as string[] });
      }
      await watching.end();
    },
  );
});
