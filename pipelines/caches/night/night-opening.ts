import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { ServiceError, type ErrorCode } from '../../../runtime/errors.ts';
import { connect, queryRow, queryRows, type Pool } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { ArtefactStore } from '../store/artefact-store.ts';
import type { PlannedBuild } from './build-plan.ts';
import { CACHES, formatArtefact, type ArtefactName } from '../definition.ts';
import { listPublications } from './publications.ts';
import {
  isVacuumWorthwhile,
  planBuilds,
  readSeenTransactions,
  type PlanOptions,
  type PlanSettings,
  type SeenTransactions,
} from './night-planning.ts';
import type { NightScope } from './night-request.ts';
import { exportSnapshot, type Snapshot } from './snapshot.ts';

/** One attempt at a night. A later attempt has a higher generation and makes this one void. */
export interface Attempt {
  readonly runId: number;
  readonly generation: number;
}

/** A night whose snapshot is held and whose builds are recorded. */
export interface OpenNight extends Attempt {
  readonly buildIds: readonly number[];
  /**
   * Waits until every build has an outcome, or a later attempt took over.
   * @throws ServiceError `database_unavailable` if the connection that holds the snapshot breaks; `interrupted`
   */
  untilBuilt(signal: AbortSignal): Promise<void>;
}

export interface OpenNightOptions {
  readonly db: Pool;
  readonly databaseUrl: string;
  readonly store: ArtefactStore;
  readonly settings: PlanSettings;
  readonly runId: number;
  /** Runs after the fence is raised and before the snapshot is taken: what it writes is in the night. */
  readonly prepare: (evaluatedAt: Date) => Promise<void>;
}

interface RunRow {
  runId: number;
  generation: number;
  evaluatedAt: Date;
  onlyCache: NightScope['cache'];
  onlyCountry: string | null;
  fullBuild: boolean;
}

const lockClass = 7_224_202; // any constant: the advisory locks of nights
/** In the place of a run id, which is never 0: the lock of the night that is being prepared. */
const preparing = 0;
const generationsMax = 10;
const pollMs = 200;
const takeOverSecondsMax = 10;

/**
 * Opens a night and runs `work` while its snapshot is held: raises the fence, prepares the tables, takes one snapshot,
 * counts what each artefact must hold, and records a build for each.
 * Does nothing if the night is finished.
 */
export async function withOpenNight(
  options: OpenNightOptions,
  work: (night: OpenNight) => Promise<void>,
): Promise<void> {
  const holder = await connect({ url: options.databaseUrl, applicationName: 'caller-trust night' });
  try {
    await takeRun(holder, options.runId);
    const run = await queryRow<RunRow>(options.db, sql('nights/open_night_run'), [options.runId]);
    if (run === undefined) return;
    if (run.generation > generationsMax) throw tooManyAttempts(run);
    await work(await prepareAndTakeSnapshot(holder, run, options));
  } finally {
    await holder.end().catch(() => {});
  }
}

/**
 * Takes the advisory lock of a run, which falls with the connection of its holder. The queue gives a night to a second
 * process only when the first did not show that it lives; one that is merely frozen must not keep the night, so its
 * connection is ended, and the raised generation refuses whatever it still does.
 */
async function takeRun(holder: Client, runId: number): Promise<void> {
  const row = await queryRow<{ taken: boolean }>(holder, 'SELECT pg_try_advisory_lock($1, $2) AS taken', [
    lockClass,
    runId,
  ]);
  if (row!.taken) return;
  await holder.query(sql('nights/end_other_holder'), [lockClass, runId]);
  await holder.query(`SET lock_timeout = '${takeOverSecondsMax}s'`);
  await holder.query('SELECT pg_advisory_lock($1, $2)', [lockClass, runId]);
}

function tooManyAttempts({ runId }: RunRow): ServiceError {
  return new ServiceError('night_failed', {
    operation: 'open night',
    object: String(runId),
    problem: `The night was opened ${generationsMax} times and never came to its end.`,
    hint: 'The log of the workers says why.',
  });
}

/**
 * One night at a time from its scores to its snapshot: they are written to the table that the snapshot reads, so another
 * night, evaluated at another instant, must not write its own in between.
 */
async function prepareAndTakeSnapshot(holder: Client, run: RunRow, options: OpenNightOptions): Promise<OpenNight> {
  await holder.query('SET lock_timeout = 0');
  await holder.query('SELECT pg_advisory_lock($1, $2)', [lockClass, preparing]);
  await options.prepare(run.evaluatedAt);
  return takeSnapshot(holder, run, options);
}

async function takeSnapshot(holder: Client, run: RunRow, options: OpenNightOptions): Promise<OpenNight> {
  const { db } = options;
  const broken = new AbortController();
  holder.once('end', () => broken.abort());
  if (await isVacuumWorthwhile(holder, await planOptions(holder, run, options))) await vacuum(db);
  const snapshot = await exportSnapshot(holder);
  await holder.query('SELECT pg_advisory_unlock($1, $2)', [lockClass, preparing]);
  const planned = await planBuilds(holder, await planOptions(holder, run, options));
  if (planned.length === 0)
    throw new ServiceError('night_empty', {
      operation: 'open night',
      object: formatArtefact({ cache: run.onlyCache ?? '', country: run.onlyCountry ?? '' }),
    });
  const buildIds = await recordSnapshot(db, run, { ...snapshot, ...(await readSeenTransactions(holder)) }, planned);
  return {
    runId: run.runId,
    generation: run.generation,
    buildIds,
    untilBuilt: (signal) => untilBuilt({ db, run, broken: broken.signal, signal }),
  };
}

/**
 * An index-only scan reads a row from the heap unless its page is known to be all visible, so the rows that changed since
 * the last VACUUM would cost a build a random read each. See docs/architecture.md for what it costs. A night that reads few rows
 * goes without.
 */
async function vacuum(db: Pool): Promise<void> {
  await db.query('VACUUM (ANALYZE) phone_number, branded_number');
}

async function planOptions(holder: Client, run: RunRow, { store, settings }: OpenNightOptions): Promise<PlanOptions> {
  return {
    store,
    settings,
    artefacts: await expectedArtefacts(holder, run),
    evaluatedAt: run.evaluatedAt,
    fullBuild: run.fullBuild,
  };
}

/**
 * Every artefact of the night's scope: those with rows in the snapshot, those published before (whose rows may all be
 * gone), and the caches that are not split by country, which exist even when empty.
 */
async function expectedArtefacts(holder: Client, run: RunRow): Promise<ArtefactName[]> {
  const published = (await listPublications(holder)).filter((publication) => publication.published !== null);
  const countries = await queryRows<{ country: string }>(holder, sql('caches/list_countries'));
  const names: ArtefactName[] = CACHES.flatMap(({ name, perCountry }): ArtefactName[] =>
    perCountry ? countries.map(({ country }) => ({ cache: name, country })) : [{ cache: name, country: '' }],
  );
  const byName = new Map(
    [...names, ...published].map(({ cache, country }) => [formatArtefact({ cache, country }), { cache, country }]),
  );
  return [...byName.values()].filter(
    ({ cache, country }) =>
      (run.onlyCache === null || run.onlyCache === cache) && (run.onlyCountry === null || run.onlyCountry === country),
  );
}

/** Records the snapshot and the builds, those that read the most first, so that no long build starts last. */
async function recordSnapshot(
  db: Pool,
  run: RunRow,
  snapshot: Snapshot & SeenTransactions,
  planned: PlannedBuild[],
): Promise<number[]> {
  const largestFirst = planned.toSorted(
    (a, b) => Number(b.plan.kind === 'full') - Number(a.plan.kind === 'full') || b.rows - a.rows,
  );
  const rows = await queryRows<{ buildId: number }>(db, sql('nights/record_snapshot'), [
    run.runId,
    run.generation,
    snapshot.asOf,
    snapshot.id,
    snapshot.transactions,
    snapshot.cluster,
    largestFirst.map(({ cache }) => cache),
    largestFirst.map(({ country }) => country),
    largestFirst.map((build) => build.rows),
    largestFirst.map(({ levels }) => JSON.stringify(levels)),
    largestFirst.map(({ plan }) => JSON.stringify(plan)),
  ]);
  return rows.map(({ buildId }) => buildId);
}

async function untilBuilt({
  db,
  run,
  broken,
  signal,
}: {
  db: Pool;
  run: RunRow;
  broken: AbortSignal;
  signal: AbortSignal;
}): Promise<void> {
  for (;;) {
    if (signal.aborted)
      throw new ServiceError('interrupted', { operation: 'hold snapshot', object: `night ${run.runId}` });
    if (broken.aborted) {
      throw new ServiceError('database_unavailable', {
        operation: 'hold snapshot',
        object: `night ${run.runId}`,
        problem: 'The connection that holds the snapshot broke.',
        hint: 'The night is opened again with a new one.',
      });
    }
    const row = await queryRow<{ openBuilds: number; current: boolean }>(db, sql('nights/count_open_builds'), [
      run.runId,
      run.generation,
    ]);
    if (row!.openBuilds === 0 || !row!.current) return;
    await sleep(pollMs);
  }
}

/** Ends a night that could not be opened; the artefacts that it was to build keep their old files, stale with the reason. */
export async function failNight(
  db: Pool,
  { runId, code, reason }: { runId: number; code: ErrorCode; reason: string },
): Promise<void> {
  await db.query(sql('nights/fail_night_run'), [runId, code, reason]);
}
