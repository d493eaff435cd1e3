import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { enqueueJob } from '../../jobs/queues/enqueue.ts';
import type { Queues } from '../../jobs/queues/backend.ts';
import type { JobName } from '../../jobs/queues/queues.ts';
import { reconcile } from '../../jobs/reconcile.ts';
import { checkVersion, listVersions, type ListedVersion } from '../../pipelines/caches/store/artefact-check.ts';
import { ArtefactDirectory } from '../../pipelines/caches/store/artefact-directory.ts';
import type { ArtefactStore } from '../../pipelines/caches/store/artefact-store.ts';
import { openArtefactStore } from '../../pipelines/caches/store/open-artefact-store.ts';
import { readNight, type NightReport } from '../../pipelines/caches/night/night-report.ts';
import { parseScope, requestNight } from '../../pipelines/caches/night/night-request.ts';
import { loadConfig } from '../../runtime/config.ts';
import { connect, queryRows } from '../../runtime/postgres.ts';
import { createTestDatabase } from '../support/database.ts';
import { runWholeNight, silentLog } from '../support/night.ts';
import { manyNumbers, putNumbers } from '../support/numbers.ts';
import { useObjectStore } from '../support/object-store.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { killProcessesAfterEach, startProcess, until, type ServiceProcess } from '../support/service-process.ts';
import { backends, openBackend, type TestBackend } from './backends.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const objects = await useObjectStore();
const buildSettings = { SEGMENT_ROWS_MAX: '100' };
const rangeBytes = 1000;
const only = 'phones/US';
const numbers = manyNumbers(4000).toReversed();
/** What one process makes of the numbers. */
let expected: ListedVersion;
killProcessesAfterEach();

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'caller-trust-alone-'));
  const { db, url, drop } = await createTestDatabase();
  await putNumbers(db, numbers);
  const settings = { ...buildSettings, BUILD_STREAMS: '2' }; // in ranges, as shares are
  await runWholeNight({ db, url, store: new ArtefactDirectory(directory), only, settings, rangeBytes });
  expected = (await listVersions(db))[0]!;
  await drop();
  await rm(directory, { recursive: true, force: true });
});

describe.each(backends)('a build over several workers and a bucket, with queues in $kind', ({ kind, skipped }) => {
  const test = it.skipIf(skipped !== undefined);
  const why = skipped === undefined ? '' : `(${skipped}) `;
  let backend: TestBackend;
  let queues: Queues;
  let hold: Hold;
  let store: ArtefactStore;
  const homes: string[] = [];

  beforeEach(async () => {
    if (skipped !== undefined) return;
    backend = await openBackend(kind, { JOB_LOCK_SECONDS: '2' });
    queues = await backend.openQueues();
    await putNumbers(backend.database.db, numbers);
    hold = await holdBuild(backend);
    store = openArtefactStore(loadConfig({ ...objects.settings, ARTEFACT_DIR: await newHome() }));
  });

  afterEach(async () => {
    if (skipped !== undefined) return;
    await hold.release();
    await queues.close();
    await backend.close();
    for (const each of await store.list()) await store.remove(each);
    for (const home of homes.splice(0)) await rm(home, { recursive: true, force: true });
  });

  async function newHome(): Promise<string> {
    homes.push(await mkdtemp(join(tmpdir(), 'caller-trust-machine-')));
    return homes.at(-1)!;
  }

  /** A worker with one place for builds, which shares nothing with the others but database, queues and bucket. */
  async function startMachine(
    settings: Record<string, string> = {},
    jobs: readonly JobName[] = [],
  ): Promise<ServiceProcess> {
    const machine = startProcess(
      'test/jobs/shared-build-program.js',
      {
        ...backend.env,
        ...objects.settings,
        ...buildSettings,
        STATE_DIR: await newHome(),
        BUILD_CONCURRENCY: '1',
        BUILD_HELPERS: '2',
        BUILD_STREAMS: '1',
        LOG_LEVEL: 'debug',
        ...settings,
      },
      { args: [String(rangeBytes), ...jobs] },
    );
    await until(async () => machine.log().includes('"the worker runs"'), 'a worker runs');
    return machine;
  }

  async function askForNight(): Promise<number> {
    const runId = await requestNight(backend.database.db, {
      nightDate: '2026-01-02',
      trigger: 'operator',
      scope: parseScope(only),
      acceptShrink: false,
      fullBuild: false,
      evaluatedAt: null,
      requestedBy: 'test',
    });
    await enqueueJob(queues, 'open-night', { runId: runId! });
    return runId!;
  }

  /** A build that its worker has begun, and that does not read its first share before the hold is released. */
  async function beginBuild(
    jobs?: readonly JobName[],
  ): Promise<{ builder: ServiceProcess; runId: number; shares: number }> {
    const builder = await startMachine({}, jobs);
    const runId = await askForNight();
    const shares = await until(async () => (await statesOfShares()).length, 'shares are offered');
    return { builder, runId, shares };
  }

  const statesOfShares = async () =>
    (
      await queryRows<{ state: string }>(
        backend.database.db,
        'SELECT state FROM build_share ORDER BY build_id, attempt, share',
      )
    ).map(({ state }) => state);

  const untilMade = (count: number) =>
    until(
      async () => (await statesOfShares()).filter((state) => state === 'made').length >= count,
      `${count} shares are made`,
    );

  /** Waits for the end of a night; the reconciler runs meanwhile, as it does in the scheduler. */
  function finishedReport(runId: number): Promise<NightReport> {
    return until(
      async () => {
        await reconcile({ db: backend.database.db, queues, log: silentLog });
        const night = await readNight(backend.database.db, { runId });
        return night.state === 'finished' ? night.report : undefined;
      },
      'the night is finished',
      60,
    );
  }

  /** One version is published, with the bytes that one process makes; of shares nothing is left. */
  async function expectTheSameBytes(survivors: readonly ServiceProcess[]): Promise<void> {
    const versions = await listVersions(backend.database.db);
    expect(versions).toMatchObject([{ version: 1, current: true, file: expected.file }]);
    expect(versions[0]!.indexSha256).toBe(expected.indexSha256);
    expect(await checkVersion(store, versions[0]!)).toMatchObject({ verdict: 'ok' });
    const left = async () => (await store.list()).map(({ kind: each }) => each).toSorted();
    await until(async () => (await left()).length === 2, 'the garbage of the night is removed');
    expect(await left()).toEqual(['artefact', 'index']);
    expect(await statesOfShares()).toEqual([]);
    for (const worker of survivors) expect(await worker.end('SIGTERM')).toBe(0);
    const files = await Promise.all(homes.map((home) => readdir(home, { recursive: true })));
    expect(files.flat().filter((file) => file.endsWith('.share.tsv.gz'))).toEqual([]);
  }

  const made = (worker: ServiceProcess) => worker.log().split('"a share of a build is made"').length - 1;
  const read = (worker: ServiceProcess) =>
    worker.log().match(/"byOther":false,[^\n]*"a share of the build is taken"/g)?.length ?? 0;

  test(`${why}has the same bytes, and both workers made shares of it`, async () => {
    const { builder, runId, shares } = await beginBuild();
    const helper = await startMachine();
    await untilMade(1);
    await hold.release();
    expect((await finishedReport(runId)).outcome).toBe('ok');
    expect(made(helper)).toBeGreaterThan(0);
    expect(read(builder)).toBeGreaterThan(0);
    expect(made(helper) + read(builder)).toBeGreaterThanOrEqual(shares);
    await expectTheSameBytes([builder, helper]);
  });

  test(`${why}has the same bytes when the helper is killed in the middle of a share`, async () => {
    const { builder, runId } = await beginBuild();
    const proxy = await startPostgresProxy(backend.database.url, { at: 'copyData', after: 500, then: 'stall' });
    const helper = await startMachine({ DATABASE_URL: proxy.url });
    await until(async () => proxy.interferences() > 0, 'the helper reads a share');
    expect(await statesOfShares()).toContain('lent');
    await helper.end('SIGKILL');
    await proxy.close();
    await hold.release();
    const report = await finishedReport(runId);
    expect(report).toMatchObject({ outcome: 'ok', night: { generation: 1 }, artefacts: [{ attempts: 1 }] });
    expect(made(helper)).toBe(0);
    await expectTheSameBytes([builder]);
  });

  test(`${why}has the same bytes when the worker that joins it is killed`, async () => {
    const { builder, runId } = await beginBuild();
    const helper = await startMachine();
    await untilMade(1);
    await builder.end('SIGKILL');
    await hold.release();
    const report = await finishedReport(runId);
    expect(report.outcome).toBe('ok');
    expect(report.night.generation).toBeGreaterThan(1);
    await expectTheSameBytes([helper]);
  });

  test(`${why}has the same bytes when that worker is killed and the snapshot is held by another`, async () => {
    const opener = await startMachine({}, ['open-night', 'publish-night']);
    const buildJobs = ['build-artefact', 'help-build'] as const;
    const { builder, runId } = await beginBuild(buildJobs);
    const helper = await startMachine({}, buildJobs);
    await untilMade(1);
    await builder.end('SIGKILL');
    await hold.release();
    const other = await startMachine({}, buildJobs);
    const report = await finishedReport(runId);
    expect(report).toMatchObject({ outcome: 'ok', night: { generation: 1 }, artefacts: [{ attempts: 2 }] });
    await expectTheSameBytes([opener, helper, other]);
  });

  test(`${why}is made by one worker alone, which has one place for builds`, async () => {
    await hold.release();
    const worker = await startMachine();
    const runId = await askForNight();
    expect((await finishedReport(runId)).outcome).toBe('ok');
    await until(async () => {
      const { waiting, active } = (await queues.counts()).builds;
      return waiting + active === 0;
    }, 'the jobs of the helpers have ended');
    expect(made(worker)).toBe(0);
    expect(read(worker)).toBeGreaterThan(3);
    await expectTheSameBytes([worker]);
  });
});

/** Keeps builds from taking shares back. */
interface Hold {
  release(): Promise<void>;
}

/** A trigger makes a build wait for a lock of the test before it reads a share. Other workers are lent the others meanwhile. */
async function holdBuild({ database: { db, url } }: TestBackend): Promise<Hold> {
  const key = 4711;
  await db.query(`
    CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock_shared(${key}); RETURN NEW; END';
    CREATE TRIGGER wait_for_test BEFORE UPDATE ON build_share FOR EACH ROW WHEN (NEW.state = 'taken')
      EXECUTE FUNCTION wait_for_test()`);
  const holder = await connect({ url, applicationName: 'test' });
  await holder.query('SELECT pg_advisory_lock($1)', [key]);
  let isHeld = true;
  return {
    async release() {
      if (isHeld) await holder.end();
      isHeld = false;
    },
  };
}
