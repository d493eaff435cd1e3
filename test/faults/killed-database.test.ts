import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openQueues, type Queues } from '../../jobs/queues/backend.ts';
import { enqueueJob } from '../../jobs/queues/enqueue.ts';
import { everything, requestNight } from '../../pipelines/caches/night/night-request.ts';
import { readNight } from '../../pipelines/caches/night/night-report.ts';
import { loadConfig } from '../../runtime/config.ts';
import { connect, createPool, type Pool } from '../../runtime/postgres.ts';
import { acquireEmbeddedDatabase, removeStateDirectory } from '../../runtime/services/embedded-postgres.ts';
import { migrate } from '../../sql/migrate.ts';
import { silentLog } from '../support/night.ts';
import { putNumbers } from '../support/numbers.ts';
import { startRedis, whyNoRedis, type TestRedis } from '../support/redis.ts';
import { killProcessesAfterEach, startProcess, until } from '../support/service-process.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });
killProcessesAfterEach();

const noRedis = whyNoRedis();
const countries = ['US', 'CA', 'GB', 'FR', 'ES', 'AU', 'JP', 'IN', 'BR', 'MX', 'ZA', 'IT'];

describe.skipIf(noRedis !== undefined)(
  'a PostgreSQL that is killed in a night, with the queues in Redis (skipped without redis-server)',
  () => {
    let stateDir: string;
    let redis: TestRedis;
    let embedded: Awaited<ReturnType<typeof acquireEmbeddedDatabase>>;
    let db: Pool;
    let queues: Queues;

    beforeAll(async () => {
      stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-killed-database-'));
      [redis, embedded] = [await startRedis(), await acquireEmbeddedDatabase(stateDir)];
      db = createPool({ url: embedded.url, applicationName: 'test', connectionsMax: 3, onIdleError: () => {} });
      const client = await connect({ url: embedded.url, applicationName: 'test' });
      await migrate(client);
      await client.end();
      queues = await openQueues(loadConfig({ REDIS_URL: redis.url }), embedded.url, silentLog);
      await putNumbers(db, countries.flatMap(numbersOf));
      await db.query('ANALYZE');
    });
    afterAll(async () => {
      await queues.close();
      await db.end();
      await redis.stop();
      await embedded.release();
      await removeStateDirectory(stateDir);
    });
    beforeEach(() => {
      const env = { DATABASE_URL: embedded.url, REDIS_URL: redis.url, STATE_DIR: stateDir };
      startProcess('jobs/worker-main.js', env);
      startProcess('jobs/scheduler-main.js', { ...env, NIGHT_SCHEDULE: '0 0 29 2 *' });
    });

    async function killPostmaster(awaySeconds: number): Promise<void> {
      const [pid] = (await readFile(join(embedded.home, 'data', 'postmaster.pid'), 'utf8')).split('\n');
      process.kill(Number(pid), 'SIGKILL');
      await sleep(awaySeconds * 1000);
      const before = embedded;
      embedded = await acquireEmbeddedDatabase(stateDir);
      await before.release();
    }

    // How long it is away decides what it meets: attempts that are over before it is back, or those that wait for it.
    it.each([0, 0.5, 1, 2])('and is away for %d s costs the night nothing', async (awaySeconds) => {
      const runId = await requestNight(db, {
        nightDate: '2026-01-02',
        trigger: 'operator',
        scope: everything,
        acceptShrink: false,
        evaluatedAt: null,
        requestedBy: 'test',
      });
      await enqueueJob(queues, 'open-night', { runId: runId! });
      await until(async () => {
        const { rows } = await db.query("SELECT FROM build WHERE run_id = $1 AND state = 'running'", [runId]);
        return rows.length > 0;
      }, 'a build is under way');
      await killPostmaster(awaySeconds);
      const report = await until(async () => {
        const night = await readNight(db, { runId: runId! }).catch(() => undefined);
        return night?.state === 'finished' ? night.report : undefined;
      }, 'the night is finished');
      expect(report!.artefacts.flatMap(({ failure }) => failure ?? [])).toEqual([]);
      expect(report!.outcome).toBe('ok');
    });
  },
);

function numbersOf(country: string, at: number): { phone: string; country: string; name: string }[] {
  return Array.from({ length: 2000 }, (_, row) => ({
    phone: `+${10 + at}${String(10_000_000 + row)}`,
    country,
    name: `Shop ${row}`,
  }));
}
