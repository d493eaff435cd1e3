import { ServiceError } from '../../../runtime/errors.ts';
import type { Pool } from '../../../runtime/postgres.ts';
import type { AudioStore } from '../store/audio-store.ts';
import { readBatch, type Batch } from '../batches/batch.ts';
import type { ModelRegistry, ResolvedModel } from '../models/registry.ts';
import { requireModel, type NamedModel } from '../models/named-model.ts';
import { performSeveral } from '../batches/perform-several.ts';
import { storeResults } from '../batches/record-outcomes.ts';
import { AudioRefusal, refusalOrThrow } from '../reasons.ts';
import type { ScoringPool } from '../scorers/scoring-pool.ts';
import type { Scores } from '../verification.ts';
import { modelAnswerOf, countItemsWithoutAudio, listStoredAnswers, type StoredAnswers } from './answered-recordings.ts';
import { storeDriftReport } from './drift-record.ts';
import {
  makeDriftReport,
  type AnsweredRecording,
  type ComparedModel,
  type DriftReport,
  type ModelAnswer,
} from './drift-report.ts';

export interface Comparison {
  readonly db: Pool;
  readonly registry: ModelRegistry;
  readonly store: AudioStore;
  readonly pool: Pick<ScoringPool, 'score'>;
  /** Recordings that the pool scores at the same time. */
  readonly atOnce: number;
  readonly signal: AbortSignal;
  /** Called after each recording. */
  readonly onProgress?: (done: number, recordings: number) => void;
}

/** Which models are compared on which audio, and by whom. */
export interface ComparisonRequest {
  readonly old: string;
  readonly new: string;
  /** Public id of the batch. */
  readonly batch: string;
  readonly by: string;
}

/** A report that was stored. */
export interface ComparisonResult {
  readonly reportId: number;
  readonly madeAt: Date;
  readonly report: DriftReport;
  /** Scores that had to be computed; the others were stored. */
  readonly computed: number;
  /** Items of the batch that have no audio, since their file could not be taken. */
  readonly itemsWithoutAudio: number;
}

/** The models by the side that they are on. */
interface Sides<Value> {
  readonly old: Value;
  readonly new: Value;
}

/**
 * Compares two models of a family on the audio of a batch, with the settings of the batch, and stores the report. Stored results
 * are used; the others are computed and stored, so that nothing is computed twice.
 * @throws ServiceError `model_unknown`, `model_removed`, `model_invalid`, `batch_unknown`, `usage_invalid`, `interrupted`,
 * `scorer_unavailable`
 */
export async function compareModels(comparison: Comparison, request: ComparisonRequest): Promise<ComparisonResult> {
  const { db, registry } = comparison;
  const models = { old: requireModel(registry, request.old), new: requireModel(registry, request.new) };
  requireComparable(models);
  const batch = await readBatch(db, request.batch);
  const answers = await listStoredAnswers(db, batch.batchId, models);
  const computed = await scoreMissing(comparison, { batch, models, answers });
  const heading = {
    old: comparedModel(models.old),
    new: comparedModel(models.new),
    batch: batch.id,
    settings: batch.settings,
  };
  const report = makeDriftReport(heading, answers.map(toAnswered));
  const stored = await storeDriftReport(db, report, { batchId: batch.batchId, madeBy: request.by });
  return { ...stored, report, computed, itemsWithoutAudio: await countItemsWithoutAudio(db, batch.batchId) };
}

function requireComparable({ old, new: now }: Sides<NamedModel>): void {
  const problem =
    old.name === now.name
      ? 'Both are the same model.'
      : old.family === now.family
        ? null
        : 'They are of different families, which take different audio.';
  if (problem !== null)
    throw new ServiceError('usage_invalid', {
      operation: 'compare models',
      object: `${old.name} and ${now.name}`,
      problem,
    });
}

function comparedModel({ name, manifest, manifestSha256 }: ResolvedModel): ComparedModel {
  const thresholds: Scores = {
    synthesis: manifest.thresholds.synthesis ?? null,
    replay: manifest.thresholds.replay ?? null,
  };
  return { model: name, manifestSha256, thresholds };
}

/** Computes the answers that are not stored; returns how many. */
async function scoreMissing(
  comparison: Comparison,
  { batch, models, answers }: { batch: Batch; models: Sides<NamedModel>; answers: readonly StoredAnswers[] },
): Promise<number> {
  const { atOnce, signal, onProgress } = comparison;
  const missing = answers.filter(({ old, new: now }) => old === null || now === null);
  let [computed, done] = [0, 0];
  await performSeveral(missing, atOnce, async (recording) => {
    for (const side of ['old', 'new'] as const) {
      if (recording[side] !== null) continue;
      signal.throwIfAborted();
      recording[side] = recording.deleted
        ? { kind: 'failed', reason: 'recording_deleted' }
        : await askModel(comparison, { batch, recording, model: models[side] });
      computed += recording[side].kind === 'failed' ? 0 : 1;
    }
    onProgress?.(++done, missing.length);
  });
  return computed;
}

/** Scores a recording and stores the result. A refusal is an answer, too. */
async function askModel(
  { db, store, pool, signal }: Comparison,
  { batch, recording, model }: { batch: Batch; recording: StoredAnswers; model: NamedModel },
): Promise<ModelAnswer> {
  const choice = { phone: null, digital: null, [model.family]: model };
  const { audioSha256 } = recording;
  const request = { file: store.pathOf(audioSha256), model: choice, settings: batch.settings };
  const scored = await pool.score(request, signal).catch(refusalOrThrow);
  if (scored instanceof AudioRefusal) return { kind: 'failed', reason: scored.reason };
  await storeResults(db, [{ audioSha256, model, settingsSha256: batch.settingsSha256, scored }]);
  return modelAnswerOf(scored);
}

function toAnswered({ deleted: _deleted, old, new: now, ...recording }: StoredAnswers): AnsweredRecording {
  return { ...recording, old: old!, new: now! }; // every answer was stored or filled in
}
