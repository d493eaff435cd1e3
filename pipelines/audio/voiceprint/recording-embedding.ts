import type { Graph } from '../inference/graph.ts';
import { resample } from '../signal/resample.ts';
import { windowSamples, type VoiceprintManifest } from '../models/manifest.ts';
import { InputMaker } from '../signal/frames.ts';
import { windowsOf } from '../signal/windows.ts';
import { voiceFramesPerSecond } from '../voice-activity/voice-frames.ts';
import { meanDirection } from './directions.ts';

/** An open voiceprint model. */
interface EmbeddingModel {
  readonly manifest: Pick<VoiceprintManifest, 'input' | 'output' | 'limits'>;
  readonly graph: Pick<Graph, 'run'>;
}

/** One channel of a recording, with the frames of 10 ms that are voice. */
interface VoicedRecording {
  readonly samples: Float32Array;
  readonly sampleRate: number;
  readonly voiced: Uint8Array;
}

/** The embedding of the speaker of a recording, with length 1. */
export interface RecordingEmbedding {
  readonly embedding: Float32Array;
  readonly voicedSeconds: number;
}

/** Seconds of voice that are used of a recording: more adds little, and memory stays bounded. */
export const voicedSecondsUsedMax = 120;

/**
 * The embedding of a recording: its voiced samples are cut into the model's windows; the mean
 * direction of their embeddings. Null if there is no voice. Only the first `voicedSecondsUsedMax` of voice are used.
 * @throws RangeError for a rate below the model's, or a graph that answers other than its manifest says
 */
export async function embedRecording(
  recording: VoicedRecording,
  model: EmbeddingModel,
): Promise<RecordingEmbedding | null> {
  const { input } = model.manifest;
  if (recording.sampleRate < input.sampleRateMin)
    throw new RangeError(
      `A recording at ${recording.sampleRate} Hz is below the ${input.sampleRateMin} Hz of the model.`,
    );
  const voice = voiceOf(recording);
  if (voice.length === 0) return null;
  const samples = resample(voice, recording.sampleRate, input.sampleRate);
  const cut = { window: windowSamples(input), hop: Math.round(input.hopSeconds * input.sampleRate) };
  const windows = windowsOf(samples.length, cut).map(({ from, to }) => samples.subarray(from, to));
  return {
    embedding: meanDirection(await embedWindows(windows, model)),
    voicedSeconds: voice.length / recording.sampleRate,
  };
}

/** The concatenated samples of the voiced frames. */
function voiceOf({ samples, sampleRate, voiced }: VoicedRecording): Float32Array {
  const frameSamples = sampleRate / voiceFramesPerSecond;
  const voice = new Float32Array(Math.min(voicedSecondsUsedMax * sampleRate, samples.length));
  let length = 0;
  for (let frame = 0; frame < voiced.length; frame++) {
    if (voiced[frame] === 0) continue;
    const part = samples.subarray(Math.round(frame * frameSamples), Math.round((frame + 1) * frameSamples));
    if (length + part.length > voice.length) break;
    voice.set(part, length);
    length += part.length;
  }
  return voice.subarray(0, length);
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
