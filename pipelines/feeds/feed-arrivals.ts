import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { loadGateLimits, loadsCompared } from './load-gates.ts';

/** When a feed last arrived, and when the next load is expected. */
export interface FeedArrival {
  readonly feed: string;
  readonly source: string;
  /** Submission of the last load with accepted rows; null for a feed that a setting expects and that never arrived. */
  readonly lastAt: Date | null;
  /** Accepted rows of that load. */
  readonly rows: number | null;
  /** Hours between two loads: by setting, else as learnt from the last 28; null while there are too few. */
  readonly expectedHours: number | null;
  readonly ageHours: number | null;
  readonly late: boolean;
}

/** The setting of the same name. */
export interface ArrivalLimits {
  readonly feedIntervalHours?: string | undefined;
}

/** The loads of a feed and source in the database. */
export interface ArrivalFacts {
  readonly feed: string;
  readonly source: string;
  readonly lastAt: Date;
  readonly rows: number;
  readonly loads: number;
  readonly usualSeconds: number | null;
}

/** Least learnt interval: files that are loaded in succession on the first day do not show it. */
const learntHoursMin = 24;
/** Intervals after which a feed is late: one that comes a few hours later than usual is not. */
const lateIntervals = 1.5;
const hourMs = 3_600_000;

/** When each feed last arrived, and which feeds are late. */
export async function listFeedArrivals(db: Queryable, limits: ArrivalLimits, now: Date): Promise<FeedArrival[]> {
  return judgeArrivals(
    await queryRows<ArrivalFacts>(db, sql('feeds/list_feed_arrivals'), [loadsCompared]),
    limits,
    now,
  );
}

/** A feed is late if its last load is older than one and a half times the set or learnt interval. */
export function judgeArrivals(facts: readonly ArrivalFacts[], limits: ArrivalLimits, now: Date): FeedArrival[] {
  const set = readIntervals(limits.feedIntervalHours);
  const known = facts.map(({ feed, source, lastAt, rows, loads, usualSeconds }): FeedArrival => {
    const learnt =
      loads < loadGateLimits.loadsMin || usualSeconds === null ? null : Math.max(learntHoursMin, usualSeconds / 3600);
    const expectedHours = set.get(nameOfFeed({ feed, source })) ?? learnt;
    const ageHours = (now.getTime() - lastAt.getTime()) / hourMs;
    return {
      feed,
      source,
      lastAt,
      rows,
      expectedHours: roundHours(expectedHours),
      ageHours: roundHours(ageHours),
      late: expectedHours !== null && ageHours > expectedHours * lateIntervals,
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

/** Feed and source as settings and messages name them: `complaints`, `reputation/phoneblock`. */
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

function roundHours(hours: number): number;
function roundHours(hours: number | null): number | null;
function roundHours(hours: number | null): number | null {
  return hours === null ? null : Math.round(hours * 100) / 100;
}
