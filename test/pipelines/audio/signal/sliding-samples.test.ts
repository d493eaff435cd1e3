import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SlidingSamples } from '../../../../pipelines/audio/signal/sliding-samples.ts';
import { VoiceUnion } from '../../../../pipelines/audio/scoring/recording-scorer.ts';

const floats = () => new SlidingSamples<Float32Array>(Float32Array);

describe('sliding samples', () => {
  it('are what was appended, at their places, whatever was dropped before', () => {
    const steps = fc.array(
      fc.record({ append: fc.integer({ min: 0, max: 9000 }), drop: fc.integer({ min: 0, max: 12_000 }) }),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(steps, (given) => {
        const samples = floats();
        let [next, kept] = [0, 0];
        for (const { append, drop } of given) {
          samples.append(Float32Array.from({ length: append }, (_none, at) => next + at));
          next += append;
          kept = Math.max(kept, Math.min(next, kept + drop));
          samples.dropBefore(kept);
          expect(samples.length).toBe(next);
          expect(Array.from(samples.view(kept, next))).toEqual(
            Array.from({ length: next - kept }, (_none, at) => kept + at),
          );
        }
      }),
      { numRuns: 30 },
    );
  });

  it('take room for what is kept, not for what there was', () => {
    const samples = floats();
    for (let round = 0; round < 2000; round++) {
      samples.append(new Float32Array(8000));
      samples.dropBefore(samples.length - 16_000);
    }
    expect(samples.view(samples.length - 16_000, samples.length).buffer.byteLength).toBeLessThan(500_000);
  });

  it('have no view of what was dropped or is to come', () => {
    const samples = floats();
    samples.append(new Float32Array(10));
    samples.dropBefore(4);
    expect(() => samples.view(3, 10)).toThrow(RangeError);
    expect(() => samples.view(4, 11)).toThrow(RangeError);
  });
});

describe('the voice of several channels', () => {
  it('is counted where any of them has some, at whatever pace they arrive', () => {
    const union = new VoiceUnion(2);
    union.add(0, Uint8Array.from([1, 1, 0, 0, 1]));
    expect(union.seconds).toBe(0);
    union.add(1, Uint8Array.from([0, 1]));
    expect(union.seconds).toBe(0.02);
    union.add(1, Uint8Array.from([1, 0, 0, 1]));
    union.add(0, Uint8Array.from([0]));
    expect(union.seconds).toBe(0.05);
  });
});
