import { readUnseenSystems } from '../../evaluation/audio/unseen-systems.ts';
import { readStoredEvaluation } from '../../evaluation/audio/stored-evaluation.ts';
import type { ModelManifest } from '../../pipelines/audio/models/manifest.ts';
import { loadRegistry, type ModelRegistry, type RegistryEntry } from '../../pipelines/audio/models/registry.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import type { ModelAnswer } from './model-schemas.ts';

/** The registry with the main figures of each model's card, by model. */
export interface ModelRecords {
  readonly registry: ModelRegistry;
  readonly errorRates: ReadonlyMap<string, ModelAnswer['errorRates']>;
  readonly unseenSystems: ReadonlyMap<string, ModelAnswer['unseenSystems']>;
}

/** How long a read registry is reused, in milliseconds: the routes are public. */
export const registryKeptMs = 2000;

/** Reads the registry at most every `registryKeptMs`, once for concurrent requests. Failures are not kept. */
export function keepRegistry({
  modelDir,
  read,
  now,
}: {
  readonly modelDir: string;
  readonly read: <Result>(work: (db: Queryable) => Promise<Result>) => Promise<Result>;
  readonly now: () => number;
}): () => Promise<ModelRecords> {
  let kept: { readonly records: Promise<ModelRecords>; readonly at: number } | undefined;
  return () => {
    if (kept !== undefined && now() - kept.at < registryKeptMs) return kept.records;
    const records = read((db) => readRecords(db, modelDir));
    const reading = { records, at: now() };
    kept = reading;
    records.catch(() => {
      if (kept === reading) kept = undefined;
    });
    return records;
  };
}

async function readRecords(db: Queryable, modelDir: string): Promise<ModelRecords> {
  const registry = await loadRegistry(db, { modelDir });
  const rates = await Promise.all(
    registry.models().map(async (entry) => [entry.model, await readErrorRates(entry)] as const),
  );
  const unseen = await Promise.all(
    registry.models().map(async (entry) => [entry.model, await readUnseen(entry)] as const),
  );
  return { registry, errorRates: new Map(rates), unseenSystems: new Map(unseen) };
}

async function readUnseen({ directory }: RegistryEntry): Promise<ModelAnswer['unseenSystems']> {
  const figures = directory === null ? [] : await readUnseenSystems(directory);
  return figures.map(({ equalError, attacksMissed, genuineCalledAttacks, ...counts }) => ({
    ...counts,
    equalErrorRate: equalError.rate,
    interval: equalError.interval,
    attacksMissed: attacksMissed.rate,
    genuineCalledAttacks: genuineCalledAttacks.rate,
  }));
}

/** The error rates of an evaluation, if it measured exactly these weights. */
async function readErrorRates({ model, directory, manifest }: RegistryEntry): Promise<ModelAnswer['errorRates']> {
  const report = directory === null || manifest === null ? undefined : await readStoredEvaluation(directory);
  if (report?.models.some((each) => each.model === model && each.weightsSha256 === manifest?.sha256) !== true)
    return [];
  return report.sections
    .filter((section) => section.model === model)
    .flatMap(({ channel, scores }) =>
      scores.map(({ score, equalError, nuisance, bonafide, attacks, speakers, synthesizers }) => ({
        channel,
        score,
        equalErrorRate: equalError.rate,
        interval: equalError.interval,
        nuisanceEqualErrorRate: nuisance?.rate ?? null,
        bonafide,
        attacks,
        speakers,
        synthesizers,
      })),
    );
}

/** A model with the facts of its manifest. */
export function modelAnswer(entry: RegistryEntry, { errorRates, unseenSystems }: ModelRecords): ModelAnswer {
  const { model, family, manifest, state } = entry;
  return {
    model,
    family,
    version: model.slice(family.length + 1),
    release: entry.release,
    state,
    default: entry.isDefault,
    removedIn: state === 'removed' ? entry.removedIn : null,
    replacedBy: state === 'removed' ? entry.replacedBy : null,
    origin: entry.origin,
    note: entry.note,
    ...manifestFacts(manifest),
    unseenSystems: unseenSystems.get(model) ?? [],
    errorRates: errorRates.get(model) ?? [],
    links: { self: `/v1/models/${model}` },
  };
}

function manifestFacts(
  manifest: ModelManifest | null,
): Pick<ModelAnswer, 'weights' | 'input' | 'voiceActivity' | 'scores' | 'thresholds'> {
  if (manifest === null) return { weights: null, input: null, voiceActivity: null, scores: [], thresholds: {} };
  const { sha256, bytes, parameters, input, output, minimumVoiceSeconds, voiceActivity, thresholds } = manifest;
  const { sampleRate, sampleRateMin, windowSeconds, hopSeconds } = input;
  return {
    weights: { sha256, bytes, parameters },
    input: { sampleRate, sampleRateMin, windowSeconds, hopSeconds, minimumVoiceSeconds },
    voiceActivity,
    scores: output.layout,
    thresholds,
  };
}
