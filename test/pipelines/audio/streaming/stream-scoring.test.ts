import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { loadShippedRegistry } from '../../../../pipelines/audio/models/registry.ts';
import type { ResolvedModel } from '../../../../pipelines/audio/models/registry.ts';
import { OpenModels } from '../../../../pipelines/audio/scoring/open-models.ts';
import { scoreRecording } from '../../../../pipelines/audio/scoring/score-recording.ts';
import {
  STREAM_ENCODINGS,
  frameBytesOf,
  wavHeader,
  type StreamEncoding,
  type StreamFormat,
} from '../../../../pipelines/audio/streaming/stream-format.ts';
import { StreamScoring } from '../../../../pipelines/audio/streaming/stream-scoring.ts';
import type { ChannelMode, ScoredRecording, ScoredWindow } from '../../../../pipelines/audio/verification.ts';
import { readWhole, wideLimits } from '../../../support/audio-file.ts';
import { useFolder } from '../../../support/recording-batch.ts';
import { speechLike } from '../../../support/speech-like.ts';
import { encodeSamples } from './encoded-samples.ts';

const folder = await useFolder('stream-scoring');
const opened = new OpenModels({ modelsMax: 100 });
const registry = await loadShippedRegistry();
afterAll(() => opened.close());

function modelOf(name: string): ResolvedModel {
  const resolution = registry.resolve(name);
  if (resolution.kind !== 'model') throw new Error(name);
  return resolution.model;
}

interface Given {
  readonly bytes: Buffer;
  readonly format: StreamFormat;
  readonly model: string;
  readonly channels?: ChannelMode;
}

interface Streamed {
  readonly scored: ScoredRecording;
  readonly emitted: readonly ScoredWindow[];
}

async function streamed(
  { bytes, format, model, channels = 'apart' }: Given,
  pieces: Iterable<number>,
): Promise<Streamed> {
  const emitted: ScoredWindow[] = [];
  const scoring = await StreamScoring.open(
    { model: modelOf(model), format, settings: { channels } },
    { opened, onWindow: (window) => emitted.push(window) },
  );
  let at = 0;
  for (const piece of pieces) {
    if (at >= bytes.length) break;
    await scoring.push(bytes.subarray(at, at + piece));
    at += piece;
  }
  if (at < bytes.length) await scoring.push(bytes.subarray(at));
  return { scored: await scoring.finish(), emitted };
}

let files = 0;

async function asFile({ bytes, format, model, channels = 'apart' }: Given): Promise<ScoredRecording> {
  const whole = bytes.subarray(0, bytes.length - (bytes.length % frameBytesOf(format)));
  const file = join(folder, `${files++}.wav`);
  await writeFile(file, Buffer.concat([wavHeader(format, whole.length), whole, Buffer.alloc(whole.length % 2)]));
  return scoreRecording({
    file,
    models: { phone: modelOf(model), digital: null },
    settings: { channels },
    limits: wideLimits,
    opened,
  });
}

const comparable = ({ computedMs: _computedMs, ...rest }: ScoredRecording) => rest;

/** The windows as a client has them in the end: a later one takes the place of an earlier one. */
function lastEmitted(emitted: readonly ScoredWindow[]): ScoredWindow[] {
  const windows = new Map(emitted.map((window) => [`${window.channel} ${window.start} ${window.end}`, window]));
  return [...windows.values()].sort((a, b) => (a.channel ?? 0) - (b.channel ?? 0) || a.start - b.start);
}

const voices = ['reader-a-1.wav', 'synthesizer-espeak-en.wav', 'dial-tone.wav', 'reader-b-1.mp3'];
const samplesOf = async (name: string) => readWhole(join('samples/recordings', name));

describe('a stream in pieces of any size', () => {
  it.each(voices.flatMap((voice) => ['phone/v8', 'phone/v1.1', 'phone/v7'].map((model) => [voice, model] as const)))(
    'is scored as the file is: %s by %s',
    async (voice, model) => {
      const { samples, sampleRate } = await samplesOf(voice);
      const format: StreamFormat = { encoding: 'pcm_s16le', sampleRate, channels: samples.length };
      const given = { bytes: encodeSamples('pcm_s16le', samples), format, model };
      const expected = await asFile(given);
      for (const piece of [640, 7777, 1_000_000]) {
        const { scored, emitted } = await streamed(
          given,
          Array<number>(Math.ceil(given.bytes.length / piece)).fill(piece),
        );
        expect(comparable(scored)).toEqual(comparable(expected));
        expect(
          lastEmitted(emitted).filter(({ start }) => expected.windows.some((window) => window.start === start)),
        ).toEqual(expected.windows);
      }
    },
  );

  it.each(STREAM_ENCODINGS)(
    'of %s is scored as the file is, wherever its pieces end',
    async (encoding: StreamEncoding) => {
      const voice = speechLike({ sampleRate: 8000, seconds: 9.3 });
      const other = speechLike({ sampleRate: 8000, seconds: 9.3, pitch: 210, peak: 1.5 });
      const channels = encoding === 'pcm_mulaw' ? [voice] : [voice, other];
      const bytes = Buffer.concat([
        encodeSamples(encoding, channels),
        Buffer.alloc(frameBytesOf({ encoding, sampleRate: 8000, channels: channels.length }) - 1),
      ]);
      const given: Given = {
        bytes,
        format: { encoding, sampleRate: 8000, channels: channels.length },
        model: 'phone/v1.1',
      };
      const expected = comparable(await asFile(given));
      expect(expected.state).toBe('performed');
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 1, max: 30_000 }), { minLength: 1, maxLength: 60 }),
          async (pieces) => {
            expect(comparable((await streamed(given, pieces)).scored)).toEqual(expected);
          },
        ),
        { numRuns: 15 },
      );
    },
  );

  it.each([44_100, 48_000, 16_000])('at %i Hz is resampled as the file is', async (sampleRate) => {
    const voice = speechLike({ sampleRate, seconds: 10 });
    for (const model of sampleRate === 44_100 ? ['phone/v8'] : ['phone/v8', 'digital/v3']) {
      const given: Given = {
        bytes: encodeSamples('pcm_s16le', [voice]),
        format: { encoding: 'pcm_s16le', sampleRate, channels: 1 },
        model,
      };
      expect(comparable((await streamed(given, Array<number>(2000).fill(1234))).scored)).toEqual(
        comparable(await asFile(given)),
      );
    }
  });

  it('longer than the detector decides at a time in a file is scored as the file is', async () => {
    const { samples, sampleRate } = await samplesOf('synthesizer-espeak-de.wav');
    const given: Given = {
      bytes: Buffer.concat(Array<Buffer>(4).fill(encodeSamples('pcm_s16le', samples))),
      format: { encoding: 'pcm_s16le', sampleRate, channels: 1 },
      model: 'phone/v8',
    };
    const expected = await asFile(given);
    expect(expected.audio.durationSeconds).toBeGreaterThan(30);
    const { scored, emitted } = await streamed(given, Array<number>(20_000).fill(1601));
    expect(comparable(scored)).toEqual(comparable(expected));
    expect(lastEmitted(emitted)).toEqual(expected.windows);
  });

  it('mixes channels as the file is mixed', async () => {
    const given: Given = {
      bytes: encodeSamples('pcm_s16le', [
        speechLike({ sampleRate: 8000, seconds: 7 }),
        speechLike({ sampleRate: 8000, seconds: 7, pitch: 220 }),
      ]),
      format: { encoding: 'pcm_s16le', sampleRate: 8000, channels: 2 },
      model: 'phone/v8',
      channels: 'mixed',
    };
    expect(comparable((await streamed(given, Array<number>(500).fill(999))).scored)).toEqual(
      comparable(await asFile(given)),
    );
  });
});

describe('the windows of a stream', () => {
  const format: StreamFormat = { encoding: 'pcm_s16le', sampleRate: 8000, channels: 1 };
  const voice = encodeSamples('pcm_s16le', [speechLike({ sampleRate: 8000, seconds: 20 })]);

  it('are emitted when their last sample is there, before the detector has decided', async () => {
    const emitted: ScoredWindow[] = [];
    const scoring = await StreamScoring.open(
      { model: modelOf('phone/v8'), format, settings: { channels: 'apart' } },
      { opened, onWindow: (window) => emitted.push(window) },
    );
    const secondsAt: number[] = [];
    for (let at = 0; at < 10 * 16_000; at += 320) {
      await scoring.push(voice.subarray(at, at + 320));
      while (secondsAt.length < emitted.length) secondsAt.push((at + 320) / 16_000);
    }
    expect(emitted.slice(0, 4).map(({ start, end }) => [start, end])).toEqual([
      [0, 4],
      [2, 6],
      [4, 8],
      [6, 10],
    ]);
    expect(secondsAt.slice(0, 4)).toEqual([4, 6, 8, 10]);
    expect(emitted[0]!.scores?.synthesis).toBeGreaterThan(0);
  });

  it('are emitted once each while nothing changes, and hold what the whole has', async () => {
    const { scored, emitted } = await streamed(
      { bytes: voice, format, model: 'phone/v8' },
      Array<number>(1000).fill(640),
    );
    expect(emitted).toHaveLength(new Set(emitted.map(({ start }) => start)).size);
    expect(emitted).toEqual(scored.windows);
  });

  it('of silence have no score, and the whole says why', async () => {
    const { scored, emitted } = await streamed(
      { bytes: Buffer.alloc(16_000 * 6), format, model: 'phone/v8' },
      Array<number>(1000).fill(640),
    );
    expect([scored.state, scored.reason]).toEqual(['performedWithoutScore', 'no_voice']);
    expect(emitted.map(({ label, scores }) => [label, scores])).toEqual(emitted.map(() => ['insufficientVoice', null]));
  });

  it('of fewer samples than a window are emitted at the end', async () => {
    const { scored, emitted } = await streamed(
      { bytes: voice.subarray(0, 3 * 16_000), format, model: 'phone/v8' },
      [16_000, 16_000],
    );
    expect(emitted).toEqual(scored.windows);
    expect(emitted.map(({ start, end }) => [start, end])).toEqual([[0, 3]]);
  });
});

describe('a stream', () => {
  it.each([0, 1, 3])('of %i bytes of a sample of four has nothing to score', async (bytes) => {
    const given: Given = {
      bytes: Buffer.alloc(bytes),
      format: { encoding: 'pcm_f32le', sampleRate: 8000, channels: 1 },
      model: 'phone/v8',
    };
    await expect(streamed(given, [1, 1, 1])).rejects.toMatchObject({ reason: 'audio_damaged' });
  });

  it('says which samples had to be set right', async () => {
    const samples = speechLike({ sampleRate: 8000, seconds: 5 });
    samples[100] = 2;
    samples[200] = Number.NaN;
    const given: Given = {
      bytes: encodeSamples('pcm_f32le', [samples]),
      format: { encoding: 'pcm_f32le', sampleRate: 8000, channels: 1 },
      model: 'phone/v8',
    };
    const { scored } = await streamed(given, [4001, 4001]);
    expect(scored.notes).toEqual(['samples_clipped', 'samples_not_finite']);
    expect(comparable(scored)).toEqual(comparable(await asFile(given)));
  });
});
