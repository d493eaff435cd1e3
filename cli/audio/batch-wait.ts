import type { Queues } from '../../jobs/queues/backend.ts';
import { countStates, hasEnded, readBatch, type Batch, type StateCounts } from '../../pipelines/audio/batches/batch.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { Pool } from '../../runtime/postgres.ts';
import type { Services } from '../../runtime/services.ts';
import { formatBar } from '../progress.ts';
import { formatCount } from '../table.ts';
import { noWorkerText, withSomeWorker } from '../with-worker.ts';
import { untilEnded } from '../until-ended.ts';

/** Milliseconds between two looks: often at first, since a single recording takes some tenths of a second. */
const pollMs = { first: 40, later: 500, firstLooks: 50 } as const;

/** Waits until a batch has ended, with somebody to perform it. @throws ServiceError `interrupted`, `batch_ended` if its items are still being handed in */
export async function waitForBatch(services: Services, queues: Queues, batch: Batch): Promise<Batch> {
  if (hasEnded(batch)) return batch;
  if (batch.state === 'open') {
    throw new ServiceError('batch_ended', {
      operation: 'wait for batch',
      object: batch.id,
      problem: 'Its items are still being handed in.',
      hint: 'Hand them in to the end with the same command and key, or cancel it.',
    });
  }
  return withSomeWorker(services, queues, (isOwnWorker) => untilBatchEnded(services.db, batch, isOwnWorker));
}

function untilBatchEnded(db: Pool, { id, batchId, items }: Batch, isOwnWorker: boolean): Promise<Batch> {
  const since = Date.now();
  return untilEnded({
    read: () => readBatch(db, id),
    hasEnded,
    describe: async (_batch, looks) =>
      looks % 5 === 0 && process.stderr.isTTY ? describe(await countStates(db, batchId), items, since) : undefined,
    pollMs: (looks) => (looks < pollMs.firstLooks ? pollMs.first : pollMs.later),
    interrupted: () =>
      new ServiceError('interrupted', {
        operation: 'wait for batch',
        object: id,
        hint: `${isOwnWorker ? noWorkerText : 'It goes on.'} \`caller-trust batch status ${id}\` says how far it is.`,
      }),
  });
}

function describe({ queued, performing, error }: StateCounts, items: number, since: number): string {
  const ended = items - queued - performing;
  const rate = ended / Math.max(0.001, (Date.now() - since) / 1000);
  return `${formatBar(ended / items)} ${formatCount(ended)} of ${formatCount(items)} recordings, ${rate.toFixed(1)} a second${error > 0 ? `, ${formatCount(error)} in error` : ''}`;
}
