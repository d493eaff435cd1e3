import { reputationLevels } from '../phone/reputation-level.ts';

/** The measures of a load before it is merged. Kept with the load. */
export interface FeedMeasures {
  readonly given: number;
  readonly accepted: number;
  /** Different numbers, and the new ones among them. */
  readonly numbers: number;
  readonly newNumbers: number;
  /** Rows that repeat an earlier one (complaints: in all fields; else: its number). */
  readonly duplicates: number;
  /** Rows of the most frequent number. */
  readonly topNumberRows: number;
  /** Complaints that are stored already, those of the most frequent state, and those older than 28 days at the submission. */
  readonly knownRows?: number;
  readonly topStateRows?: number;
  readonly oldRows?: number;
  /** Numbers by the level that a reputation feed gives them. */
  readonly levels?: Readonly<Record<string, number>>;
}

/** When gates judge a load. What they hold under these limits was measured at commit dc73ae54. */
export const loadGateLimits = {
  /** Loads of the same feed and source that are done before one is judged: a week of daily ones, with its weekend. */
  loadsMin: 7,
  /** A deviation of fewer rows holds nothing: in a small feed, a large share is a few numbers. */
  rowsMin: 100,
};
export type LoadGateLimits = typeof loadGateLimits;

/** The closed list of gates that a load must pass before it is merged. */
const LOAD_GATES = [
  'volume',
  'rejects',
  'new_numbers',
  'duplicates',
  'known_rows',
  'one_number',
  'one_state',
  'old_rows',
  'levels',
] as const;

export type LoadGate = (typeof LOAD_GATES)[number];

/** A gate that a load does not pass: the figure, the usual one, and the limit, all in percent. */
export interface GateBreach {
  readonly gate: LoadGate;
  readonly figure: number;
  readonly usual: number;
  readonly limit: number;
  readonly reason: string;
}

/** Earlier loads that a load is compared with. */
export const loadsCompared = 28;

interface ShareGate {
  readonly gate: Exclude<LoadGate, 'volume'>;
  /** Percentage points above the median of the earlier loads. */
  readonly pointsMax: number;
  /** Completes the message: "of the rows are refused". */
  readonly words: string;
  /** Part and whole of the share; no part if it does not apply to the load. */
  readonly share: (load: FeedMeasures) => readonly [part: number | undefined, whole: number];
}

/** Accepted rows in percent of the median of the earlier loads. */
const volumePercent = { min: 10, max: 200 } as const;

const shareGates: readonly ShareGate[] = [
  {
    gate: 'rejects',
    pointsMax: 10,
    words: 'of the rows are refused',
    share: (load) => [load.given - load.accepted, load.given],
  },
  {
    gate: 'new_numbers',
    pointsMax: 10,
    words: 'of the numbers are new',
    share: (load) => [load.newNumbers, load.numbers],
  },
  {
    gate: 'duplicates',
    pointsMax: 20,
    words: 'of the rows repeat another row of the file',
    share: (load) => [load.duplicates, load.accepted],
  },
  {
    gate: 'known_rows',
    pointsMax: 50,
    words: 'of the rows are stored already',
    share: (load) => [load.knownRows, load.accepted],
  },
  {
    gate: 'one_number',
    pointsMax: 10,
    words: 'of the rows are about one number',
    share: (load) => [load.topNumberRows, load.accepted],
  },
  {
    gate: 'one_state',
    pointsMax: 20,
    words: 'of the rows are from one state',
    share: (load) => [load.topStateRows, load.accepted],
  },
  {
    gate: 'old_rows',
    pointsMax: 20,
    words: 'of the rows are older than 28 days',
    share: (load) => [load.oldRows, load.accepted],
  },
  ...reputationLevels.map((level): ShareGate => ({
    gate: 'levels',
    pointsMax: 20,
    words: `of the numbers have the level ${level}`,
    share: (load) => [load.levels?.[level], load.numbers],
  })),
];

/**
 * The gates that a load does not pass, compared with earlier loads of the same feed and source (newest first, at most
 * {@link loadsCompared}). Gates need `loadsMin` earlier loads and a deviation of `rowsMin` rows.
 */
export function judgeLoad(
  load: FeedMeasures,
  before: readonly FeedMeasures[],
  limits: LoadGateLimits = loadGateLimits,
): GateBreach[] {
  if (before.length < limits.loadsMin) return [];
  return [
    ...judgeVolume(load, before, limits),
    ...shareGates.flatMap((gate) => judgeShare(gate, load, { before, limits })),
  ];
}

function judgeVolume(load: FeedMeasures, before: readonly FeedMeasures[], { rowsMin }: LoadGateLimits): GateBreach[] {
  const usual = median(before.map(({ accepted }) => accepted));
  if (usual === 0 || Math.abs(load.accepted - usual) < rowsMin) return [];
  const figure = percentOf(load.accepted, usual);
  if (load.accepted * 100 >= usual * volumePercent.min && load.accepted * 100 <= usual * volumePercent.max) return [];
  const limit = figure < 100 ? volumePercent.min : volumePercent.max;
  const reason = `${load.accepted} rows are ${formatPercent(figure)} % of the median of the last ${before.length} loads (${usual}); the limit is ${limit} %.`;
  return [{ gate: 'volume', figure, usual: 100, limit, reason }];
}

function judgeShare(
  { gate, pointsMax, words, share }: ShareGate,
  load: FeedMeasures,
  { before, limits }: { before: readonly FeedMeasures[]; limits: LoadGateLimits },
): GateBreach[] {
  const [part, whole] = share(load);
  const usualShares = before.flatMap((earlier) => {
    const [earlierPart, earlierWhole] = share(earlier);
    return earlierPart !== undefined && earlierWhole > 0 ? [percentOf(earlierPart, earlierWhole)] : [];
  });
  if (part === undefined || whole === 0 || usualShares.length < limits.loadsMin) return [];
  const usual = median(usualShares);
  const figure = percentOf(part, whole);
  if (figure - usual <= pointsMax || part - (usual * whole) / 100 < limits.rowsMin) return [];
  return [
    {
      gate,
      figure,
      usual,
      limit: pointsMax,
      reason: `${formatPercent(figure)} % ${words}, where ${formatPercent(usual)} % is usual; the limit is ${pointsMax} points more.`,
    },
  ];
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function percentOf(part: number, whole: number): number {
  return Math.round((part / whole) * 10_000) / 100;
}

function formatPercent(figure: number): string {
  return figure.toFixed(1);
}
