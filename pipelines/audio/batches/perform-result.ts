import { inTransaction, queryRows, type Pool, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { DetectedNote } from '../decode/recording.ts';
import { digitalSampleRateMin } from '../models/named-model.ts';
import type { ResolvedModel } from '../models/registry.ts';
import type { ScoredRecording } from '../verification.ts';

/** The key of a stored result. */
interface ResultKey {
  readonly audioSha256: string;
  readonly model: Pick<ResolvedModel, 'name' | 'manifestSha256'>;
  readonly settingsSha256: string;
}

/**
 * Stores the result of a model on audio, and the facts of the audio. A result that is stored already stays.
 */
export async function storeResult(
  db: Queryable,
  { audioSha256, model, settingsSha256 }: ResultKey,
  scored: ScoredRecording,
): Promise<void> {
  const { state, reason, audio, voiceSeconds, scores, decision, channelScores, windows, notes, computedMs } = scored;
  await db.query(sql('audio/insert_result'), [
    audioSha256,
    model.name,
    model.manifestSha256,
    settingsSha256,
    state,
    reason,
    audio.sampleRate,
    audio.channels,
    audio.durationSeconds,
    voiceSeconds,
    scores?.synthesis ?? null,
    scores?.replay ?? null,
    decision && JSON.stringify(decision),
    JSON.stringify(channelScores),
    JSON.stringify(windows),
    JSON.stringify(notes),
    computedMs,
  ]);
  await db.query(sql('audio/record_audio_facts'), [
    audioSha256,
    audio.format,
    audio.codec,
    audio.sampleRate,
    audio.channels,
    audio.durationSeconds,
  ]);
}

/** Items that stored results may end. */
interface EndableItems {
  readonly verificationIds: readonly number[];
  readonly generation: number;
  readonly models: readonly Pick<ResolvedModel, 'name' | 'manifestSha256'>[];
}

/** Ends items whose result is stored already; returns their ids. */
export function endByStoredResults(db: Queryable, endable: EndableItems): Promise<number[]> {
  return endItems(db, endable, null, null);
}

/** Stores a result and ends the item that it was computed for, with others of the same audio. */
export function recordResult(
  db: Pool,
  key: ResultKey,
  { scored, endable, verificationId }: { scored: ScoredRecording; endable: EndableItems; verificationId: number },
): Promise<number[]> {
  return inTransaction(db, async (client) => {
    await storeResult(client, key, scored);
    return endItems(client, endable, verificationId, key.model.name);
  });
}

async function endItems(
  db: Queryable,
  { verificationIds, generation, models }: EndableItems,
  computed: number | null,
  computedModel: string | null,
): Promise<number[]> {
  const values = [
    verificationIds,
    generation,
    models.map(({ name }) => name),
    models.map(({ manifestSha256 }) => manifestSha256),
    digitalSampleRateMin,
    computed,
    computedModel,
    'telephone_band' satisfies DetectedNote,
  ];
  return (await queryRows<{ verificationId: number }>(db, sql('audio/end_verifications'), values)).map(
    ({ verificationId }) => verificationId,
  );
}
