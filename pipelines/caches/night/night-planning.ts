import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import type { Log } from '../../../runtime/log.ts';
import { sql } from '../../../sql/sql.ts';
import type { FilterFile } from '../artefact-facts.ts';
import { isLost } from '../store/artefact-store.ts';
import type { SegmentIndexes } from '../build/plan/basis.ts';
import { buildFormat, sameContent, type FormatSettings } from '../format/build-format.ts';
import type { Basis, BuildPlan, PlannedBuild, RowCounts } from '../build/plan/build-plan.ts';
import { RowCounter, type RegionCount } from '../build/reading/row-counter.ts';
import { formatArtefact, type ArtefactName } from '../definition.ts';
import {
  findChanges,
  findShrinking,
  rowsUnder,
  segmentsUnder,
  widenRegions,
  type Changes,
  type Patch,
} from '../build/plan/dirty-regions.ts';
import { sumLevels } from '../../../format/artefact/level-counts.ts';
import type { LevelCounts } from '../../../format/artefact/levels.ts';
import type { Segment } from '../../../format/artefact/segment-index.ts';

/** The transactions that a snapshot sees, with the database cluster of their ids. */
export interface SeenTransactions {
  /** A pg_snapshot as text. */
  readonly transactions: string;
  readonly cluster: string;
}

/** The input of the planning of a night. */
export interface PlanOptions {
  readonly indexes: SegmentIndexes;
  readonly artefacts: readonly ArtefactName[];
  readonly evaluatedAt: Date;
  readonly settings: PlanSettings;
  /** Builds every artefact in full. */
  readonly fullBuild: boolean;
  readonly log: Log;
}

/** What the counting of rows depends on. */
type CountOptions = Pick<PlanOptions, 'evaluatedAt' | 'settings'>;

/** See the settings of the same names. */
export type PlanSettings = FormatSettings & { readonly fullBuildDays: number };

interface BasisRow extends ArtefactName {
  version: number;
  basisTransactions: string | null;
  basisCluster: string | null;
  basisEvaluatedAt: Date | null;
  fullAsOf: Date | null;
  rows: number;
  levels: LevelCounts;
  format: string | null;
  fileSha256: string;
  fileBytes: number;
  plainSha256: string | null;
  plainBytes: number;
  plainCrc32: string | null;
  contentSha256: string | null;
  segmentRowsMax: number | null;
  indexSha256: string | null;
  indexBytes: number | null;
  filter: FilterFile | null;
  deltas: Basis['deltas'];
}

/** A plan by the marks alone, before rows are counted. `changes`: where rows may have changed; null if unknown. */
export interface DraftPlan extends ArtefactName {
  readonly kind: BuildPlan['kind'];
  /** Of the published version; null if there is none. */
  readonly rowsPublished: number | null;
  readonly basis: Basis | null;
  readonly segments: readonly Segment[];
  readonly changes: Changes | null;
}

/** Segment indexes read at a time: enough to hide the latency of an object store. */
const indexReadsMax = 8;
/** Changed prefixes and keys of one artefact; with more of them, a full build costs less than planning. */
const changedPrefixesMax = 200_000;
/** Tolerance, so that a due full build does not wait another day because this night starts a little earlier. */
const fullBuildSlackMs = 12 * 3600 * 1000;
const dayMs = 24 * 3600 * 1000;

/** The transactions that this connection's snapshot sees. */
export async function readSeenTransactions(db: Queryable): Promise<SeenTransactions> {
  return (await queryRow<SeenTransactions>(db, sql('nights/describe_snapshot')))!;
}

/** Plans the build of each artefact and counts its rows, in the snapshot in which the drafts were made. */
export async function planBuilds(
  db: Queryable,
  drafts: readonly DraftPlan[],
  options: CountOptions,
): Promise<PlannedBuild[]> {
  const planned: PlannedBuild[] = [];
  for (const draft of drafts) planned.push(await countBuild(db, draft, options));
  return planned;
}

/** Drafts the build of each artefact by the marks that this connection's snapshot sees. */
export async function draftPlans(db: Queryable, options: PlanOptions): Promise<DraftPlan[]> {
  const bases = new Map(
    (await queryRows<BasisRow>(db, sql('nights/list_bases'))).map((row) => [formatArtefact(row), row]),
  );
  const rows = options.artefacts.flatMap((artefact) => bases.get(formatArtefact(artefact)) ?? []);
  for (let at = 0; at < rows.length; at += indexReadsMax)
    await Promise.all(rows.slice(at, at + indexReadsMax).map((row) => readIndexOf(row, options)));
  const { cluster } = await readSeenTransactions(db);
  const changes = new ChangedPrefixes(db, options.evaluatedAt);
  const drafts: DraftPlan[] = [];
  for (const artefact of options.artefacts) {
    const row = bases.get(formatArtefact(artefact));
    drafts.push({
      cache: artefact.cache,
      country: artefact.country,
      rowsPublished: row?.rows ?? null,
      ...(await draftPlan(row, { cluster, changes, options })),
    });
  }
  return drafts;
}

interface DraftContext {
  readonly cluster: string;
  readonly changes: ChangedPrefixes;
  readonly options: PlanOptions;
}

async function draftPlan(
  row: BasisRow | undefined,
  { cluster, changes, options }: DraftContext,
): Promise<Omit<DraftPlan, keyof ArtefactName | 'rowsPublished'>> {
  const basis = row === undefined ? null : toBasis(row);
  const segments = basis === null ? null : await readIndexOf(row!, options);
  if (basis === null || segments === null) return { kind: 'full', basis, segments: [], changes: null };
  const changed = areMarksComplete(row!, cluster) ? await changes.of(row!) : null;
  const found = changed === null ? null : findChanges(segments, changed);
  const canCopy = row!.format === buildFormat(row!.cache, options.settings) && segments.length > 0;
  if (found === null || options.fullBuild || isFullBuildDue(row!, options))
    return { kind: 'full', basis, segments, changes: canCopy ? found : null };
  if (found.regions.length + found.patches.length === 0) return { kind: 'keep', basis, segments, changes: found };
  if (!canCopy || 2 * rowsOfRegions(segments, found.regions) > basis.rows)
    return { kind: 'full', basis, segments, changes: null };
  return { kind: 'incremental', basis, segments, changes: found };
}

function rowsOfRegions(segments: readonly Segment[], regions: readonly string[]): number {
  return regions.reduce((sum, region) => sum + rowsUnder(segments, region), 0);
}

/** The segments of a basis; null if its index is missing or damaged: a full build writes a new one. */
async function readIndexOf(row: BasisRow, { indexes, log }: PlanOptions): Promise<readonly Segment[] | null> {
  if (row.indexSha256 === null) return null;
  return indexes.read(row, row.indexSha256).catch((error: unknown) => {
    if (!isLost(error)) throw error;
    log.warn({ err: error, artefact: formatArtefact(row) }, 'a segment index is lost; all rows are read');
    return null;
  });
}

function toBasis(row: BasisRow): Basis | null {
  if (row.indexSha256 === null || row.indexBytes === null) return null;
  return {
    version: row.version,
    rows: row.rows,
    levels: row.levels,
    file: {
      bytes: row.fileBytes,
      sha256: row.fileSha256,
      plainBytes: row.plainBytes,
      plainCrc32: row.plainCrc32,
      contentSha256: row.contentSha256,
      segmentRowsMax: row.segmentRowsMax,
      plainSha256: row.plainSha256,
    },
    index: { sha256: row.indexSha256, bytes: row.indexBytes },
    filter: row.filter,
    deltas: row.deltas,
  };
}

/** True if the marks contain all changes since the basis: they are valid within one cluster and for one row selection. */
function areMarksComplete(row: BasisRow, cluster: string): boolean {
  return row.basisTransactions !== null && row.basisCluster === cluster && sameContent(row.format, row.cache);
}

function isFullBuildDue({ fullAsOf }: BasisRow, { settings: { fullBuildDays }, evaluatedAt }: PlanOptions): boolean {
  return fullAsOf === null || evaluatedAt.getTime() - fullAsOf.getTime() >= fullBuildDays * dayMs - fullBuildSlackMs;
}

/** Changed prefixes by artefact, read once for each snapshot of a basis; usually all artefacts have the same one. */
class ChangedPrefixes {
  private readonly db: Queryable;
  private readonly evaluatedAt: Date;
  private readonly known = new Map<string, Promise<Map<string, readonly string[] | null>>>();

  constructor(db: Queryable, evaluatedAt: Date) {
    this.db = db;
    this.evaluatedAt = evaluatedAt;
  }

  /** The prefixes under which rows of an artefact may have changed since its basis; null if there are too many. */
  async of({ cache, country, basisTransactions, basisEvaluatedAt }: BasisRow): Promise<readonly string[] | null> {
    const key = `${basisTransactions} ${basisEvaluatedAt!.toISOString()}`;
    if (!this.known.has(key)) this.known.set(key, this.read(basisTransactions!, basisEvaluatedAt!));
    const changed = await this.known.get(key)!;
    const lists = [
      changed.get(formatArtefact({ cache, country })),
      changed.get(formatArtefact({ cache, country: '*' })),
    ];
    return lists.includes(null) ? null : lists.flatMap((list) => list ?? []);
  }

  private async read(transactions: string, evaluatedBefore: Date): Promise<Map<string, readonly string[] | null>> {
    const rows = await queryRows<{ cache: string; country: string; list: string[] | null }>(
      this.db,
      sql('nights/list_changed_prefixes'),
      [transactions, evaluatedBefore, this.evaluatedAt, changedPrefixesMax],
    );
    return new Map(rows.map(({ cache, country, list }) => [formatArtefact({ cache, country }), list]));
  }
}

async function countBuild(
  db: Queryable,
  draft: DraftPlan,
  { evaluatedAt, settings: { segmentRowsMax } }: CountOptions,
): Promise<PlannedBuild> {
  const { cache, country, kind, basis, segments, changes } = draft;
  const artefact = { cache, country };
  const keep = ({ rows, levels }: Basis): PlannedBuild => ({
    ...artefact,
    plan: { kind: 'keep', basis: basis! },
    rows,
    levels,
  });
  if (kind === 'keep') return keep(basis!);
  const counter = new RowCounter(db, artefact, evaluatedAt);
  if (kind === 'full') {
    const changed = changes && [...changes.regions, ...changes.patches.map(({ region }) => region)].sort();
    return { ...artefact, plan: { kind, basis, unchangedExcept: changed }, ...(await counter.countRows(null)) };
  }
  const { counted, patches } = await countChanges(counter, { segments, changes: changes! }, segmentRowsMax);
  if (counted.length + patches.length === 0) return keep(basis!);
  const regions = widenRegions(segments, counted, segmentRowsMax);
  return {
    ...artefact,
    plan: { kind, basis: basis!, changes: { regions, patches } },
    ...countsAfter(basis!, segments, counted),
  };
}

/** The counts of the regions, and of those patches that may leave too few rows for a segment of their own. */
async function countChanges(
  counter: RowCounter,
  { segments, changes }: { readonly segments: readonly Segment[]; readonly changes: Changes },
  rowsMax: number,
): Promise<{ counted: readonly RegionCount[]; patches: readonly Patch[] }> {
  let { patches } = changes;
  let counted = await counter.countRegions(segments, changes.regions);
  for (;;) {
    const shrinking = findShrinking(segments, { counted, patches }, rowsMax);
    if (shrinking.length === 0) return { counted, patches };
    const regions = shrinking.map(({ region }) => region);
    counted = [...counted, ...(await counter.countRegions(segments, regions))];
    patches = patches.filter((patch) => !shrinking.includes(patch));
  }
}

/** The counts of the basis with the regions' new counts in place of the old. */
function countsAfter(basis: Basis, segments: readonly Segment[], counted: readonly RegionCount[]): RowCounts {
  const before = counted.flatMap(({ prefix }) => {
    const { from, to } = segmentsUnder(segments, prefix);
    return segments.slice(from, to);
  });
  const rows =
    basis.rows +
    counted.reduce((sum, region) => sum + region.rows, 0) -
    before.reduce((sum, segment) => sum + segment.rows, 0);
  const levels = sumLevels(
    [basis.levels, ...counted.map((region) => region.levels)],
    before.map((segment) => segment.levels),
  );
  return { rows, levels };
}
