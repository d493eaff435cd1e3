import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../../runtime/config.ts';
import { isServiceError, ServiceError } from '../../../runtime/errors.ts';
import type { Log } from '../../../runtime/log.ts';
import type { Pool } from '../../../runtime/postgres.ts';
import { AudioStore } from '../store/audio-store.ts';
import { finishBatch, hasEnded, readBatch, type Batch } from '../batches/batch.ts';
import { submitBatch, type BatchSubmission } from '../batches/batch-intake.ts';
import { loadRegistry } from '../models/registry.ts';
import { performChunk } from '../batches/perform-chunk.ts';
import { chooseModel } from '../scoring/score-recording.ts';
import { listVerifications } from '../batches/verification-record.ts';
import { findVerification, type VerificationDetailAnswer } from '../batches/verification-answer.ts';
import type { ScoredRecording } from '../verification.ts';
import type { SpooledStream } from './stream-spool.ts';

/** What streams are handed in with. */
export interface StreamHandIn {
  readonly db: Pool;
  readonly config: Config;
  readonly log: Log;
  /** Hands a batch in and queues it for the workers; does no more than queue one that is there. */
  readonly requestVerification: (submission: BatchSubmission) => Promise<{ readonly batch: Batch }>;
}

/** Milliseconds between two looks for the end of a batch that a worker performs. */
const pollMs = 200;

/**
 * Makes an ordinary verification of a stream that has ended: its audio becomes a stored recording, and the scores that were made while it
 * arrived the outcome of a batch of one. Without scores, or where they cannot be used, the workers score it. Safe to do again.
 * @throws ServiceError `database_unavailable` and others of handing in
 */
export async function handInStream(
  handIn: StreamHandIn,
  spooled: SpooledStream,
  scored: ScoredRecording | null,
): Promise<Batch> {
  const submission = submissionOf(spooled);
  if (scored !== null) {
    const batch = await settle(handIn, submission, scored);
    if (batch !== undefined) return batch;
  }
  return (
    await handIn.requestVerification(submission).catch((error: unknown) => handInRemoved(handIn, submission, error))
  ).batch;
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

/** A model that was removed while audio came ends the item, not the batch: the stream is in the list with the reason. */
async function handInRemoved(
  { requestVerification }: StreamHandIn,
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

/** Stores the scores as the outcome, as a worker would that had made them; undefined if they are not what the batch asks for, or that fails. */
async function settle(
  { db, config, log }: StreamHandIn,
  submission: BatchSubmission,
  scored: ScoredRecording,
): Promise<Batch | undefined> {
  try {
    const { batch } = await submitBatch({ db, config }, submission);
    if (hasEnded(batch)) return batch;
    const registry = await loadRegistry(db, config);
    const job = { batchId: batch.batchId, generation: batch.generation, chunk: 0 };
    const score = async ({ model }: { readonly model: Parameters<typeof chooseModel>[0] }) => {
      if (chooseModel(model, scored.audio.sampleRate).name === scored.model) return scored;
      throw new ServiceError('interrupted', {
        operation: 'store scores',
        problem: 'The default of the family has moved since the stream began.',
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

/** True if the audio of a stream that was handed in is stored: what was refused has no copy but the spool. */
export async function isAudioStored({ db }: Pick<StreamHandIn, 'db'>, { batchId }: Batch): Promise<boolean> {
  const [item] = await listVerifications(db, batchId, { after: 0, limit: 1, windows: false });
  return item !== undefined && item.audio !== null;
}

/** The verification of a batch of one as it stands, after waiting for its end for some time. */
export async function readOutcome(
  { db }: Pick<StreamHandIn, 'db'>,
  { id, batchId, owner }: Batch,
  secondsMax: number,
): Promise<VerificationDetailAnswer> {
  const until = Date.now() + secondsMax * 1000;
  while (!hasEnded(await readBatch(db, id)) && Date.now() < until) await sleep(pollMs);
  const [item] = await listVerifications(db, batchId, { after: 0, limit: 1, windows: false });
  return (await findVerification(db, { client: owner, id: item!.id }))!;
}
