import type { Graph } from '../inference/graph.ts';
import { windowSamples, type VoiceprintManifest } from '../models/manifest.ts';
import { InputMaker } from '../signal/frames.ts';
import { windowsOf } from '../signal/windows.ts';
import { meanDirection } from './directions.ts';

/** An open voiceprint model. */
interface EmbeddingModel {
  readonly manifest: Pick<VoiceprintManifest, 'input' | 'output' | 'limits'>;
  readonly graph: Pick<Graph, 'run'>;
}

/** The embedding of the speaker of a recording, with length 1. */
export interface RecordingEmbedding {
  readonly embedding: Float32Array;
  readonly voicedSeconds: number;
}

/** Seconds of voice that are used of a recording: more adds little, and memory stays bounded. */
export const voicedSecondsUsedMax = 120;

/**
 * The embedding of a voice: its samples, at least one, at the model's rate and without pauses, are cut into the model's windows; the mean
 * direction of their embeddings.
 * @throws RangeError for a graph that answers other than its manifest says
 */
export async function embedSamples(voice: Float32Array, model: EmbeddingModel): Promise<Float32Array> {
  const { input } = model.manifest;
  const cut = { window: windowSamples(input), hop: Math.round(input.hopSeconds * input.sampleRate) };
  const windows = windowsOf(voice.length, cut).map(({ from, to }) => voice.subarray(from, to));
  return meanDirection(await embedWindows(windows, model));
}

async function embedWindows(
  windows: readonly Float32Array[],
  { manifest, graph }: EmbeddingModel,
): Promise<Float32Array[]> {
  const [maker, { dimensions }, { batchMax }] = [new InputMaker(manifest.input), manifest.output, manifest.limits];
  const embeddings: Float32Array[] = [];
  for (let at = 0; at < windows.length; at += batchMax) {
    const batch = windows.slice(at, at + batchMax);
    const values = new Float32Array(batch.length * maker.values);
    batch.forEach((window, index) => maker.write(window, values, index * maker.values));
    const output = await graph.run(values, [batch.length, ...maker.shape]);
    if (output.length !== batch.length * dimensions)
      throw new RangeError(
        `The graph answered ${output.length} numbers for ${batch.length} windows of ${dimensions} dimensions.`,
      );
    embeddings.push(...batch.map((_window, index) => output.slice(index * dimensions, (index + 1) * dimensions)));
  }
  return embeddings;
}
