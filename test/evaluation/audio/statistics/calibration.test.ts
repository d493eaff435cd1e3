import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  calibrationTable,
  likelihoodRatioCost,
  likelihoodRatioOf,
  minimumLikelihoodRatioCost,
  poolAdjacentViolators,
  scoreMargin,
} from '../../../../evaluation/audio/statistics/calibration.ts';
import { equalErrorRate, rankTrials } from '../../../../evaluation/audio/statistics/error-curve.ts';
import { randomTrials, trialsOf } from '../trials.ts';

it('costs nothing to be right and sure, one bit to know nothing, and more to be wrong and sure', () => {
  expect(likelihoodRatioCost(trialsOf([40, 50], [-40, -50]))).toBeCloseTo(0, 10);
  expect(likelihoodRatioCost(trialsOf([0, 0, 0], [0]))).toBe(1);
  expect(likelihoodRatioCost(trialsOf([-10], [10]))).toBeCloseTo(10 / Math.LN2, 3);
  // Half of (log2(1 + 1/3) + log2(1 + 1/2)) for ratios of 3 and 1/2.
  expect(likelihoodRatioCost(trialsOf([Math.log(3)], [Math.log(0.5)]))).toBeCloseTo(
    (Math.log2(4 / 3) + Math.log2(1.5)) / 2,
    12,
  );
});

it('is undefined where a class is empty', () => {
  expect(likelihoodRatioCost(trialsOf([1], []))).toBeUndefined();
  expect(minimumLikelihoodRatioCost(rankTrials(trialsOf([], [1])))).toBeUndefined();
  expect(calibrationTable(trialsOf([0.5], []))).toBeUndefined();
});

it('pools neighbours until the shares rise, ties together', () => {
  const blocks = poolAdjacentViolators(rankTrials(trialsOf([1, 3, 3, 6], [2, 3, 5])));
  expect(blocks).toEqual([
    { authentic: 3, total: 6 },
    { authentic: 1, total: 1 },
  ]);
  expect(poolAdjacentViolators(rankTrials(trialsOf([3, 4], [1, 2])))).toEqual([
    { authentic: 0, total: 2 },
    { authentic: 2, total: 2 },
  ]);
});

/** The best cost over rising assignments, by trying every way to cut the ranks into blocks. */
function tryAllCuts(authentic: readonly number[], attacks: readonly number[]): number {
  const trials = trialsOf(authentic, attacks);
  const scores = [...new Set(trials.map(({ score }) => score))].sort((a, b) => a - b);
  let best = Infinity;
  for (let cuts = 0; cuts < 2 ** (scores.length - 1); cuts++) {
    const blockOf = new Map<number, number>();
    let block = 0;
    for (const [at, score] of scores.entries()) {
      if (at > 0 && (cuts >> (at - 1)) & 1) block++;
      blockOf.set(score, block);
    }
    const shares = Array.from({ length: block + 1 }, (_none, each) => {
      const inside = trials.filter(({ score }) => blockOf.get(score) === each);
      return inside.filter((trial) => trial.authentic).length / inside.length;
    });
    if (shares.some((share, at) => at > 0 && share < shares[at - 1]!)) continue;
    const ratioOf = (score: number) => {
      const share = shares[blockOf.get(score)!]!;
      return share / (1 - share) / (authentic.length / attacks.length);
    };
    const ofAuthentic = authentic.reduce((sum, score) => sum + Math.log2(1 + 1 / ratioOf(score)), 0) / authentic.length;
    const ofAttacks = attacks.reduce((sum, score) => sum + Math.log2(1 + ratioOf(score)), 0) / attacks.length;
    best = Math.min(best, (ofAuthentic + ofAttacks) / 2);
  }
  return best;
}

it('finds the least cost of any rising calibration', () => {
  const few = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 7 });
  fc.assert(
    fc.property(few, few, (authentic, attacks) => {
      expect(minimumLikelihoodRatioCost(rankTrials(trialsOf(authentic, attacks)))).toBeCloseTo(
        tryAllCuts(authentic, attacks),
        10,
      );
    }),
    { seed: 8, numRuns: 300 },
  );
});

it('has a least cost between 0 and 1 that no calibration of the scores falls below', () => {
  fc.assert(
    fc.property(randomTrials, (trials) => {
      const least = minimumLikelihoodRatioCost(rankTrials(trials))!;
      expect(least).toBeGreaterThanOrEqual(0);
      expect(least).toBeLessThanOrEqual(1 + 1e-12);
      expect(likelihoodRatioCost(trials)!).toBeGreaterThanOrEqual(least - 1e-9);
      if (equalErrorRate(rankTrials(trials)) === 0) expect(least).toBeCloseTo(0, 10);
    }),
    { seed: 9, numRuns: 300 },
  );
});

it('turns scores to log-likelihood ratios, at most those of the margin', () => {
  expect(likelihoodRatioOf(0.5)).toBe(0);
  expect(likelihoodRatioOf(0.9)).toBeCloseTo(Math.log(9), 12);
  expect(likelihoodRatioOf(1)).toBe(likelihoodRatioOf(1 - scoreMargin));
  expect(likelihoodRatioOf(0)).toBe(likelihoodRatioOf(scoreMargin));
});

it('tables scores against what they mean, as if both classes were equally many', () => {
  const { bins, error } = calibrationTable(trialsOf([0.95, 0.95, 0.95, 0.35], [0.35, 0.1]))!;
  expect(bins).toHaveLength(10);
  expect(bins[9]).toEqual({
    from: 0.9,
    to: 1,
    bonafide: 3,
    attacks: 0,
    meanScore: expect.closeTo(0.95, 12),
    authenticShare: 1,
  });
  // A quarter of the authentic and half of the attacks: 0.125 against 0.25.
  expect(bins[3]).toMatchObject({
    bonafide: 1,
    attacks: 1,
    authenticShare: expect.closeTo(1 / 3, 12),
    meanScore: expect.closeTo(0.35, 12),
  });
  expect(bins[1]).toMatchObject({ bonafide: 0, attacks: 1, authenticShare: 0 });
  expect(bins[0]).toEqual({ from: 0, to: 0.1, bonafide: 0, attacks: 0, meanScore: null, authenticShare: null });
  expect(error).toBeCloseTo(0.375 * 0.05 + 0.375 * (0.35 - 1 / 3) + 0.25 * 0.1, 12);
});

it('puts a score of 1 in the last bin', () => {
  expect(calibrationTable(trialsOf([1], [0]))).toMatchObject({
    error: 0,
    bins: { 0: { attacks: 1 }, 9: { bonafide: 1 } },
  });
});
