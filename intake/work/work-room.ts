import type { Queues } from '../../jobs/queues/backend.ts';
import type { QueueName } from '../../jobs/queues/queues.ts';
import { withHeaders } from '../../api/http/problem.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { within } from '../../runtime/processes/repeat.ts';
import type { intakeLimits } from './intake-limits.ts';

/** Requests that copy files or seal letters at a time; each holds a connection to the database. */
export const submissionsAtOnceMax = 6;

/** Milliseconds that the queues may take to say how much waits: a request is not held up by an unavailable Redis. */
const countMsMax = 1000;

/** Seconds after which a client may try again. A worker takes a second for the smallest jobs and minutes for the largest. */
const retryAfterSeconds = { submissions: 5, queue: 60 } as const;

/** Decides whether one more request may become work. */
export class WorkRoom {
  readonly #queues: Queues;
  readonly #limits: Pick<typeof intakeLimits, 'waitingJobsMax'>;
  #running = 0;

  constructor(queues: Queues, limits: Pick<typeof intakeLimits, 'waitingJobsMax'>) {
    this.#queues = queues;
    this.#limits = limits;
  }

  /**
   * Runs a submission, if its queue has room and few others run. Where the queue cannot be asked the submission runs: the work
   * is in PostgreSQL, and the reconciler queues it.
   * @throws ServiceError `overloaded`, `queue_full`
   */
  async run<Result>(queue: QueueName | null, work: () => Promise<Result>): Promise<Result> {
    if (this.#running >= submissionsAtOnceMax)
      throw later(
        new ServiceError('overloaded', {
          operation: 'accept request',
          problem: `${submissionsAtOnceMax} other requests are being accepted.`,
        }),
        retryAfterSeconds.submissions,
      );
    this.#running += 1;
    try {
      if (queue !== null) await this.#requireRoom(queue);
      return await work();
    } finally {
      this.#running -= 1;
    }
  }

  async #requireRoom(queue: QueueName): Promise<void> {
    const counts = await within(
      countMsMax,
      this.#queues.counts().catch(() => undefined),
    );
    const waiting = counts === undefined ? 0 : counts[queue].waiting + counts[queue].delayed;
    if (waiting < this.#limits.waitingJobsMax) return;
    throw later(
      new ServiceError('queue_full', { operation: 'accept request', problem: `${waiting} jobs of this kind wait.` }),
      retryAfterSeconds.queue,
    );
  }
}

function later(error: ServiceError, seconds: number): ServiceError {
  return withHeaders(error, { 'Retry-After': String(seconds) });
}
