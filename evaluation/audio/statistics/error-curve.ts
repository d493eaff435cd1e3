/** A scored recording: its score (higher is authentic) and its true class. */
export interface Trial {
  readonly score: number;
  readonly authentic: boolean;
  /** Its index in the test set, for the weights of resamples. */
  readonly item: number;
}

/** Trials by rising score, so that resamples with other weights need no sorting. */
export interface RankedTrials {
  readonly scores: Float64Array;
  /** 1 where the trial is authentic. */
  readonly authentic: Uint8Array;
  /** The indexes of the trials in the test set. */
  readonly items: Uint32Array;
}

/**
 * The two error rates at every distinct threshold, from accepting everything to refusing everything. Point `k` refuses scores
 * below `thresholds[k]`.
 */
export interface ErrorCurve {
  readonly thresholds: Float64Array;
  /** Share of the authentic trials that are refused; rises from 0 to 1. */
  readonly misses: Float64Array;
  /** Share of the other trials that are accepted; falls from 1 to 0. */
  readonly falseAlarms: Float64Array;
}

/** Ranks trials. @throws RangeError for a score that is not finite */
export function rankTrials(trials: readonly Trial[]): RankedTrials {
  if (trials.some(({ score }) => !Number.isFinite(score))) throw new RangeError('A score is not a finite number.');
  const ranked = trials.toSorted((a, b) => a.score - b.score);
  return {
    scores: Float64Array.from(ranked, ({ score }) => score),
    authentic: Uint8Array.from(ranked, ({ authentic }) => (authentic ? 1 : 0)),
    items: Uint32Array.from(ranked, ({ item }) => item),
  };
}

/**
 * The curve of ranked trials; `weights` are by the index in the test set.
 * Undefined if a class is empty.
 */
export function errorCurve(ranked: RankedTrials, weights?: ArrayLike<number>): ErrorCurve | undefined {
  const { scores, authentic, items } = ranked;
  const weightAt = (at: number) => (weights === undefined ? 1 : weights[items[at]!]!);
  const totals = [0, 0];
  for (let at = 0; at < scores.length; at++) totals[authentic[at]!]! += weightAt(at);
  const [others, authentics] = totals as [number, number];
  if (others <= 0 || authentics <= 0) return undefined;

  const thresholds = new Float64Array(scores.length + 1);
  const misses = new Float64Array(scores.length + 1);
  const falseAlarms = new Float64Array(scores.length + 1);
  const passed = [0, 0];
  let points = 0;
  for (let at = 0; at < scores.length;) {
    const score = scores[at]!;
    thresholds[points] = score;
    misses[points] = passed[1]! / authentics;
    falseAlarms[points++] = 1 - passed[0]! / others;
    for (; at < scores.length && scores[at] === score; at++) passed[authentic[at]!]! += weightAt(at);
  }
  thresholds[points] = Infinity;
  misses[points] = 1;
  falseAlarms[points++] = 0;
  return {
    thresholds: thresholds.subarray(0, points),
    misses: misses.subarray(0, points),
    falseAlarms: falseAlarms.subarray(0, points),
  };
}

/**
 * The equal error rate: where misses equal false alarms on the linearly interpolated curve. (Not on the convex hull, which is
 * never above it and flatters small sets.) Undefined if a class is empty.
 */
export function equalErrorRate(
  { scores, authentic, items }: RankedTrials,
  weights?: ArrayLike<number>,
): number | undefined {
  const totals = [0, 0];
  for (let at = 0; at < scores.length; at++)
    totals[authentic[at]!]! += weights === undefined ? 1 : weights[items[at]!]!;
  const [others, authentics] = totals as [number, number];
  if (others <= 0 || authentics <= 0) return undefined;

  const passed = [0, 0];
  let miss = 0;
  let falseAlarm = 1;
  for (let at = 0; ;) {
    const score = scores[at]!;
    for (; at < scores.length && scores[at] === score; at++)
      passed[authentic[at]!]! += weights === undefined ? 1 : weights[items[at]!]!;
    const nextMiss = passed[1]! / authentics;
    const nextFalseAlarm = 1 - passed[0]! / others;
    if (nextMiss >= nextFalseAlarm) {
      // at the latest after the last score: 1 and 0
      const before = falseAlarm - miss;
      return miss + (before / (before + nextMiss - nextFalseAlarm)) * (nextMiss - miss);
    }
    miss = nextMiss;
    falseAlarm = nextFalseAlarm;
  }
}

/** The two rates at a threshold, below which scores are refused. */
export function ratesAt(
  { thresholds, misses, falseAlarms }: ErrorCurve,
  threshold: number,
): { readonly miss: number; readonly falseAlarm: number } {
  const at = thresholds.findIndex((each) => each >= threshold);
  const place = at === -1 ? thresholds.length - 1 : at;
  return { miss: misses[place]!, falseAlarm: falseAlarms[place]! };
}
