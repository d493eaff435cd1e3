import type { ListedJob, QueueCounts, Queues } from '../../jobs/queues/backend.ts';
import { queueNames, type QueueName } from '../../jobs/queues/queues.ts';
import type { Listed } from './json.ts';

/** A queue with how many of its jobs are in each state. */
export interface QueueSummary {
  readonly name: QueueName;
  /** True while no worker takes jobs of it. */
  readonly isPaused: boolean;
  /** Workers that are connected. */
  readonly workers: number;
  readonly counts: QueueCounts;
}

/** All queues, and what holds them. */
export interface QueueList {
  readonly backend: Queues['kind'];
  readonly queues: readonly QueueSummary[];
}

/** Jobs of a queue in one state. */
export interface JobPage extends Listed {
  readonly jobs: readonly ListedJob[];
}

/** The queues as they are at this moment, in the order in which a night passes them. */
export async function listQueues(queues: Queues): Promise<QueueList> {
  const [counts, workers, paused] = await Promise.all([queues.counts(), queues.workers(), queues.paused()]);
  return {
    backend: queues.kind,
    queues: queueNames.map((name) => ({ name, isPaused: paused[name], workers: workers[name], counts: counts[name] })),
  };
}

/** True if a worker is connected that performs verifications. */
export async function isWorkerConnected(queues: Queues): Promise<boolean> {
  const connected = await queues.workers();
  return connected.verifications > 0 && connected.batches > 0;
}
