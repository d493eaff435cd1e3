import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSamples, type SampleFormat } from '../../../../pipelines/audio/decode/sample-formats.ts';

function read(
  format: SampleFormat,
  bytes: Uint8Array,
  samples: number,
): { samples: number[]; clipped: number; notFinite: number } {
  const faults = { clipped: 0, notFinite: 0 };
  const into = new Float32Array(samples);
  readSamples(format, { bytes, first: 0, step: 1, into }, faults);
  return { samples: [...into], ...faults };
}

describe('samples', () => {
  it.each<[SampleFormat, string, number[]]>([
    ['u8', '0080ff', [-1, 0, 127 / 128]],
    ['s16', '0080' + '0000' + 'ff7f', [-1, 0, 32_767 / 32_768]],
    ['s24', '000080' + '000000' + '000040' + 'ffffff', [-1, 0, 0.5, -(2 ** -23)]],
    ['s32', '00000080' + '00000000' + '00000040', [-1, 0, 0.5]],
    ['f32', '000080bf' + '0000003f', [-1, 0.5]],
    ['f64', '000000000000f0bf' + '000000000000e03f', [-1, 0.5]],
    // ITU-T G.711: the largest of each sign, and the two zeros of mu-law; A-law has none.
    ['mulaw', '80' + '00' + 'ff' + '7f', [32_124 / 32_768, -32_124 / 32_768, 0, -0]],
    ['alaw', 'aa' + '2a' + 'd5' + '55', [32_256 / 32_768, -32_256 / 32_768, 8 / 32_768, -8 / 32_768]],
  ])('of %s are read from 0x%s', (format, hex, wanted) => {
    expect(read(format, Buffer.from(hex, 'hex'), wanted.length)).toEqual({
      samples: wanted.map(Math.fround),
      clipped: 0,
      notFinite: 0,
    });
  });

  it.each<[SampleFormat, number]>([
    ['mulaw', 0x80],
    ['alaw', 0x55],
  ])('of %s rise with the magnitude, alike for both signs', (format, flip) => {
    const codes = Array.from({ length: 128 }, (_none, magnitude) =>
      format === 'mulaw' ? 0xff - magnitude : (0x80 | magnitude) ^ flip,
    );
    const values = read(format, Uint8Array.from(codes), 128).samples;
    expect([...values].sort((a, b) => a - b)).toEqual(values);
    expect(
      read(
        format,
        Uint8Array.from(codes, (code) => code ^ 0x80),
        128,
      ).samples,
    ).toEqual(values.map((value) => -value));
  });

  it('beyond full scale are set to it, and no numbers to zero, and both are counted', () => {
    const bytes = Buffer.from(Float32Array.of(1, 1.0001, -7, Number.NaN, Infinity, -Infinity, -1).buffer);
    expect(read('f32', bytes, 7)).toEqual({ samples: [1, 1, -1, 0, 0, 0, -1], clipped: 2, notFinite: 3 });
    const wide = Buffer.from(Float64Array.of(1e300, -1e-300, Number.NaN).buffer);
    expect(read('f64', wide, 3)).toEqual({ samples: [1, -0, 0], clipped: 1, notFinite: 1 });
  });

  it('of each channel are taken from their place, wherever the bytes lie in memory', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<SampleFormat>('s16', 's24', 's32', 'f32', 'f64'),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 0, max: 9 }),
        fc.integer({ min: 0, max: 60 }),
        (format, channels, shift, frames) => {
          const size = { s16: 2, s24: 3, s32: 4, f32: 4, f64: 8 }[format as 's16'];
          const bytes = Buffer.alloc(shift + frames * channels * size).subarray(shift);
          const values = Array.from({ length: frames * channels }, (_none, at) => (at % 200) / 256 - 0.25);
          for (const [at, value] of values.entries()) {
            if (format === 'f32') bytes.writeFloatLE(value, at * size);
            else if (format === 'f64') bytes.writeDoubleLE(value, at * size);
            else bytes.writeIntLE(value * 2 ** (8 * size - 1), at * size, size);
          }
          for (let channel = 0; channel < channels; channel++) {
            const into = new Float32Array(frames);
            readSamples(format, { bytes, first: channel, step: channels, into }, { clipped: 0, notFinite: 0 });
            expect([...into]).toEqual(values.filter((_none, at) => at % channels === channel));
          }
        },
      ),
    );
  });
});
