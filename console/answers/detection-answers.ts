import { FAMILIES, type Family } from '../../pipelines/audio/models/manifest.ts';
import { loadRegistry, type RegistryEntry } from '../../pipelines/audio/models/registry.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { isWorkerConnected } from './queue-answers.ts';

export type { ServerMessage } from '../../pipelines/audio/streaming/stream-protocol.ts';

/** A model that the demo offers. */
type OfferedModel = Pick<RegistryEntry, 'model' | 'family' | 'release' | 'state' | 'isDefault' | 'replacedBy'> & {
  readonly isUsable: boolean;
  /** Minimum seconds of voice in a recording; null without weights. */
  readonly voiceSecondsMin: number | null;
};

/** Limits and models of the demo. */
export interface DetectionFacts {
  readonly families: readonly Family[];
  readonly models: readonly OfferedModel[];
  readonly limits: { readonly bytesMax: number; readonly secondsMax: number };
  readonly workerConnected: boolean;
}

/** Reads the current limits and models of the demo. */
export async function readDetectionFacts({
  db,
  config,
  queues,
}: Pick<ConsoleWork, 'db' | 'config' | 'queues'>): Promise<DetectionFacts> {
  const registry = await loadRegistry(db, config);
  return {
    families: FAMILIES,
    models: registry.models().map(offered),
    limits: { bytesMax: config.audioBytesMax, secondsMax: config.audioSecondsMax },
    workerConnected: await isWorkerConnected(queues),
  };
}

function offered({ model, family, release, state, isDefault, replacedBy, manifest }: RegistryEntry): OfferedModel {
  return {
    model,
    family,
    release,
    state,
    isDefault,
    replacedBy,
    isUsable: manifest !== null,
    voiceSecondsMin: manifest?.minimumVoiceSeconds ?? null,
  };
}

/** The public ids of a submitted recording's batch and verification. */
export interface SubmittedRecording {
  readonly batch: string;
  readonly verification: string;
  /** True if it was submitted before under the same key. */
  readonly repeated: boolean;
}
