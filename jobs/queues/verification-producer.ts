import {
  hasEnded,
  readDueBatch,
  retryBatch,
  readBatch,
  type Batch,
  type RecordChange,
} from '../../pipelines/audio/batches/batch.ts';
import { submitBatch, type BatchSubmission } from '../../pipelines/audio/batches/batch-intake.ts';
import type { BatchIntake } from '../../pipelines/audio/batches/batch-items.ts';
import type { Log } from '../../runtime/log.ts';
import type { Queues } from './backend.ts';
import { enqueueBatch, restoreBatch } from './enqueue.ts';

/** Services of the producer. */
interface VerificationProducer extends BatchIntake {
  readonly queues: Queues;
  readonly log: Log;
}

/**
 * Submits recordings for verification: stores them, then queues them. Used by the CLI, the drop folder, and services that
 * use this package. Wait for the end with `readBatch`, and read the outcomes with `readVerifications`.
 * @throws ServiceError `audio_request_invalid`, `model_unknown`, `model_removed`, `model_invalid`, `batch_too_large`,
 * `batch_ended`, `idempotency_conflict`,
 *   `database_unavailable`
 */
export async function requestVerification(
  producer: VerificationProducer,
  submission: BatchSubmission,
): Promise<{ batch: Batch; repeated: boolean }> {
  const submitted = await submitBatch(producer, submission);
  await queueBatch(producer, submitted);
  return submitted;
}

/**
 * Queues the items of an ended batch again that are in error; with `all` also those whose recording is at fault.
 * @throws ServiceError `batch_unknown`, `batch_ended`
 */
export async function requestRetry(
  producer: Pick<VerificationProducer, 'db' | 'queues' | 'log'>,
  id: string,
  { all, record }: { all: boolean; record?: RecordChange | undefined },
): Promise<{ batch: Batch; retried: number }> {
  const { retried } = await retryBatch(producer.db, id, { all, record });
  const batch = await readBatch(producer.db, id);
  await queueBatch(producer, { batch, repeated: retried === 0 });
  return { batch, retried };
}

/** The reconciler queues the batch if this fails. The jobs of an earlier submission may be lost. */
async function queueBatch(
  { db, queues, log }: Pick<VerificationProducer, 'db' | 'queues' | 'log'>,
  { batch, repeated }: { batch: Batch; repeated: boolean },
): Promise<void> {
  if (hasEnded(batch) || batch.state === 'open') return;
  try {
    if (repeated) await restoreBatch(queues, db, batch);
    else await enqueueBatch(queues, await readDueBatch(db, batch));
  } catch (error) {
    log.warn({ err: error, batch: batch.id }, 'the batch could not be queued yet');
  }
}
