import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  equalErrorRate,
  errorCurve,
  rankTrials,
  ratesAt,
  type Trial,
} from '../../../../evaluation/audio/statistics/error-curve.ts';
import { randomTrials, trialsOf } from '../trials.ts';

const curveOf = (trials: readonly Trial[]) => errorCurve(rankTrials(trials))!;

it.each([
  ['apart', [3, 4], [1, 2], 0],
  ['all wrong', [1, 2], [3, 4], 1],
  ['one of two wrong on each side', [1, 3], [0, 2], 0.5],
  ['one of four wrong on each side', [2, 4, 5, 6], [0, 0.5, 1, 3], 0.25],
  ['equal scores', [1, 1, 1], [1, 1], 0.5],
  // Accepting from 3: no miss, half false. Refusing 3 too: one of three missed, none false. On the line between them misses and
  // false alarms meet at 1/5.
  ['a tie across the classes', [3, 4, 5], [1, 3], 0.2],
  // Points (1/3, 1/2) and (1/3, 0) have the same misses: they meet at 1/3.
  ['steps down', [1, 5, 6], [0, 3], 1 / 3],
])('has the equal error rate of a table worked out by hand: %s', (_name, authentic, attacks, expected) => {
  expect(equalErrorRate(rankTrials(trialsOf(authentic, attacks)))).toBeCloseTo(expected, 12);
});

it('counts at each threshold what a count by hand finds', () => {
  fc.assert(
    fc.property(randomTrials, (trials) => {
      const curve = curveOf(trials);
      const authentic = trials.filter((trial) => trial.authentic);
      const attacks = trials.filter((trial) => !trial.authentic);
      for (const [at, threshold] of curve.thresholds.entries()) {
        expect(curve.misses[at]).toBeCloseTo(
          authentic.filter(({ score }) => score < threshold).length / authentic.length,
          12,
        );
        expect(curve.falseAlarms[at]).toBeCloseTo(
          attacks.filter(({ score }) => score >= threshold).length / attacks.length,
          12,
        );
        expect(ratesAt(curve, threshold)).toEqual({ miss: curve.misses[at], falseAlarm: curve.falseAlarms[at] });
      }
      expect([curve.misses[0], curve.falseAlarms[0], curve.misses.at(-1), curve.falseAlarms.at(-1)]).toEqual([
        0, 1, 1, 0,
      ]);
    }),
    { seed: 4, numRuns: 200 },
  );
});

it('has an equal error rate between the rates of the thresholds next to it, found by trying them all', () => {
  fc.assert(
    fc.property(randomTrials, (trials) => {
      const rate = equalErrorRate(rankTrials(trials))!;
      const share = (of: readonly Trial[], refused: (trial: Trial) => boolean) => of.filter(refused).length / of.length;
      const tried = [...trials.map(({ score }) => score), Infinity].map((threshold) => ({
        miss: share(
          trials.filter(({ authentic }) => authentic),
          ({ score }) => score < threshold,
        ),
        falseAlarm: share(
          trials.filter(({ authentic }) => !authentic),
          ({ score }) => score >= threshold,
        ),
      }));
      const above = Math.min(...tried.map(({ miss, falseAlarm }) => Math.max(miss, falseAlarm)));
      const below = Math.max(...tried.map(({ miss, falseAlarm }) => Math.min(miss, falseAlarm)));
      expect(rate).toBeLessThanOrEqual(above + 1e-12);
      expect(rate).toBeGreaterThanOrEqual(below - 1e-12);
    }),
    { seed: 5, numRuns: 300 },
  );
});

it('does not change when scores are stretched, and turns round when they are turned round', () => {
  fc.assert(
    fc.property(randomTrials, (trials) => {
      const rate = equalErrorRate(rankTrials(trials))!;
      expect(
        equalErrorRate(rankTrials(trials.map((trial) => ({ ...trial, score: Math.exp(trial.score) })))),
      ).toBeCloseTo(rate, 12);
      expect(equalErrorRate(rankTrials(trials.map((trial) => ({ ...trial, score: -trial.score }))))).toBeCloseTo(
        1 - rate,
        12,
      );
    }),
    { seed: 6, numRuns: 200 },
  );
});

it('takes a weight of two as the same trial twice, and of none as no trial', () => {
  const trials = trialsOf([1, 4, 5], [0, 2, 3]);
  const weights = [2, 1, 0, 1, 2, 1];
  const repeated = trials.flatMap((trial) => Array.from({ length: weights[trial.item]! }, () => trial));
  expect(equalErrorRate(rankTrials(trials), weights)).toBeCloseTo(equalErrorRate(rankTrials(repeated))!, 12);
});

it('has no curve without both classes, also where weights leave one', () => {
  expect(errorCurve(rankTrials([]))).toBeUndefined();
  expect(errorCurve(rankTrials(trialsOf([1], [])))).toBeUndefined();
  expect(errorCurve(rankTrials(trialsOf([], [1])))).toBeUndefined();
  expect(errorCurve(rankTrials(trialsOf([1], [0])), [0, 1])).toBeUndefined();
  expect(equalErrorRate(rankTrials([]))).toBeUndefined();
  expect(equalErrorRate(rankTrials(trialsOf([1], [0])), [1, 0])).toBeUndefined();
});

it('refuses a score that is no finite number', () => {
  expect(() => rankTrials(trialsOf([Number.NaN], [0]))).toThrow(RangeError);
  expect(() => rankTrials(trialsOf([Infinity], [0]))).toThrow(RangeError);
});
