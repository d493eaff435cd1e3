import { mkdtemp, readFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { openQueues } from '../../jobs/queues/backend.ts';
import { createKey } from '../../pipelines/access/keys.ts';
import { loadKeySecret } from '../../pipelines/access/key-secret.ts';
import type { NightReport } from '../../pipelines/caches/night/night-report.ts';
import { ArtefactDirectory } from '../../pipelines/caches/store/artefact-directory.ts';
import { loadConfig } from '../../runtime/config.ts';
import { acquireEmbeddedDatabase, removeStateDirectory } from '../../runtime/services/embedded-postgres.ts';
import { connect, createPool, type Pool } from '../../runtime/postgres.ts';
import { Seeded } from '../../runtime/seeded.ts';
import { migrate } from '../../sql/migrate.ts';
import { silentLog } from '../support/night.ts';
import { manyNumbers, putNumbers } from '../support/numbers.ts';
import { startRedis, whyNoRedis, type TestRedis } from '../support/redis.ts';
import { type Figures, inPortions, sizes } from '../support/run-size.ts';
import { killProcessesAfterEach, startProcess, type ServiceProcess } from '../support/service-process.ts';
import { CacheReader, checkPublished, finish, persistent, WorkMaker } from '../support/service-work.ts';

const portions = { postgres: { size: sizes.kills, portion: 100 }, redis: { size: sizes.redisKills, portion: 50 } };

vi.setConfig({ testTimeout: 300_000 + Math.max(sizes.kills, sizes.redisKills) * 30_000 });

/** Short, so that many kills fit into an hour. */
const times: Record<string, string> = { JOB_LOCK_SECONDS: '2', RECONCILE_SECONDS: '2' };

const { versionsKept } = loadConfig({});

/** All work is finished this many seconds after the last kill. */
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

type Name = 'worker' | 'scheduler' | 'api' | 'console';
const programs: Readonly<Record<Name, string>> = {
  worker: 'jobs/worker-main.js',
  scheduler: 'jobs/scheduler-main.js',
  api: 'api/main.js',
  console: 'console/main.js',
};

function start(name: Name, settings: Record<string, string>): ServiceProcess {
  return startProcess(programs[name], {
    ...settings,
    DATABASE_URL: url,
    STATE_DIR: stateDir,
    NIGHT_SCHEDULE: '0 0 29 2 *', // no night but those that are asked for
    API_PORT: '0',
    CONSOLE_PORT: '0',
    METRICS_PORT: '0',
    ...times,
  });
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
  'console',
];

interface Killing {
  readonly service: Service;
  readonly redis: TestRedis | undefined;
  readonly choose: Seeded;
}

async function killOne(target: Target, { service, redis, choose }: Killing): Promise<void> {
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

/** Attempts at a build that a kill may end before the build is set aside until the next night. */
const triesMax = 3;

/** What is wrong after a night. */
async function checkNight(report: NightReport): Promise<string[]> {
  if (report.outcome !== 'ok') return [`is ${report.outcome}: ${JSON.stringify(report.artefacts)}`];
  return checkPublished({ db, store, versionsKept }, report);
}

/** True if a night lacks builds for no other reason than that each was killed as often as it may be. */
function hasSetAside({ artefacts }: NightReport): boolean {
  const failures = artefacts.flatMap(({ failure }) => (failure === null ? [] : [failure.code]));
  return failures.length > 0 && failures.every((code) => code === 'build_lost');
}

async function runKills(
  redis: TestRedis | undefined,
  { among, size, seed: portionSeed }: { among: readonly Target[]; size: number; seed: number },
): Promise<Figures> {
  const settings: Record<string, string> = redis === undefined ? {} : { REDIS_URL: redis.url };
  const { key } = await createKey(db, {
    client: `reader of ${redis === undefined ? 'PostgreSQL' : 'Redis'} ${portionSeed}`,
    scopes: ['caches:read'],
    secret: await loadKeySecret({ stateDir }),
  });
  const queues = await openQueues(loadConfig(settings), url, silentLog);
  const service = new Service(settings);
  const reader = new CacheReader(stateDir, key);
  const choose = new Seeded(portionSeed);
  let killed: Target[] = [];
  let nightsWithout = 0;
  const maker = new WorkMaker({
    db,
    stateDir,
    scratch: stateDir,
    queues,
    choose,
    checkNight: async (report) => {
      if (report.outcome !== 'partial' || killed.length < triesMax || !hasSetAside(report)) return checkNight(report);
      nightsWithout++; // the night of the next turn must have it
      return [];
    },
  });
  const wrong: string[] = [];
  const seconds: number[] = [];
  let [turnMs, kills, turns] = [0, 0, 0];
  try {
    wrong.push(...(await finish(await maker.make())));
    while (kills < size) {
      const work = await maker.make();
      const startedAt = performance.now();
      killed = [];
      if (turns++ % 25 === 0) {
        wrong.push(...(await finish(work))); // shows how long a turn takes
        turnMs = performance.now() - startedAt;
        continue;
      }
      for (let left = Math.min(size - kills, choose.whole(1, 4)); left > 0; left--) {
        await sleep(choose.next() * (killed.length === 0 ? turnMs : 2000));
        const target = choose.pick(among);
        await persistent(() => killOne(target, { service, redis, choose }));
        killed.push(target);
      }
      kills += killed.length;
      const killedAt = performance.now();
      const found = await finish(work);
      const took = (performance.now() - killedAt) / 1000;
      seconds.push(took);
      if (took > secondsMax) found.push(`finished after ${took.toFixed(0)} s`);
      wrong.push(...found.map((text) => `turn ${turns}, ${killed.join()}: ${text}`));
      if (found.length > 0) console.log(wrong);
    }
  } finally {
    await reader.end();
    await service.end();
    await queues.close();
  }
  expect(wrong).toEqual([]);
  expect(reader.mismatched).toBe(0);
  expect(reader.reads).toBeGreaterThan(0);
  expect((await readdir(join(artefactDir, 'unfinished'))).length).toBeLessThanOrEqual(20); // swept by the next publication
  const figures = { kills, turns, nightsWithout, reads: reader.reads, seconds };
  console.log(
    `seed ${portionSeed}: ${kills} kills in ${turns} turns, ${Math.max(...seconds).toFixed(1)} s at most, ${nightsWithout} nights without a build that was killed ${triesMax} times`,
  );
  return figures;
}

describe('kills at random moments of nights, feeds, batches and requests tear nothing and lose nothing', () => {
  it(`with the queues in PostgreSQL: ${sizes.kills} of every process, of backends and of the postmaster`, () =>
    inPortions('kills', portions.postgres, (part) => runKills(undefined, { among: targets, ...part })));

  const noRedis = whyNoRedis();
  it.skipIf(noRedis !== undefined)(
    `with the queues in Redis: ${sizes.redisKills} of worker, PostgreSQL and Redis, which also loses everything (skipped without redis-server)`,
    async () => {
      const redis = await startRedis();
      try {
        await inPortions('kills with Redis', portions.redis, (part) =>
          runKills(redis, {
            among: ['worker', 'backend', 'postmaster', 'redis', 'redis', 'redis', 'emptied redis'],
            ...part,
          }),
        );
      } finally {
        await redis.stop();
      }
    },
  );
});
