import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { shippedModelsDirectory } from '../../../../pipelines/audio/models/shipped-models.ts';
import { embedVoice } from '../../../../pipelines/audio/scoring/embed-voice.ts';
import { OpenModels } from '../../../../pipelines/audio/scoring/open-models.ts';
import { decodeLimitsOf } from '../../../../pipelines/audio/scorers/scoring-pool.ts';
import { loadConfig } from '../../../../runtime/config.ts';
import { useScoringPool, useTestDirectory } from '../../../support/scoring.ts';
import { speechLike, writeWav } from '../../../support/speech-like.ts';

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
    const cosine = first.embedding.reduce((sum, value, at) => sum + value * second.embedding[at]!, 0);
    expect(cosine).toBeGreaterThan(0.9);
    expect(Math.abs(first.voiceSeconds - second.voiceSeconds)).toBeLessThan(0.6);
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
