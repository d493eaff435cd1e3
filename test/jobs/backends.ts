import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig, type Config } from '../../runtime/config.ts';
import { connectRedis } from '../../runtime/redis.ts';
import { createLog, type Log } from '../../runtime/log.ts';
import { openQueues, type Queues } from '../../jobs/queues/backend.ts';
import { queueSchema } from '../../jobs/queues/queue-schema.ts';
import type { JobConfig } from '../../jobs/queues/queues.ts';
import { startWorker, type Handlers, type Worker } from '../../jobs/worker.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startRedis, whyNoRedis, type TestRedis } from '../support/redis.ts';

/** One backend under test: a database of its own, and a redis-server of its own where Redis holds the queues. */
export interface TestBackend {
  readonly config: Config;
  readonly env: Record<string, string>;
  readonly database: TestDatabase;
  readonly redis: TestRedis | undefined;
  openQueues(): Promise<Queues>;
  startWorker(handlers: Partial<Handlers>, config?: Partial<JobConfig>): Promise<Worker>;
  close(): Promise<void>;
}

/** The backends, each with the reason why it cannot be tested here. */
export const backends = [
  { kind: 'postgres', skipped: undefined },
  { kind: 'redis', skipped: whyNoRedis() },
] as const;

export const silent: Log = createLog({ level: process.env.TEST_LOG_LEVEL ?? 'silent', process: 'test' });

/** Crashes are noticed in about two seconds. */
const quick = { JOB_LOCK_SECONDS: '1', SHUTDOWN_GRACE_SECONDS: '0' };

export async function openBackend(
  kind: 'postgres' | 'redis',
  settings: Record<string, string> = {},
): Promise<TestBackend> {
  const database = await createTestDatabase();
  const redis = kind === 'redis' ? await startRedis() : undefined;
  const env: Record<string, string> = {
    ...quick,
    DATABASE_URL: database.url,
    ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
    ...settings,
  };
  const config = loadConfig(env);
  return {
    config,
    env,
    database,
    redis,
    openQueues: () => openQueues(config, database.url, silent),
    startWorker: (handlers, changes = {}) =>
      startWorker({ config: { ...config, ...changes }, databaseUrl: database.url, log: silent, handlers }),
    async close() {
      await redis?.stop();
      await database.drop();
    },
  };
}

/** Polls until `read` gives what is wanted. */
export async function until<Value>(
  read: () => Promise<Value> | Value,
  wanted: (value: Value) => boolean,
  seconds = 120,
): Promise<Value> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await read();
    if (wanted(value)) return value;
    if (Date.now() > end) throw new Error(`still ${JSON.stringify(value)} after ${seconds} s`);
    await sleep(25);
  }
}

/** Empties the queues behind the service's back. */
export async function wipe({ redis, database }: TestBackend): Promise<void> {
  if (redis === undefined) {
    await database.db.query(`DELETE FROM ${queueSchema}.job`);
    return;
  }
  const client = await connectRedis({ url: redis.url, name: 'test', commandRetriesMax: 1, onError: () => {} });
  await client.flushall();
  client.disconnect();
}
