import { createHandlers } from '../jobs/handlers.ts';
import { openLazyScoring } from '../jobs/lazy-scoring.ts';
import { openQueues, type Queues } from '../jobs/backend.ts';
import { queueNames } from '../jobs/queues.ts';
import { startWorker } from '../jobs/worker.ts';
import type { Services } from '../runtime/services.ts';

/** Opens the queues for one command. */
export async function withQueues<Result>(services: Services, work: (queues: Queues) => Promise<Result>): Promise<Result> {
  const queues = await openQueues(services.config, services.database.url, services.log);
  try {
    return await work(queues);
  } finally {
    await queues.close();
  }
}

/**
 * Runs `work`, which waits for jobs, with somebody to do them: the workers that are connected, or if there are none a
 * worker in this process for as long as it takes.
 */
export async function withSomeWorker<Result>(services: Services, queues: Queues, work: () => Promise<Result>): Promise<Result> {
  const connected = await queues.workers();
  if (queueNames.every((queue) => connected[queue] > 0)) return work();
  if (process.stderr.isTTY) process.stderr.write('No worker is connected: the work is done in this process.\n');
  const scoring = openLazyScoring(services);
  const worker = await startWorker({
    config: services.config,
    databaseUrl: services.database.url,
    log: services.log,
    handlers: createHandlers({ ...services, queues, scoring }),
  });
  try {
    return await work();
  } finally {
    await worker.stop(0);
    await scoring.close();
  }
}
