import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resample } from '../../../../pipelines/audio/signal/resample.ts';
import { openGraph, type Graph } from '../../../../pipelines/audio/inference/graph.ts';
import { readManifest, readWeights, type VoiceprintManifest } from '../../../../pipelines/audio/models/manifest.ts';
import { cosine } from '../../../../pipelines/audio/voiceprint/directions.ts';
import { embedRecording, voicedSecondsUsedMax } from '../../../../pipelines/audio/voiceprint/recording-embedding.ts';
import { following, noise, speechLike } from '../voice-activity/line-signals.ts';

const folder = 'models/voiceprint-2';
let manifest: VoiceprintManifest;
let graph: Graph;

beforeAll(async () => {
  manifest = await readManifest(folder, 'voiceprint');
  graph = await openGraph(await readWeights(join(folder, manifest.file), manifest), {
    inputName: manifest.input.name,
    outputName: manifest.output.name,
  });
});

afterAll(() => graph.close());

const embed = (
  samples: Float32Array,
  { sampleRate = 8000, voiced = new Uint8Array(Math.floor((samples.length / sampleRate) * 100)).fill(1) } = {},
) => embedRecording({ samples, sampleRate, voiced }, { manifest, graph });

describe('the embedding of a recording', () => {
  it('is what the training gave', async () => {
    const check = JSON.parse(await readFile(join(folder, 'check.json'), 'utf8')) as {
      readonly embedding: readonly number[];
    };
    const samples = Float32Array.from({ length: 24_000 }, (_none, at) => {
      const t = at / 8000;
      const phase = 2 * Math.PI * (130 * t + 8 * Math.sin(2 * Math.PI * 0.9 * t));
      return (
        0.05 *
        (0.6 - 0.4 * Math.cos(2 * Math.PI * 3 * t)) *
        Array.from({ length: 15 }, (_h, index) => Math.sin((index + 1) * phase) / (index + 1)).reduce(
          (sum, part) => sum + part,
          0,
        )
      );
    });
    const found = (await embed(samples))!;
    expect(found.voicedSeconds).toBe(3);
    expect(Math.max(...check.embedding.map((value, index) => Math.abs(value - found.embedding[index]!)))).toBeLessThan(
      0.01,
    );
  });

  it('has length 1 and the dimensions of the manifest', async () => {
    const { embedding } = (await embed(speechLike(50_000, { rate: 8000 })))!;
    expect(embedding).toHaveLength(manifest.output.dimensions);
    expect(Math.hypot(...embedding)).toBeCloseTo(1, 5);
  });

  it('is of the voice alone', async () => {
    const [speech, pause] = [speechLike(40_000, { rate: 8000 }), noise(40_000, 0.05)];
    const voiced = new Uint8Array(1000).fill(1, 500);
    expect(await embed(following(pause, speech), { voiced })).toEqual(await embed(speech));
  });

  it('is nothing where there is no voice', async () => {
    expect(await embed(noise(16_000, 0.1), { voiced: new Uint8Array(200) })).toBeNull();
    expect(await embed(new Float32Array(0))).toBeNull();
  });

  it('hardly depends on level, and on the rate of the recording', async () => {
    const speech = speechLike(64_000, { rate: 16_000 });
    const atFull = (await embed(speech, { sampleRate: 16_000 }))!.embedding;
    expect(
      cosine(
        atFull,
        (await embed(
          speech.map((sample) => sample / 50),
          { sampleRate: 16_000 },
        ))!.embedding,
      ),
    ).toBeGreaterThan(0.999);
    expect(cosine(atFull, (await embed(resample(speech, 16_000, 8000)))!.embedding)).toBeGreaterThan(0.99);
  });

  it.each([
    [0.5, 0.5],
    [3, 3],
    [3.01, 3.01],
    [50, 50],
    [voicedSecondsUsedMax, voicedSecondsUsedMax],
    [voicedSecondsUsedMax + 1, voicedSecondsUsedMax],
  ])('of %d s of voice uses %d s', async (seconds, used) => {
    expect((await embed(noise(Math.round(seconds * 8000), 0.1)))!.voicedSeconds).toBeCloseTo(used, 6);
  });

  it('is refused below the rate of the model', async () => {
    await expect(embed(noise(10_000, 0.1), { sampleRate: 7999 })).rejects.toThrow('below the 8000 Hz of the model');
  });

  it('is refused of a graph that answers with other dimensions', async () => {
    const wrong = { ...manifest, output: { ...manifest.output, dimensions: manifest.output.dimensions - 1 } };
    await expect(
      embedRecording(
        { samples: noise(24_000, 0.1), sampleRate: 8000, voiced: new Uint8Array(300).fill(1) },
        { manifest: wrong, graph },
      ),
    ).rejects.toThrow('dimensions');
  });
});
