import { FAMILIES, type Family } from '../../pipelines/audio/models/manifest.ts';
import { loadRegistry, type RegistryEntry } from '../../pipelines/audio/models/registry.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { isWorkerConnected } from './queue-answers.ts';

export type { ServerMessage } from '../../pipelines/audio/streaming/stream-protocol.ts';

/** A model that a recording can be verified with. */
export type OfferedModel = Pick<
  RegistryEntry,
  'model' | 'family' | 'release' | 'state' | 'isDefault' | 'replacedBy'
> & {
  readonly isUsable: boolean;
  /** Least voice in a recording; null where no weights are here. */
  readonly voiceSecondsMin: number | null;
};

/** What may be handed in, and what it is verified with. */
export interface DetectionFacts {
  readonly families: readonly Family[];
  readonly models: readonly OfferedModel[];
  readonly limits: { readonly bytesMax: number; readonly secondsMax: number };
  readonly workerConnected: boolean;
}

/** What the demo offers at this moment. */
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

/** A recording that was handed in: its batch and its verification, by their public ids. */
export interface HandedIn {
  readonly batch: string;
  readonly verification: string;
  /** True if it was handed in before under the same key. */
  readonly repeated: boolean;
}
