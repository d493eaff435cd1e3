import { createHash } from 'node:crypto';
import { mkdtemp, readFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { openQueues, type Queues } from '../../jobs/queues/backend.ts';
import { enqueueNight } from '../../jobs/queues/enqueue.ts';
import { createKey } from '../../pipelines/access/keys.ts';
import { loadKeySecret } from '../../pipelines/access/key-secret.ts';
import { readNight, type NightReport } from '../../pipelines/caches/night/night-report.ts';
import { everything, requestNight } from '../../pipelines/caches/night/night-request.ts';
import { checkVersion, listVersions } from '../../pipelines/caches/store/artefact-check.ts';
import { ArtefactDirectory } from '../../pipelines/caches/store/artefact-directory.ts';
import { loadConfig } from '../../runtime/config.ts';
import { acquireEmbeddedDatabase, removeStateDirectory } from '../../runtime/embedded-postgres.ts';
import { connect, createPool, type Pool } from '../../runtime/postgres.ts';
import { Seeded } from '../../runtime/seeded.ts';
import { migrate } from '../../sql/migrate.ts';
import { silentLog } from '../support/night.ts';
import { manyNumbers, putNumbers } from '../support/numbers.ts';
import { startRedis, whyNoRedis, type TestRedis } from '../support/redis.ts';
import { isLongRun, seed, sizes } from '../support/run-size.ts';
import { killProcessesAfterEach, startProcess, until, type ServiceProcess } from '../support/service-process.ts';

vi.setConfig({ testTimeout: 180_000 + Math.max(sizes.kills, sizes.redisKills) * 120_000, hookTimeout: 120_000 });

/** The usual run has short times, so that it ends soon; the long one those of a service without settings. */
const times: Record<string, string> = isLongRun ? {} : { JOB_LOCK_SECONDS: '2', RECONCILE_SECONDS: '2' };

const { versionsKept } = loadConfig({});

/** A night is finished this many seconds after the kill. */
const secondsMax = 60;

const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-random-kills-'));
let embedded = await acquireEmbeddedDatabase(stateDir);
const { url } = embedded;
const artefactDir = join(stateDir, 'artefacts');
const store = new ArtefactDirectory(artefactDir);
const db: Pool = createPool({ url, applicationName: 'test', connectionsMax: 5, onIdleError: () => {} });
const client = await connect({ url, applicationName: 'test' });
await migrate(client);
await client.end();
await putNumbers(db, manyNumbers(20_000));
await putNumbers(db, [{ phone: '+4930123456', country: 'DE', level: 'SPAM', category: 6 }]);
killProcessesAfterEach();
afterAll(async () => {
  await db.end();
  await embedded.release();
  await removeStateDirectory(stateDir);
});

type Name = 'worker' | 'scheduler' | 'api';
const programs: Readonly<Record<Name, string>> = {
  worker: 'jobs/worker-main.js',
  scheduler: 'jobs/scheduler-main.js',
  api: 'api/main.js',
};

function start(name: Name, settings: Record<string, string>): ServiceProcess {
  return startProcess(programs[name], {
    ...settings,
    DATABASE_URL: url,
    STATE_DIR: stateDir,
    NIGHT_CATCH_UP_HOURS: '0',
    API_PORT: '0',
    METRICS_PORT: '0',
    ...times,
  });
}

/** Repeats work that the restart of the database cuts off. */
async function persistent<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (tries === 300) throw error;
      await sleep(100);
    }
  }
}

/** Processes of the service that are started again as soon as they have ended, as by an init system. */
class Service {
  readonly #running = new Map<Name, ServiceProcess>();
  readonly #settings: Record<string, string>;
  #ended = false;

  constructor(settings: Record<string, string>) {
    this.#settings = settings;
    for (const name of Object.keys(programs) as Name[]) this.#keep(name);
  }

  kill(name: Name): void {
    this.#running.get(name)?.signal('SIGKILL');
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all([...this.#running.values()].map((each) => each.end('SIGKILL')));
  }

  #keep(name: Name): void {
    const process = start(name, this.#settings);
    this.#running.set(name, process);
    void process.ended.then(() => {
      if (!this.#ended) this.#keep(name);
    });
  }
}

/** Reads a cache through the API all the time, and compares the bytes with the ETag. */
class Reader {
  reads = 0;
  mismatched = 0;
  #ended = false;
  readonly #done: Promise<void>;

  constructor(key: string) {
    this.#done = this.#read({ authorization: `Bearer ${key}` });
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#done;
  }

  async #read(headers: Record<string, string>): Promise<void> {
    while (!this.#ended) {
      await sleep(100);
      try {
        const { url: api } = JSON.parse(await readFile(join(stateDir, 'api.json'), 'utf8')) as { url: string };
        const answer = await fetch(`${api}/v1/caches/phones?country=US`, { headers });
        if (answer.status !== 200) continue;
        const digest = createHash('sha256')
          .update(Buffer.from(await answer.arrayBuffer()))
          .digest('hex');
        this.reads++;
        if (answer.headers.get('etag') !== `"${digest}"`) this.mismatched++;
      } catch {
        // the API was killed
      }
    }
  }
}

const choose = new Seeded(seed);

/** Changes some numbers, spread over the table. */
async function changeNumbers(turn: number): Promise<void> {
  const from = choose.below(20_000);
  await persistent(() =>
    putNumbers(
      db,
      manyNumbers(200, 12_025_550_000 + from).map((number) => ({ ...number, name: `Name ${turn}` })),
    ),
  );
}

async function requestOne(queues: Queues): Promise<number> {
  return persistent(async () => {
    const runId = await requestNight(db, {
      nightDate: '2026-01-02',
      trigger: 'operator',
      scope: everything,
      acceptShrink: false,
      fullBuild: choose.chance(0.2),
      evaluatedAt: null,
      requestedBy: 'test',
    });
    await enqueueNight(queues, { runId: runId! }).catch(() => {}); // the scheduler adds it
    return runId!;
  });
}

function finished(runId: number): Promise<NightReport> {
  return until(
    async () => {
      const night = await readNight(db, { runId }).catch(() => undefined);
      return night?.state === 'finished' ? night.report : undefined;
    },
    `night ${runId} is finished`,
    isLongRun ? 600 : 120,
  );
}

type Target = Name | 'backend' | 'postmaster' | 'redis' | 'emptied redis';
const targets: readonly Target[] = [
  'worker',
  'worker',
  'worker',
  'backend',
  'backend',
  'postmaster',
  'scheduler',
  'api',
];

interface Killing {
  readonly service: Service;
  readonly redis: TestRedis | undefined;
}

async function killOne(target: Target, { service, redis }: Killing): Promise<void> {
  switch (target) {
    case 'backend': {
      const { rows } = await db.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'caller-trust%' AND application_name NOT LIKE 'caller-trust api%'",
      );
      if (rows.length > 0) process.kill(choose.pick(rows).pid, 'SIGKILL');
      break;
    }
    case 'postmaster': {
      const [pid] = (await readFile(join(embedded.home, 'data', 'postmaster.pid'), 'utf8')).split('\n');
      process.kill(Number(pid), 'SIGKILL');
      const before = embedded;
      embedded = await acquireEmbeddedDatabase(stateDir);
      await before.release();
      break;
    }
    case 'redis':
      await redis!.kill();
      await redis!.start();
      break;
    case 'emptied redis': {
      const connection = new Redis(redis!.url);
      await connection.flushall();
      connection.disconnect();
      break;
    }
    default:
      service.kill(target);
  }
}

/** What is wrong after a night. */
async function findWrong(report: NightReport): Promise<string[]> {
  const wrong = report.outcome === 'ok' ? [] : [`the night is ${report.outcome}: ${JSON.stringify(report.artefacts)}`];
  for (const version of (await persistent(() => listVersions(db))).filter(({ current }) => current)) {
    const { verdict, detail } = await checkVersion(store, version);
    const name = `${version.cache}/${version.country} v${version.version}`;
    if (verdict !== 'ok') wrong.push(`${name} ${verdict} ${detail}`);
    const published = report.artefacts.some(
      ({ cache, country, outcome }) =>
        cache === version.cache && country === version.country && outcome === 'published',
    );
    const expected = Array.from(
      { length: Math.min(version.version - 1, versionsKept) },
      (_none, at) => version.version - 1 - at,
    );
    const from = version.deltas.map((delta) => delta.from);
    if (published && from.join() !== expected.join())
      wrong.push(`${name} has deltas from ${from.join()}, not ${expected.join()}`);
  }
  return wrong;
}

async function runKills(redis: TestRedis | undefined, among: readonly Target[], count: number): Promise<void> {
  const settings: Record<string, string> = redis === undefined ? {} : { REDIS_URL: redis.url };
  const { key } = await createKey(db, {
    client: `reader of ${redis === undefined ? 'PostgreSQL' : 'Redis'}`,
    scopes: ['caches:read'],
    secret: await loadKeySecret({ stateDir }),
  });
  const queues = await openQueues(loadConfig(settings), url, silentLog);
  const service = new Service(settings);
  const reader = new Reader(key);
  await finished(await requestOne(queues));

  const wrong: string[] = [];
  const seconds: number[] = [];
  let [nightMs, kills] = [0, 0];
  for (let turn = 1; kills < count; turn++) {
    await changeNumbers(turn);
    const startedAt = performance.now();
    const runId = await requestOne(queues);
    const target = nightMs === 0 || turn % 10 === 0 ? undefined : choose.pick(among); // some nights show how long one takes
    if (target !== undefined) {
      await sleep(choose.next() * nightMs);
      await persistent(() => killOne(target, { service, redis }));
      kills++;
    }
    const killedAt = performance.now();
    const report = await finished(runId);
    const took = (performance.now() - killedAt) / 1000;
    if (target === undefined) nightMs = performance.now() - startedAt;
    else seconds.push(took);
    const found = [...(await findWrong(report)), ...(took > secondsMax ? [`finished after ${took.toFixed(0)} s`] : [])];
    wrong.push(...found.map((text) => `turn ${turn}, ${target ?? 'no kill'}: ${text}`));
    if (isLongRun && target !== undefined && kills % 20 === 0) console.log(`${kills} kills`, wrong);
  }
  await reader.end();
  await service.end();
  await queues.close();
  seconds.sort((a, b) => a - b);
  console.log(
    `kills ${kills}, reads ${reader.reads}, mismatched ${reader.mismatched}; finished after ${seconds[seconds.length >> 1]!.toFixed(1)} s (median), ${seconds.at(-1)!.toFixed(1)} s (most)`,
  );
  expect(wrong).toEqual([]);
  expect(reader.mismatched).toBe(0);
  expect(reader.reads).toBeGreaterThan(0);
  expect((await readdir(join(artefactDir, 'unfinished'))).length).toBeLessThanOrEqual(20); // swept by the next publication
}

describe('kills at random moments of nights tear nothing and lose nothing', () => {
  it(`with the queues in PostgreSQL: ${sizes.kills} of worker, scheduler, API, backend, postmaster`, async () => {
    await runKills(undefined, targets, sizes.kills);
  });

  const noRedis = whyNoRedis();
  it.skipIf(noRedis !== undefined)(
    `with the queues in Redis: ${sizes.redisKills} of worker and of Redis, which also loses everything (skipped without redis-server)`,
    async () => {
      const redis = await startRedis();
      try {
        await runKills(redis, ['worker', 'redis', 'redis', 'emptied redis'], sizes.redisKills);
      } finally {
        await redis.stop();
      }
    },
  );
});
