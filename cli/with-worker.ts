import type { Queues } from '../jobs/queues/backend.ts';
import { queueNames } from '../jobs/queues/queues.ts';
import type { Services } from '../runtime/services/services.ts';
import { readableLog } from './readable-log.ts';

/** Opens the queues for one command. */
export async function withQueues<Result>(
  services: Services,
  work: (queues: Queues) => Promise<Result>,
): Promise<Result> {
  const { openQueues } = await import('../jobs/queues/backend.ts'); // commands that only read never load the queues
  const queues = await openQueues(services.config, services.database.url, readableLog(services.log));
  try {
    return await work(queues);
  } finally {
    await queues.close();
  }
}

/** True if a worker is connected to the queues, whichever backend holds them. */
export async function hasWorker(queues: Queues): Promise<boolean> {
  const connected = await queues.workers();
  return queueNames.every((queue) => connected[queue] > 0);
}

/** Hint if no worker is connected. */
export const noWorkerText = 'No worker runs: nothing is performed until one is started, with `caller-trust start`.';

/**
 * Runs `work`, which waits for jobs, with a worker: the connected ones, or else one in this process, which ends with
 * `work`. `isOwnWorker` says which.
 */
export async function withWorker<Result>(
  given: Services,
  queues: Queues,
  work: (isOwnWorker: boolean) => Promise<Result>,
): Promise<Result> {
  if (await hasWorker(queues)) return work(false);
  const [{ createHandlers }, { openLazyScoring }, { startWorker }] = await Promise.all([
    import('../jobs/handlers.ts'),
    import('../jobs/lazy-scoring.ts'),
    import('../jobs/worker.ts'),
  ]);
  const services = { ...given, log: readableLog(given.log) };
  if (process.stderr.isTTY) process.stderr.write('No worker is connected: the work is done in this process.\n');
  const scoring = openLazyScoring(services);
  const worker = await startWorker({
    config: services.config,
    databaseUrl: services.database.url,
    log: services.log,
    handlers: createHandlers({ ...services, queues, scoring }),
  });
  try {
    return await work(true);
  } finally {
    await worker.stop(0);
    await scoring.close();
  }
}
