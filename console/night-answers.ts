import { findCache, formatArtefact, type CacheName } from '../pipelines/caches/definition.ts';
import { readNight, type LapsedBrand, type NightState } from '../pipelines/caches/night-report.ts';
import { queryRow, queryRows, type Queryable } from '../runtime/postgres.ts';
import { sql } from '../sql/sql.ts';
import { adviceOn } from './error-advice.ts';

/** Days of the history that are read at a time. */
export const historyDays = 30;

/** Most nights that are listed of the days that are read; the history itself counts all. */
export const nightsMax = 200;

/** What became of an artefact on a day. `stale`: the build failed, and readers keep the version before. */
export type CellState = 'published' | 'unchanged' | 'stale' | 'failed' | 'running';

/** One artefact on one day, by the latest night of the day that was to build it. */
export interface Cell {
  readonly state: CellState;
  readonly runId: number;
  /** Nights of the day that were to build it. */
  readonly nights: number;
  readonly failureCode: string | null;
}

/** The days of one artefact, in the order of {@link NightHistory.days}; null where no night was to build it. */
export interface HistoryRow {
  readonly cache: CacheName;
  readonly country: string;
  readonly cells: readonly (Cell | null)[];
}

/** What a night was asked to do and how far it came. */
export interface NightSummary {
  readonly runId: number;
  readonly date: string;
  readonly trigger: NightState['trigger'];
  readonly state: NightState['state'];
  readonly outcome: NightState['outcome'];
  /** `phones/US`; null for everything. */
  readonly only: string | null;
  readonly acceptShrink: boolean;
  readonly full: boolean;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly openedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly files: number;
  readonly filesEnded: number;
  readonly filesFailed: number;
  readonly rows: number;
  readonly rowsExpected: number;
}

/** The history of nights on some days, the newest day first. */
export interface NightHistory {
  readonly days: readonly string[];
  readonly rows: readonly HistoryRow[];
  readonly nights: readonly NightSummary[];
  /** True while a night of whatever day is due or running. */
  readonly isOpen: boolean;
  /** The day before which older nights are; null if there are none. */
  readonly next: string | null;
}

interface CellRow {
  cache: CacheName;
  country: string;
  night_date: string;
  run_id: number;
  state: CellState;
  failure_code: string | null;
  nights: number;
}

interface SummaryRow {
  run_id: number;
  night_date: string;
  trigger: NightState['trigger'];
  state: NightState['state'];
  outcome: NightState['outcome'];
  only_cache: string | null;
  only_country: string | null;
  accept_shrink: boolean;
  full_build: boolean;
  requested_by: string;
  requested_at: Date;
  opened_at: Date | null;
  finished_at: Date | null;
  files: number;
  files_ended: number;
  files_failed: number;
  rows: number;
  rows_expected: number;
}

interface StandingRow {
  newest: number | null;
  finished: number;
  open: number;
  older_day: string | null;
}

const dayMs = 86_400_000;

/** So many days that end before a day (UTC), the newest first. */
export function daysBefore(day: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => new Date(Date.parse(`${day}T00:00:00Z`) - (at + 1) * dayMs).toISOString().slice(0, 10));
}

/** Today and the days before it. */
function daysUntilNow(count: number): string[] {
  return daysBefore(new Date(Date.now() + dayMs).toISOString().slice(0, 10), count);
}

/** The history of the {@link historyDays} days before a day, or of those that end today. */
export async function readHistory(db: Queryable, before?: string): Promise<NightHistory> {
  const days = before === undefined ? daysUntilNow(historyDays) : daysBefore(before, historyDays);
  return readDays(db, days, await readStanding(db, days));
}

/** Days at the end of the history that a page follows: today, and yesterday for the night that is open at midnight. The days before do not change. */
const followedDays = 2;

/**
 * Reads the last {@link followedDays} days of the history again and again for a page that follows them. While no night is open and none
 * was added, that takes one small statement.
 */
export function followHistory(db: Queryable): () => Promise<NightHistory> {
  let last: { readonly key: string; readonly history: NightHistory } | undefined;
  return async () => {
    const days = daysUntilNow(followedDays);
    const standing = await readStanding(db, days);
    const key = JSON.stringify([days[0], standing]);
    if (last !== undefined && last.key === key && standing.open === 0) return last.history;
    const history = await readDays(db, days, standing);
    last = { key, history };
    return history;
  };
}

async function readStanding(db: Queryable, days: readonly string[]): Promise<StandingRow> {
  return (await queryRow<StandingRow>(db, sql('console/describe_nights'), [days.at(-1)]))!;
}

async function readDays(db: Queryable, days: readonly string[], { open, older_day }: StandingRow): Promise<NightHistory> {
  const [newest, oldest] = [days[0]!, days.at(-1)!];
  const cells = await queryRows<CellRow>(db, sql('console/list_night_cells'), [oldest, newest]);
  return { days, rows: rowsOf(cells, days), nights: await listNights(db, { oldest, newest }), isOpen: open > 0, next: older_day === null ? null : oldest };
}

function rowsOf(cells: readonly CellRow[], days: readonly string[]): HistoryRow[] {
  const columns = new Map(days.map((day, at) => [day, at]));
  const rows = new Map<string, HistoryRow & { readonly cells: (Cell | null)[] }>();
  for (const { cache, country, night_date, state, run_id, nights, failure_code } of cells) {
    const name = formatArtefact({ cache, country });
    const row = rows.get(name) ?? { cache, country, cells: days.map(() => null) };
    row.cells[columns.get(night_date)!] = { state, runId: run_id, nights, failureCode: failure_code };
    rows.set(name, row);
  }
  return [...rows.values()];
}

/** The nights of some days, newest first. */
export async function listNights(db: Queryable, { oldest, newest }: { readonly oldest: string; readonly newest: string }): Promise<NightSummary[]> {
  const rows = await queryRows<SummaryRow>(db, sql('console/list_nights'), [oldest, newest, nightsMax]);
  return rows.map((row) => ({
    runId: row.run_id,
    date: row.night_date,
    trigger: row.trigger,
    state: row.state,
    outcome: row.outcome,
    only: scopeOf(row),
    acceptShrink: row.accept_shrink,
    full: row.full_build,
    requestedBy: row.requested_by,
    requestedAt: row.requested_at,
    openedAt: row.opened_at,
    finishedAt: row.finished_at,
    files: row.files,
    filesEnded: row.files_ended,
    filesFailed: row.files_failed,
    rows: row.rows,
    rowsExpected: row.rows_expected,
  }));
}

function scopeOf({ only_cache, only_country }: { only_cache: string | null; only_country: string | null }): string | null {
  return only_cache === null ? null : formatArtefact({ cache: only_cache, country: only_country ?? '' });
}

/** Why something failed, and what to do about it. */
export interface ToldFailure {
  readonly code: string;
  readonly reason: string;
  readonly advice: string | null;
}

/** One build of a night. */
export interface ToldBuild {
  readonly cache: CacheName;
  readonly country: string;
  readonly state: NightState['builds'][number]['state'];
  readonly kind: 'full' | 'incremental' | 'keep';
  /** The version that readers are given after the night; null if there is none. */
  readonly version: number | null;
  readonly rowsExpected: number;
  readonly rows: number | null;
  readonly rowsBefore: number | null;
  readonly rowsRead: number | null;
  readonly segments: number | null;
  readonly segmentsDiffering: number | null;
  readonly attempts: number;
  readonly startedAt: Date | null;
  readonly builtAt: Date | null;
  readonly bytes: number | null;
  readonly plainBytes: number | null;
  readonly failure: ToldFailure | null;
}

/** A night with all that is known of it. */
export interface ToldNight {
  readonly night: Pick<NightState, 'runId' | 'date' | 'trigger' | 'state' | 'outcome' | 'generation' | 'requestedAt' | 'requestedBy' | 'openedAt' | 'finishedAt'> & {
    readonly only: string | null;
    readonly acceptShrink: boolean;
    readonly full: boolean;
    /** Snapshot time. */
    readonly asOf: Date | null;
    readonly evaluatedAt: Date | null;
    readonly failure: ToldFailure | null;
  };
  readonly builds: readonly ToldBuild[];
  readonly lapsed: readonly LapsedBrand[];
  /** The other nights of the same date, newest first. */
  readonly others: readonly NightSummary[];
}

interface RequestRow {
  only_cache: string | null;
  only_country: string | null;
  accept_shrink: boolean;
  full_build: boolean;
  as_of: Date | null;
  evaluated_at: Date | null;
}

interface BuildRow {
  cache: CacheName;
  country: string;
  state: ToldBuild['state'];
  kind: ToldBuild['kind'];
  rows_expected: number;
  rows: number | null;
  rows_read: number | null;
  segments: number | null;
  segments_differing: number | null;
  attempts: number;
  started_at: Date | null;
  built_at: Date | null;
  file_bytes: number | null;
  plain_bytes: number | null;
  failure_code: string | null;
  failure_reason: string;
  version: number | null;
  version_before: number | null;
  rows_before: number | null;
}

/**
 * A night with its builds, whether it is finished or not.
 * @throws ServiceError `night_unknown`
 */
export async function readWholeNight(db: Queryable, runId: number): Promise<ToldNight> {
  const { runId: id, date, trigger, state, outcome, generation, requestedAt, requestedBy, openedAt, finishedAt, failure, report } = await readNight(db, { runId });
  const asked = (await queryRow<RequestRow>(db, sql('console/find_night'), [runId]))!;
  const builds = await queryRows<BuildRow>(db, sql('console/list_night_builds'), [runId]);
  return {
    night: {
      runId: id, date, trigger, state, outcome, generation, requestedAt, requestedBy, openedAt, finishedAt,
      only: scopeOf(asked),
      acceptShrink: asked.accept_shrink,
      full: asked.full_build,
      asOf: asked.as_of,
      evaluatedAt: asked.evaluated_at,
      failure: failure && toldFailure(failure),
    },
    builds: builds.map(toldBuild),
    lapsed: report?.lapsed ?? [],
    others: (await listNights(db, { oldest: date, newest: date })).filter((other) => other.runId !== runId),
  };
}

function toldBuild(row: BuildRow): ToldBuild {
  const isBuilt = row.built_at !== null;
  return {
    cache: findCache(row.cache).name,
    country: row.country,
    state: row.state,
    kind: row.kind,
    version: row.version ?? row.version_before,
    rowsExpected: row.rows_expected,
    rows: row.rows,
    rowsBefore: row.rows_before,
    rowsRead: isBuilt ? row.rows_read : null,
    segments: row.segments,
    segmentsDiffering: row.segments_differing,
    attempts: row.attempts,
    startedAt: row.started_at,
    builtAt: row.built_at,
    bytes: row.file_bytes,
    plainBytes: row.plain_bytes,
    failure: row.failure_code === null ? null : toldFailure({ code: row.failure_code, reason: row.failure_reason }),
  };
}

function toldFailure({ code, reason }: { code: string; reason: string }): ToldFailure {
  return { code, reason, advice: adviceOn(code) };
}
