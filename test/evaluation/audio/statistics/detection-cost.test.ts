import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  actualCost,
  asvspoof5Costs,
  equalErrorThreshold,
  minimumCost,
  minimumTandemCost,
  tandemCosts,
} from '../../../../evaluation/audio/statistics/detection-cost.ts';
import { errorCurve, rankTrials, type Trial } from '../../../../evaluation/audio/statistics/error-curve.ts';
import { randomTrials, trialsOf } from '../trials.ts';

const curveOf = (trials: readonly Trial[]) => errorCurve(rankTrials(trials))!;
const evenCosts = { missCost: 1, falseAlarmCost: 1, attackPrior: 0.5 };

it.each([
  // A miss weighs 0.95 / 0.5 = 1.9 false alarms: refusing everything costs 1.9, accepting everything 1.
  ['apart', [3, 4], [1, 2], 0],
  ['all wrong', [1, 2], [3, 4], 1],
  ['no order', [1, 1], [1, 1], 1],
  ['half of the attacks accepted is cheaper than half of the authentic refused', [2, 4], [1, 3], 0.5],
  ['one of ten authentic refused', [0, 5, 5, 5, 5, 5, 5, 5, 5, 5], [1, 2], 0.19],
])('has the minimum cost of ASVspoof 5 that is worked out by hand: %s', (_name, authentic, attacks, expected) => {
  expect(minimumCost(curveOf(trialsOf(authentic, attacks)))).toBeCloseTo(expected, 12);
});

it('is never above 1 and never above the actual cost, whatever the costs', () => {
  const costs = fc.record({
    missCost: fc.integer({ min: 1, max: 20 }),
    falseAlarmCost: fc.integer({ min: 1, max: 20 }),
    attackPrior: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
  });
  fc.assert(
    fc.property(randomTrials, costs, (trials, model) => {
      const curve = curveOf(trials);
      expect(minimumCost(curve, model)).toBeLessThanOrEqual(1 + 1e-12);
      expect(minimumCost(curve, model)).toBeLessThanOrEqual(actualCost(curve, model) + 1e-12);
    }),
    { seed: 7, numRuns: 200 },
  );
});

it('takes the threshold that the costs demand for the actual cost', () => {
  const ratios = trialsOf([-0.7, -0.6, 3, 4], [-4, -3, -0.65, -0.63]); // the threshold of ASVspoof 5 is -ln 1.9 = -0.642
  expect(-Math.log(1.9)).toBeCloseTo(-0.642, 3);
  expect(actualCost(curveOf(ratios), asvspoof5Costs)).toBeCloseTo(1.9 * 0.25 + 0.25, 12);
  expect(actualCost(curveOf(ratios), evenCosts)).toBeCloseTo(0.5, 12);
});

it('has the tandem cost that is worked out by hand', () => {
  const rates = { missRate: 0.02, falseAlarmRate: 0.04, attackAcceptance: 0.5 };
  const standing = 0.9405 * 0.02 + 0.0095 * 10 * 0.04;
  const ofFalseAlarms = 0.05 * 10 * 0.5;
  const curve = curveOf(trialsOf([2, 4], [1, 3])); // the cheapest point accepts one attack of two and misses nothing
  expect(tandemCosts.targetPrior + tandemCosts.nontargetPrior + tandemCosts.attackPrior).toBeCloseTo(1, 12);
  expect(minimumTandemCost(curve, rates)).toBeCloseTo((standing + ofFalseAlarms / 2) / (standing + ofFalseAlarms), 12);
  expect(minimumTandemCost(curve, { ...rates, attackAcceptance: 0 })).toBeUndefined();
  expect(minimumTandemCost(curve, { ...rates, missRate: 1 })).toBeUndefined();
});

it('finds the threshold of equal errors', () => {
  expect(equalErrorThreshold(curveOf(trialsOf([3, 4], [1, 2])))).toBe(3);
});
