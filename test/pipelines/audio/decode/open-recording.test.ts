import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { loadDecoderLibrary } from '../../../../pipelines/audio/decode/decoder-library.ts';
import { openRecording } from '../../../../pipelines/audio/decode/open-recording.ts';
import { blockSamplesMax } from '../../../../pipelines/audio/decode/recording.ts';
import { packageRoot } from '../../../../runtime/package-root.ts';
import { AudioRefusal, type AudioReason } from '../../../../pipelines/audio/reasons.ts';
import {
  pcm16,
  readWhole,
  RecordingFolder,
  sampleRecording,
  sampleRecordingPath,
  sineIn,
  tone,
  wavFile,
  wavFormat,
  wideLimits,
} from '../../../support/audio-file.ts';
import { aiffFile, auFile, cafFile, w64File } from '../../../support/audio-containers.ts';
import { encodeSamples } from '../streaming/encoded-samples.ts';

const folder = new RecordingFolder();
afterAll(() => folder.remove());

const reasonOf = (reading: Promise<unknown>) =>
  reading.then(
    () => 'read',
    (error: unknown) => (error instanceof AudioRefusal ? error.reason : error),
  );

/** How far the samples are from the sine, in dB below it, at the place where it belongs. */
function distance(samples: Float32Array, sampleRate: number, hertz = 440): number {
  const wanted = tone({ sampleRate, hertz, seconds: samples.length / sampleRate });
  const inside = [...samples.keys()].filter((at) => at > sampleRate * 0.1 && at < sampleRate * 0.9);
  const noise = inside.reduce((sum, at) => sum + (samples[at]! - wanted[at]!) ** 2, 0);
  return 10 * Math.log10(inside.reduce((sum, at) => sum + wanted[at]! ** 2, 0) / noise);
}

/** The sine as the samples of a container that a test makes. */
const second = tone();
const mulaw = encodeSamples('pcm_mulaw', [second]);
const alaw = encodeSamples('pcm_alaw', [second]);

describe('a recording', () => {
  it.each([
    // file, container, codec, rate, samples of the second that went in, and how near they come to it
    ['tone-24.flac', 'flac', 'flac', 16_000, 16_000, 100],
    ['tone.mp3', 'mp3', 'mp3', 16_000, 16_000, 25],
    ['tone.opus', 'ogg', 'opus', 48_000, 48_000, 10],
    ['tone.ogg', 'ogg', 'vorbis', 16_000, 16_000, 15],
    ['tone.m4a', 'mp4', 'aac', 16_000, 16_000, 10],
    ['tone-alac.m4a', 'mp4', 'alac', 16_000, 16_000, 90],
    ['tone-gsm.wav', 'wav', 'gsm_ms', 8_000, 8_000, 15],
    // The last block is filled up.
    ['tone-ima.wav', 'wav', 'adpcm_ima_wav', 8_000, 8_164, 20],
    ['tone-ms.wav', 'wav', 'adpcm_ms', 8_000, 8_144, 20],
    ['tone-g726.wav', 'wav', 'adpcm_g726', 8_000, 8_000, 20],
  ])('%s is decoded, each sample in its place', async (name, format, codec, sampleRate, length, nearDb) => {
    const whole = await readWhole(sampleRecordingPath(name));
    expect(whole).toMatchObject({ format, codec, sampleRate, channels: 1, notes: [] });
    expect(whole.samples[0]!.length).toBe(length);
    expect(distance(whole.samples[0]!, sampleRate)).toBeGreaterThan(nearDb);
    expect(whole.durationSeconds).toBe(format === 'mp3' ? null : length / sampleRate);
  });

  it.each([
    // file, container, codec, rate, samples, and how far what is not the sine lies below it
    ['tone.amr', 'amr', 'amr_nb', 8_000, 8_000, 20],
    ['tone.3gp', 'mp4', 'amr_nb', 8_000, 8_000, 20],
    ['tone.webm', 'matroska', 'opus', 48_000, 48_208, 15],
    ['tone.wma', 'asf', 'wmav2', 16_000, 15_872, 20],
    ['tone.spx', 'ogg', 'speex', 8_000, 8_000, 15],
    ['tone.aac', 'aac', 'aac', 16_000, 17_408, 10],
    ['tone-mp3.wav', 'wav', 'mp3', 16_000, 17_280, 20],
    ['tone-g723.wav', 'wav', 'g723_1', 8_000, 8_160, 20],
    ['tone.mkv', 'matroska', 'pcm_mulaw', 8_000, 8_000, 30],
  ])('%s is decoded, whatever its encoder put before the start', async (name, format, codec, rate, length, nearDb) => {
    const whole = await readWhole(sampleRecordingPath(name));
    expect(whole).toMatchObject({ format, codec, sampleRate: rate, channels: 1, notes: [] });
    expect(whole.samples[0]!.length).toBe(length);
    const found = sineIn(whole.samples[0]!, rate);
    expect(found.level).toBeGreaterThan(0.4);
    expect(found.level).toBeLessThan(0.56);
    expect(found.nearDb).toBeGreaterThan(nearDb);
  });

  it.each<[string, Buffer, string, string, number]>([
    ['AU', auFile({ data: mulaw }), 'au', 'pcm_mulaw', 30],
    ['AU of A-law', auFile({ data: alaw, encoding: 27 }), 'au', 'pcm_alaw', 30],
    ['AIFF-C', aiffFile({ data: pcm16(second) }), 'aiff', 'pcm_s16le', 90],
    ['AIFF-C of mu-law', aiffFile({ data: mulaw, bits: 8, codec: 'ulaw' }), 'aiff', 'pcm_mulaw', 30],
    ['CAF', cafFile({ data: pcm16(second).swap16() }), 'caf', 'pcm_s16be', 90],
    [
      'CAF of A-law',
      cafFile({ data: alaw, codec: 'alaw', bits: 8, packet: { bytes: 1, frames: 1 } }),
      'caf',
      'pcm_alaw',
      30,
    ],
    ['Wave64', w64File({ data: pcm16(second), format: wavFormat({}) }), 'w64', 'pcm_s16le', 90],
  ])('of %s is read to the sample', async (name, bytes, format, codec, nearDb) => {
    const whole = await readWhole(folder.write(name, bytes));
    expect(whole).toMatchObject({ format, codec, sampleRate: 8_000, channels: 1, durationSeconds: 1, notes: [] });
    expect(whole.samples[0]!.length).toBe(8_000);
    expect(distance(whole.samples[0]!, 8_000)).toBeGreaterThan(nearDb);
  });

  it('of wideband AMR has 50 frames a second, also where nobody spoke', async () => {
    const silence = Buffer.concat([Buffer.from('#!AMR-WB\n'), Buffer.alloc(50, 0x7c)]);
    const whole = await readWhole(folder.write('speech.awb', silence));
    expect(whole).toMatchObject({ format: 'amr', codec: 'amr_wb', sampleRate: 16_000, notes: [] });
    expect(whole.samples[0]!.length).toBe(16_000);
  });

  it.each<[string, Buffer, string]>([
    ['G.729', wavFile({ tag: 0x83, bits: 0, blockAlign: 10 }), 'G.729'],
    ['a tag of nobody', wavFile({ tag: 0x1234 }), '0x1234 with 16 bits'],
    ['a GUID of nobody', wavFile({ format: Buffer.concat([wavFormat({ tag: 0xfffe }), Buffer.alloc(24)]) }), 'a GUID'],
    ['MACE in AIFF-C', aiffFile({ data: pcm16(second), codec: 'MAC3' }), 'mace3'],
  ])('with a codec that is not read (%s) is refused by its name, with what to do', async (_name, bytes, codec) => {
    await expect(readWhole(folder.write('codec', bytes))).rejects.toMatchObject({
      reason: 'codec_unsupported',
      detail: expect.stringMatching(new RegExp(`^Its codec is .*${codec}.*: convert it to WAV or FLAC\\.$`)) as string,
    });
  });

  it.each(['tone-stereo.flac', 'tone-stereo-flac.ogg'])('%s keeps its channels apart', async (name) => {
    const whole = await readWhole(sampleRecordingPath(name));
    expect(whole).toMatchObject({ codec: 'flac', channels: 2, notes: [] });
    expect(whole.samples.map(({ length }) => length)).toEqual([8_000, 8_000]);
  });

  it('without a header that says so keeps what an MP3 encoder puts before the start', async () => {
    const [counted, plain] = [
      await readWhole(sampleRecordingPath('tone.mp3')),
      await readWhole(sampleRecordingPath('tone-no-header.mp3')),
    ];
    expect(plain.samples[0]!.length).toBeGreaterThan(counted.samples[0]!.length);
  });

  it('is what its content says, whatever its name says', async () => {
    expect((await readWhole(folder.write('speech.wav', sampleRecording('tone.mp3')))).format).toBe('mp3');
    expect((await readWhole(folder.write('speech.mp3', wavFile()))).format).toBe('wav');
    expect((await readWhole(folder.write('http:speech.m3u8', sampleRecording('tone.opus')))).format).toBe('ogg');
  });

  it('of an hour of silence in 14 KB is read in short blocks', async () => {
    const recording = await openRecording(sampleRecordingPath('silence-hour.flac'), wideLimits);
    let [samples, longest] = [0, 0];
    for await (const [block] of recording.blocks()) {
      samples += block!.length;
      longest = Math.max(longest, block!.length);
    }
    await recording.close();
    expect(samples).toBe(3_600 * 8_000);
    expect(longest).toBeLessThanOrEqual(blockSamplesMax);
  });

  it.each<[string, object, AudioReason | 'read']>([
    ['silence-hour.flac', { secondsMax: 3_600 }, 'read'],
    ['silence-hour.flac', { secondsMax: 3_599.99 }, 'recording_too_long'],
    ['tone.mp3', { secondsMax: 1 }, 'read'],
    ['tone.mp3', { secondsMax: 0.99 }, 'recording_too_long'], // known only while it is decoded
    ['tone-stereo.flac', { channelsMax: 2 }, 'read'],
    ['tone-stereo.flac', { channelsMax: 1 }, 'channels_too_many'],
    ['tone.opus', { sampleRateMax: 48_000 }, 'read'],
    ['tone.opus', { sampleRateMax: 47_999 }, 'sample_rate_too_high'],
    ['tone.mp3', { sampleRateMin: 16_000 }, 'read'],
    ['tone.mp3', { sampleRateMin: 16_001 }, 'sample_rate_too_low'],
    ['tone.ogg', { bytesMax: 4_266 }, 'read'],
    ['tone.ogg', { bytesMax: 4_265 }, 'file_too_large'],
    ['silence-hour.flac', { wallSecondsMax: 0.001 }, 'decoding_too_slow'],
  ])('%s with %j ends in: %s', async (name, limits, outcome) => {
    expect(await reasonOf(readWhole(sampleRecordingPath(name), limits))).toBe(outcome);
  });

  it('that is cut short is read as far as it goes, and says so', async () => {
    const flac = sampleRecording('tone-24.flac');
    const whole = await readWhole(folder.write('cut', flac.subarray(0, flac.length / 2)));
    expect(whole.notes).toContain('truncated');
    expect(whole.samples[0]!.length).toBeGreaterThan(3_000);
  });

  it('can be closed before its end, between blocks and twice', async () => {
    const recording = await openRecording(sampleRecordingPath('silence-hour.flac'), wideLimits);
    let blocks = 0;
    for await (const block of recording.blocks()) {
      blocks += block.length;
      await recording.close();
    }
    await recording.close();
    expect(blocks).toBe(1);
  });

  it('gives nothing when it is closed', async () => {
    for (const path of [sampleRecordingPath('tone.mp3'), folder.write('closed.wav', wavFile())]) {
      const recording = await openRecording(path, wideLimits);
      await recording.close();
      await expect(recording.blocks()[Symbol.asyncIterator]().next()).rejects.toThrow();
    }
  });

  it('leaves no file open, refused or read', async () => {
    const openFiles = () => readdirSync('/proc/self/fd').length;
    await readWhole(sampleRecordingPath('tone.mp3'));
    const before = openFiles();
    for (let round = 0; round < 5; round++) {
      await readWhole(sampleRecordingPath('tone.mp3'));
      await readWhole(folder.write('a.wav', wavFile()));
      await reasonOf(readWhole(sampleRecordingPath('tone.mp3'), { channelsMax: 0 }));
      await reasonOf(readWhole(folder.write('b', Buffer.from('nothing'))));
      await reasonOf(
        readWhole(folder.write('c', Buffer.concat([sampleRecording('tone.m4a').subarray(0, 60), Buffer.alloc(4_000)]))),
      );
    }
    await expect.poll(openFiles, { timeout: 60_000 }).toBeLessThanOrEqual(before);
  });

  it('is decoded with others, each as if alone', async () => {
    const names = ['tone.mp3', 'tone.opus', 'tone.ogg', 'tone.m4a', 'tone-24.flac'];
    const alone = [];
    for (const name of names) alone.push(await readWhole(sampleRecordingPath(name)));
    expect(await Promise.all(names.map((name) => readWhole(sampleRecordingPath(name))))).toEqual(alone);
  });
});

describe('a path', () => {
  it.each<[string, () => string, AudioReason]>([
    ['of no file', () => join(folder.path, 'none'), 'file_missing'],
    ['through a file', () => join(folder.write('f', wavFile()), 'none'), 'file_missing'],
    ['too long', () => join(folder.path, 'n'.repeat(300)), 'file_missing'],
    ['with a zero byte', () => join(folder.path, 'a\0b'), 'file_missing'],
    ['of a folder', () => folder.path, 'file_unreadable'],
    ['of a device', () => '/dev/zero', 'file_unreadable'],
    ['of an empty file', () => folder.write('empty', Buffer.alloc(0)), 'file_empty'],
    [
      'of a symbolic link',
      () => {
        symlinkSync(folder.write('target', wavFile()), join(folder.path, 'link'));
        return join(folder.path, 'link');
      },
      'file_unreadable',
    ],
  ])('%s is refused', async (_name, path, reason) => {
    expect(await reasonOf(openRecording(path(), wideLimits))).toBe(reason);
  });
});

describe('the optional decoder', () => {
  it('says which FFmpeg it is', async () => {
    const { version, configuration } = (await loadDecoderLibrary('FFmpeg')).functions.getFFmpegInfo();
    expect(version).toMatch(/^\d+\.\d+/);
    expect(configuration).toContain('--enable-gpl');
  });

  it('that is not installed is asked for by name, and WAV is read without it', async () => {
    // The compiled product in a place from where no package is found.
    const place = join(folder.path, 'product');
    mkdirSync(place);
    for (const part of ['test', 'bench/chunks'])
      cpSync(join(packageRoot, 'dist', part), join(place, part), { recursive: true });
    folder.write('product/package.json', Buffer.from('{"type":"module"}'));
    const script = `
      import { openRecording } from ${JSON.stringify(pathToFileURL(join(place, 'test/pipelines/audio/decode/open-recording-program.js')).href)};
      for (const path of process.argv.slice(1)) {
        await openRecording(path, ${JSON.stringify(wideLimits)}).then(({ format }) => console.log(format), ({ message }) => console.log(message));
      }`;
    const named = [
      ['tone.mp3', 'MP3'],
      ['tone-24.flac', 'FLAC'],
      ['tone.opus', 'Ogg'],
      ['tone.m4a', 'MP4 or M4A'],
      ['tone-gsm.wav', 'compressed WAV'],
    ] as const;
    const paths = [
      folder.write('tone.wav', wavFile({ data: pcm16(tone()) })),
      ...named.map(([file]) => sampleRecordingPath(file)),
    ];
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, ...paths]);
    expect(stdout.split('\n')).toEqual([
      'wav',
      ...named.map(
        ([, format]) =>
          `decoder_missing: This is ${format}, which the optional package node-av reads. Install it (npm ci without --omit=optional), or convert the recording to WAV with PCM.`,
      ),
      '',
    ]);
  });
});
