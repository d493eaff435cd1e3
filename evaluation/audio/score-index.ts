import { openRecording } from '../../pipelines/audio/decode/open-recording.ts';
import type { DecodeLimits } from '../../pipelines/audio/decode/recording.ts';
import { AudioRefusal, refusalOrThrow } from '../../pipelines/audio/reasons.ts';
import type { ScoringPool } from '../../pipelines/audio/scorers/scoring-pool.ts';
import { familyOf } from '../../pipelines/audio/models/shipped-models.ts';
import type { ChannelMode } from '../../pipelines/audio/verification.ts';
import { placesOf, type EvaluatedModel } from './evaluated-models.ts';
import type { EvaluatedSet, ItemOutcome, ModelOutcomes } from './evaluated-set.ts';
import type { IndexRow } from './index-file.ts';
import { NuisanceMeter, type NuisanceFeatures } from './nuisance-features.ts';
import { performSeveral } from '../../pipelines/audio/batches/perform-several.ts';

/** Models, processes and limits of the scoring of an index. */
interface IndexScoring {
  readonly pool: Pick<ScoringPool, 'score'>;
  readonly models: readonly EvaluatedModel[];
  readonly channels: ChannelMode;
  readonly limits: DecodeLimits;
  /** Recordings that are scored at a time. */
  readonly concurrency: number;
  readonly onProgress?: (done: number, total: number) => void;
  readonly signal?: AbortSignal;
}

/** The outcome of a recording with each model, and its nuisance features. */
interface ItemResult {
  readonly outcomes: readonly (ItemOutcome | null)[];
  readonly nuisance: NuisanceFeatures | null;
}

/**
 * Scores every recording of an index with every model that takes it. A bad file affects its own outcome only.
 * @throws ServiceError `interrupted` if the signal fires, `scorer_unavailable` if no scoring process can be started
 */
export async function scoreIndex(
  rows: readonly IndexRow[],
  scoring: IndexScoring,
): Promise<{ set: EvaluatedSet; models: ModelOutcomes[] }> {
  const { models, concurrency, onProgress } = scoring;
  const asked = models.map((model) => new Set(placesOf(rows, model)));
  const results = new Array<ItemResult>(rows.length);
  let done = 0;
  await performSeveral(rows.entries(), concurrency, async ([place, row]) => {
    const takers = models.map((model, at) => (asked[at]!.has(place) ? model : null));
    results[place] = await scoreItem(row, takers, scoring);
    onProgress?.(++done, rows.length);
  });
  const outcomesOf = (at: number) => results.map(({ outcomes }) => outcomes[at]!);
  return {
    set: { rows, nuisance: results.map(({ nuisance }) => nuisance) },
    models: models.map((model, at) => ({ ...factsOf(model), outcomes: outcomesOf(at) })),
  };
}

function factsOf({ name, manifest, manifestSha256 }: EvaluatedModel): Omit<ModelOutcomes, 'outcomes'> {
  return { model: name, manifestSha256, weightsSha256: manifest.sha256, thresholds: manifest.thresholds };
}

async function scoreItem(
  { file }: IndexRow,
  models: readonly (EvaluatedModel | null)[],
  scoring: IndexScoring,
): Promise<ItemResult> {
  const outcomes: (ItemOutcome | null)[] = [];
  for (const model of models) outcomes.push(model === null ? null : await scoreOnce(file, model, scoring));
  const isDecodable = outcomes.some((outcome) => outcome !== null && outcome.state !== 'error');
  return { outcomes, nuisance: isDecodable ? await measureNuisance(file, scoring.limits) : null };
}

async function scoreOnce(
  file: string,
  model: EvaluatedModel,
  { pool, channels, signal }: IndexScoring,
): Promise<ItemOutcome> {
  const isPhone = familyOf(model.name) === 'phone';
  const choice = { phone: isPhone ? model : null, digital: isPhone ? null : model };
  const scored = await pool.score({ file, model: choice, settings: { channels } }, signal).catch(refusalOrThrow);
  if (scored instanceof AudioRefusal) return { state: 'error', reason: scored.reason };
  if (scored.state === 'performed' && scored.scores !== null) return { state: 'performed', scores: scored.scores };
  return { state: 'performedWithoutScore', reason: scored.reason ?? 'no_voice' };
}

/** Decodes in this process: only files that a scoring process has decoded without failing. */
async function measureNuisance(file: string, limits: DecodeLimits): Promise<NuisanceFeatures | null> {
  try {
    const recording = await openRecording(file, limits);
    try {
      const meter = new NuisanceMeter(recording.sampleRate);
      for await (const block of recording.blocks()) meter.take(meanOf(block));
      return meter.end() ?? null;
    } finally {
      await recording.close();
    }
  } catch (error) {
    if (error instanceof AudioRefusal) return null;
    throw error;
  }
}

function meanOf(block: readonly Float32Array[]): Float32Array {
  if (block.length === 1) return block[0]!;
  return block[0]!.map((_sample, at) => block.reduce((sum, channel) => sum + channel[at]!, 0) / block.length);
}
