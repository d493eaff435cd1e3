import type { Log } from '../../../runtime/log.ts';
import { errorCodeOf, isServiceError, type Failure } from '../../../runtime/errors.ts';
import { queryRow, type Pool, queryRows } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { requireDigest } from '../store/artefact-directory.ts';
import { isLost, type ArtefactStore } from '../store/artefact-store.ts';
import { listVersions } from '../store/artefact-check.ts';
import type { StoredName } from '../store/stored-name.ts';
import { openBasis, SegmentIndexes } from './plan/basis.ts';
import { buildFormat } from '../format/build-format.ts';
import { noBasis, unusableBasis, type Basis, type BuildPlan } from './plan/build-plan.ts';
import {
  buildArtefact,
  type BuildOptions,
  type BuildSettings,
  type BuildSharing,
  type BuiltArtefact,
} from './build.ts';
import { findCache, type CacheName } from '../definition.ts';
import { checkDeltas, writeDeltas, type DeltaPlace } from './delta-files.ts';
import { filterOf } from './filter-file.ts';
import { isSameText, type FilterFile, type StoredDelta } from '../artefact-facts.ts';
import { countDiffering } from './plan/dirty-regions.ts';
import type { LevelCounts } from '../../../format/artefact/levels.ts';
import type { Segment } from '../../../format/artefact/segment-index.ts';
import { shareBuild, type SharingOptions } from './shared-build.ts';

interface NightBuildOptions {
  readonly db: Pool;
  readonly databaseUrl: string;
  readonly store: ArtefactStore;
  readonly settings: BuildSettings & { readonly versionsKept: number; readonly filterBits: '8' | '16' };
  readonly buildId: number;
  /** Has other workers help with a full build. Absent: it is made here alone. */
  readonly callHelpers?: SharingOptions['callHelpers'] | undefined;
  /** Sets the function that records the final failure of this attempt. */
  readonly onFailure: (record: (failure: Failure) => Promise<unknown>) => void;
  readonly signal: AbortSignal;
  readonly log: Log;
}

interface StartedBuildRow {
  buildId: number;
  runId: number;
  generation: number;
  attempts: number;
  cache: CacheName;
  country: string;
  rowsExpected: number;
  levelsExpected: LevelCounts;
  plan: BuildPlan;
  snapshot: string;
  evaluatedAt: Date;
}

const progressMs = 1000;

/**
 * Runs a build of a night and records its outcome. Does nothing if the build has an outcome, or a later attempt at the night
 * took over.
 * @throws what {@link buildArtefact} throws
 */
export async function runNightBuild(options: NightBuildOptions): Promise<void> {
  const { db, buildId } = options;
  const build = await queryRow<StartedBuildRow>(db, sql('nights/start_build'), [buildId]);
  if (build === undefined) return;
  options.onFailure(({ code, reason }) =>
    db.query(sql('nights/record_attempt_failure'), [buildId, build.attempts, code, reason]),
  );
  try {
    await buildAndRecord(options, build);
  } catch (error) {
    await db
      .query(sql('nights/end_attempt'), [buildId, build.attempts])
      .catch((lost: unknown) => options.log.warn({ err: lost, buildId }, 'the end of an attempt was not recorded'));
    throw error;
  }
}

async function buildAndRecord(options: NightBuildOptions, build: StartedBuildRow): Promise<void> {
  const indexes = new SegmentIndexes(options.store);
  const built = await buildOrBuildAll(
    {
      ...options,
      indexes,
      artefact: build,
      plan: build.plan,
      snapshotId: build.snapshot,
      evaluatedAt: build.evaluatedAt,
      rowsExpected: build.rowsExpected,
      levelsExpected: build.levelsExpected,
      owner: unfinishedName(build),
      onProgress: progressRecorder(options, build),
      sharing: sharingOf(options, build),
    },
    options.log,
  );
  const comparison = await compareWithBasis(built, build, { ...options, indexes });
  await recordBuild(options, build, { built, ...comparison, filter: await makeFilter(built, build, options) });
}

function sharingOf(
  { db, settings, callHelpers, log }: NightBuildOptions,
  { buildId, attempts: attempt, cache }: StartedBuildRow,
): BuildSharing | undefined {
  if (callHelpers === undefined) return undefined;
  return shareBuild({ db, buildId, attempt, format: buildFormat(cache, settings), callHelpers, log });
}

/**
 * Builds by the plan; from all rows if the basis is missing or damaged, which the planning does not check; and without helpers if a
 * share of another worker is.
 */
async function buildOrBuildAll(options: BuildOptions, log: Log): Promise<BuiltArtefact> {
  try {
    return await buildArtefact(options);
  } catch (error) {
    if (isServiceError(error, 'share_unusable')) {
      log.warn({ err: error }, 'a share of another worker is unusable; all rows are read here');
      return buildOrBuildAll({ ...options, sharing: undefined }, log);
    }
    if (!unusableBasis.includes(errorCodeOf(error))) throw error;
    log.warn({ err: error }, 'the basis is unusable; all rows are read');
    return buildArtefact({ ...options, plan: { ...noBasis, basis: options.plan?.basis ?? null } });
  }
}

interface BasisComparison {
  readonly deltas: readonly StoredDelta[];
  /** Segments that changed without a mark; null if the build could not show that. */
  readonly segmentsDiffering: number | null;
  /** True if a build of other bytes has the rows of the basis, and a file of the basis is lost: then it replaces the basis. */
  readonly basisLost: boolean;
}

const noComparison: BasisComparison = { deltas: [], segmentsDiffering: null, basisLost: false };

/**
 * Compares a build with its basis. If that fails although the new file is intact, the build is published without deltas.
 * @throws ServiceError `artefact_not_stored` if the new file is damaged, `storage_unavailable`
 */
async function compareWithBasis(
  built: BuiltArtefact,
  build: StartedBuildRow,
  options: NightBuildOptions & { readonly indexes: SegmentIndexes },
): Promise<BasisComparison> {
  const { basis } = build.plan;
  if (basis === null) return noComparison;
  const sameRows = isSameText(built.file, basis.file);
  if (sameRows) await built.delta?.discard();
  try {
    return await compare({ built, build, basis, sameRows }, options);
  } catch (error) {
    await built.delta?.discard();
    if (isServiceError(error, 'storage_unavailable')) throw error; // the build is tried again
    await requireIntact(options.store, { cache: build.cache, country: build.country, sha256: built.file.sha256 });
    options.log.error({ err: error }, 'the deltas could not be made; clients take the whole file');
    return sameRows ? { ...noComparison, deltas: basis.deltas } : noComparison;
  }
}

interface Compared {
  readonly built: BuiltArtefact;
  readonly build: StartedBuildRow;
  readonly basis: Basis;
  readonly sameRows: boolean;
}

async function compare(
  { built, build, basis, sameRows }: Compared,
  options: NightBuildOptions & { readonly indexes: SegmentIndexes },
): Promise<BasisComparison> {
  const sameFile = built.file.sha256 === basis.file.sha256;
  const segments = sameFile
    ? built.segments
    : sameRows
      ? await readIntactBasis(build, basis, options)
      : await options.indexes.read(build, basis.index.sha256);
  if (segments === undefined) return { ...noComparison, basisLost: true };
  const place = deltaPlace(build, options);
  const deltas = sameRows
    ? await checkDeltas({ ...place, deltas: basis.deltas, built: { sha256: basis.file.sha256, segments } })
    : await writeDeltas({
        ...place,
        step: await built.delta!.end(),
        built: { sha256: built.file.sha256, segments: built.segments },
        earlier: basis.deltas.slice(0, options.settings.versionsKept - 1),
      });
  if (!sameFile) await requireIntact(options.store, { ...place.artefact, sha256: built.file.sha256 });
  return { deltas, segmentsDiffering: countUnmarked(segments, built, { build, log: options.log }), basisLost: false };
}

/** The segments of the basis; undefined if its file or index is lost. */
async function readIntactBasis(
  build: StartedBuildRow,
  basis: Basis,
  options: NightBuildOptions & { readonly indexes: SegmentIndexes },
): Promise<readonly Segment[] | undefined> {
  try {
    const opened = await openBasis(options, build, basis);
    try {
      await opened.check();
    } finally {
      await opened.close();
    }
    return opened.segments;
  } catch (error) {
    if (!isServiceError(error, 'basis_unusable')) throw error;
    options.log.error({ err: error }, 'a file of the published version is lost; this build replaces it');
    return undefined;
  }
}

/** Counts the segments that changed outside the marked regions; null if the build did not read them. */
function countUnmarked(
  before: readonly Segment[],
  built: BuiltArtefact,
  { build: { plan, buildId, cache, country }, log }: { readonly build: StartedBuildRow; readonly log: Log },
): number | null {
  if (plan.kind !== 'full' || plan.unchangedExcept === null) return null;
  const segmentsDiffering = countDiffering(before, built.segments, plan.unchangedExcept);
  if (segmentsDiffering > 0)
    log.error(
      { buildId, cache, country, segmentsDiffering },
      'rows changed without a mark: the incremental builds since the last full one may be wrong; this full one is published',
    );
  return segmentsDiffering;
}

/** Where the deltas of a build are written; a lost one is made again from the kept file of the version that it led from. */
function deltaPlace(
  build: StartedBuildRow,
  { db, store, indexes, log }: NightBuildOptions & { readonly indexes: SegmentIndexes },
): DeltaPlace {
  const { cache, country } = build;
  return {
    store,
    artefact: { cache, country },
    owner: `${unfinishedName(build)}.delta`,
    onLost: async (from, error) => {
      log.warn(
        { err: error, cache, country, from },
        'a delta is lost; it is made again if the file it leads from is kept',
      );
      const older = (await listVersions(db)).find(
        (version) => version.cache === cache && version.country === country && version.version === from,
      );
      if (older === undefined || older.indexSha256 === null) return undefined;
      const segments = await indexes.read(build, older.indexSha256).catch((lost: unknown) => {
        if (!isLost(lost)) throw lost;
      });
      return segments === undefined ? undefined : { sha256: older.file.sha256, segments };
    },
  };
}

/**
 * The filter of a build whose cache has one. If it cannot be made although the new file is intact, the build is published without.
 * @throws ServiceError `artefact_not_stored` if the new file is damaged, `storage_unavailable`, `interrupted`
 */
async function makeFilter(
  built: BuiltArtefact,
  build: StartedBuildRow,
  { store, settings, signal, log }: NightBuildOptions,
): Promise<FilterFile | null> {
  const { cache, country, plan } = build;
  const { filterKeys: keyType } = findCache(cache);
  if (keyType === null) return null;
  try {
    return await filterOf({
      store,
      artefact: { cache, country },
      kind: { keyType, bits: settings.filterBits === '8' ? 8 : 16 },
      known: plan.basis !== null && isSameText(built.file, plan.basis.file) ? (plan.basis.filter ?? null) : null,
      built: { sha256: built.file.sha256, segments: built.segments, rows: built.rows },
      owner: `${unfinishedName(build)}.filter`,
      signal,
    });
  } catch (error) {
    if (isServiceError(error, 'storage_unavailable') || isServiceError(error, 'interrupted')) throw error;
    await requireIntact(store, { cache, country, sha256: built.file.sha256 });
    log.error({ err: error }, 'the filter could not be made; the artefact is published without it');
    return null;
  }
}

async function requireIntact(store: ArtefactStore, name: StoredName): Promise<void> {
  const handle = await store.open(name);
  try {
    await requireDigest(handle, name);
  } finally {
    await handle.close();
  }
}

interface RecordedBuild extends BasisComparison {
  readonly built: BuiltArtefact;
  readonly filter: FilterFile | null;
}

async function recordBuild(
  { db, settings }: NightBuildOptions,
  build: StartedBuildRow,
  { built, deltas, segmentsDiffering, basisLost, filter }: RecordedBuild,
): Promise<void> {
  const { rows, file, index, segments } = built;
  await db.query(sql('nights/record_build'), [
    build.buildId,
    build.attempts,
    rows,
    file.sha256,
    file.bytes,
    file.plainSha256,
    file.plainBytes,
    buildFormat(build.cache, settings),
    index.sha256,
    index.bytes,
    segments.length,
    segmentsDiffering,
    JSON.stringify(deltas),
    built.rowsRead,
    basisLost,
    file.plainCrc32,
    file.contentSha256,
    file.segmentRowsMax,
    JSON.stringify(built.levels),
    filter === null ? null : JSON.stringify(filter),
  ]);
}

/** The file of an attempt: `build-12-3`. So an attempt that was presumed dead and continues writes to another file. */
function unfinishedName({ buildId, attempts }: StartedBuildRow): string {
  return `build-${buildId}-${attempts}`;
}

/** The build of an unfinished file; undefined for another file. */
function buildOfUnfinishedName(name: string): number | undefined {
  const match = /^build-(\d+)-\d+(?:\.[a-z0-9.-]+)?$/.exec(name);
  return match === null ? undefined : Number(match[1]);
}

/** Records the written rows in the database about once a second. */
function progressRecorder(
  { db, buildId, log }: NightBuildOptions,
  { attempts }: StartedBuildRow,
): (rows: number) => void {
  let lastRecorded = Date.now();
  return (rows) => {
    if (Date.now() - lastRecorded < progressMs) return;
    lastRecorded = Date.now();
    db.query(sql('nights/record_build_progress'), [buildId, rows, attempts]).catch((error: unknown) =>
      log.debug({ err: error, buildId }, 'progress was not recorded'),
    );
  };
}

/** Removes the unfinished files of builds that are not live, and the shares of those that do not run. */
export async function sweepUnfinishedFiles(db: Pool, store: ArtefactStore): Promise<string[]> {
  const names = await store.listUnfinished(); // before the live builds, so that the file of a new build is not listed
  const rows = await queryRows<{ buildId: number }>(db, sql('nights/list_live_builds'));
  const live = new Set(rows.map(({ buildId }) => buildId));
  const dead = names.filter((name) => {
    const buildId = buildOfUnfinishedName(name);
    return buildId === undefined || !live.has(buildId);
  });
  await Promise.all(dead.map((name) => store.removeUnfinished(name)));
  await db.query(sql('nights/sweep_shares'));
  return dead;
}
