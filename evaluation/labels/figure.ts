import { Seeded } from '../../runtime/seeded.ts';

/** A figure with its 95 % interval over resampled blocks of weeks; null if there are too few weeks. */
export interface Figure {
  readonly value: number;
  readonly interval: readonly [low: number, high: number] | null;
}

/** Parameters of the intervals. */
export interface Bootstrap {
  readonly resamples: number;
  readonly seed: number;
}

/** Weeks of a block: neighbouring weeks share most labels, so they are drawn together. */
export const blockInstants = 4;
const tail = 0.025;

/** The mean of the values of successive instants, with its interval. */
export function figureOf(values: readonly number[], bootstrap: Bootstrap): Figure {
  return { value: rounded(mean(values)), interval: blockInterval(values, bootstrap) };
}

/** The share of a part in a whole; 0 for an empty whole. */
export const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);

/** Six significant digits, so that a stored report is the same on every machine. */
export function rounded(value: number): number {
  return Number(value.toPrecision(6));
}

/** Percentiles of the mean over resamples of blocks of successive instants (moving blocks: Kuensch 1989). */
function blockInterval(values: readonly number[], { resamples, seed }: Bootstrap): [number, number] | null {
  if (values.length < 2 * blockInstants) return null;
  const random = new Seeded(seed);
  const means = Array.from({ length: resamples }, () => {
    const drawn: number[] = [];
    while (drawn.length < values.length) {
      const start = random.below(values.length - blockInstants + 1);
      drawn.push(...values.slice(start, start + Math.min(blockInstants, values.length - drawn.length)));
    }
    return mean(drawn);
  }).sort((a, b) => a - b);
  return [
    rounded(means[Math.floor(tail * (resamples - 1))]!),
    rounded(means[Math.ceil((1 - tail) * (resamples - 1))]!),
  ];
}

const mean = (values: readonly number[]) =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
