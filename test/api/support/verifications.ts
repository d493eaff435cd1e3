import { createHash, randomUUID } from 'node:crypto';
import type { VerificationState } from '../../../pipelines/audio/verification.ts';
import type { Pool } from '../../../runtime/postgres.ts';

interface BatchToAdd {
  readonly owner: string;
  readonly name?: string;
  readonly state?: 'open' | 'queued' | 'performing' | 'done' | 'cancelled';
  readonly requestedModel?: string;
}

interface AddedBatch {
  readonly batchId: number;
  readonly id: string;
}

export const sha256OfText = (text: string) => createHash('sha256').update(text).digest('hex');
const digest = sha256OfText('a test');

/** Adds a batch as a row, without the command that makes one. */
export async function addBatch(
  db: Pool,
  { owner, name = 'calls of monday', state = 'done', requestedModel = 'phone' }: BatchToAdd,
): Promise<AddedBatch> {
  const { rows } = await db.query<{ batch_id: number; public_id: string }>(
    `INSERT INTO verification_batch (owner, idempotency_key, request_sha256, name, mode, requested_model, release, pinned_phone, settings, settings_sha256, state, requested_by, requested_at, ended_at)
     VALUES ($1, $2, $3, $4, 'api', $5, '2026.04.r1p0', 'phone/v8', '{"channels": "apart"}', $3, $6, 'Pat Operator', '2026-11-20T08:00:00Z', CASE WHEN $6 IN ('done', 'cancelled') THEN timestamptz '2026-11-20T08:05:00Z' END)
     RETURNING batch_id, public_id`,
    [owner, randomUUID(), digest, name, requestedModel, state],
  );
  return { batchId: rows[0]!.batch_id, id: rows[0]!.public_id };
}

interface ItemsToAdd {
  readonly from: number;
  readonly to: number;
  readonly state?: VerificationState;
  readonly model?: string | null;
  readonly reason?: string;
  readonly attempts?: number;
}

/** What a client never sees: where the file was, and what went wrong inside. */
export const hiddenTexts = { source: 'hidden folder/call of pat.wav', detail: 'detail for the operator' } as const;

const windows = [
  { channel: 0, start: 0, end: 4, label: 'validVoice', scores: { synthesis: 0.91, replay: 0.75 } },
  { channel: 0, start: 2, end: 6, label: 'insufficientVoice', scores: null },
];

/** Adds items `from` to `to` of a batch, all of the same audio if they have a result. */
export async function addItems(
  db: Pool,
  { batchId }: AddedBatch,
  { from, to, state = 'performed', model = 'phone/v8', reason, attempts = 1 }: ItemsToAdd,
): Promise<void> {
  const hasResult = state === 'performed' || state === 'performedWithoutScore';
  const audio = state === 'error' ? null : sha256OfText(`audio ${state}`);
  if (audio !== null)
    await db.query('INSERT INTO recording (sha256, bytes) VALUES ($1, 1000) ON CONFLICT DO NOTHING', [audio]);
  const ended = hasResult || state === 'error';
  const resultId = hasResult
    ? await addResult(db, { audio: audio!, state, model: model ?? 'phone/v8', reason: reason ?? null })
    : null;
  const client = await db.connect();
  await client.query("SET session_replication_role = 'replica'"); // 100,000 rows are not checked against their batch one by one
  await client.query(
    `INSERT INTO verification (batch_id, line, source, audio_sha256, requested_model, model, state, result_id, reason, reason_detail, attempts, queued_at, started_at, ended_at)
     SELECT $1, line, $4, $5, 'phone', $6, $7, $8, $9, $10, $11, '2026-11-20T08:00:00Z', CASE WHEN $7 <> 'queued' THEN timestamptz '2026-11-20T08:01:00Z' END, CASE WHEN $12 THEN timestamptz '2026-11-20T08:02:00Z' END
     FROM generate_series($2::integer, $3::integer) AS line`,
    [
      batchId,
      from,
      to,
      hiddenTexts.source,
      audio,
      model,
      state,
      resultId,
      reason ?? null,
      reason === undefined ? null : hiddenTexts.detail,
      attempts,
      ended,
    ],
  );
  await client.query('RESET session_replication_role');
  client.release();
  await db.query(
    'UPDATE verification_batch SET items = (SELECT count(*) FROM verification WHERE batch_id = $1) WHERE batch_id = $1',
    [batchId],
  );
}

/** The decision on each recording that was performed. */
export const decision = {
  label: 'replayed',
  thresholds: { synthesis: 0.5, replay: 0.5 },
  policy: 'thresholds/2',
  reason: null,
  authenticFrom: { synthesis: null, replay: 0.9 },
  falseAcceptance: { synthesis: null, replay: 0.01 },
};

async function addResult(
  db: Pool,
  { audio, state, model, reason }: { audio: string; state: string; model: string; reason: string | null },
): Promise<number> {
  const scored = state === 'performed';
  const { rows } = await db.query<{ result_id: number }>(
    `INSERT INTO verification_result (audio_sha256, model, model_sha256, settings_sha256, state, reason, format, codec, sample_rate, channels, duration_seconds, voice_seconds, synthesis, replay, decision, windows, computed_ms)
     VALUES ($1, $2, $3, $3, $4, $5, 'wav', 'pcm_mulaw', 8000, 1, 6, $6, $7, $8, $9, $10, 12)
     ON CONFLICT (audio_sha256, model, model_sha256, settings_sha256) DO UPDATE SET made_at = verification_result.made_at RETURNING result_id`,
    [
      audio,
      model,
      digest,
      state,
      scored ? null : (reason ?? 'no_voice'),
      scored ? 4.5 : 0,
      scored ? 0.91 : null,
      scored ? 0.25 : null,
      scored ? JSON.stringify(decision) : null,
      JSON.stringify(scored ? windows : windows.slice(1)),
    ],
  );
  return rows[0]!.result_id;
}
