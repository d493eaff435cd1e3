import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cosine, meanDirection, unit } from '../../../../pipelines/audio/voiceprint/directions.ts';

const vectors = fc
  .array(fc.float({ min: Math.fround(-100), max: Math.fround(100), noNaN: true }), { minLength: 4, maxLength: 4 })
  .map((values) => Float32Array.from(values))
  .filter((vector) => Math.hypot(...vector) > 0.01);

describe('directions', () => {
  it('have length 1, and what has no length stays', () => {
    fc.assert(fc.property(vectors, (vector) => Math.abs(Math.hypot(...unit(vector)) - 1) < 1e-5));
    expect([...unit(Float32Array.of(0, 0))]).toEqual([0, 0]);
  });

  it('have a cosine with themselves of 1, with their opposite of -1, and the same both ways', () => {
    fc.assert(
      fc.property(vectors, vectors, (a, b) => {
        expect(cosine(a, a)).toBeCloseTo(1, 5);
        expect(
          cosine(
            a,
            a.map((value) => -value),
          ),
        ).toBeCloseTo(-1, 5);
        expect(cosine(a, b)).toBeCloseTo(cosine(b, a), 5);
      }),
    );
  });

  it('count alike in their mean, whatever their lengths', () => {
    expect([...meanDirection([Float32Array.of(100, 0), Float32Array.of(0, 1)])]).toEqual([
      Math.fround(Math.SQRT1_2),
      Math.fround(Math.SQRT1_2),
    ]);
  });
});
