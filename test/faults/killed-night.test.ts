import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openQueues, type Queues } from '../../jobs/queues/backend.ts';
import { enqueueJob } from '../../jobs/queues/enqueue.ts';
import { reconcile } from '../../jobs/reconcile.ts';
import { checkVersion, listVersions } from '../../pipelines/caches/store/artefact-check.ts';
import { ArtefactDirectory } from '../../pipelines/caches/store/artefact-directory.ts';
import { readNight, type NightReport } from '../../pipelines/caches/night/night-report.ts';
import { everything, requestNight } from '../../pipelines/caches/night/night-request.ts';
import { loadConfig } from '../../runtime/config.ts';
import { acquireEmbeddedDatabase, removeStateDirectory } from '../../runtime/services/embedded-postgres.ts';
import { connect, createPool, isConnectionLoss, type Pool } from '../../runtime/postgres.ts';
import { migrate } from '../../sql/migrate.ts';
import { outcomes, silentLog } from '../support/night.ts';
import { manyNumbers, putNumbers } from '../support/numbers.ts';
import { startPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.ts';
import { killProcessesAfterEach, startProcess, until, type ServiceProcess } from '../support/service-process.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

// A cluster of this file's own: killing a backend with SIGKILL makes the server end every other connection too.
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-kill-'));
const embedded = await acquireEmbeddedDatabase(stateDir);
const artefactDir = join(stateDir, 'artefacts');
const store = new ArtefactDirectory(artefactDir);
const db: Pool = createPool({ url: embedded.url, applicationName: 'test', connectionsMax: 5, onIdleError: () => {} });
const client = await connect({ url: embedded.url, applicationName: 'test' });
await migrate(client);
await client.end();

let queues: Queues;
let proxy: PostgresProxy | undefined;
killProcessesAfterEach();

beforeEach(async () => {
  await db.query('TRUNCATE phone_number, branded_number, publication, artefact_version, build, night_run CASCADE');
  await db.query('DROP SCHEMA IF EXISTS caller_trust_queue CASCADE');
  await rm(artefactDir, { recursive: true, force: true });
  queues = await openQueues(loadConfig({}), embedded.url, silentLog);
  await putNumbers(db, manyNumbers(30_000));
});

afterEach(async () => {
  await queues.close();
  await proxy?.close();
  proxy = undefined;
});

afterAll(async () => {
  await db.end();
  await embedded.release();
  await removeStateDirectory(stateDir);
});

function startWorkerProcess(url: string, settings: Record<string, string> = {}): ServiceProcess {
  return startProcess('jobs/worker-main.js', {
    DATABASE_URL: url,
    STATE_DIR: stateDir,
    JOB_LOCK_SECONDS: '2',
    SHUTDOWN_GRACE_SECONDS: '1',
    ...settings,
  });
}

async function askForNight(): Promise<number> {
  const runId = await requestNight(db, {
    nightDate: '2026-01-02',
    trigger: 'operator',
    scope: everything,
    acceptShrink: false,
    evaluatedAt: null,
    requestedBy: 'test',
  });
  await enqueueJob(queues, 'open-night', { runId: runId! });
  return runId!;
}

/** Waits for the end of a night; the reconciler runs meanwhile, as it does in the scheduler. */
async function finishedReport(runId: number): Promise<NightReport> {
  return until(
    async () => {
      await reconcile({ db, queues, log: silentLog }).catch(() => {}); // while the server recovers
      const night = await readNight(db, { runId }).catch(() => undefined);
      return night?.state === 'finished' ? night.report : undefined;
    },
    'the night is finished',
    150,
  );
}

/** A first night, whose files the readers have; then every number changes, and a second night is stopped mid-COPY. */
async function stopSecondNightMidCopy(
  settings: Record<string, string> = {},
): Promise<{ worker: ServiceProcess; runId: number }> {
  const first = startWorkerProcess(embedded.url);
  expect((await finishedReport(await askForNight())).outcome).toBe('ok');
  await first.end('SIGTERM');
  await db.query("UPDATE phone_number SET display_name = 'Changed' WHERE reputation_level = 'NEUTRAL'");
  proxy = await startPostgresProxy(embedded.url, { at: 'copyData', after: 15_000, then: 'stall' });
  const worker = startWorkerProcess(proxy.url, settings);
  const runId = await askForNight();
  await until(async () => proxy!.interferences() > 0, 'the COPY is under way');
  await until(async () => (await readdir(join(artefactDir, 'unfinished'))).length > 0, 'a file is begun');
  return { worker, runId };
}

/** The readers have one whole version of each artefact: the one given. */
async function expectVersion(version: number): Promise<void> {
  const current = (await listVersions(db)).filter((listed) => listed.current);
  expect(current.find(({ cache }) => cache === 'phones')).toMatchObject({ country: 'US', version, rows: 30_000 });
  for (const listed of current) expect(await checkVersion(store, listed)).toMatchObject({ verdict: 'ok' });
}

describe('a night that is killed in the middle of a COPY', () => {
  it('by kill -9 of the worker leaves the old files, and another worker completes it', async () => {
    const { worker, runId } = await stopSecondNightMidCopy();
    await worker.end('SIGKILL');
    await expectVersion(1);
    startWorkerProcess(embedded.url);
    const report = await finishedReport(runId);
    expect(report).toMatchObject({ outcome: 'ok', counts: { failed: 0 } });
    expect(report.night.generation).toBeGreaterThan(1);
    await expectVersion(2);
    await until(
      async () => (await readdir(join(artefactDir, 'unfinished'))).length === 0,
      'the unfinished files are swept',
    );
  });

  it('by kill -9 of the database backend leaves the old files, and the same worker completes it', async () => {
    const { worker, runId } = await stopSecondNightMidCopy();
    const { rows } = await db.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'caller-trust build phones%'",
    );
    expect(rows).toHaveLength(1);
    process.kill(rows[0]!.pid, 'SIGKILL');
    await proxy!.release(); // the half of the connection that is held up is gone with its backend
    // The server may answer once more before it ends every other connection too.
    const stillTheOldFiles = () =>
      expectVersion(1).then(
        () => true,
        (error: unknown) => {
          if (isConnectionLoss(error)) return false;
          throw error;
        },
      );
    await until(stillTheOldFiles, 'the server has recovered');
    expect(await finishedReport(runId)).toMatchObject({ outcome: 'ok' });
    await expectVersion(2);
    expect(await worker.end('SIGTERM')).toBe(0);
  });

  it('by SIGTERM leaves the old files, ends in time with exit code 0, and the next worker completes it', async () => {
    const { worker, runId } = await stopSecondNightMidCopy();
    expect(await worker.end('SIGTERM')).toBe(0);
    await expectVersion(1);
    expect(await readNight(db, { runId })).toMatchObject({ state: 'running' });
    startWorkerProcess(embedded.url);
    expect(await finishedReport(runId)).toMatchObject({ outcome: 'ok' });
    await expectVersion(2);
  });

  it('by a freeze is taken over, and what the frozen worker does after it thaws is refused', async () => {
    const { worker, runId } = await stopSecondNightMidCopy();
    worker.signal('SIGSTOP');
    startWorkerProcess(embedded.url);
    const report = await finishedReport(runId);
    expect(report.outcome).toBe('ok');
    await expectVersion(2);
    await proxy!.close(); // so that the thawed worker meets a cut stream rather than silence
    worker.signal('SIGCONT');
    await new Promise((resolve) => setTimeout(resolve, 2000));
    expect(await readNight(db, { runId })).toMatchObject({ state: 'finished', generation: report.night.generation });
    await expectVersion(2);
  });
});

describe('a build that ends its worker each time', () => {
  it('is set aside, and the other files of the night are published', async () => {
    await putNumbers(db, [{ phone: '+4930123456', country: 'DE', level: 'SPAM' }]);
    proxy = await startPostgresProxy(embedded.url, { at: 'copyData', after: 15_000, then: 'stall' });
    const runId = await askForNight();
    const othersAreBuilt = async () => {
      const { rows } = await db.query(
        "SELECT FROM build WHERE state IN ('pending', 'running') AND (cache, country) <> ('phones', 'US')",
      );
      return rows.length === 0;
    };
    let crashes = 0;
    let worker = startWorkerProcess(proxy.url);
    const report = await until(
      async () => {
        if (proxy!.interferences() > crashes) {
          await until(othersAreBuilt, 'no other build is under way, to which the death of the worker would count');
          crashes++;
          await worker.end('SIGKILL');
          worker = startWorkerProcess(proxy!.url);
        }
        await reconcile({ db, queues, log: silentLog });
        const night = await readNight(db, { runId });
        return night.state === 'finished' ? night.report : undefined;
      },
      'the night is finished',
      150,
    );
    expect(outcomes(report!)).toMatchObject({ 'phones/US': 'failed', 'phones/DE': 'published' });
    expect(report!.artefacts.find(({ country }) => country === 'US')!.failure).toEqual({
      code: 'build_lost',
      reason: 'The process or its connection ended in 3 attempts at this build.',
    });
    expect(report!.counts).toMatchObject({ failed: 1, published: 4 });
    expect(crashes).toBe(3);
  });
});

describe('a COPY whose backend is terminated', () => {
  it('is tried again from the same snapshot, by the same worker', async () => {
    const { runId } = await stopSecondNightMidCopy();
    await db.query("UPDATE phone_number SET display_name = 'Too late' WHERE phone = '+12025550001'");
    const { rowCount } = await db.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'caller-trust build phones%'",
    );
    expect(rowCount).toBe(1);
    await proxy!.release();
    const report = await finishedReport(runId);
    expect(report).toMatchObject({ outcome: 'ok', night: { generation: 1 } });
    expect(report.artefacts.find(({ cache }) => cache === 'phones')).toMatchObject({
      attempts: 2,
      outcome: 'published',
    });
    await expectVersion(2);
  });
});
