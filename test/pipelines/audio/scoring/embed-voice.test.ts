import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { shippedModelsDirectory } from '../../../../pipelines/audio/models/shipped-models.ts';
import { embedVoice, VoiceCollector } from '../../../../pipelines/audio/scoring/embed-voice.ts';
import { OpenModels } from '../../../../pipelines/audio/scoring/open-models.ts';
import { decodeLimitsOf } from '../../../../pipelines/audio/scorers/scoring-pool.ts';
import { loadConfig } from '../../../../runtime/config.ts';
import { useScoringPool, useTestDirectory } from '../../../support/scoring.ts';
import { speechLike, writeWav } from '../../../support/speech-like.ts';
import { cosine } from '../../../../pipelines/audio/voiceprint/directions.ts';
import { resample } from '../../../../pipelines/audio/signal/resample.ts';
import { voicedSecondsUsedMax } from '../../../../pipelines/audio/voiceprint/recording-embedding.ts';
import { following, noise, speechLike as lineSpeech } from '../voice-activity/line-signals.ts';

const directory = await useTestDirectory();
const model = join(shippedModelsDirectory, 'voiceprint-2');
const limits = decodeLimitsOf(loadConfig({}));
const opened = new OpenModels();
afterAll(() => opened.close());
const { pool } = useScoringPool();

const write = (name: string, channels: Float32Array[], sampleRate = 8000) =>
  writeWav(join(directory, name), channels, sampleRate);
const voice = speechLike({ sampleRate: 8000, seconds: 8 });

describe('the numbers of a voice', () => {
  it('are a direction, and the same from the pool as from this process', async () => {
    const file = await write('voice.wav', [voice]);
    const own = await embedVoice({ file, directory: model, limits, opened });
    expect(Math.hypot(...own.embedding)).toBeCloseTo(1, 5);
    expect(own.audio).toEqual({ format: 'wav', codec: 'pcm_s16le', sampleRate: 8000, channels: 1, durationSeconds: 8 });
    expect(await pool.embed({ file, directory: model })).toEqual(own);
  });

  it('are of the voice alone: silence before and after changes little', async () => {
    const silence = new Float32Array(16_000);
    const [plain, around] = [
      await write('plain.wav', [voice]),
      await write('around.wav', [Float32Array.from([...silence, ...voice, ...silence])]),
    ];
    const [first, second] = [
      await embedVoice({ file: plain, directory: model, limits, opened }),
      await embedVoice({ file: around, directory: model, limits, opened }),
    ];
    expect(cosine(first.embedding, second.embedding)).toBeGreaterThan(0.9);
    expect(Math.abs(first.voiceSeconds - second.voiceSeconds)).toBeLessThan(0.6);
  });

  it('hardly depend on the rate of the recording', async () => {
    const speech = lineSpeech(64_000, { rate: 16_000 });
    const [wide, narrow] = [
      await embedVoice({ file: await write('wide.wav', [speech], 16_000), directory: model, limits, opened }),
      await embedVoice({
        file: await write('narrow.wav', [resample(speech, 16_000, 8000)]),
        directory: model,
        limits,
        opened,
      }),
    ];
    expect(cosine(wide.embedding, narrow.embedding)).toBeGreaterThan(0.99);
  });

  it('are of two minutes of voice at most, and the rest is not read', async () => {
    const long = await write('long.wav', [speechLike({ sampleRate: 8000, seconds: 240 })]);
    const embedded = await embedVoice({ file: long, directory: model, limits, opened });
    expect(embedded.voiceSeconds).toBe(120);
    expect(embedded.audio.durationSeconds).toBe(240);
  });

  it('are none where there is no voice, or too low a rate', async () => {
    const [silent, low] = [
      await write('silent.wav', [new Float32Array(40_000)]),
      await write('low.wav', [speechLike({ sampleRate: 6000, seconds: 4 })], 6000),
    ];
    await expect(pool.embed({ file: silent, directory: model })).rejects.toMatchObject({ reason: 'no_voice' });
    await expect(pool.embed({ file: low, directory: model })).rejects.toMatchObject({ reason: 'sample_rate_too_low' });
  });
});

describe('the collected voice of a recording', () => {
  const collect = (samples: Float32Array, voiced: Uint8Array) => {
    const collector = new VoiceCollector(8000);
    collector.add(samples, voiced);
    return collector.voice;
  };

  it('is that of the voiced frames alone', () => {
    const pause = noise(40_000, 0.05);
    const speech = lineSpeech(40_000, { rate: 8000 });
    expect(collect(following(pause, speech), new Uint8Array(1000).fill(1, 500))).toEqual(speech);
  });

  it('is nothing where there is no voice', () => {
    expect(collect(noise(16_000, 0.1), new Uint8Array(200))).toHaveLength(0);
    expect(collect(new Float32Array(0), new Uint8Array(0))).toHaveLength(0);
  });

  it.each([
    [0.5, 0.5],
    [3, 3],
    [3.01, 3.01],
    [50, 50],
    [voicedSecondsUsedMax, voicedSecondsUsedMax],
    [voicedSecondsUsedMax + 1, voicedSecondsUsedMax],
  ])('of %d s of voice has %d s', (seconds, used) => {
    const samples = noise(Math.round(seconds * 8000), 0.1);
    expect(collect(samples, new Uint8Array(Math.round(seconds * 100)).fill(1)).length / 8000).toBeCloseTo(used, 6);
  });
});
