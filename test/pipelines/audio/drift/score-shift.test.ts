import { describe, expect, it } from 'vitest';
import { intervalRecordingsMin, logitMax, logitOf, scoreShift } from '../../../../pipelines/audio/drift/score-shift.ts';

describe('the shift of a score', () => {
  it('is new less old', () => {
    const shift = scoreShift('synthesis', [
      [0.2, 0.5],
      [0.4, 0.3],
      [0.9, 0.9],
      [0.5, 0.6],
      [0.1, 0.1],
    ]);
    expect(shift).toMatchObject({
      score: 'synthesis',
      compared: 5,
      mean: expect.closeTo(0.06, 12),
      median: 0,
      largest: expect.closeTo(0.3, 12),
      interval: null,
    });
    expect(shift.fifthPercentile).toBeCloseTo(-0.08, 12);
    expect(shift.ninetyFifthPercentile).toBeCloseTo(0.26, 12);
  });

  it('names the largest step with its sign', () => {
    expect(
      scoreShift('replay', [
        [0.9, 0.2],
        [0.1, 0.5],
      ]).largest,
    ).toBeCloseTo(-0.7, 12);
  });

  it.each([
    { recordings: intervalRecordingsMin - 1, known: false },
    { recordings: intervalRecordingsMin, known: true },
  ])('has an interval of the mean for $recordings recordings: $known', ({ recordings, known }) => {
    const pairs = Array.from({ length: recordings }, (_, at): [number, number] => [0.5, 0.5 + at / 100]);
    expect(scoreShift('synthesis', pairs).interval !== null).toBe(known);
  });

  it('has the interval of the normal approximation', () => {
    const pairs = Array.from({ length: 100 }, (_, at): [number, number] => [0.5, at % 2 === 0 ? 0.6 : 0.4]);
    const half = 1.96 * Math.sqrt((100 * 0.01) / 99 / 100);
    expect(scoreShift('synthesis', pairs).interval).toEqual([expect.closeTo(-half, 12), expect.closeTo(half, 12)]);
  });

  it('knows whether both models order the recordings alike', () => {
    const scores = [0.1, 0.3, 0.3, 0.7, 0.95];
    expect(
      scoreShift(
        'synthesis',
        scores.map((score) => [score, score ** 2]),
      ).rankCorrelation,
    ).toBeCloseTo(1, 12);
    expect(
      scoreShift(
        'synthesis',
        scores.map((score) => [score, 1 - score]),
      ).rankCorrelation,
    ).toBeCloseTo(-1, 12);
    expect(
      scoreShift(
        'synthesis',
        scores.map((score) => [score, 0.5]),
      ).rankCorrelation,
    ).toBe(null);
  });

  it('of nothing has no figure', () => {
    expect(scoreShift('replay', [])).toEqual({
      score: 'replay',
      compared: 0,
      mean: null,
      interval: null,
      fifthPercentile: null,
      median: null,
      ninetyFifthPercentile: null,
      largest: null,
      meanLogit: null,
      rankCorrelation: null,
    });
  });
});

describe('a logit', () => {
  it.each([
    { score: 0.5, logit: 0 },
    { score: 0.9, logit: Math.log(9) },
    { score: 0, logit: -logitMax },
    { score: 1, logit: logitMax },
  ])('of $score is $logit', ({ score, logit }) => {
    expect(logitOf(score)).toBeCloseTo(logit, 12);
  });
});
