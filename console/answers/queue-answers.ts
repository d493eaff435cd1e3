import type { ListedJob, QueueCounts, Queues } from '../../jobs/queues/backend.ts';
import { queueNames, type QueueName } from '../../jobs/queues/queues.ts';
import type { Listed } from './json.ts';

/** A queue with the number of its jobs in each state. */
export interface QueueSummary {
  readonly name: QueueName;
  /** True while workers take no jobs from it. */
  readonly isPaused: boolean;
  /** Connected workers. */
  readonly workers: number;
  readonly counts: QueueCounts;
}

/** All queues, and their backend. */
export interface QueueList {
  readonly backend: Queues['kind'];
  readonly queues: readonly QueueSummary[];
}

/** A page of the jobs of a queue in one state. */
export interface JobPage extends Listed {
  readonly jobs: readonly ListedJob[];
}

/** The current queues, in the order in which a night uses them. */
export async function listQueues(queues: Queues): Promise<QueueList> {
  const [counts, workers, paused] = await Promise.all([queues.counts(), queues.workers(), queues.paused()]);
  return {
    backend: queues.kind,
    queues: queueNames.map((name) => ({ name, isPaused: paused[name], workers: workers[name], counts: counts[name] })),
  };
}

/** True if a worker that performs verifications is connected. */
export async function isWorkerConnected(queues: Queues): Promise<boolean> {
  const connected = await queues.workers();
  return connected.verifications > 0 && connected.batches > 0;
}
