import { join } from 'node:path';
import type { Graph } from '../inference/graph.ts';
import { openGraph } from '../inference/graph.ts';
import {
  digestOfManifest,
  readManifest,
  type ModelManifest,
  type VoiceActivityManifest,
  type VoiceprintManifest,
} from '../models/manifest.ts';
import { bytesOfModel, readGraph } from '../models/model-weights.ts';
import type { ModelExecution, ResolvedModel } from '../models/registry.ts';
import { shippedModelsDirectory } from '../models/shipped-models.ts';
import { makeVoiceDetector, voiceFramesPerSecond, type VoiceDetector } from '../voice-activity/voice-activity.ts';
import { voiceRateOf } from './channel-windows.ts';
import { WindowBatch } from './window-batch.ts';

/** Directory of the graph of the detectors `telephone/2` and `combined/1`, among the shipped models. */
const telephoneDetectorDirectory = 'voice-activity-telephone-2';

/** Models up to this size stay open together in one process. */
const smallModelBytesMax = 64 * 1024 * 1024;

/** A model that is ready to score: one recording at a time, or several streams in turn whose windows are scored at once. */
interface OpenModel {
  readonly manifest: ModelManifest;
  readonly batch: WindowBatch;
  /** A new voice detector for one channel. */
  detector(): VoiceDetector;
  /** The same for live audio: it decides at the end of each window. */
  promptDetector(): VoiceDetector;
}

/** An open voiceprint model: its graph, and a new voice detector for each recording. */
interface OpenVoiceprintModel {
  readonly manifest: VoiceprintManifest;
  readonly graph: Graph;
  detector(): VoiceDetector;
}

interface Kept<Model> {
  readonly model: Model;
  readonly graph: Graph;
}

type AnyModel = OpenModel | OpenVoiceprintModel;

/** A cache of open models: those used last stay open. */
export class OpenModels {
  private readonly modelsMax: number;
  /** By the kind and digest of the manifest, least recently used first. */
  private readonly kept = new Map<string, Kept<AnyModel>>();
  private telephoneGraph: Graph | undefined;

  constructor({ modelsMax = 4 }: { readonly modelsMax?: number } = {}) {
    this.modelsMax = modelsMax;
  }

  /**
   * The open model; its weights are read and checked the first time.
   * @throws ServiceError `model_invalid` if they do not match the manifest
   */
  async open({
    manifest,
    manifestSha256,
    weightsFile,
    execution,
  }: Pick<ResolvedModel, 'manifest' | 'manifestSha256' | 'weightsFile' | 'execution'>): Promise<OpenModel> {
    return this.keep(`authenticity ${manifestSha256}`, async () => {
      if (bytesOfModel(manifest) > smallModelBytesMax) await this.closeLarge();
      return this.load(manifest, weightsFile, execution);
    });
  }

  /**
   * The open model of voiceprints of a directory.
   * @throws ServiceError `model_invalid` if its manifest or weights are invalid
   */
  async openVoiceprint(directory: string): Promise<OpenVoiceprintModel> {
    const manifest = await readManifest(directory, 'voiceprint');
    return this.keep(`voiceprint ${digestOfManifest(manifest)}`, async () => {
      const detector = await this.detectorMaker(manifest);
      const graph = await openChecked(join(directory, manifest.file), manifest);
      return { graph, model: { manifest, graph, detector: () => detector() } };
    });
  }

  /** Closes every graph. */
  async close(): Promise<void> {
    const graphs = [
      ...[...this.kept.values()].map(({ graph }) => graph),
      ...(this.telephoneGraph === undefined ? [] : [this.telephoneGraph]),
    ];
    this.kept.clear();
    this.telephoneGraph = undefined;
    for (const graph of graphs) await graph.close();
  }

  /** The model of a key, which always means the same model. */
  private async keep<Model extends AnyModel>(key: string, load: () => Promise<Kept<Model>>): Promise<Model> {
    const kept = (this.kept.get(key) as Kept<Model> | undefined) ?? (await load());
    this.kept.delete(key);
    this.kept.set(key, kept);
    await this.closeUnused();
    return kept.model;
  }

  private async load(
    manifest: ModelManifest,
    weightsFile: string,
    execution: ModelExecution | undefined,
  ): Promise<Kept<OpenModel>> {
    const detector = await this.detectorMaker(manifest);
    const graph = await openChecked(weightsFile, manifest, execution);
    return {
      graph,
      model: {
        manifest,
        detector: () => detector(),
        promptDetector: () => detector(promptRunFrames(manifest.input)),
        batch: new WindowBatch({ manifest, graph, windowsMax: execution?.windowsAtOnce }),
      },
    };
  }

  private async detectorMaker({
    voiceActivity,
    input,
  }: Pick<ModelManifest, 'voiceActivity' | 'input'>): Promise<(runFrames?: number) => VoiceDetector> {
    const sampleRate = voiceRateOf(input.sampleRate);
    if (voiceActivity === 'energy/1') return () => makeVoiceDetector({ name: 'energy/1', sampleRate });
    const graph = (this.telephoneGraph ??= await this.openTelephone());
    return (runFrames) => makeVoiceDetector({ name: voiceActivity, sampleRate, graph, runFrames });
  }

  private async openTelephone(): Promise<Graph> {
    const directory = join(shippedModelsDirectory, telephoneDetectorDirectory);
    const manifest = await readManifest(directory, 'voice-activity');
    return openChecked(join(directory, manifest.file), manifest);
  }

  /** Large models are open one at a time: a process has memory for one. */
  private async closeLarge(): Promise<void> {
    for (const [digest, { graph, model }] of this.kept) {
      if (bytesOfModel(model.manifest) <= smallModelBytesMax) continue;
      this.kept.delete(digest);
      await graph.close();
    }
  }

  private async closeUnused(): Promise<void> {
    for (const [digest, { graph }] of this.kept) {
      if (this.kept.size <= this.modelsMax) return;
      this.kept.delete(digest);
      await graph.close();
    }
  }
}

/** Frames that the detector of a live stream decides at a time: those of one hop, as a multiple of 4. */
function promptRunFrames({ hopSeconds }: ModelManifest['input']): number {
  return Math.max(4, Math.round((hopSeconds * voiceFramesPerSecond) / 4) * 4);
}

/** Opens weights that are checked against their manifest. */
async function openChecked(
  file: string,
  manifest: ModelManifest | VoiceprintManifest | VoiceActivityManifest,
  execution?: ModelExecution,
): Promise<Graph> {
  const names = { inputName: manifest.input.name, outputName: manifest.output.name };
  return openGraph(await readGraph(file, manifest), names, execution);
}
