import { openGraph } from '../inference/graph.ts';
import { parseManifest, windowSamples, type ModelManifest } from '../models/manifest.ts';
import { readGraph } from '../models/model-weights.ts';
import type { ResolvedModel } from '../models/registry.ts';
import { embedVoice, type EmbeddedVoice } from '../scoring/embed-voice.ts';
import type { Logits } from '../scoring/score-decision.ts';
import type { OpenModels } from '../scoring/open-models.ts';
import { writePcm } from '../scoring/pcm-intake.ts';
import { decodePcm } from '../scoring/recording-pcm.ts';
import { readWaveform } from '../scoring/recording-waveform.ts';
import { scoreRecording } from '../scoring/score-recording.ts';
import type { ScorerTask } from '../scoring/scorer-protocol.ts';
import { WindowBatch } from '../scoring/window-batch.ts';

/** Performs one task of a child. The result has the form of its kind in the protocol. */
export async function performTask(task: ScorerTask, opened: OpenModels): Promise<unknown> {
  switch (task.kind) {
    case 'score':
      return scoreRecording({ ...task, opened });
    case 'embed':
      return sendable(await embedVoice({ ...task, opened }));
    case 'waveform':
      return readWaveform({ ...task, opened });
    case 'decode':
      return decodePcm({ ...task, write: writePcm });
    case 'probe':
      return { logits: await probeModel(parseManifest(task.manifest), task) };
  }
}

/** JSON has no arrays of float32; a number holds each value exactly. */
function sendable({ embedding, ...facts }: EmbeddedVoice): unknown {
  return { ...facts, embedding: Array.from(embedding) };
}

/** Windows of the test signal: more than one, so that a graph with a fixed batch is detected. */
const probeWindows = 3;

/**
 * Runs a model on a test signal: harmonics with the rise and fall of syllables, each window higher than the one before.
 * @throws ServiceError `model_invalid` if it does not open, does not run or does not answer as its manifest says
 */
async function probeModel(
  manifest: ModelManifest,
  { weightsFile, execution }: Pick<ResolvedModel, 'weightsFile' | 'execution'>,
): Promise<Logits[]> {
  const graph = await openGraph(
    await readGraph(weightsFile, manifest),
    { inputName: manifest.input.name, outputName: manifest.output.name },
    execution,
  );
  const batch = new WindowBatch({ manifest, graph, windowsMax: execution?.windowsAtOnce });
  const logits: Logits[] = [];
  for (let place = 0; place < probeWindows; place++)
    await batch.add(probeSignal(manifest, place), (each) => logits.push(each));
  await batch.flush();
  await graph.close();
  return logits;
}

function probeSignal({ input }: ModelManifest, place: number): Float32Array {
  const pitch = 110 * (place + 1);
  return Float32Array.from({ length: windowSamples(input) }, (_none, at) => {
    const time = at / input.sampleRate;
    const tone = [1, 2, 3, 5].reduce(
      (sum, harmonic) => sum + Math.sin(2 * Math.PI * pitch * harmonic * time) / harmonic,
      0,
    );
    return 0.2 * tone * Math.sin(2 * Math.PI * 4 * time) ** 2;
  });
}
