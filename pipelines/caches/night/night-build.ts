import type { Log } from '../../../runtime/log.ts';
import { errorCodeOf, type ErrorCode, type Failure } from '../../../runtime/errors.ts';
import { queryRow, type Pool, queryRows } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { ArtefactStore } from '../store/artefact-store.ts';
import { SegmentIndexes } from './basis.ts';
import { buildFormat } from '../format/build-format.ts';
import { noBasis, type BuildPlan } from './build-plan.ts';
import { buildArtefact, type BuildOptions, type BuildSettings, type BuiltArtefact } from './build.ts';
import type { CacheName } from '../definition.ts';
import { writeDeltas } from './delta-files.ts';
import type { StoredDelta } from '../artefact-facts.ts';
import { countDiffering } from './dirty-regions.ts';
import type { LevelCounts } from '../artefact-facts.ts';
import type { Segment } from '../format/segment-index.ts';

export interface NightBuildOptions {
  readonly db: Pool;
  readonly databaseUrl: string;
  readonly store: ArtefactStore;
  readonly settings: BuildSettings & { readonly versionsKept: number };
  readonly buildId: number;
  /** Called with what records the failure of this try, for a caller after whose last try no other follows. */
  readonly onFailure: (record: (failure: Failure) => Promise<unknown>) => void;
  readonly signal: AbortSignal;
  readonly log: Log;
}

interface BuildRow {
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
 * Runs one build of a night and records its outcome. Does nothing if the build has its outcome, or a later attempt at the
 * night took over.
 * @throws what {@link buildArtefact} throws
 */
export async function runNightBuild(options: NightBuildOptions): Promise<void> {
  const { db, buildId } = options;
  const build = await queryRow<BuildRow>(db, sql('nights/start_build'), [buildId]);
  if (build === undefined) return;
  options.onFailure(({ code, reason }) =>
    db.query(sql('nights/record_try_failure'), [buildId, build.attempts, code, reason]),
  );
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
    },
    options.log,
  );
  await record(options, build, { built, ...(await compareWithBasis(built, build, { ...options, indexes })) });
}

const unusableBasis: readonly ErrorCode[] = ['basis_unusable', 'segment_index_invalid'];

/** Builds by the plan; if the basis is missing or damaged, which the plan could not know, from all rows. */
async function buildOrBuildAll(options: BuildOptions, log: Log): Promise<BuiltArtefact> {
  try {
    return await buildArtefact(options);
  } catch (error) {
    if (!unusableBasis.includes(errorCodeOf(error))) throw error;
    log.warn({ err: error }, 'the basis cannot be copied from; all rows are read');
    return buildArtefact({ ...options, plan: noBasis });
  }
}

interface Compared {
  readonly deltas: readonly StoredDelta[];
  /** Segments that the marks took to be unchanged and are not; null where all or none of that was to be seen. */
  readonly segmentsDiffering: number | null;
}

/** Compares a build with its basis. One that cannot be compared is published nevertheless. */
async function compareWithBasis(
  built: BuiltArtefact,
  build: BuildRow,
  options: NightBuildOptions & { readonly indexes: SegmentIndexes },
): Promise<Compared> {
  const { plan } = build;
  if (plan.basis === null || plan.kind === 'keep') return { deltas: [], segmentsDiffering: null };
  try {
    const segments = await options.indexes.read(build, plan.basis.index.sha256);
    const segmentsDiffering =
      plan.kind === 'full' && plan.unchangedExcept !== null
        ? countDiffering(segments, built.segments, plan.unchangedExcept)
        : null;
    if (segmentsDiffering !== null && segmentsDiffering > 0) {
      options.log.error(
        { buildId: build.buildId, cache: build.cache, country: build.country, segmentsDiffering },
        'rows changed without a mark: the incremental builds since the last full one may be wrong; this full one is published',
      );
    }
    const deltas =
      built.file.plainSha256 === plan.basis.file.plainSha256
        ? []
        : await deltasFrom({ ...plan.basis, segments }, built, { ...options, build });
    return { deltas, segmentsDiffering };
  } catch (error) {
    options.log.error({ err: error }, 'the deltas could not be made; clients take the whole file');
    return { deltas: [], segmentsDiffering: null };
  }
}

type IndexedBasis = NonNullable<BuildPlan['basis']> & { readonly segments: readonly Segment[] };

function deltasFrom(
  basis: IndexedBasis,
  built: BuiltArtefact,
  { store, settings, build, log }: NightBuildOptions & { readonly build: BuildRow },
): Promise<StoredDelta[]> {
  return writeDeltas({
    store,
    artefact: { cache: build.cache, country: build.country },
    owner: `${unfinishedName(build)}.delta`,
    basis: { version: basis.version, sha256: basis.file.sha256, segments: basis.segments },
    built: { sha256: built.file.sha256, segments: built.segments },
    copiedExcept: built.copiedExcept,
    earlier: basis.deltas.slice(0, settings.versionsKept - 1),
    onLost: (from, error) =>
      log.warn({ err: error, from }, 'an earlier delta is lost; clients of that version take the whole file'),
  });
}

async function record(
  { db, settings }: NightBuildOptions,
  build: BuildRow,
  { built, deltas, segmentsDiffering }: Compared & { readonly built: BuiltArtefact },
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
  ]);
}

/** The file that a try writes to: `build-12-3`. A try that was presumed dead and goes on writes to another. */
function unfinishedName({ buildId, attempts }: BuildRow): string {
  return `build-${buildId}-${attempts}`;
}

/** The build that an unfinished file belongs to, or undefined for a file that is not a build's. */
export function buildOfUnfinishedName(name: string): number | undefined {
  const match = /^build-(\d+)-\d+(?:\.[a-z0-9.-]+)?$/.exec(name);
  return match === null ? undefined : Number(match[1]);
}

/** Writes the rows done so far to the database about once a second. */
function progressRecorder({ db, buildId, log }: NightBuildOptions, { attempts }: BuildRow): (rows: number) => void {
  let told = Date.now();
  return (rows) => {
    if (Date.now() - told < progressMs) return;
    told = Date.now();
    db.query(sql('nights/record_build_progress'), [buildId, rows, attempts]).catch((error: unknown) =>
      log.debug({ err: error, buildId }, 'progress was not recorded'),
    );
  };
}

/** Removes the unfinished files of builds that no attempt at a night goes on with. */
export async function sweepUnfinishedFiles(db: Pool, store: ArtefactStore): Promise<string[]> {
  const names = await store.listUnfinished(); // first: a build that begins after this is not on the list
  const rows = await queryRows<{ buildId: number }>(db, sql('nights/list_live_builds'));
  const live = new Set(rows.map(({ buildId }) => buildId));
  const dead = names.filter((name) => {
    const buildId = buildOfUnfinishedName(name);
    return buildId === undefined || !live.has(buildId);
  });
  await Promise.all(dead.map((name) => store.removeUnfinished(name)));
  return dead;
}
