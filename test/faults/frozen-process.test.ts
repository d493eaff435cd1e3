import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openQueues, type Queues } from '../../jobs/queues/backend.ts';
import { enqueueJob } from '../../jobs/queues/enqueue.ts';
import { reconcile } from '../../jobs/reconcile.ts';
import { checkVersion, listVersions } from '../../pipelines/caches/store/artefact-check.ts';
import { ArtefactDirectory } from '../../pipelines/caches/store/artefact-directory.ts';
import { readNight, type NightReport } from '../../pipelines/caches/night/night-report.ts';
import { everything, requestNight } from '../../pipelines/caches/night/night-request.ts';
import { loadConfig } from '../../runtime/config.ts';
import { ERRORS } from '../../runtime/errors.ts';
import { Seeded } from '../../runtime/seeded.ts';
import { sql } from '../../sql/sql.ts';
import { useTestDatabase } from '../support/database.ts';
import { startFreezingProxy, type FreezingProxy } from '../support/freezing-proxy.ts';
import { runWholeNight, silentLog } from '../support/night.ts';
import { manyNumbers, putNumbers } from '../support/numbers.ts';
import { killProcessesAfterEach, startProcess, until, type ServiceProcess } from '../support/service-process.ts';
import { isLongRun } from '../support/run-size.ts';
import { WorkMaker } from '../support/service-work.ts';

const { db, url } = await useTestDatabase();
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-frozen-'));
const store = new ArtefactDirectory(join(stateDir, 'artefacts'));
afterAll(() => rm(stateDir, { recursive: true, force: true }));
let queues: Queues;
let proxy: FreezingProxy | undefined;
/** The worker of a test that falls silent. */
let silent: ServiceProcess;
killProcessesAfterEach();

beforeEach(async () => {
  await db.query('TRUNCATE phone_number, publication, artefact_version, build, night_run, feed_load CASCADE');
  await db.query('DROP SCHEMA IF EXISTS caller_trust_queue CASCADE');
  queues = await openQueues(loadConfig({}), url, silentLog);
  await putNumbers(db, manyNumbers(500));
});

afterEach(async () => {
  await queues.close();
  await proxy?.close();
  proxy = undefined;
});

function startWorker(databaseUrl: string): ServiceProcess {
  return startProcess('jobs/worker-main.js', {
    DATABASE_URL: databaseUrl,
    STATE_DIR: stateDir,
    JOB_LOCK_SECONDS: '3',
    SHUTDOWN_GRACE_SECONDS: '1',
    VERSIONS_KEPT: '1',
  });
}

/** How a process falls silent: it is stopped, or its network is gone. */
const ways = ['SIGSTOP', 'network'] as const;
type Way = (typeof ways)[number];

/** A road to the database that falls silent with the worker that {@link silent} is. */
async function openRoad(way: Way): Promise<FreezingProxy> {
  proxy = await startFreezingProxy(url, () => {
    if (way === 'SIGSTOP') silent.signal('SIGSTOP');
  });
  return proxy;
}

/** Starts a worker that falls silent when it sends a statement of a job. */
async function startFreezingWorker(statement: string, way: Way): Promise<void> {
  const road = await openRoad(way);
  silent = startWorker(road.url);
  await until(async () => silent.log().includes('the worker runs'), 'the worker runs');
  road.freezeAt(statement);
}

async function requestOneNight(): Promise<number> {
  const runId = await requestNight(db, {
    nightDate: '2026-01-02',
    trigger: 'operator',
    scope: everything,
    acceptShrink: true,
    evaluatedAt: null,
    requestedBy: 'test',
  });
  await enqueueJob(queues, 'open-night', { runId: runId! });
  return runId!;
}

async function finishedReport(runId: number): Promise<NightReport> {
  return until(async () => {
    await reconcile({ db, queues, log: silentLog });
    const night = await readNight(db, { runId });
    return night.state === 'finished' && night.report;
  }, 'the night is finished');
}

async function expectWholeFiles(): Promise<void> {
  const versions = (await listVersions(db)).filter(({ current }) => current);
  expect(versions.length).toBeGreaterThan(0);
  for (const version of versions) expect(await checkVersion(store, version)).toMatchObject({ verdict: 'ok' });
}

async function countHeartbeats(): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'caller-trust heartbeat #%'",
  );
  return rows[0]!.count;
}

/** The line of a statement's file that no other has. */
const firstLine = (name: string) => sql(name).split('\n')[0]!;

const usualStatements: [title: string, text: string][] = [
  ['the publishing transaction', firstLine('nights/lock_publications')],
  ['the scoring', firstLine('labels/score_complaints')],
  ['the collection of garbage', firstLine('caches/list_versions')],
];
const furtherStatements = [
  ['the copy of a build', 'COPY (SELECT'],
  ...[
    'nights/open_night_run',
    'feeds/prepare_bulk_work',
    'labels/store_scores',
    'labels/apply_scores',
    'labels/score_ranges',
    'labels/describe_snapshot',
    'caches/list_countries',
    'nights/list_crashed_builds',
    'nights/record_snapshot',
    'nights/count_open_builds',
    'nights/start_build',
    'nights/record_build',
    'nights/lock_night_run',
    'nights/ensure_publications',
    'nights/list_builds_to_publish',
    'nights/publish_version',
    'nights/finish_night_run',
    'nights/list_live_builds',
  ].map((name) => [name, firstLine(name)]),
] as [string, string][];

/** Statements of a load, of a batch and of a branding request. */
const workStatements: [kind: 'loadFeed' | 'verify' | 'addBrand', statement: string][] = [
  ['loadFeed', 'COPY'],
  ...[
    'feeds/start_load',
    'labels/list_categories',
    'feeds/measure_directory',
    'feeds/merge_directory',
    'feeds/finish_load',
    'feeds/lock_load',
  ].map((statement): ['loadFeed', string] => ['loadFeed', statement]),
  ...[
    'insert_results',
    'start_batch',
    'list_chunk_items',
    'start_verifications',
    'end_verifications',
    'finish_batch',
  ].map((name): ['verify', string] => ['verify', `audio/${name}`]),
  ...[
    'insert_letter',
    'lock_operation',
    'find_reused_letter',
    'insert_brand',
    'insert_findings',
    'finish_operation',
  ].map((name): ['addBrand', string] => ['addBrand', `branding/${name}`]),
];
const usualWorkStatements = workStatements.filter(([, statement]) =>
  ['COPY', 'audio/insert_results', 'branding/finish_operation'].includes(statement),
);
/** Works of this file. */
let works = 0;

describe.each(ways)('a worker that falls silent (%s)', (way) => {
  it.each(isLongRun ? [...usualStatements, ...furtherStatements] : usualStatements.slice(0, way === 'SIGSTOP' ? 3 : 1))(
    'in %s does not keep the others waiting, and changes nothing when it continues',
    async (_, statement) => {
      await runWholeNight({ db, url, store });
      await putNumbers(db, [{ phone: '+12025550001', name: 'Changed', level: 'SPAM' }]);
      await startFreezingWorker(statement, way);
      const runId = await requestOneNight();
      await until(async () => proxy!.isFrozen(), 'the worker is silent');
      startWorker(url);
      const report = await finishedReport(runId);
      expect(report.counts.failed).toBe(0);
      const nextRunId = await requestOneNight();
      await finishedReport(nextRunId);
      await until(async () => (await countHeartbeats()) === 1, 'the sessions of the silent worker are ended');
      await expectWholeFiles();
      const before = await listVersions(db);
      silent.signal('SIGCONT');
      proxy!.thaw();
      await until(async () => (await countHeartbeats()) === 2, 'the worker continues with new sessions');
      await new Promise((resolve) => setTimeout(resolve, 1000));
      expect(await listVersions(db)).toEqual(before);
      expect(await readNight(db, { runId })).toMatchObject({ report });
      await expectWholeFiles();
      expect(await silent.end('SIGTERM')).toBe(0);
    },
  );

  it.each(isLongRun ? workStatements : usualWorkStatements.slice(0, way === 'SIGSTOP' ? 3 : 1))(
    '%s at %s loses nothing, and another worker does the work once',
    async (kind, statement) => {
      const maker = new WorkMaker({
        db,
        stateDir,
        scratch: stateDir,
        queues,
        choose: new Seeded(1),
        checkNight: async () => [],
      });
      await startFreezingWorker(statement === 'COPY' ? 'COPY ' : firstLine(statement), way);
      const work = await maker[kind](++works);
      await until(async () => proxy!.isFrozen(), 'the worker is silent');
      startWorker(url);
      await until(async () => {
        await reconcile({ db, queues, log: silentLog });
        return work.find();
      }, 'the work is done');
      silent.signal('SIGCONT');
      proxy!.thaw();
      expect(await silent.end('SIGTERM')).toBe(0);
      expect(await work.find()).toEqual([]);
    },
  );
});

/** Statements of the queues' sessions with this text: each session of a worker begins with one. */
const beginsSession = 'min_client_version';

it.each([3, 12])(
  'a worker that falls silent while it starts, at session %i of its queues, continues or ends by the loss of the database',
  async (occurrence) => {
    const road = await openRoad('SIGSTOP');
    road.freezeAt(beginsSession, occurrence);
    silent = startWorker(road.url);
    await until(async () => road.isFrozen(), 'the worker is silent');
    const { rows } = await db.query<{ tag: string }>(
      "SELECT right(application_name, 8) AS tag FROM pg_stat_activity WHERE application_name LIKE 'caller-trust heartbeat #%' AND datname = current_database()",
    );
    await db.query(sql('jobs/end_sessions'), [rows[0]!.tag]); // as others do after a while
    silent.signal('SIGCONT');
    road.thaw();
    await until(
      async () => /the worker runs|the process ends|Node\.js v/.test(silent.log()),
      'the worker has started or ended',
    );
    expect([0, ERRORS.database_unavailable.exit]).toContain(await silent.end('SIGTERM'));
  },
);
