import { formatArtefact, type CacheName } from '../../pipelines/caches/definition.ts';
import { readNight, type LapsedBrand, type NightState } from '../../pipelines/caches/night/night-report.ts';
import { queryRow, queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { adviceOn } from '../http/error-advice.ts';
import type { RequestedNight } from '../../pipelines/caches/night/night-request.ts';
import type { Config } from '../../runtime/config.ts';

export type { RequestedNight };

/** Days on a page of the history. */
const historyDays = 30;

/** Most nights that are listed for a page; the history itself includes all. */
const nightsMax = 200;

/** The outcome of an artefact on a day. `stale`: the build failed, and the previous version stays published. */
type CellState = 'published' | 'unchanged' | 'stale' | 'failed' | 'running';

/** One artefact on one day: the outcome in the latest night of the day that included it. */
export interface Cell {
  readonly state: CellState;
  readonly runId: number;
  /** Nights of the day that included it. */
  readonly nights: number;
  readonly failureCode: string | null;
}

/** The days of one artefact, in the order of {@link NightHistory.days}; null where no night included it. */
export interface HistoryRow {
  readonly cache: CacheName;
  readonly country: string;
  readonly cells: readonly (Cell | null)[];
}

/** The request and the progress of a night. */
export interface NightSummary {
  readonly runId: number;
  readonly date: string;
  readonly trigger: NightState['trigger'];
  readonly state: NightState['state'];
  readonly outcome: NightState['outcome'];
  /** `phones/US`; null for everything. */
  readonly only: string | null;
  readonly acceptShrink: boolean;
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

/** The history of nights by day, newest first. */
export interface NightHistory {
  readonly days: readonly string[];
  readonly rows: readonly HistoryRow[];
  readonly nights: readonly NightSummary[];
  /** True while any night is due or running. */
  readonly isOpen: boolean;
  /** The cursor of older days; null if there are none. */
  readonly next: string | null;
}

interface CellRow {
  cache: CacheName;
  country: string;
  nightDate: string;
  runId: number;
  state: CellState;
  failureCode: string | null;
  nights: number;
}

interface StandingRow {
  newest: number | null;
  finished: number;
  open: number;
  olderDay: string | null;
}

const dayMs = 86_400_000;

/** The `count` days before a day (UTC), newest first. */
export function daysBefore(day: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) =>
    new Date(Date.parse(`${day}T00:00:00Z`) - (at + 1) * dayMs).toISOString().slice(0, 10),
  );
}

/** Today and the days before it, newest first. */
function daysUntilNow(count: number): string[] {
  return daysBefore(new Date(Date.now() + dayMs).toISOString().slice(0, 10), count);
}

/** The history of the {@link historyDays} days before a day, or up to today. */
export async function readHistory(db: Queryable, before?: string): Promise<NightHistory> {
  const days = before === undefined ? daysUntilNow(historyDays) : daysBefore(before, historyDays);
  return readDays(db, days, await readStanding(db, days));
}

/** Days that a page follows live: today, and yesterday for a night that is open at midnight. Earlier days do not change. */
const followedDays = 2;

/**
 * Polls the last {@link followedDays} days of the history for live pages. While no night is open and none was added, a poll
 * is one small statement.
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

async function readDays(
  db: Queryable,
  days: readonly string[],
  { open, olderDay }: StandingRow,
): Promise<NightHistory> {
  const [newest, oldest] = [days[0]!, days.at(-1)!];
  const cells = await queryRows<CellRow>(db, sql('console/list_night_cells'), [oldest, newest]);
  return {
    days,
    rows: rowsOf(cells, days),
    nights: await listNights(db, { oldest, newest }),
    isOpen: open > 0,
    next: olderDay === null ? null : oldest,
  };
}

function rowsOf(cells: readonly CellRow[], days: readonly string[]): HistoryRow[] {
  const columns = new Map(days.map((day, at) => [day, at]));
  const rows = new Map<string, HistoryRow & { readonly cells: (Cell | null)[] }>();
  for (const { cache, country, nightDate, state, runId, nights, failureCode } of cells) {
    const name = formatArtefact({ cache, country });
    const row = rows.get(name) ?? { cache, country, cells: days.map(() => null) };
    row.cells[columns.get(nightDate)!] = { state, runId, nights, failureCode };
    rows.set(name, row);
  }
  return [...rows.values()];
}

/** The nights of the given days, newest first. */
export async function listNights(
  db: Queryable,
  { oldest, newest }: { readonly oldest: string; readonly newest: string },
): Promise<NightSummary[]> {
  const nights = await queryRows<ScopedRow<NightSummary>>(db, sql('console/list_nights'), [oldest, newest, nightsMax]);
  return nights.map(withScope);
}

/** A row with the requested artefacts as stored. */
type ScopedRow<Record> = Omit<Record, 'only'> & {
  readonly only: { readonly cache: string; readonly country: string } | null;
};

function withScope<Row extends ScopedRow<object>>(row: Row): Omit<Row, 'only'> & { readonly only: string | null } {
  return { ...row, only: row.only && formatArtefact(row.only) };
}

/** The last night of a day that was to build everything. */
export interface TrendDay {
  readonly day: string;
  readonly runId: number;
  /** From its opening; null if it never opened. */
  readonly seconds: number | null;
  readonly rows: number | null;
  /** Of all files; null if none was built. */
  readonly bytes: number | null;
  readonly spam: number | null;
  readonly fraud: number | null;
}

/** The whole nights up to a night. */
export interface NightTrend {
  readonly days: readonly TrendDay[];
}

/** The whole nights of a day and of the 29 days before it, oldest first. */
export function readTrend(db: Queryable, lastDay: string): Promise<TrendDay[]> {
  const [firstDay] = daysBefore(lastDay, historyDays - 1).slice(-1);
  return queryRows<TrendDay>(db, sql('console/list_whole_nights'), [firstDay, lastDay]);
}

/** The reason of a failure, and what to do about it. */
export interface FailureFacts {
  readonly code: string;
  readonly reason: string;
  readonly advice: string | null;
}

/** One build of a night. */
export interface NightBuild {
  readonly cache: CacheName;
  readonly country: string;
  readonly state: NightState['builds'][number]['state'];
  /** The published version after the night; null if there is none. */
  readonly version: number | null;
  readonly rowsExpected: number | null;
  readonly rows: number | null;
  readonly rowsBefore: number | null;
  readonly attempts: number;
  readonly startedAt: Date | null;
  readonly builtAt: Date | null;
  readonly bytes: number | null;
  readonly plainBytes: number | null;
  readonly failure: FailureFacts | null;
}

/** A night with all details. */
export interface NightDetail {
  readonly night: Pick<
    NightState,
    | 'runId'
    | 'date'
    | 'trigger'
    | 'state'
    | 'outcome'
    | 'generation'
    | 'requestedAt'
    | 'requestedBy'
    | 'openedAt'
    | 'finishedAt'
  > & {
    readonly only: string | null;
    readonly acceptShrink: boolean;
    /** Snapshot time. */
    readonly asOf: Date | null;
    readonly evaluatedAt: Date | null;
    readonly failure: FailureFacts | null;
  };
  readonly builds: readonly NightBuild[];
  readonly lapsed: readonly LapsedBrand[];
  /** The trace of a night that has ended; null where nothing is traced. */
  readonly traceId: string | null;
  /** The other nights of the same date, newest first. */
  readonly others: readonly NightSummary[];
}

/** The request of a night, and its timestamps. */
type NightRequest = Pick<NightDetail['night'], 'only' | 'acceptShrink' | 'asOf' | 'evaluatedAt'>;

type BuildRow = Omit<NightBuild, 'failure'> & { readonly failure: Omit<FailureFacts, 'advice'> | null };

/**
 * A night with its builds, finished or not.
 * @throws ServiceError `night_unknown`
 */
export async function readWholeNight(db: Queryable, runId: number): Promise<NightDetail> {
  const { failure, report, builds: _states, ...night } = await readNight(db, { runId });
  const asked = (await queryRow<ScopedRow<NightRequest>>(db, sql('console/find_night'), [runId]))!;
  const builds = await queryRows<BuildRow>(db, sql('console/list_night_builds'), [runId]);
  return {
    night: { ...night, ...withScope(asked), failure: failure && failureOf(failure) },
    builds: builds.map((build) => ({ ...build, failure: build.failure && failureOf(build.failure) })),
    lapsed: report?.lapsed ?? [],
    traceId: report?.traceId ?? null,
    others: (await listNights(db, { oldest: night.date, newest: night.date })).filter((other) => other.runId !== runId),
  };
}

function failureOf({ code, reason }: { code: string; reason: string }): FailureFacts {
  return { code, reason, advice: adviceOn(code) };
}

/** The settings that the dialog for a night shows. */
export type NightSettings = Pick<Config, 'shrinkPercentMax'>;

/** The released files. */
export interface ReleasedFiles {
  readonly released: readonly string[];
}
