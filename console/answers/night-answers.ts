import { findCache, formatArtefact, type CacheName } from '../../pipelines/caches/definition.ts';
import { readNight, type LapsedBrand, type NightState } from '../../pipelines/caches/night/night-report.ts';
import { queryRow, queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { adviceOn } from '../http/error-advice.ts';
import type { RequestedNight } from '../../pipelines/caches/night/night-request.ts';
import type { Config } from '../../runtime/config.ts';

export type { RequestedNight };

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
  nightDate: string;
  runId: number;
  state: CellState;
  failureCode: string | null;
  nights: number;
}

interface SummaryRow {
  runId: number;
  nightDate: string;
  trigger: NightState['trigger'];
  state: NightState['state'];
  outcome: NightState['outcome'];
  onlyCache: string | null;
  onlyCountry: string | null;
  acceptShrink: boolean;
  fullBuild: boolean;
  requestedBy: string;
  requestedAt: Date;
  openedAt: Date | null;
  finishedAt: Date | null;
  files: number;
  filesEnded: number;
  filesFailed: number;
  rows: number;
  rowsExpected: number;
}

interface StandingRow {
  newest: number | null;
  finished: number;
  open: number;
  olderDay: string | null;
}

const dayMs = 86_400_000;

/** So many days that end before a day (UTC), the newest first. */
export function daysBefore(day: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) =>
    new Date(Date.parse(`${day}T00:00:00Z`) - (at + 1) * dayMs).toISOString().slice(0, 10),
  );
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

/** The nights of some days, newest first. */
export async function listNights(
  db: Queryable,
  { oldest, newest }: { readonly oldest: string; readonly newest: string },
): Promise<NightSummary[]> {
  const rows = await queryRows<SummaryRow>(db, sql('console/list_nights'), [oldest, newest, nightsMax]);
  return rows.map((row) => ({
    runId: row.runId,
    date: row.nightDate,
    trigger: row.trigger,
    state: row.state,
    outcome: row.outcome,
    only: scopeOf(row),
    acceptShrink: row.acceptShrink,
    full: row.fullBuild,
    requestedBy: row.requestedBy,
    requestedAt: row.requestedAt,
    openedAt: row.openedAt,
    finishedAt: row.finishedAt,
    files: row.files,
    filesEnded: row.filesEnded,
    filesFailed: row.filesFailed,
    rows: row.rows,
    rowsExpected: row.rowsExpected,
  }));
}

function scopeOf({ onlyCache, onlyCountry }: { onlyCache: string | null; onlyCountry: string | null }): string | null {
  return onlyCache === null ? null : formatArtefact({ cache: onlyCache, country: onlyCountry ?? '' });
}

/** Why something failed, and what to do about it. */
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
  readonly failure: FailureFacts | null;
}

/** A night with all that is known of it. */
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
    readonly full: boolean;
    /** Snapshot time. */
    readonly asOf: Date | null;
    readonly evaluatedAt: Date | null;
    readonly failure: FailureFacts | null;
  };
  readonly builds: readonly NightBuild[];
  readonly lapsed: readonly LapsedBrand[];
  /** The other nights of the same date, newest first. */
  readonly others: readonly NightSummary[];
}

interface RequestRow {
  onlyCache: string | null;
  onlyCountry: string | null;
  acceptShrink: boolean;
  fullBuild: boolean;
  asOf: Date | null;
  evaluatedAt: Date | null;
}

interface BuildRow {
  cache: CacheName;
  country: string;
  state: NightBuild['state'];
  kind: NightBuild['kind'];
  rowsExpected: number;
  rows: number | null;
  rowsRead: number | null;
  segments: number | null;
  segmentsDiffering: number | null;
  attempts: number;
  startedAt: Date | null;
  builtAt: Date | null;
  fileBytes: number | null;
  plainBytes: number | null;
  failureCode: string | null;
  failureReason: string;
  version: number | null;
  versionBefore: number | null;
  rowsBefore: number | null;
}

/**
 * A night with its builds, whether it is finished or not.
 * @throws ServiceError `night_unknown`
 */
export async function readWholeNight(db: Queryable, runId: number): Promise<NightDetail> {
  const {
    runId: id,
    date,
    trigger,
    state,
    outcome,
    generation,
    requestedAt,
    requestedBy,
    openedAt,
    finishedAt,
    failure,
    report,
  } = await readNight(db, { runId });
  const asked = (await queryRow<RequestRow>(db, sql('console/find_night'), [runId]))!;
  const builds = await queryRows<BuildRow>(db, sql('console/list_night_builds'), [runId]);
  return {
    night: {
      runId: id,
      date,
      trigger,
      state,
      outcome,
      generation,
      requestedAt,
      requestedBy,
      openedAt,
      finishedAt,
      only: scopeOf(asked),
      acceptShrink: asked.acceptShrink,
      full: asked.fullBuild,
      asOf: asked.asOf,
      evaluatedAt: asked.evaluatedAt,
      failure: failure && failureOf(failure),
    },
    builds: builds.map(buildOf),
    lapsed: report?.lapsed ?? [],
    others: (await listNights(db, { oldest: date, newest: date })).filter((other) => other.runId !== runId),
  };
}

function buildOf(row: BuildRow): NightBuild {
  const isBuilt = row.builtAt !== null;
  return {
    cache: findCache(row.cache).name,
    country: row.country,
    state: row.state,
    kind: row.kind,
    version: row.version ?? row.versionBefore,
    rowsExpected: row.rowsExpected,
    rows: row.rows,
    rowsBefore: row.rowsBefore,
    rowsRead: isBuilt ? row.rowsRead : null,
    segments: row.segments,
    segmentsDiffering: row.segmentsDiffering,
    attempts: row.attempts,
    startedAt: row.startedAt,
    builtAt: row.builtAt,
    bytes: row.fileBytes,
    plainBytes: row.plainBytes,
    failure: row.failureCode === null ? null : failureOf({ code: row.failureCode, reason: row.failureReason }),
  };
}

function failureOf({ code, reason }: { code: string; reason: string }): FailureFacts {
  return { code, reason, advice: adviceOn(code) };
}

/** The settings that the dialog of a night shows. */
export type NightSettings = Pick<Config, 'shrinkPercentMax'>;

/** The names of files that were released. */
export interface ReleasedFiles {
  readonly released: readonly string[];
}
