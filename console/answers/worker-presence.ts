import type { Queues } from '../../jobs/queues/backend.ts';

/** True if a worker is connected that performs verifications. */
export async function isWorkerConnected(queues: Queues): Promise<boolean> {
  const connected = await queues.workers();
  return connected.verifications > 0 && connected.batches > 0;
}
