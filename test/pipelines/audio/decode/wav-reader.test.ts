import { afterAll, describe, expect, it } from 'vitest';
import { wavChunksMax } from '../../../../pipelines/audio/decode/wav-header.ts';
import type { AudioReason } from '../../../../pipelines/audio/reasons.ts';
import {
  extensibleFormat,
  float32,
  longSizes,
  numbersOf,
  pcm16,
  readWhole,
  RecordingFolder,
  riffChunk,
  tone,
  wavFile,
  wavFormat,
  type WavParts,
} from '../../../support/audio-file.ts';

const folder = new RecordingFolder();
afterAll(() => folder.remove());

const read = (bytes: Buffer, limits = {}) => readWhole(folder.write('recording', bytes), limits);
const reasonOf = (bytes: Buffer, limits = {}) =>
  read(bytes, limits).then(
    () => 'read',
    (error: { reason?: AudioReason }) => error.reason ?? error,
  );

const left = tone({ seconds: 0.5 });
const right = tone({ seconds: 0.5, hertz: 1_000, level: 0.25 });

/** The largest difference from what was written. */
const worst = (got: Float32Array, wanted: Float32Array) =>
  got.length === wanted.length
    ? got.reduce((most, value, at) => Math.max(most, Math.abs(value - wanted[at]!)), 0)
    : Infinity;

const integers =
  (size: number) =>
  (...channels: Float32Array[]) =>
    numbersOf(channels, size, (bytes, value, at) =>
      bytes.writeIntLE(Math.round(value * 2 ** (8 * size - 1)), at, size),
    );

describe('a WAV file', () => {
  it.each<[string, WavParts, Buffer, number]>([
    [
      'pcm_u8',
      { bits: 8 },
      numbersOf([left], 1, (bytes, value, at) => bytes.writeUInt8(Math.round(value * 128 + 128), at)),
      1 / 256,
    ],
    ['pcm_s16le', { bits: 16 }, pcm16(left), 1 / 65_536],
    ['pcm_s24le', { bits: 24 }, integers(3)(left), 1e-6],
    ['pcm_s32le', { bits: 32 }, integers(4)(left), 1e-6],
    ['pcm_f32le', { tag: 3, bits: 32 }, float32(left), 0],
    ['pcm_f64le', { tag: 3, bits: 64 }, numbersOf([left], 8, (bytes, value, at) => bytes.writeDoubleLE(value, at)), 0],
  ])('with %s is read as it was written', async (codec, parts, data, tolerance) => {
    for (const format of [
      wavFormat(parts),
      extensibleFormat(parts),
      Buffer.concat([wavFormat(parts), Buffer.alloc(2)]),
    ]) {
      const whole = await read(wavFile({ format, data }));
      expect(whole).toMatchObject({
        format: 'wav',
        codec,
        sampleRate: 8_000,
        channels: 1,
        durationSeconds: 0.5,
        notes: [],
      });
      expect(worst(whole.samples[0]!, left)).toBeLessThanOrEqual(tolerance);
    }
  });

  it.each([
    [7, 'pcm_mulaw'],
    [6, 'pcm_alaw'],
  ])('with format %i is read as %s', async (tag, codec) => {
    const data = Buffer.from(Array.from({ length: 256 }, (_none, code) => code));
    const whole = await read(wavFile({ tag, bits: 8, data }));
    expect(whole).toMatchObject({ codec, notes: [] });
    expect(new Set(whole.samples[0]).size).toBe(tag === 7 ? 255 : 256); // mu-law has a zero of each sign
  });

  it('keeps the two sides of a call apart', async () => {
    const whole = await read(wavFile({ channels: 2, data: pcm16(left, right) }));
    expect(whole.channels).toBe(2);
    expect(worst(whole.samples[0]!, left)).toBeLessThan(1e-4);
    expect(worst(whole.samples[1]!, right)).toBeLessThan(1e-4);
  });

  it('is read in blocks that end on a whole sample, whatever its length', async () => {
    for (const frames of [1, 10_922, 10_923, 32_768, 100_003]) {
      const ramp = Float32Array.from({ length: frames }, (_none, at) => (at % 1_000) / 1_000);
      const whole = await read(wavFile({ channels: 3, data: pcm16(ramp, ramp, ramp) }));
      expect(whole.samples.map((samples) => worst(samples, ramp) < 1e-4)).toEqual([true, true, true]);
      expect(whole.longestBlock).toBeLessThanOrEqual(65_536);
    }
  });

  it('steps over chunks that are not needed, of odd length too', async () => {
    const more = [
      riffChunk('bext', Buffer.alloc(603)),
      riffChunk('LIST', Buffer.from('INFOISFT')),
      riffChunk('id3 ', Buffer.from('ID3')),
    ];
    const whole = await read(
      wavFile({
        data: pcm16(left),
        beforeFormat: [riffChunk('JUNK', Buffer.alloc(27))],
        beforeData: more,
        afterData: more,
      }),
    );
    expect(worst(whole.samples[0]!, left)).toBeLessThan(1e-4);
    expect(whole.notes).toEqual([]);
  });

  it.each([
    [wavChunksMax - 2, 'read'],
    [wavChunksMax - 1, 'audio_damaged'],
  ])('with %i more chunks ends in %s', async (count, outcome) => {
    expect(
      await reasonOf(wavFile({ beforeData: Array.from({ length: count }, () => riffChunk('junk', Buffer.alloc(0))) })),
    ).toBe(outcome);
  });

  it.each<[string, WavParts]>([
    ['both lengths full', { riffBytes: 0xffff_ffff, dataBytes: 0xffff_ffff }],
    ['both lengths zero', { riffBytes: 0, dataBytes: 0 }],
    ['the lengths of an empty recording', { riffBytes: 36, dataBytes: 0 }],
  ])('written as a stream, with %s, is read to the end', async (_name, parts) => {
    const whole = await read(wavFile({ ...parts, data: pcm16(left) }));
    expect(worst(whole.samples[0]!, left)).toBeLessThan(1e-4);
    expect(whole.notes).toEqual(['unknown_length']);
  });

  it('that is cut short is read as far as it goes', async () => {
    const cut = wavFile({ data: pcm16(left) }).subarray(0, 44 + 2 * 100 + 1);
    const whole = await read(Buffer.from(cut));
    expect(worst(whole.samples[0]!, left.subarray(0, 100))).toBeLessThan(1e-4);
    expect(whole.notes).toEqual(['truncated']);
  });

  it.each(['RF64', 'BW64'])('of the kind %s has its length in 64 bits', async (id) => {
    const data = pcm16(left);
    const whole = await read(
      wavFile({
        id,
        riffBytes: 0xffff_ffff,
        dataBytes: 0xffff_ffff,
        beforeFormat: [longSizes({ dataBytes: BigInt(data.length) })],
        data,
        afterData: [riffChunk('LIST', Buffer.alloc(100))],
      }),
    );
    expect(worst(whole.samples[0]!, left)).toBeLessThan(1e-4);
    expect(whole.notes).toEqual([]);
  });

  it('that declares 2^63 bytes is read as far as it goes', async () => {
    const whole = await read(
      wavFile({
        id: 'RF64',
        dataBytes: 0xffff_ffff,
        beforeFormat: [longSizes({ dataBytes: 1n << 63n })],
        data: pcm16(left),
      }),
    );
    expect(whole.samples[0]!.length).toBe(left.length);
    expect(whole.notes).toEqual(['truncated']);
  });

  it('notes samples beyond full scale and those that are no numbers', async () => {
    const whole = await read(wavFile({ tag: 3, bits: 32, data: float32([0, 2, Number.NaN, -0.5]) }));
    expect([...whole.samples[0]!]).toEqual([0, 1, 0, -0.5]);
    expect(whole.notes).toEqual(['samples_clipped', 'samples_not_finite']);
  });

  it.each<[string, Buffer, AudioReason]>([
    ['that ends within its header', wavFile().subarray(0, 11), 'format_unknown'],
    ['that ends after its header', wavFile().subarray(0, 12), 'audio_damaged'],
    ['that ends within its format', wavFile().subarray(0, 30), 'audio_damaged'],
    ['without audio', wavFile().subarray(0, 36), 'audio_damaged'],
    ['with audio of no byte', wavFile({ data: Buffer.alloc(0) }), 'audio_damaged'],
    [
      'with audio of no byte and a chunk behind it',
      wavFile({ data: Buffer.alloc(0), afterData: [riffChunk('LIST', Buffer.alloc(50))] }),
      'audio_damaged',
    ],
    ['with less audio than a sample', wavFile({ data: Buffer.alloc(1) }), 'audio_damaged'],
    [
      'whose format is behind its audio',
      Buffer.concat([
        wavFile().subarray(0, 12),
        riffChunk('data', Buffer.alloc(100)),
        riffChunk('fmt ', wavFormat({})),
      ]),
      'audio_damaged',
    ],
    ['with two formats', wavFile({ beforeFormat: [riffChunk('fmt ', wavFormat({ channels: 2 }))] }), 'audio_damaged'],
    ['with a format of 15 bytes', wavFile({ format: wavFormat({}).subarray(0, 15) }), 'audio_damaged'],
    [
      'with an extensible format of 39 bytes',
      wavFile({ format: extensibleFormat({}).subarray(0, 39) }),
      'audio_damaged',
    ],
    [
      'with a format named by an unknown GUID',
      wavFile({ format: Buffer.concat([extensibleFormat({}).subarray(0, 30), Buffer.alloc(10, 7)]) }),
      'codec_unsupported',
    ],
    ['with no channel', wavFile({ channels: 0, blockAlign: 2 }), 'audio_damaged'],
    ['with a rate of 0 Hz', wavFile({ sampleRate: 0 }), 'audio_damaged'],
    ['with samples of no bit', wavFile({ bits: 0, blockAlign: 2 }), 'audio_damaged'],
    ['with samples of no byte', wavFile({ blockAlign: 0 }), 'audio_damaged'],
    ['whose bytes a sample do not fit', wavFile({ blockAlign: 3 }), 'audio_damaged'],
    ['with PCM of 40 bits', wavFile({ bits: 40 }), 'codec_unsupported'],
    ['with floating point of 16 bits', wavFile({ tag: 3, bits: 16 }), 'codec_unsupported'],
    ['with G.721', wavFile({ tag: 0x14, bits: 4 }), 'codec_unsupported'],
    [
      'of the kind RF64 with a short chunk of lengths',
      wavFile({ id: 'RF64', beforeFormat: [riffChunk('ds64', Buffer.alloc(8))] }),
      'audio_damaged',
    ],
  ])('%s is refused', async (_name, bytes, reason) => {
    expect(await reasonOf(bytes)).toBe(reason);
  });

  it.each<[string, WavParts, object, AudioReason]>([
    ['channels', { channels: 4, data: pcm16(left, left, left, left) }, { channelsMax: 4 }, 'channels_too_many'],
    ['a sample rate', { sampleRate: 48_000 }, { sampleRateMax: 48_000 }, 'sample_rate_too_high'],
    ['a low sample rate', { sampleRate: 6_000 }, { sampleRateMin: 6_000 }, 'sample_rate_too_low'],
    ['seconds', { data: pcm16(tone({ seconds: 2 })) }, { secondsMax: 2 }, 'recording_too_long'],
    ['bytes', {}, { bytesMax: wavFile().length }, 'file_too_large'],
  ])('at the limit of %s is read, and past it refused', async (_name, parts, limits, reason) => {
    expect(await reasonOf(wavFile(parts), limits)).toBe('read');
    const past = Object.fromEntries(
      Object.entries(limits).map(([limit, value]) => [
        limit,
        limit === 'sampleRateMin' ? (value as number) + 1 : (value as number) - (limit === 'secondsMax' ? 1e-4 : 1),
      ]),
    );
    expect(await reasonOf(wavFile(parts), past)).toBe(reason);
  });
});
