import { describe, expect, it } from 'vitest';
import { comparedSeconds, scoreIdentity } from '../../../../pipelines/audio/voiceprint/identity-score.ts';

const voiceprint = { centroid: Float32Array.of(1, 0, 0), voicedSeconds: 9 };
const calibration = { slope: 10, intercept: -5 };
const withCosine = (cosine: number, voicedSeconds = 3) => ({
  embedding: Float32Array.of(cosine, Math.sqrt(1 - cosine ** 2), 0),
  voicedSeconds,
});

describe('the identity score', () => {
  it.each([
    [0.5, 0.5],
    [1, 0.9933],
    [0, 0.0067],
    [-1, 0],
  ])('of a cosine of %d is %d by the calibration', (cosine, score) => {
    const found = scoreIdentity(voiceprint, withCosine(cosine), calibration);
    expect(found.score).toBeCloseTo(score, 4);
    expect(found.cosine).toBeCloseTo(cosine, 5);
  });

  it('does not depend on the length of the numbers', () => {
    const longer = { embedding: Float32Array.of(5, 5, 0), voicedSeconds: 3 };
    expect(
      scoreIdentity({ centroid: Float32Array.of(7, 0, 0), voicedSeconds: 9 }, longer, calibration).cosine,
    ).toBeCloseTo(Math.SQRT1_2, 6);
  });

  it('is no number without voice, or with less than 1.5 s of it', () => {
    expect(scoreIdentity(voiceprint, null, calibration)).toEqual({ score: null, cosine: null, reason: 'no_voice' });
    expect(scoreIdentity(voiceprint, withCosine(1, 1.49), calibration)).toEqual({
      score: null,
      cosine: null,
      reason: 'insufficient_voice',
    });
    expect(scoreIdentity(voiceprint, withCosine(1, 1.5), calibration).reason).toBeNull();
  });

  it('of the same cosine changes with the seconds of voice of both sides, within those that it was fitted for', () => {
    const bySeconds = { slope: 2, intercept: -2, from: 2, to: 20 };
    const scored = (enrolled: number, recorded: number) =>
      scoreIdentity({ ...voiceprint, voicedSeconds: enrolled }, withCosine(0.5, recorded), {
        ...calibration,
        bySeconds,
      }).score;
    const expected = (seconds: number) => 1 / (1 + Math.exp(Math.log(seconds)));
    expect(scored(4, 4)).toBeCloseTo(expected(4), 6);
    expect(scored(12, 4)).toBeCloseTo(expected(6), 6);
    expect(scored(4, 12)).toBe(scored(12, 4));
    expect(scored(1.5, 1.5)).toBeCloseTo(expected(2), 6);
    expect(scored(120, 90)).toBeCloseTo(expected(20), 6);
  });
});

describe('the seconds of a comparison', () => {
  it('are nearer to the shorter side', () => {
    expect(comparedSeconds([3, 3], { from: 1, to: 60 })).toBe(3);
    expect(comparedSeconds([3, 30], { from: 1, to: 60 })).toBeCloseTo(5.4545, 4);
    expect(comparedSeconds([3, 1000], { from: 1, to: 30 })).toBe(comparedSeconds([30, 3], { from: 1, to: 60 }));
  });
});
