import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { powerSpectrogram, type SpectrogramSettings } from '../../../../pipelines/audio/signal/power-spectrogram.ts';

/** The definition, term by term. */
function directSpectrogram(
  samples: Float32Array,
  { frameSamples, hopSamples, fftSize }: SpectrogramSettings,
): number[][] {
  const rows: number[][] = [];
  for (let start = 0; start + frameSamples <= samples.length; start += hopSamples) {
    const frame = Array.from(
      { length: frameSamples },
      (_none, at) => samples[start + at]! * (0.5 - 0.5 * Math.cos((2 * Math.PI * at) / frameSamples)),
    );
    rows.push(
      Array.from({ length: fftSize / 2 + 1 }, (_none, bin) => {
        const real = frame.reduce((sum, value, at) => sum + value * Math.cos((2 * Math.PI * bin * at) / fftSize), 0);
        const imaginary = frame.reduce(
          (sum, value, at) => sum - value * Math.sin((2 * Math.PI * bin * at) / fftSize),
          0,
        );
        return real ** 2 + imaginary ** 2;
      }),
    );
  }
  return rows;
}

describe('a power spectrogram', () => {
  it('is what the direct sum gives, for every size, hop and length', () => {
    const cases = fc
      .record({
        power: fc.integer({ min: 2, max: 8 }),
        hopSamples: fc.integer({ min: 1, max: 90 }),
        part: fc.double({ min: 0.01, max: 1, noNaN: true }),
        samples: fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { maxLength: 400 }),
      })
      .map(({ power, hopSamples, part, samples }) => ({
        samples: Float32Array.from(samples),
        settings: { fftSize: 2 ** power, hopSamples, frameSamples: Math.max(1, Math.round(part * 2 ** power)) },
      }));
    fc.assert(
      fc.property(cases, ({ samples, settings }) => {
        const { values, frames, bins } = powerSpectrogram(samples, settings);
        const direct = directSpectrogram(samples, settings);
        expect(frames).toBe(direct.length);
        expect(bins).toBe(settings.fftSize / 2 + 1);
        expect(values.length).toBe(frames * bins);
        const worst = direct
          .flat()
          .reduce((most, value, at) => Math.max(most, Math.abs(value - values[at]!) / (1e-3 + value)), 0);
        expect(worst).toBeLessThan(1e-5);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    [199, 0],
    [200, 1],
    [279, 1],
    [280, 2],
    [32_000, 398],
  ])('of %i samples has %i frames of 200 samples each 80', (length, frames) => {
    expect(powerSpectrogram(new Float32Array(length), { frameSamples: 200, hopSamples: 80, fftSize: 256 })).toEqual({
      frames,
      bins: 129,
      values: new Float32Array(frames * 129),
    });
  });

  it.each([
    { frameSamples: 400, hopSamples: 160, fftSize: 512 },
    { frameSamples: 256, hopSamples: 7_001, fftSize: 256 },
    { frameSamples: 30, hopSamples: 50_000, fftSize: 32 },
  ])('of a long recording has the rows that its parts have (%j)', (settings) => {
    const samples = Float32Array.from({ length: 110_003 }, (_none, at) => Math.sin(at * at * 1e-3));
    const { values, frames, bins } = powerSpectrogram(samples, settings);
    expect(frames).toBe(Math.floor((samples.length - settings.frameSamples) / settings.hopSamples) + 1);
    for (let row = 0; row < frames; row++) {
      const start = row * settings.hopSamples;
      const alone = powerSpectrogram(samples.subarray(start, start + settings.frameSamples), settings).values;
      expect(
        Buffer.compare(Buffer.from(alone.buffer), Buffer.from(values.slice(row * bins, (row + 1) * bins).buffer)),
      ).toBe(0);
    }
  });

  it('of many shapes in turn is that of each', () => {
    const samples = Float32Array.from({ length: 2_000 }, (_none, at) => Math.sin(at * at));
    const settings = Array.from({ length: 20 }, (_none, at) => ({
      frameSamples: 100 + at,
      hopSamples: 50,
      fftSize: 128,
    }));
    const first = settings.map((each) => powerSpectrogram(samples, each).values);
    expect(settings.map((each) => powerSpectrogram(samples, each).values)).toEqual(first);
  });

  it('has the power of a sine in its bin', () => {
    const samples = Float32Array.from({ length: 512 }, (_none, at) => Math.sin((2 * Math.PI * 37 * at) / 512));
    const { values } = powerSpectrogram(samples, { frameSamples: 512, hopSamples: 512, fftSize: 512 });
    expect(values.indexOf(Math.max(...values))).toBe(37);
    expect(values[37]).toBeCloseTo(128 ** 2, 1); // half the length, halved again by the window
  });

  it.each<[string, SpectrogramSettings]>([
    ['an FFT that is no power of two', { frameSamples: 100, hopSamples: 10, fftSize: 400 }],
    ['an FFT of 2', { frameSamples: 2, hopSamples: 1, fftSize: 2 }],
    ['an FFT past the largest', { frameSamples: 100, hopSamples: 10, fftSize: 131_072 }],
    ['a frame longer than the FFT', { frameSamples: 257, hopSamples: 10, fftSize: 256 }],
    ['a frame of nothing', { frameSamples: 0, hopSamples: 10, fftSize: 256 }],
    ['a hop of nothing', { frameSamples: 256, hopSamples: 0, fftSize: 256 }],
  ])('is refused for %s', (_name, settings) => {
    expect(() => powerSpectrogram(new Float32Array(1000), settings)).toThrow(RangeError);
  });
});
