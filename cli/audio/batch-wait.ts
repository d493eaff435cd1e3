import type { Queues } from '../../jobs/queues/backend.ts';
import { countStates, hasEnded, readBatch, type Batch, type StateCounts } from '../../pipelines/audio/batches/batch.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { Pool } from '../../runtime/postgres.ts';
import type { Services } from '../../runtime/services/services.ts';
import { formatBar } from '../progress.ts';
import { formatCount } from '../table.ts';
import { noWorkerText, withWorker } from '../with-worker.ts';
import { untilEnded } from '../until-ended.ts';

/** Milliseconds between polls: short at first, since a single recording takes some tenths of a second. */
const pollMs = { first: 40, later: 500, firstPolls: 50 } as const;

/**
 * Waits until a batch has ended, with a worker to perform it. @throws ServiceError `interrupted`, `batch_ended` if it is still
 * being submitted
 */
export async function waitForBatch(services: Services, queues: Queues, batch: Batch): Promise<Batch> {
  if (hasEnded(batch)) return batch;
  if (batch.state === 'open') {
    throw new ServiceError('batch_ended', {
      operation: 'wait for batch',
      object: batch.id,
      problem: 'Its items are still being submitted.',
      hint: 'Finish the submission with the same command and key, or cancel the batch.',
    });
  }
  return withWorker(services, queues, (isOwnWorker) => untilBatchEnded(services.db, batch, isOwnWorker));
}

function untilBatchEnded(db: Pool, { id, batchId, items }: Batch, isOwnWorker: boolean): Promise<Batch> {
  const since = Date.now();
  return untilEnded({
    read: () => readBatch(db, id),
    hasEnded,
    describe: async (_batch, polls) =>
      polls % 5 === 0 && process.stderr.isTTY
        ? formatBatchProgress(await countStates(db, batchId), items, since)
        : undefined,
    pollMs: (polls) => (polls < pollMs.firstPolls ? pollMs.first : pollMs.later),
    interrupted: () =>
      new ServiceError('interrupted', {
        operation: 'wait for batch',
        object: id,
        hint: `${isOwnWorker ? noWorkerText : 'It is still running.'} \`caller-trust batch status ${id}\` shows its progress.`,
      }),
  });
}

function formatBatchProgress({ queued, performing, error }: StateCounts, items: number, since: number): string {
  const ended = items - queued - performing;
  const rate = ended / Math.max(0.001, (Date.now() - since) / 1000);
  return `${formatBar(ended / items)} ${formatCount(ended)} of ${formatCount(items)} recordings, ${rate.toFixed(1)} a second${error > 0 ? `, ${formatCount(error)} in error` : ''}`;
}
