import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../../runtime/config.ts';
import { isServiceError, ServiceError } from '../../../runtime/errors.ts';
import type { Log } from '../../../runtime/log.ts';
import type { Pool } from '../../../runtime/postgres.ts';
import { isOfTelephone } from '../decode/recording.ts';
import { AudioStore } from '../store/audio-store.ts';
import { finishBatch, hasEnded, readBatch, type Batch } from '../batches/batch.ts';
import { submitBatch, type BatchSubmission } from '../batches/batch-intake.ts';
import { loadRegistry } from '../models/registry.ts';
import { performChunk } from '../batches/perform-chunk.ts';
import { chooseModel } from '../models/named-model.ts';
import { listVerifications } from '../batches/stored-verifications.ts';
import { findVerification, type VerificationDetailAnswer } from '../batches/client-verification.ts';
import type { ScoredRecording } from '../verification.ts';
import type { SpooledStream } from './stream-spool.ts';

/** What the submission of streams needs. */
export interface SubmissionServices {
  readonly db: Pool;
  readonly config: Config;
  readonly log: Log;
  /** Submits a batch and queues it for the workers; one that exists is only queued. */
  readonly requestVerification: (submission: BatchSubmission) => Promise<{ readonly batch: Batch }>;
}

/** Milliseconds between two polls of a batch that a worker performs. */
const pollMs = 200;

/**
 * Submits a stream that has ended as an ordinary verification: its audio becomes a stored recording, and the scores that were
 * computed while it arrived become the outcome of a batch of one. Without scores, or where they cannot be used, the workers score
 * it. Idempotent.
 * @throws ServiceError `database_unavailable` and others of {@link submitBatch}
 */
export async function submitStream(
  services: SubmissionServices,
  spooled: SpooledStream,
  scored: ScoredRecording | null,
): Promise<Batch> {
  const submission = submissionOf(spooled);
  if (scored !== null && !isOfOtherBand(scored, submission)) {
    const batch = await storeScores(services, submission, scored);
    if (batch !== undefined) return batch;
  }
  return (
    await services.requestVerification(submission).catch((error: unknown) => submitRemoved(services, submission, error))
  ).batch;
}

/** True for telephone speech whose sample rate chose the wrong model: the workers score it with the model for telephones. */
function isOfOtherBand({ notes, model }: ScoredRecording, submission: BatchSubmission): boolean {
  return isOfTelephone(notes) && submission.model?.toLowerCase() === 'auto' && model.startsWith('digital/');
}

function submissionOf({
  facts: { id, owner, requestedBy, mode, model, channels, name },
  audioPath,
}: SpooledStream): BatchSubmission {
  return {
    owner,
    key: `stream-${id}`,
    name,
    requestedBy,
    mode,
    model,
    settings: { channels },
    items: [{ path: audioPath, source: name }],
  };
}

/** A model that was removed while audio arrived fails the item and not the batch, so that the list shows the stream with the reason. */
async function submitRemoved(
  { requestVerification }: SubmissionServices,
  submission: BatchSubmission,
  error: unknown,
): Promise<{ readonly batch: Batch }> {
  if (!isServiceError(error, 'model_removed') && !isServiceError(error, 'model_unknown')) throw error;
  const items = [...(submission.items as Iterable<{ path: string; source: string }>)].map((item) => ({
    ...item,
    model: submission.model,
  }));
  return requestVerification({ ...submission, model: 'auto', items });
}

/** Stores the scores as the outcome, as a worker does; undefined if they are of another model than the batch requests, or if that fails. */
async function storeScores(
  { db, config, log }: SubmissionServices,
  submission: BatchSubmission,
  scored: ScoredRecording,
): Promise<Batch | undefined> {
  try {
    const { batch } = await submitBatch({ db, config }, submission);
    if (hasEnded(batch)) return batch;
    const registry = await loadRegistry(db, config);
    const job = { batchId: batch.batchId, generation: batch.generation, chunk: 0 };
    const score = async ({ model }: { readonly model: Parameters<typeof chooseModel>[0] }) => {
      const isTelephone = isOfTelephone(scored.notes);
      if (chooseModel(model, { ...scored.audio, isTelephone }).name === scored.model) return scored;
      throw new ServiceError('interrupted', {
        operation: 'store scores',
        problem: 'Another model is meant: the default of the family has moved, or speech of a telephone was detected.',
      });
    };
    await performChunk(
      {
        db,
        store: new AudioStore(config.audioDir),
        registry,
        score,
        limits: config,
        log,
        signal: new AbortController().signal,
      },
      job,
    );
    await finishBatch(db, job);
    return await readBatch(db, batch.id);
  } catch (error) {
    log.warn({ err: error, key: submission.key }, 'the scores of a stream could not be stored; the workers score it');
    return undefined;
  }
}

/** True if the audio of a submitted stream is stored; of refused audio, the spool is the only copy. */
export async function isAudioStored({ db }: Pick<SubmissionServices, 'db'>, { batchId }: Batch): Promise<boolean> {
  const [item] = await listVerifications(db, batchId, { after: 0, limit: 1, windows: false });
  return item !== undefined && item.audio !== null;
}

/** The verification of a batch of one, after waiting at most `secondsMax` for its end. */
export async function readOutcome(
  { db }: Pick<SubmissionServices, 'db'>,
  { id, batchId, owner }: Batch,
  secondsMax: number,
): Promise<VerificationDetailAnswer> {
  const until = Date.now() + secondsMax * 1000;
  while (!hasEnded(await readBatch(db, id)) && Date.now() < until) await sleep(pollMs);
  const [item] = await listVerifications(db, batchId, { after: 0, limit: 1, windows: false });
  return (await findVerification(db, { client: owner, id: item!.id }))!;
}
