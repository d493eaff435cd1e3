import { queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { DetectedNote } from '../decode/recording.ts';
import { digitalSampleRateMin } from '../models/named-model.ts';
import type { ResolvedModel } from '../models/registry.ts';
import { AUDIO_REASONS, AudioRefusal } from '../reasons.ts';
import type { ScoredRecording } from '../verification.ts';
import type { Batch } from './batch.ts';

/** A model as the keys of results name it. */
type ModelKey = Pick<ResolvedModel, 'name' | 'manifestSha256'>;

/** A result with its key. */
interface KeyedResult {
  readonly audioSha256: string;
  readonly model: ModelKey;
  readonly settingsSha256: string;
  readonly scored: ScoredRecording;
}

/** Stores results of models on audio. A result that is stored already stays. */
export async function storeResults(db: Queryable, results: readonly KeyedResult[]): Promise<void> {
  const rows = results.map(({ audioSha256, model, settingsSha256, scored: { audio, scores, ...scored } }) => ({
    audio_sha256: audioSha256,
    model: model.name,
    model_sha256: model.manifestSha256,
    settings_sha256: settingsSha256,
    state: scored.state,
    reason: scored.reason,
    format: audio.format,
    codec: audio.codec,
    sample_rate: audio.sampleRate,
    channels: audio.channels,
    duration_seconds: audio.durationSeconds,
    voice_seconds: scored.voiceSeconds,
    synthesis: scores?.synthesis,
    replay: scores?.replay,
    decision: scored.decision,
    channel_scores: scored.channelScores,
    windows: scored.windows,
    notes: scored.notes,
    computed_ms: scored.computedMs,
  }));
  await db.query(sql('audio/insert_results'), [JSON.stringify(rows)]);
}

/** An item that a stored result may end. */
interface EndableItem {
  readonly line: number;
  /** The model that has just been computed, for itself or for another item with the same audio. */
  readonly model?: string | undefined;
  /** Seconds since its scoring was begun; absent if the result was not computed for it. */
  readonly begunSeconds?: number | undefined;
}

/** Ends the items of a batch whose result is stored; returns their lines. */
export async function endByStoredResults(
  db: Queryable,
  { batchId, generation }: Batch,
  { items, models }: { readonly items: readonly EndableItem[]; readonly models: readonly ModelKey[] },
): Promise<Set<number>> {
  const keys = models.map(({ name, manifestSha256 }) => ({ name, manifestSha256 }));
  const rows = await queryRows<{ line: number }>(db, sql('audio/end_verifications'), [
    batchId,
    generation,
    JSON.stringify(items),
    JSON.stringify(keys),
    digitalSampleRateMin,
    'telephone_band' satisfies DetectedNote,
  ]);
  return new Set(rows.map(({ line }) => line));
}

/** An outcome of one item, and of others with the same audio that share it. */
export interface Outcome {
  readonly first: { readonly line: number; readonly publicId: string; readonly audioSha256: string };
  readonly others: readonly { readonly line: number }[];
  readonly ended: { readonly scored: ScoredRecording; readonly model: ModelKey } | AudioRefusal;
}

/** An outcome with the seconds since the scoring of its first item was begun; undefined if it was not. */
export type TimedOutcome = Outcome & { readonly begunSeconds: number | undefined };

/** How many items have got an outcome now; the others had one, or their batch is not performed any more. */
export interface OutcomeCounts {
  readonly scored: number;
  readonly reused: number;
  readonly refused: number;
}

/** Writes outcomes of a batch. To be called in a transaction. */
export async function recordOutcomes(
  client: Queryable,
  batch: Batch,
  outcomes: readonly TimedOutcome[],
): Promise<OutcomeCounts> {
  const results = outcomes.flatMap(({ ended, ...outcome }) =>
    ended instanceof AudioRefusal ? [] : [{ ...outcome, ...ended }],
  );
  const failures = outcomes.flatMap(({ ended, ...outcome }) =>
    ended instanceof AudioRefusal ? itemsOf(outcome).map((item) => ({ ...item, ...failureOf(ended) })) : [],
  );
  let ended = new Set<number>();
  if (results.length > 0) {
    const { settingsSha256 } = batch;
    await storeResults(
      client,
      results.map(({ first, ...result }) => ({ ...result, audioSha256: first.audioSha256, settingsSha256 })),
    );
    const items = results.flatMap((result) => itemsOf(result).map((item) => ({ ...item, model: result.model.name })));
    const models = [...new Map(results.map(({ model }) => [model.name, model])).values()];
    ended = await endByStoredResults(client, batch, { items, models });
  }
  const scored = results.filter(({ first }) => ended.has(first.line)).length;
  const values = [batch.batchId, batch.generation, JSON.stringify(failures)];
  const refused = failures.length === 0 ? 0 : (await queryRows(client, sql('audio/fail_verifications'), values)).length;
  return { scored, reused: ended.size - scored, refused };
}

function itemsOf({ first, others, begunSeconds }: Omit<TimedOutcome, 'ended'>): EndableItem[] {
  return [{ line: first.line, begunSeconds }, ...others.map(({ line }) => ({ line }))];
}

/** A refusal as it is stored: its detail only if it says more than its reason. */
function failureOf({ reason, detail }: AudioRefusal): { reason: string; detail: string | null } {
  return { reason, detail: detail === AUDIO_REASONS[reason].meaning ? null : detail };
}
