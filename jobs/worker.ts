import { UnrecoverableError, WaitingError } from 'bullmq';
import type { Config } from '../runtime/config.ts';
import {
  errorCodeOf,
  errorMessageOf,
  failureOf,
  isFinalFailure,
  isServiceError,
  ServiceError,
  type Failure,
} from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { startWorkers, type ActiveJob, type RunningWorkers, type WorkerRequest } from './queues/backend.ts';
import { parsePayload, QUEUES, queueNames, type JobName, type Payloads, type QueueName } from './queues/queues.ts';
import { within } from '../runtime/repeat.ts';

/** What a handler is given beside its payload. */
export interface JobContext {
  /**
   * Fires when the process must stop and the grace is over, or when another worker has taken the job because this one
   * could not show that it lives. A handler ends soon after, by throwing; what it did is done again.
   */
  readonly signal: AbortSignal;
  /** Carries queue, job id and attempt. */
  readonly log: Log;
  /** 1 for the first try. A try that crashed or was interrupted is not counted. */
  readonly attempt: number;
  /** Names what records in PostgreSQL that the job has failed for good. The worker calls it, before the queue learns of it. */
  onFailure(record: (failure: Failure) => Promise<unknown>): void;
  /** Reports how far the job is: a percentage, or an object. Never fails. */
  updateProgress(progress: number | Record<string, unknown>): Promise<void>;
}

/** What is done for one job. Safe to run twice; never blocks the event loop. The result must be JSON. */
export type Handler<Name extends JobName> = (payload: Payloads[Name], context: JobContext) => Promise<unknown>;

/** A handler for every job of the table. */
export type Handlers = { readonly [Name in JobName]: Handler<Name> };

export interface WorkerOptions {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly log: Log;
  readonly handlers: Partial<Handlers>;
  /** Queues to work on. Default: those that have a handler. */
  readonly queues?: readonly QueueName[];
}

/** A worker that runs. */
export interface Worker {
  /**
   * Stops: no further job is fetched; those in hand have `graceSeconds` to end; then their signal fires and they go back
   * to their queue, where another worker finds them at once. False if a handler did not heed its signal: its job is
   * found as crashed when its lock has run out.
   */
  stop(graceSeconds?: number): Promise<boolean>;
}

/** Seconds in which a handler must end after its signal has fired. */
const abortSecondsMax = 5;

/**
 * Starts one BullMQ worker a queue and runs the handlers.
 *
 * Two budgets: an error that a second try cannot cure, by the closed list, fails the job at once; any other is tried
 * `jobAttemptsMax` times. A crash of the process is noticed when the lock of the job has run out, and the job survives
 * `jobCrashesMax` of them. A handler that blocks the event loop for longer than the lock looks like a crash: another
 * worker does the job a second time. A job that is interrupted, or that another worker has taken, has not failed.
 * @throws ServiceError `redis_unavailable`, `redis_unsafe`, `database_unavailable`, `database_unsuitable`
 */
export async function startWorker({ config, databaseUrl, log, handlers, queues }: WorkerOptions): Promise<Worker> {
  const stopping = new AbortController();
  const inHand = new Map<string, AbortController>();
  const reportError = makeErrorReporter(log);
  const requests = (queues ?? queuesOf(handlers)).map((queue): WorkerRequest => ({
    queue,
    process: (job, token) => runJob({ job, token, queue, handlers, log, stopping: stopping.signal, inHand }),
    onError: (error) => reportError(queue, error),
    onFailed: (job, error) => reportFailure(log, queue, job, error),
    onLocksLost: (ids) =>
      ids.forEach((id) => inHand.get(`${queue}/${id}`)?.abort(interrupted('Another worker has taken the job.'))),
    onStalled: (jobId) => log.warn({ queue, jobId }, 'the worker of this job crashed; it is run again'),
  }));
  const workers = await startWorkers(config, databaseUrl, requests);
  return {
    stop: (graceSeconds = config.shutdownGraceSeconds) => stopWorkers({ workers, stopping, inHand, log, graceSeconds }),
  };
}

function queuesOf(handlers: Partial<Handlers>): QueueName[] {
  return queueNames.filter((queue) => Object.keys(QUEUES[queue].jobs).some((job) => job in handlers));
}

interface Run {
  readonly job: ActiveJob;
  readonly token: string;
  readonly queue: QueueName;
  readonly handlers: Partial<Handlers>;
  readonly log: Log;
  readonly stopping: AbortSignal;
  readonly inHand: Map<string, AbortController>;
}

async function runJob(run: Run): Promise<unknown> {
  const { job, queue, stopping, inHand } = run;
  const key = `${queue}/${job.id}`;
  const lost = new AbortController();
  inHand.set(key, lost);
  let recordFailure: Parameters<JobContext['onFailure']>[0] = async () => undefined;
  const onFailure: JobContext['onFailure'] = (record) => (recordFailure = record);
  try {
    return await callHandler(run, { signal: AbortSignal.any([stopping, lost.signal]), onFailure });
  } catch (error) {
    if (lost.signal.aborted) throw new WaitingError(); // it is another worker's job now, and not ours to move
    if (stopping.aborted) return await putBack(run);
    if (isFinalFailure(error, attemptOf(job) >= (job.opts.attempts ?? 1))) await recordFailure(failureOf(error));
    throw endsRetries(error) ? Object.assign(new UnrecoverableError(failureText(error)), { cause: error }) : error;
  } finally {
    if (inHand.get(key) === lost) inHand.delete(key);
  }
}

function attemptOf(job: ActiveJob): number {
  return job.attemptsMade + 1;
}

function callHandler(
  { job, queue, handlers, log }: Run,
  given: Pick<JobContext, 'signal' | 'onFailure'>,
): Promise<unknown> {
  const name = job.name as JobName; // parsePayload refuses any other
  const payload = parsePayload(name, job.data);
  const handler = handlers[name] as Handler<JobName> | undefined;
  if (handler === undefined)
    throw new ServiceError('job_invalid', {
      operation: 'run job',
      object: job.name,
      problem: 'This worker has no handler for it.',
    });
  const attempt = attemptOf(job);
  const jobLog = log.child({ queue, jobId: job.id, attempt });
  return handler(payload, {
    ...given,
    log: jobLog,
    attempt,
    updateProgress: (progress) =>
      job.updateProgress(progress).catch((error: unknown) => jobLog.debug({ err: error }, 'progress was not recorded')),
  });
}

/** Gives an interrupted job back to its queue: neither failed nor lost, and no try is used up. */
async function putBack({ job, queue, token, log }: Run): Promise<never> {
  await job.moveToWait(token);
  log.info({ queue, jobId: job.id }, 'the job was interrupted and is back in its queue');
  throw new WaitingError();
}

function endsRetries(error: unknown): boolean {
  return isServiceError(error) && !error.facts.retry;
}

/** The code before the message, since a queue keeps nothing else of an error. */
function failureText(error: unknown): string {
  return `${errorCodeOf(error)}: ${errorMessageOf(error)}`;
}

function reportFailure(log: Log, queue: QueueName, job: ActiveJob | undefined, error: Error): void {
  const ended = job === undefined || job.finishedOn !== undefined;
  const facts = { queue, jobId: job?.id, attempt: job?.attemptsMade, err: error };
  if (ended) log.error(facts, 'the job failed');
  else log.warn(facts, 'a try of the job failed; it is tried again');
}

/** Logs errors of the backend, the same one of a queue once in ten seconds: a backend that is away repeats itself. */
function makeErrorReporter(log: Log): (queue: QueueName, error: Error) => void {
  const quietMs = 10_000;
  const told = new Map<string, number>();
  return (queue, error) => {
    const key = `${queue} ${error.message}`;
    if (Date.now() - (told.get(key) ?? -Infinity) < quietMs) return;
    if (told.size > 100) told.clear();
    told.set(key, Date.now());
    log.warn({ queue, err: error }, 'the worker met an error of its backend and goes on');
  };
}

interface Stop {
  readonly workers: RunningWorkers;
  readonly stopping: AbortController;
  readonly inHand: Map<string, AbortController>;
  readonly log: Log;
  readonly graceSeconds: number;
}

async function stopWorkers({ workers, stopping, inHand, log, graceSeconds }: Stop): Promise<boolean> {
  const closed = workers.close().then(() => true);
  if (await within(graceSeconds * 1000, closed)) return true;
  if (inHand.size > 0)
    log.info({ jobs: [...inHand.keys()] }, 'the grace is over; jobs in hand go back to their queues');
  stopping.abort(interrupted('The process was asked to stop.'));
  if (await within(abortSecondsMax * 1000, closed)) return true;
  log.warn({ jobs: [...inHand.keys()] }, 'jobs did not heed their signal; they are found as crashed later');
  return false;
}

function interrupted(problem: string): ServiceError {
  return new ServiceError('interrupted', { operation: 'run job', problem });
}
