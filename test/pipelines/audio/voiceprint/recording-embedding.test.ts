import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resample } from '../../../../pipelines/audio/signal/resample.ts';
import { openGraph, type Graph } from '../../../../pipelines/audio/inference/graph.ts';
import { readManifest, type VoiceprintManifest } from '../../../../pipelines/audio/models/manifest.ts';
import { readWeights } from '../../../../pipelines/audio/models/model-weights.ts';
import { cosine } from '../../../../pipelines/audio/voiceprint/directions.ts';
import { embedSamples } from '../../../../pipelines/audio/voiceprint/recording-embedding.ts';
import { noise, speechLike } from '../voice-activity/line-signals.ts';

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

const embed = (samples: Float32Array) => embedSamples(samples, { manifest, graph });

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
    const found = await embed(samples);
    expect(Math.max(...check.embedding.map((value, index) => Math.abs(value - found[index]!)))).toBeLessThan(0.01);
  });

  it('has length 1 and the dimensions of the manifest', async () => {
    const embedding = await embed(speechLike(50_000, { rate: 8000 }));
    expect(embedding).toHaveLength(manifest.output.dimensions);
    expect(Math.hypot(...embedding)).toBeCloseTo(1, 5);
  });

  it('hardly depends on level', async () => {
    const speech = speechLike(64_000, { rate: 16_000 });
    const atFull = await embed(resample(speech, 16_000, 8000));
    const soft = resample(
      speech.map((sample) => sample / 50),
      16_000,
      8000,
    );
    expect(cosine(atFull, await embed(soft))).toBeGreaterThan(0.999);
  });

  it('is refused of a graph that answers with other dimensions', async () => {
    const wrong = { ...manifest, output: { ...manifest.output, dimensions: manifest.output.dimensions - 1 } };
    await expect(embedSamples(noise(24_000, 0.1), { manifest: wrong, graph })).rejects.toThrow('dimensions');
  });
});
