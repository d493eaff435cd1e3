import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeOnnx } from './onnx-file.ts';

const bins = 129;

/** What of a voiceprint model's manifest may be another. */
interface VoiceModelChanges {
  readonly model?: string;
  readonly calibration?: object;
  readonly thresholds?: object;
  readonly succeeds?: readonly string[];
}

/**
 * Writes a voiceprint model made for tests: the mean log power of each frequency, less its mean over all. Voices of different
 * pitch lie in different directions.
 */
export async function writeVoiceModel(directory: string, changes: VoiceModelChanges = {}): Promise<string> {
  const graph = encodeOnnx({
    inputs: [{ name: 'input', shape: ['batch', 'frames', bins] }],
    outputs: [{ name: 'output', shape: ['batch', bins] }],
    weights: [{ name: 'least', dims: [1], values: [1e-3] }],
    nodes: [
      { op: 'Add', inputs: ['input', 'least'], outputs: ['raised'] },
      { op: 'Log', inputs: ['raised'], outputs: ['levels'] },
      { op: 'ReduceMean', inputs: ['levels'], outputs: ['means'], attributes: { axes: [1], keepdims: 0 } },
      { op: 'ReduceMean', inputs: ['means'], outputs: ['whole'], attributes: { axes: [1], keepdims: 1 } },
      { op: 'Sub', inputs: ['means', 'whole'], outputs: ['output'] },
    ],
  });
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'model.onnx'), graph);
  await writeFile(join(directory, 'manifest.json'), JSON.stringify(manifestOf(graph, changes)));
  return directory;
}

function manifestOf(graph: Buffer, changes: VoiceModelChanges): object {
  return {
    schema: 'model-manifest/1',
    model: 'voiceprint/0-test',
    kind: 'voiceprint',
    file: 'model.onnx',
    sha256: createHash('sha256').update(graph).digest('hex'),
    bytes: graph.length,
    parameters: 1,
    input: {
      kind: 'power-spectrogram',
      name: 'input',
      sampleRate: 8000,
      sampleRateMin: 8000,
      windowSeconds: 2,
      hopSeconds: 1,
      padding: 'repeat',
      level: { kind: 'rms', targetDbfs: -26 },
      frameSamples: 200,
      hopSamples: 80,
      fftSize: 256,
    },
    output: { name: 'output', layout: ['embedding'], dimensions: bins },
    calibration: { identity: { slope: 40, intercept: -36 } },
    thresholds: { identity: 0.5, agreement: 0.8 },
    voiceActivity: 'energy/1',
    minimumVoiceSeconds: 1.5,
    limits: { batchMax: 8 },
    ...changes,
  };
}
