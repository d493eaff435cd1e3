import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeResampleKernel } from '../../../../pipelines/audio/signal/resample.ts';
import { resample, resampleRates, Resampler } from '../../../../pipelines/audio/signal/resample.ts';

const ratios: readonly (readonly [number, number])[] = [
  [11_025, 8_000],
  [16_000, 8_000],
  [22_050, 8_000],
  [22_050, 16_000],
  [44_100, 8_000],
  [44_100, 16_000],
  [48_000, 8_000],
  [48_000, 16_000],
  [96_000, 16_000],
  [8_000, 16_000],
  // too many phases for a table: interpolated
  [44_099, 16_000],
  [15_999, 8_000],
  [191_999, 8_000],
];

const sine = (rate: number, hertz: number, seconds: number) =>
  Float32Array.from({ length: Math.round(rate * seconds) }, (_none, at) => Math.sin((2 * Math.PI * hertz * at) / rate));

/** The largest difference, without the ends, over which the filter reaches out of the recording. */
function worstInside(got: Float32Array, wanted: Float32Array, end: number): number {
  return got.subarray(end, -end).reduce((worst, value, at) => Math.max(worst, Math.abs(value - wanted[at + end]!)), 0);
}

const decibels = (amplitude: number) => 20 * Math.log10(amplitude);

describe.each(ratios)('resampling %i Hz to %i Hz', (from, to) => {
  const low = Math.min(from, to);
  const end = Math.ceil((80 * to) / low);

  it.each([0.01, 0.1, 0.3, 0.5, 0.7, 0.85, 0.9])(
    'keeps a sine at %d of the pass band in place, phase and level to 0.001',
    (part) => {
      const hertz = (part * low) / 2;
      expect(worstInside(resample(sine(from, hertz, 0.5), from, to), sine(to, hertz, 0.5), end)).toBeLessThan(0.001);
    },
  );

  it('holds off by 80 dB what is above the lower Nyquist frequency', () => {
    const top = from / 2;
    const tones =
      from > to ? [low / 2, 0.51 * low, 0.6 * low, 0.8 * low, top * 0.97].filter((hertz) => hertz < top) : [];
    const loudest = tones.map((hertz) =>
      decibels(worstInside(resample(sine(from, hertz + 3, 0.5), from, to), new Float32Array(to), end)),
    );
    expect(Math.max(-300, ...loudest)).toBeLessThan(-80);
  });

  it('makes no images by 80 dB', () => {
    const hertz = 0.41 * low;
    const got = resample(sine(from, hertz, 0.5), from, to);
    const wanted = sine(to, hertz, 0.5);
    // What is left when the sine, with the level that it has, is taken out.
    const inside = [...got.keys()].slice(end, -end);
    const level =
      inside.reduce((sum, at) => sum + got[at]! * wanted[at]!, 0) /
      inside.reduce((sum, at) => sum + wanted[at]! ** 2, 0);
    expect(decibels(Math.max(...inside.map((at) => Math.abs(got[at]! - level * wanted[at]!))))).toBeLessThan(-80);
  });

  it('gives ceil(length * to / from) samples, in blocks the same as in one piece', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9_000 }), { maxLength: 5 }), (lengths) => {
        const blocks = lengths.map((length, seed) =>
          Float32Array.from({ length }, (_none, at) => Math.sin(seed + at * at)),
        );
        const whole = Float32Array.from(blocks.flatMap((block) => [...block]));
        const resampler = new Resampler(from, to);
        const parts = [...blocks.map((block) => resampler.push(block)), resampler.end()];
        const joined = Float32Array.from(parts.flatMap((part) => [...part]));
        expect(joined.length).toBe(Math.ceil((whole.length * to) / from));
        expect(Buffer.compare(Buffer.from(joined.buffer), Buffer.from(resample(whole, from, to).buffer))).toBe(0);
      }),
      { numRuns: 8 },
    );
  });

  it('keeps a constant to 0.0005', () => {
    const got = resample(new Float32Array(from / 4).fill(0.5), from, to);
    expect(worstInside(got, new Float32Array(got.length).fill(0.5), end)).toBeLessThan(0.0005);
  });
});

describe('resampling', () => {
  it('of a rate to itself gives a copy', () => {
    const samples = Float32Array.of(1, 2, 3);
    expect(resample(samples, 8_000, 8_000)).toEqual(samples);
    expect(new Resampler(8_000, 8_000).push(samples)).not.toBe(samples);
  });

  it.each([0, -1, 8_000.5, Number.NaN, resampleRates.min - 1, resampleRates.max + 1])(
    'is refused for a rate of %d Hz',
    (rate) => {
      expect(() => new Resampler(rate, 8_000)).toThrow(RangeError);
      expect(() => new Resampler(8_000, rate)).toThrow(RangeError);
    },
  );

  it.each([resampleRates.min, resampleRates.max])('is done for %i Hz', (rate) => {
    expect(resample(new Float32Array(rate), rate, 8_000).length).toBe(8_000);
  });

  it('keeps its filters apart when many rates are used in turn', () => {
    const rates = Array.from({ length: 12 }, (_none, at) => 9_001 + at * 1_000);
    const first = rates.map((rate) => resample(sine(rate, 440, 0.2), rate, 8_000));
    expect(rates.map((rate) => resample(sine(rate, 440, 0.2), rate, 8_000))).toEqual(first);
  });
});

describe('the product of numbers in memory', () => {
  it('is the sum of the products', () => {
    const { numbers, dot } = makeResampleKernel(40_000);
    expect(numbers.length).toBeGreaterThanOrEqual(40_000);
    numbers.set(Float32Array.from({ length: 40_000 }, (_none, at) => Math.sin(at)));
    for (const [taps, samples, length] of [
      [0, 39_000, 16],
      [17, 20_001, 208],
      [1_000, 2_000, 1_008],
    ] as const) {
      const wanted = numbers
        .subarray(taps, taps + length)
        .reduce((sum, tap, at) => sum + tap * numbers[samples + at]!, 0);
      expect(dot(taps * 4, samples * 4, length)).toBeCloseTo(wanted, 3);
    }
  });

  it.each([1, 3, 4, 5, 9])('is each of %i outputs that share their taps, and of those that do not', (count) => {
    const kernel = makeResampleKernel(4_000);
    const [length, samples, out] = [32, 100, 3_000];
    kernel.numbers.set(Float32Array.from({ length: 2_000 }, (_none, at) => Math.sin(at * at)));
    kernel.decimate(0, samples * 4, length, 3 * 4, out * 4, (out + count) * 4);
    for (let at = 0; at < count; at++)
      expect(kernel.numbers[out + at]).toBeCloseTo(kernel.dot(0, (samples + 3 * at) * 4, length), 5);
    kernel.phases(0, samples * 4, length, 1, 2, 4, 1, out * 4, (out + count) * 4); // 3 samples for 2 outputs, in two rows
    for (let at = 0; at < count; at++) {
      const index = Math.ceil((3 * at - 1) / 2);
      expect(kernel.numbers[out + at]).toBeCloseTo(
        kernel.dot((index * 2 - 3 * at + 1) * length * 4, (samples + index) * 4, length),
        5,
      );
    }
  });
});
