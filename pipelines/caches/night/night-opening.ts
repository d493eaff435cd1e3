import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { ServiceError, type ErrorCode } from '../../../runtime/errors.ts';
import { connect, queryRow, queryRows, type Pool } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { CACHES, formatArtefact, type ArtefactName } from '../definition.ts';
import { listPublications } from '../publications.ts';
import type { NightScope } from './night-request.ts';
import { exportSnapshot, type Snapshot } from '../artefact/snapshot.ts';

/** One attempt at a night. A later attempt has a higher generation and makes this one void. */
export interface Attempt {
  readonly runId: number;
  readonly generation: number;
}

/** A night that this process runs. Its connection holds the lock of the run, and later the snapshot. */
export interface TakenNight extends Attempt {
  readonly evaluatedAt: Date;
  readonly onlyCache: NightScope['cache'];
  readonly onlyCountry: string | null;
  readonly holder: Client;
  /** Fires when the connection has ended. */
  readonly broken: AbortSignal;
  /** Releases lock and snapshot. */
  close(): Promise<void>;
}

interface OpenedRunRow {
  runId: number;
  generation: number;
  evaluatedAt: Date;
  onlyCache: NightScope['cache'];
  onlyCountry: string | null;
}

const lockClass = 7_224_202; // of the advisory locks of nights; any constant
/** The lock of the preparation, used instead of a run id, which is never 0. */
const preparing = 0;
const generationsMax = 10;
/** Crashes of a build after which a night is published without it; fewer than fail the job, and with it the whole night. */
const buildCrashesMax = 3;
const pollMs = 200;
const takeOverSecondsMax = 10;

/**
 * Takes a requested night and raises its generation, which voids earlier attempts. Undefined if the night is finished.
 * @throws ServiceError `night_failed` after too many attempts
 */
export async function takeNight({
  db,
  databaseUrl,
  runId,
}: {
  db: Pool;
  databaseUrl: string;
  runId: number;
}): Promise<TakenNight | undefined> {
  const holder = await connect({
    url: databaseUrl,
    applicationName: 'caller-trust night',
    idleTransactionSecondsMax: 0, // it holds the snapshot
  });
  const close = () => holder.end().catch(() => {});
  const broken = new AbortController();
  holder.once('end', () => broken.abort());
  try {
    await takeRun(holder, runId);
    const run = await queryRow<OpenedRunRow>(db, sql('nights/open_night_run'), [runId]);
    if (run === undefined) return void (await close());
    if (run.generation > generationsMax) throw tooManyAttempts(run);
    return { ...run, holder, broken: broken.signal, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Takes the advisory lock of a run, which ends with the connection of its holder. The queue gives a night to a second process
 * only if the first did not renew its lock. A frozen process must not keep the night: its connection is ended, and the raised
 * generation rejects its later writes.
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

function tooManyAttempts({ runId }: OpenedRunRow): ServiceError {
  return new ServiceError('night_failed', {
    operation: 'open night',
    object: String(runId),
    problem: `The night was opened ${generationsMax} times and never finished.`,
    hint: 'The log of the workers says why.',
  });
}

/**
 * Waits until no other night is between its scores and its snapshot: scores are written to the table that the snapshot reads,
 * so a night that is evaluated at another instant must not write its own in between. {@link takeSnapshot} ends the preparation.
 */
export async function beginPreparation({ holder }: TakenNight): Promise<void> {
  await holder.query('SET lock_timeout = 0');
  await holder.query('SELECT pg_advisory_lock($1, $2)', [lockClass, preparing]);
}

/** The snapshot of a night with what it is to build. */
interface NightSnapshot extends Snapshot {
  /** The transactions that it sees (a pg_snapshot as text), and the database cluster of their ids. */
  readonly transactions: string;
  readonly cluster: string;
  /** Those that were large last time first, so that no long build starts last. */
  readonly artefacts: readonly ArtefactName[];
}

/**
 * Takes the snapshot of the night, lists the artefacts of its scope in it, and ends the preparation.
 * @throws ServiceError `night_empty`
 */
export async function takeSnapshot(night: TakenNight): Promise<NightSnapshot> {
  const { holder } = night;
  const snapshot = await exportSnapshot(holder);
  const artefacts = await expectedArtefacts(night);
  await holder.query('SELECT pg_advisory_unlock($1, $2)', [lockClass, preparing]);
  if (artefacts.length === 0)
    throw new ServiceError('night_empty', {
      operation: 'open night',
      object: formatArtefact({ cache: night.onlyCache ?? '', country: night.onlyCountry ?? '' }),
    });
  const seen = await queryRow<{ transactions: string; cluster: string }>(holder, sql('labels/describe_snapshot'));
  return { ...snapshot, ...seen!, artefacts };
}

/**
 * The artefacts of the night's scope: those with rows in the snapshot, those published before (which may have no rows now),
 * and the caches that are not split by country, which exist even when empty.
 */
async function expectedArtefacts({ holder, onlyCache, onlyCountry }: TakenNight): Promise<ArtefactName[]> {
  const published = (await listPublications(holder)).filter((publication) => publication.published !== null);
  const countries = await queryRows<{ country: string }>(holder, sql('caches/list_countries'));
  const names: ArtefactName[] = CACHES.flatMap(({ name, perCountry }): ArtefactName[] =>
    perCountry ? countries.map(({ country }) => ({ cache: name, country })) : [{ cache: name, country: '' }],
  );
  const byName = new Map(names.map((name) => [formatArtefact(name), { ...name, rowsBefore: Infinity }]));
  for (const { cache, country, published: version } of published)
    byName.set(formatArtefact({ cache, country }), { cache, country, rowsBefore: version!.rows });
  return [...byName.values()]
    .filter(
      ({ cache, country }) =>
        (onlyCache === null || onlyCache === cache) && (onlyCountry === null || onlyCountry === country),
    )
    .sort((a, b) => b.rowsBefore - a.rowsBefore)
    .map(({ cache, country }) => ({ cache, country }));
}

/**
 * Records the snapshot and the builds. Returns the ids of those to run: a build whose process ended too often in earlier attempts
 * is set aside as failed, so that it does not end the night.
 */
export async function recordBuilds(
  db: Pool,
  { runId, generation }: TakenNight,
  { artefacts, ...snapshot }: NightSnapshot,
): Promise<number[]> {
  const crashed = await queryRows<CrashedBuild>(db, sql('nights/list_crashed_builds'), [runId]);
  const ordered = spreadCrashed(artefacts, crashed);
  const rows = await queryRows<{ buildId: number; state: string }>(db, sql('nights/record_snapshot'), [
    runId,
    generation,
    snapshot.asOf,
    snapshot.id,
    ordered.map(({ cache }) => cache),
    ordered.map(({ country }) => country),
    ordered.map((build) => reasonToSetAside(crashesOf(build, crashed))),
    snapshot.transactions,
    snapshot.cluster,
  ]);
  return rows.filter(({ state }) => state === 'pending').map(({ buildId }) => buildId);
}

/** An artefact and how often its build, in earlier attempts at the night, ended without an outcome. */
interface CrashedBuild extends ArtefactName {
  readonly crashes: number;
}

function crashesOf({ cache, country }: ArtefactName, crashed: readonly CrashedBuild[]): number {
  return crashed.find((build) => build.cache === cache && build.country === country)?.crashes ?? 0;
}

function reasonToSetAside(crashes: number): string | null {
  return crashes < buildCrashesMax ? null : `The process or its connection ended in ${crashes} attempts at this build.`;
}

/**
 * Builds run concurrently, and a crash counts against all that run then. So the build with the most crashes goes first and the
 * others that have crashed go last: the one that causes them has other neighbours each time.
 */
function spreadCrashed(builds: readonly ArtefactName[], crashed: readonly CrashedBuild[]): ArtefactName[] {
  const suspects = builds
    .filter((build) => crashesOf(build, crashed) > 0)
    .sort((a, b) => crashesOf(b, crashed) - crashesOf(a, crashed));
  return [...suspects.slice(0, 1), ...builds.filter((build) => !suspects.includes(build)), ...suspects.slice(1)];
}

/**
 * Waits, holding the snapshot, until every build has an outcome, or a later attempt took over.
 * @throws ServiceError `database_unavailable` if the connection that holds the snapshot breaks; `interrupted`
 */
export async function untilBuilt(
  db: Pool,
  { runId, generation, broken }: TakenNight,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    if (signal.aborted) throw new ServiceError('interrupted', { operation: 'hold snapshot', object: `night ${runId}` });
    if (broken.aborted) {
      throw new ServiceError('database_unavailable', {
        operation: 'hold snapshot',
        object: `night ${runId}`,
        problem: 'The connection that holds the snapshot broke.',
        hint: 'The night is opened again with a new one.',
      });
    }
    const row = await queryRow<{ openBuilds: number; current: boolean }>(db, sql('nights/count_open_builds'), [
      runId,
      generation,
    ]);
    if (row!.openBuilds === 0 || !row!.current) return;
    await sleep(pollMs);
  }
}

/** Ends a night that could not be opened. Its artefacts keep their files, marked stale with the reason. */
export async function failNight(
  db: Pool,
  { runId, code, reason }: { runId: number; code: ErrorCode; reason: string },
): Promise<void> {
  await db.query(sql('nights/fail_night_run'), [runId, code, reason]);
}
