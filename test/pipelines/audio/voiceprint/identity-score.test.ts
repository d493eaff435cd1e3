import { describe, expect, it } from 'vitest';
import { scoreIdentity } from '../../../../pipelines/audio/voiceprint/identity-score.ts';

const voiceprint = { centroid: Float32Array.of(1, 0, 0) };
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
    expect(scoreIdentity({ centroid: Float32Array.of(7, 0, 0) }, longer, calibration).cosine).toBeCloseTo(
      Math.SQRT1_2,
      6,
    );
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
});
