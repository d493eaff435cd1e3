import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { loadsCompared } from './load-gates.ts';

/** When a feed came last, and until when it may stay away. */
export interface FeedArrival {
  readonly feed: string;
  readonly source: string;
  /** Submission of the last load that brought something; null for a feed that is expected by setting and never came. */
  readonly lastAt: Date | null;
  /** Accepted rows of that load. */
  readonly rows: number | null;
  /** Hours between two loads: by setting, else as learnt from the last 28; null while there are too few. */
  readonly expectedHours: number | null;
  readonly ageHours: number | null;
  readonly late: boolean;
}

/** Settings of the same names. */
export interface ArrivalLimits {
  readonly feedIntervalHours?: string | undefined;
  readonly feedLatePercent: number;
  readonly feedGateLoadsMin: number;
}

/** What the database says of one feed and source. */
export interface ArrivalFacts {
  readonly feed: string;
  readonly source: string;
  readonly lastAt: Date;
  readonly rows: number;
  readonly loads: number;
  readonly usualSeconds: number | null;
}

/** Files that are loaded one after another on the first day say nothing about how often they come. */
const learntHoursMin = 24;
const hourMs = 3_600_000;

/** When each feed came last, and which are late. */
export async function listFeedArrivals(db: Queryable, limits: ArrivalLimits, now: Date): Promise<FeedArrival[]> {
  return judgeArrivals(
    await queryRows<ArrivalFacts>(db, sql('intake/list_feed_arrivals'), [loadsCompared]),
    limits,
    now,
  );
}

/** Decides which feeds are late: their last load is older than a share of the usual or set interval. */
export function judgeArrivals(facts: readonly ArrivalFacts[], limits: ArrivalLimits, now: Date): FeedArrival[] {
  const set = readIntervals(limits.feedIntervalHours);
  const known = facts.map(({ feed, source, lastAt, rows, loads, usualSeconds }): FeedArrival => {
    const learnt =
      loads < limits.feedGateLoadsMin || usualSeconds === null ? null : Math.max(learntHoursMin, usualSeconds / 3600);
    const expectedHours = set.get(nameOfFeed({ feed, source })) ?? learnt;
    const ageHours = (now.getTime() - lastAt.getTime()) / hourMs;
    return {
      feed,
      source,
      lastAt,
      rows,
      expectedHours: round(expectedHours),
      ageHours: round(ageHours),
      late: expectedHours !== null && ageHours * 100 > expectedHours * limits.feedLatePercent,
    };
  });
  const never = [...set].filter(([name]) => !known.some((arrival) => nameOfFeed(arrival) === name));
  return [
    ...known,
    ...never.map(([name, expectedHours]): FeedArrival => {
      const [feed = '', source = ''] = name.split('/');
      return { feed, source, lastAt: null, rows: null, expectedHours, ageHours: null, late: true };
    }),
  ];
}

/** A feed and source as people and settings name it: `complaints`, `reputation/phoneblock`. */
export function nameOfFeed({ feed, source }: { feed: string; source: string }): string {
  return source === '' ? feed : `${feed}/${source}`;
}

/** Reads `complaints=24,reputation/phoneblock=168`. */
function readIntervals(text: string | undefined): Map<string, number> {
  return new Map(
    (text ?? '')
      .split(',')
      .filter((part) => part !== '')
      .map((part) => {
        const [name = '', hours = ''] = part.split('=');
        return [name, Number(hours)];
      }),
  );
}

function round(hours: number): number;
function round(hours: number | null): number | null;
function round(hours: number | null): number | null {
  return hours === null ? null : Math.round(hours * 100) / 100;
}
