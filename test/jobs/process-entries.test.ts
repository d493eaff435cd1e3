import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { migrateQueues } from '../../jobs/queues/queue-schema.ts';
import { queryRow } from '../../runtime/postgres.ts';
import { withMigrationLock } from '../../sql/migrate.ts';
import { createTestDatabase } from '../support/database.ts';
import { backends, openBackend, until, type TestBackend } from './backends.ts';

const entry = (name: string) => fileURLToPath(new URL(`../../dist/jobs/${name}-main.js`, import.meta.url));

let children: ChildProcess[] = [];
function start(name: 'worker' | 'scheduler', env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, [entry(name)], {
    env: { ...process.env, LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  children.push(child);
  return child;
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.exitCode;
}

/** A scrape of the process that has written its address to the state directory. */
async function metricsOf(stateDir: string, process: string): Promise<string> {
  const name = (await readdir(join(stateDir, 'metrics'))).find((file) => file.startsWith(process))!;
  const [target] = JSON.parse(await readFile(join(stateDir, 'metrics', name), 'utf8')) as { targets: string[] }[];
  return (await fetch(`http://${target!.targets[0]}/metrics`)).text();
}

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
});

describe.each(backends)('worker and scheduler with queues in $kind', ({ kind, skipped }) => {
  describe.skipIf(skipped !== undefined)(skipped ?? 'as processes', () => {
    let directory: string;
    let backend: TestBackend;
    let env: Record<string, string>;

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'caller-trust-entries-'));
      backend = await openBackend(kind, {
        STATE_DIR: directory,
        DROP_SETTLE_SECONDS: '0',
        RECONCILE_SECONDS: '1',
        SHUTDOWN_GRACE_SECONDS: '2',
        JOB_LOCK_SECONDS: '15', // a first job loads its modules, which beside other work takes longer than the lock of other tests
        METRICS_PORT: '0',
      });
      env = backend.env;
    });
    afterAll(async () => {
      await backend.close();
      await rm(directory, { recursive: true });
    });

    it('make the missed night, load a dropped file, and end well when asked to', async () => {
      const drop = join(directory, 'drop');
      await mkdir(join(drop, 'directory'), { recursive: true });
      await writeFile(join(drop, 'directory', 'names.csv'), 'phone,display_name\n+12025550123,Example\n');
      const processes = [start('worker', env), start('scheduler', env)];
      await until(
        () => readdir(join(drop, 'done')).catch(() => []),
        (names) => names.length === 2,
      );
      await until(
        () => queryRow<{ state: string }>(backend.database.db, 'SELECT state FROM night_run'),
        (night) => night?.state === 'finished',
      );
      // A job is counted after what it has done; and a busy machine leaves out parts whose statement takes too long.
      const hasAll =
        (...parts: RegExp[]) =>
        (text: string) =>
          parts.every((part) => part.test(text));
      await until(
        () => metricsOf(directory, 'worker'),
        hasAll(
          /job_name="open-night",outcome="done"\} 1/,
          /caller_trust_job_seconds_count\{queue="feeds",job_name="load-feed"\} 1/,
        ),
      );
      await until(
        () => metricsOf(directory, 'scheduler'),
        hasAll(
          /caller_trust_night_outcome\{outcome="ok"\} 1/,
          /caller_trust_queue_workers\{queue="nights"\} 1/,
          /caller_trust_feed_rows\{feed="directory",source=""\} 1/,
          /caller_trust_scheduler_work_timestamp_seconds\{work="drop_folder"\} \d+/,
        ),
      );
      for (const child of processes) child.kill('SIGTERM');
      expect(await Promise.all(processes.map(exitOf))).toEqual([0, 0]);
      expect(await readdir(join(directory, 'metrics'))).toEqual([]);
    });

    it('end when the process is gone that started them', async () => {
      const processes = [start('worker', env), start('scheduler', env)];
      await until(
        async () =>
          (await queryRow<{ count: number }>(
            backend.database.db,
            `SELECT count(DISTINCT application_name) FROM pg_stat_activity WHERE datname = current_database() AND application_name ~ '^caller-trust (worker|scheduler) #'`,
          ))!.count,
        (count) => count === 2,
      );
      for (const child of processes) child.disconnect();
      expect(await Promise.all(processes.map(exitOf))).toEqual([0, 0]);
    });
  });
});

it('the privileges of the queues are granted while another process grants them', async () => {
  const { db, url, drop } = await createTestDatabase();
  const make = () => migrateQueues(url, { redisUrl: undefined });
  await make();
  const other = await db.connect();
  const { made } = await withMigrationLock(other, async () => {
    await other.query('BEGIN; GRANT USAGE ON SCHEMA caller_trust_queue TO caller_trust_submitter WITH GRANT OPTION');
    const made = Promise.allSettled([make()]);
    await until(
      () =>
        queryRow(
          db,
          "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        ),
      (waiting) => waiting !== undefined,
    );
    await other.query('COMMIT');
    return { made };
  });
  other.release();
  expect(await made).toEqual([{ status: 'fulfilled', value: undefined }]);
  await drop();
});

describe('a worker', () => {
  it('does not start on a database without the schema, and says what to run', async () => {
    const database = await createTestDatabase();
    await database.db.query('DROP TABLE schema_migration');
    const worker = start('worker', { DATABASE_URL: database.url });
    const words = (await worker.stderr!.toArray()).join('');
    expect(await exitOf(worker)).toBe(69);
    expect(words).toContain('caller-trust migrate');
    expect(words.trim().split('\n')).toHaveLength(1);
    await database.drop();
  });
});
