import type { ScoreName } from '../verification.ts';

/** By how much one score moved, new less old, over the recordings that have it from both models. */
export interface ScoreShift {
  readonly score: ScoreName;
  readonly compared: number;
  /** Of the scores, from -1 to 1; null if nothing was compared. */
  readonly mean: number | null;
  /** Of the mean, at 95 %; null for fewer than `intervalRecordingsMin` recordings. */
  readonly interval: readonly [low: number, high: number] | null;
  readonly fifthPercentile: number | null;
  readonly median: number | null;
  readonly ninetyFifthPercentile: number | null;
  /** The largest step in either direction, with its sign. */
  readonly largest: number | null;
  /** Mean shift of the logits ln(score / (1 - score)), which does not fade at the ends. */
  readonly meanLogit: number | null;
  /** Rank correlation of Spearman: 1 if both models order the recordings alike; null where one has a single value. */
  readonly rankCorrelation: number | null;
}

/** The normal approximation of the mean's interval is not used below this. */
export const intervalRecordingsMin = 10;

/** Logits beyond this are drawn and averaged as this: a score of 1 - 5e-5 says no more than one of 1. */
export const logitMax = 10;

/** ln(score / (1 - score)), held within ±`logitMax`. */
export function logitOf(score: number): number {
  return Math.max(-logitMax, Math.min(logitMax, Math.log(score / (1 - score))));
}

/** Statistics of the shift of one score; `pairs` are [old, new]. */
export function scoreShift(score: ScoreName, pairs: readonly (readonly [number, number])[]): ScoreShift {
  const compared = pairs.length;
  const shifts = pairs.map(([old, now]) => now - old).sort((a, b) => a - b);
  if (compared === 0) {
    return {
      score,
      compared,
      mean: null,
      interval: null,
      fifthPercentile: null,
      median: null,
      ninetyFifthPercentile: null,
      largest: null,
      meanLogit: null,
      rankCorrelation: null,
    };
  }
  const mean = meanOf(shifts);
  const [least, most] = [shifts[0]!, shifts.at(-1)!];
  return {
    score,
    compared,
    mean,
    interval: intervalOfMean(shifts, mean),
    fifthPercentile: quantile(shifts, 0.05),
    median: quantile(shifts, 0.5),
    ninetyFifthPercentile: quantile(shifts, 0.95),
    largest: Math.abs(least) > Math.abs(most) ? least : most,
    meanLogit: meanOf(pairs.map(([old, now]) => logitOf(now) - logitOf(old))),
    rankCorrelation: correlation(ranksOf(pairs.map(([old]) => old)), ranksOf(pairs.map(([, now]) => now))),
  };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function intervalOfMean(values: readonly number[], mean: number): readonly [number, number] | null {
  if (values.length < intervalRecordingsMin) return null;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  const half = 1.96 * Math.sqrt(variance / values.length);
  return [mean - half, mean + half];
}

/** The value below which a share of the sorted values lies, between two values in proportion. */
export function quantile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const [below, above] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return below + (above - below) * (place - Math.floor(place));
}

/** Rank of each value from 1; equal ones share the mean of their ranks. */
function ranksOf(values: readonly number[]): number[] {
  const order = values.map((_, at) => at).sort((a, b) => values[a]! - values[b]!);
  const ranked = new Array<number>(values.length);
  for (let from = 0; from < order.length;) {
    let end = from + 1;
    while (end < order.length && values[order[end]!] === values[order[from]!]) end++;
    for (let at = from; at < end; at++) ranked[order[at]!] = (from + end + 1) / 2;
    from = end;
  }
  return ranked;
}

function correlation(a: readonly number[], b: readonly number[]): number | null {
  const [meanA, meanB] = [meanOf(a), meanOf(b)];
  let [product, squareA, squareB] = [0, 0, 0];
  for (const [at, value] of a.entries()) {
    const [fromA, fromB] = [value - meanA, b[at]! - meanB];
    product += fromA * fromB;
    squareA += fromA ** 2;
    squareB += fromB ** 2;
  }
  return squareA === 0 || squareB === 0 ? null : product / Math.sqrt(squareA * squareB);
}
