import { DelayedError, UnrecoverableError, WaitingError } from 'bullmq';
import {
  errorCodeOf,
  errorMessageOf,
  failureOf,
  isFinalFailure,
  isOutage,
  isServiceError,
  ServiceError,
  type Failure,
  factsOf,
} from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { unmeasured, type Metrics } from '../runtime/metrics/metrics.ts';
import { startWorkers, type ActiveJob, type RunningWorkers, type WorkerRequest } from './queues/backend.ts';
import {
  parsePayload,
  QUEUES,
  queueNames,
  type JobConfig,
  type JobName,
  type Payloads,
  type QueueName,
} from './queues/queues.ts';
import { recognizeDatabaseError } from '../runtime/postgres.ts';
import { within } from '../runtime/processes/repeat.ts';
import { failSpan } from '../runtime/tracing/tracing.ts';

/** The second argument of a handler. */
interface JobContext {
  /**
   * Fires when the process must stop and the grace period is over, or when another worker has taken the job because this one
   * did not renew its lock. A handler must then throw soon; its work is done again.
   */
  readonly signal: AbortSignal;
  /** Carries queue, job id and attempt. */
  readonly log: Log;
  /** 1 for the first attempt. Attempts that crashed or were interrupted do not count. */
  readonly attempt: number;
  /** Sets the function that records the final failure of the job in PostgreSQL. The worker calls it before the job fails in the queue. */
  onFailure(record: (failure: Failure) => Promise<unknown>): void;
  /** Reports progress: a percentage, or an object. Never fails. */
  updateProgress(progress: number | Record<string, unknown>): Promise<void>;
}

/** Runs one job. Safe to run twice; never blocks the event loop. The result must be JSON. */
export type Handler<Name extends JobName> = (payload: Payloads[Name], context: JobContext) => Promise<unknown>;

/** A handler for every job of the table. */
export type Handlers = { readonly [Name in JobName]: Handler<Name> };

interface WorkerOptions {
  readonly config: JobConfig;
  readonly databaseUrl: string;
  readonly log: Log;
  readonly handlers: Partial<Handlers>;
  /** Default: nothing is counted. */
  readonly metrics?: Metrics;
  /** Default: the queues that have a handler. */
  readonly queues?: readonly QueueName[];
}

/** A running worker. */
export interface Worker {
  /**
   * Stops: no further job is fetched; active jobs have `graceSeconds` to end; then their signal fires and they return
   * to their queue, where another worker finds them at once. False if a handler did not react to its signal: its job counts
   * as crashed when its lock expires.
   */
  stop(graceSeconds?: number): Promise<boolean>;
}

/** Seconds in which a handler must end after its signal has fired. */
const abortSecondsMax = 5;

/**
 * Starts one BullMQ worker a queue and runs the handlers.
 *
 * Two budgets: an error that is final by the closed list fails the job at once; any other error fails it after
 * three attempts. A crash of the process is noticed when the lock of the job expires, and a job survives
 * five of them. A handler that blocks the event loop for longer than the lock looks like a crash: another
 * worker runs the job a second time. A job that is interrupted, or that another worker has taken, has not failed.
 * @throws ServiceError `redis_unavailable`, `redis_unsafe`, `database_unavailable`, `database_unsuitable`
 */
export async function startWorker({
  config,
  databaseUrl,
  log,
  handlers,
  metrics = unmeasured,
  queues,
}: WorkerOptions): Promise<Worker> {
  const stopping = new AbortController();
  const active = new Map<string, AbortController>();
  const reportError = makeErrorReporter(log);
  const requests = (queues ?? queuesOf(handlers)).map((queue): WorkerRequest => ({
    queue,
    process: (job, token) =>
      measured(metrics, { job, queue }, (ended) =>
        runJob({ job, token, queue, handlers, log, stopping: stopping.signal, active, ended }),
      ),
    onError: (error) => reportError(queue, error),
    onFailed: (job, error) => reportFailure(log, queue, job, error),
    onLocksLost: (ids) =>
      ids.forEach((id) => active.get(`${queue}/${id}`)?.abort(jobInterrupted('Another worker has taken the job.'))),
    onStalled: (jobId) => {
      metrics.count('caller_trust_job_crashes_total', { queue });
      log.warn({ queue, jobId }, 'the worker of this job crashed; it is run again');
    },
  }));
  const workers = await startWorkers(config, databaseUrl, requests);
  return {
    stop: (graceSeconds = config.shutdownGraceSeconds) => stopWorkers({ workers, stopping, active, log, graceSeconds }),
  };
}

function queuesOf(handlers: Partial<Handlers>): QueueName[] {
  return queueNames.filter((queue) => Object.keys(QUEUES[queue].jobs).some((job) => job in handlers));
}

/** How an attempt at a job ends: `waiting` for a full disk, or a database or Redis that is away. */
type AttemptOutcome = 'done' | 'failed' | 'retried' | 'waiting' | 'interrupted';

/** Counts an attempt at a job with its outcome and time. */
async function measured(
  metrics: Metrics,
  { job, queue }: { readonly job: ActiveJob; readonly queue: QueueName },
  attempt: (ended: (outcome: AttemptOutcome) => void) => Promise<unknown>,
): Promise<unknown> {
  const startedAt = performance.now();
  const labels = { queue, job_name: job.name };
  let outcome: AttemptOutcome = 'done';
  metrics.change('caller_trust_jobs_in_progress', { queue }, 1);
  try {
    return await attempt((ended) => (outcome = ended));
  } finally {
    metrics.change('caller_trust_jobs_in_progress', { queue }, -1);
    metrics.count('caller_trust_jobs_total', { ...labels, outcome });
    metrics.observe('caller_trust_job_seconds', labels, (performance.now() - startedAt) / 1000);
  }
}

interface Run {
  readonly job: ActiveJob;
  readonly token: string;
  readonly queue: QueueName;
  readonly handlers: Partial<Handlers>;
  readonly log: Log;
  readonly stopping: AbortSignal;
  readonly active: Map<string, AbortController>;
  /** Sets the outcome of an attempt that did not succeed. */
  readonly ended: (outcome: AttemptOutcome) => void;
}

async function runJob(run: Run): Promise<unknown> {
  const { job, queue, stopping, active, ended } = run;
  const key = `${queue}/${job.id}`;
  const lost = new AbortController();
  active.set(key, lost);
  let recordFailure: Parameters<JobContext['onFailure']>[0] = async () => undefined;
  const onFailure: JobContext['onFailure'] = (record) => (recordFailure = record);
  try {
    return await callHandler(run, { signal: AbortSignal.any([stopping, lost.signal]), onFailure });
  } catch (thrown) {
    const error = recognizeDatabaseError(thrown) ?? thrown;
    ended('interrupted');
    failSpan(failureText(error));
    if (lost.signal.aborted) throw new WaitingError(); // another worker owns the job now
    if (stopping.aborted) return await putBack(run);
    ended('waiting');
    if (isOutage(error) && waitsForOutage(run)) return await delayForOutage(run, error);
    const isFinal = isFinalFailure(error, attemptOf(job) >= (job.opts.attempts ?? 1));
    ended(isFinal ? 'failed' : 'retried');
    if (isFinal) await recordFailure(failureOf(error));
    throw endsRetries(error) ? Object.assign(new UnrecoverableError(failureText(error)), { cause: error }) : error;
  } finally {
    if (active.get(key) === lost) active.delete(key);
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

/** Returns an interrupted job to its queue without counting an attempt. */
async function putBack({ job, queue, token, log }: Run): Promise<never> {
  await job.moveToWait(token);
  log.info({ queue, jobId: job.id }, 'the job was interrupted and is back in its queue');
  throw new WaitingError();
}

/** Seconds between two attempts in an outage, at most. */
const outageRetrySecondsMax = 60;

function waitsForOutage({ job, queue }: Run): boolean {
  return Date.now() - job.timestamp < QUEUES[queue].outageSecondsMax * 1000;
}

/** Delays a job without counting an attempt; each further delay is twice as long, up to a minute. */
async function delayForOutage({ job, queue, token, log }: Run, error: unknown): Promise<never> {
  const doublings = Math.min(10, job.attemptsStarted - 1);
  const delayMs = Math.min(outageRetrySecondsMax * 1000, QUEUES[queue].retryDelayMs * 2 ** doublings);
  await job.moveToDelayed(Date.now() + delayMs, token);
  log.warn({ queue, jobId: job.id, delayMs, err: error }, 'a resource is unavailable or full; the job waits for it');
  throw new DelayedError();
}

function endsRetries(error: unknown): boolean {
  return isServiceError(error) && !factsOf(error).retry;
}

/** Code and message: the queue stores only a text. */
function failureText(error: unknown): string {
  return `${errorCodeOf(error)}: ${errorMessageOf(error)}`;
}

function reportFailure(log: Log, queue: QueueName, job: ActiveJob | undefined, error: Error): void {
  const ended = job === undefined || job.finishedOn !== undefined;
  const facts = { queue, jobId: job?.id, attempt: job?.attemptsMade, err: error };
  if (ended) log.error(facts, 'the job failed');
  else log.warn(facts, 'an attempt at the job failed; it is tried again');
}

/** Logs errors of the backend, the same error of a queue once in ten seconds at most. */
function makeErrorReporter(log: Log): (queue: QueueName, error: Error) => void {
  const quietMs = 10_000;
  const lastLogged = new Map<string, number>();
  return (queue, error) => {
    const key = `${queue} ${error.message}`;
    if (Date.now() - (lastLogged.get(key) ?? -Infinity) < quietMs) return;
    if (lastLogged.size > 100) lastLogged.clear();
    lastLogged.set(key, Date.now());
    log.warn({ queue, err: error }, 'an error of the backend; the worker continues');
  };
}

interface Stop {
  readonly workers: RunningWorkers;
  readonly stopping: AbortController;
  readonly active: Map<string, AbortController>;
  readonly log: Log;
  readonly graceSeconds: number;
}

async function stopWorkers({ workers, stopping, active, log, graceSeconds }: Stop): Promise<boolean> {
  const closed = workers.close().then(() => true);
  if (await within(graceSeconds * 1000, closed)) return true;
  if (active.size > 0)
    log.info({ jobs: [...active.keys()] }, 'the grace period is over; active jobs return to their queues');
  stopping.abort(jobInterrupted('The process was asked to stop.'));
  if (await within(abortSecondsMax * 1000, closed)) return true;
  log.warn({ jobs: [...active.keys()] }, 'jobs did not react to their signal; they will count as crashed');
  return false;
}

function jobInterrupted(problem: string): ServiceError {
  return new ServiceError('interrupted', { operation: 'run job', problem });
}
