import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import {
  createPostgresBackend,
  createRedisBackend,
  withBackend,
  type BackendClasses,
  type FlowProducer,
  type IQueueBackend,
  type Job,
  type JobsOptions,
  type JobType,
  type Processor,
  type Queue,
  type QueueOptions,
  type Telemetry,
  type WorkerOptions,
} from 'bullmq';
import type { Config } from '../../runtime/config.ts';
import type { Log } from '../../runtime/log.ts';
import { isTracing } from '../../runtime/tracing/tracing.ts';
import { recognizeDatabaseError } from '../../runtime/postgres.ts';
import { connectRedis } from '../../runtime/redis.ts';
import { jobCrashesMax, QUEUES, queueNames, type JobConfig, type JobName, type QueueName } from './queues.ts';
import { queueSchema, postgresConnection, requireQueueSchema } from './queue-schema.ts';

/** Where a job is. `missing`: the queue knows no job of this id. */
export type JobState = 'waiting' | 'active' | 'delayed' | 'waiting-children' | 'completed' | 'failed' | 'missing';

/** A job as the queue holds it; the payload was checked before. */
export interface NewJob {
  readonly queue: QueueName;
  readonly name: JobName;
  /** No `:`, and not an integer. */
  readonly id: string;
  readonly payload: unknown;
  /** Jobs of a higher number wait for those of a lower one. Default: 0. */
  readonly priority?: number | undefined;
}

/** A waiting job with a priority. */
export interface WaitingJob {
  readonly priority: number;
  readonly payload: unknown;
  /** In ms since 1970. */
  readonly queuedAt: number;
}

/** A failed job with its stored reason. */
interface FailedJob {
  readonly reason: string;
  /** Its worker crashed more often than the crash budget allows, so no handler recorded the end. */
  readonly byCrashes: boolean;
}

export type QueueCounts = Record<(typeof LISTED_JOB_STATES)[number], number>;

/** The states by which jobs are listed and counted. */
export const LISTED_JOB_STATES = ['waiting', 'active', 'delayed', 'waiting-children', 'completed', 'failed'] as const;

/** Which jobs of a queue are listed. */
interface JobsQuery {
  readonly state: (typeof LISTED_JOB_STATES)[number];
  /** Jobs to skip. */
  readonly from: number;
  readonly count: number;
}

/** A job in a list. */
export interface ListedJob {
  readonly id: string;
  readonly name: string;
  readonly payload: unknown;
  readonly tries: number;
  readonly queuedAt: Date;
  readonly endedAt: Date | null;
  /** Why it failed, or is tried again. */
  readonly reason: string | null;
}

/** The queues, independent of the backend. */
export interface Queues {
  readonly kind: 'redis' | 'postgres';
  /** Adds a job. Does nothing if the queue has a job of this id, also an ended one. */
  add(job: NewJob): Promise<void>;
  /** Adds a parent that runs when all its children have completed or failed. Adds all jobs or none. */
  addFlow(parent: NewJob, children: readonly NewJob[]): Promise<void>;
  state(queue: QueueName, id: string): Promise<JobState>;
  /** Why a job failed; undefined if it is missing or has not failed. */
  failure(queue: QueueName, id: string): Promise<FailedJob | undefined>;
  /** The next waiting job with a priority, if there is one. */
  firstWaiting(queue: QueueName): Promise<WaitingJob | undefined>;
  /** When the job that runs next was queued, in ms since 1970; null for a queue where none waits. */
  nextQueuedAt(): Promise<Record<QueueName, number | null>>;
  /** Removes a job with its children; false if it is missing or active. */
  remove(queue: QueueName, id: string): Promise<boolean>;
  counts(): Promise<Record<QueueName, QueueCounts>>;
  /** Connected workers by queue. */
  workers(): Promise<Record<QueueName, number>>;
  /** True for a paused queue: no worker takes its jobs until it is resumed. */
  paused(): Promise<Record<QueueName, boolean>>;
  pause(queue: QueueName): Promise<void>;
  resume(queue: QueueName): Promise<void>;
  /** Jobs of a queue in a state, the latest first. */
  listJobs(queue: QueueName, query: JobsQuery): Promise<ListedJob[]>;
  /** Queues a failed job again, and a delayed one at once; false if there is no such job in one of these states. */
  runNow(queue: QueueName, id: string): Promise<boolean>;
  close(): Promise<void>;
}

/** A job that a worker runs. */
export type ActiveJob = Parameters<Processor>[0];

export interface WorkerRequest {
  readonly queue: QueueName;
  readonly process: (job: ActiveJob, token: string) => Promise<unknown>;
  readonly onError: (error: Error) => void;
  /** An attempt at a job has failed; more may follow. */
  readonly onFailed: (job: ActiveJob | undefined, error: Error) => void;
  /** The locks of these jobs expired because this worker did not renew them in time; other workers take them. */
  readonly onLocksLost: (jobIds: string[]) => void;
  readonly onStalled: (jobId: string) => void;
}

/** Running workers. */
export interface RunningWorkers {
  /** Stops fetching and resolves when the active jobs have ended. */
  close(): Promise<void>;
}

/** BullMQ's failure reason of a job that exceeded its crash budget. */
const crashedReason = 'job stalled more than allowable limit';

/**
 * Milliseconds between two connection attempts. BullMQ's default of 15 s is as long as the lock of a job: a job that
 * completed during a restart of the backend would count as crashed.
 */
const reconnectMs = 1000;

/** Attempts of a job that throws a temporary error; crashes of its worker have a budget of their own. */
const jobAttemptsMax = 3;

/**
 * Opens the queues: in Redis if REDIS_URL is given, else in a schema of PostgreSQL, which is created if missing.
 * @throws ServiceError `redis_unavailable`, `redis_unsafe`, `database_unavailable`, `database_unsuitable`
 */
export async function openQueues(config: Config, databaseUrl: string, log: Log): Promise<Queues> {
  const telemetry = await findTelemetry();
  const onError = (error: Error): void => log.warn({ err: error }, 'the connection of the queues broke');
  if (config.redisUrl === undefined) {
    await requireQueueSchema(databaseUrl, config);
    const connection = postgresConnection(databaseUrl, connectionsMax.producer);
    const producers = makeProducers(withBackend(createPostgresBackend), { connection, ...telemetry }, onError);
    return wrapQueues('postgres', producers);
  }
  // Twenty reconnections take about ten seconds; then a waiting producer fails.
  const client = await connectRedis({
    url: config.redisUrl,
    name: 'caller-trust queues',
    commandRetriesMax: 20,
    onError,
  });
  const options = { connection: client, prefix: redisPrefix, ...telemetry };
  const producers = makeProducers(withBackend(createRedisBackend), options, onError);
  return wrapQueues('redis', {
    ...producers,
    async close() {
      await producers.close();
      client.disconnect();
    },
  });
}

/**
 * Starts a worker for each request.
 * @throws as {@link openQueues} does
 */
export async function startWorkers(
  config: JobConfig,
  databaseUrl: string,
  requests: readonly WorkerRequest[],
): Promise<RunningWorkers> {
  if (config.redisUrl === undefined) {
    await requireQueueSchema(databaseUrl, config);
    const connection = postgresConnection(databaseUrl, connectionsMax.worker);
    return runWorkers(withBackend(createPostgresBackend), { connection }, { config, requests });
  }
  const onError = (error: Error): void => requests[0]?.onError(error);
  const connection = await connectRedis({
    url: config.redisUrl,
    name: 'caller-trust worker',
    commandRetriesMax: null,
    onError,
  });
  const options = { connection, prefix: redisPrefix };
  const workers = await runWorkers(withBackend(createRedisBackend), options, { config, requests });
  return {
    async close() {
      await workers.close();
      connection.disconnect();
    },
  };
}

/** The option of queues and workers by which jobs carry their trace. */
type QueueTelemetry = { readonly telemetry?: Telemetry };

async function findTelemetry(): Promise<QueueTelemetry> {
  return isTracing() ? { telemetry: (await import('./queue-telemetry.ts')).makeTelemetry() } : {};
}

async function runWorkers<Backend extends IQueueBackend, Connection>(
  { Worker }: BackendClasses<Backend, Connection>,
  options: QueueOptions<Connection>,
  { config, requests }: { readonly config: JobConfig; readonly requests: readonly WorkerRequest[] },
): Promise<RunningWorkers> {
  const telemetry = await findTelemetry();
  const workers = requests.map((request) => {
    const worker = new Worker(request.queue, processorOf(request), {
      ...workerOptions(config, request.queue),
      ...options,
      ...telemetry,
    });
    worker.on('error', request.onError);
    worker.on('failed', request.onFailed);
    worker.on('lockRenewalFailed', request.onLocksLost);
    worker.on('stalled', request.onStalled);
    return worker;
  });
  await Promise.all(workers.map((worker) => worker.waitUntilReady())).catch((error: unknown) => {
    throw recognizeDatabaseError(error) ?? error;
  });
  return { close: () => closeAll(workers) };
}

function processorOf(request: WorkerRequest): Processor {
  return (job, token) => request.process(job, token!); // a worker always passes its token
}

function workerOptions(config: JobConfig, queue: QueueName): Omit<WorkerOptions, 'connection'> {
  return {
    name: `${hostname().slice(0, 24)}.${process.pid}`,
    concurrency: QUEUES[queue].concurrency(config),
    lockDuration: config.jobLockSeconds * 1000,
    stalledInterval: Math.max(1, Math.floor(config.jobLockSeconds / 3)) * 1000,
    maxStalledCount: config.jobCrashesMax ?? jobCrashesMax,
    runRetryDelay: reconnectMs,
  };
}

async function closeAll(closeables: readonly { close(): Promise<unknown> }[]): Promise<void> {
  await Promise.all(closeables.map((closeable) => closeable.close()));
}

/** The part of a BullMQ queue and flow producer that both backends share. */
interface Producers {
  queue(name: QueueName): BackendQueue;
  addFlow(flow: Parameters<FlowProducer['add']>[0]): Promise<unknown>;
  close(): Promise<void>;
}

type BackendQueue = Pick<
  Queue,
  'getJobState' | 'remove' | 'getJobCounts' | 'getWorkersCount' | 'isPaused' | 'pause' | 'resume' | 'close'
> & {
  add(name: string, payload: unknown, options: JobsOptions): Promise<unknown>;
  getJobs(states: JobType[], start: number, end: number, ascending: boolean): Promise<BackendJob[]>;
  getJob(id: string): Promise<BackendJob | undefined>;
};

/** The part of a BullMQ job that both backends share. */
type BackendJob = Pick<
  Job,
  'id' | 'name' | 'data' | 'opts' | 'timestamp' | 'finishedOn' | 'attemptsMade' | 'failedReason' | 'retry' | 'promote'
>;

function makeProducers<Backend extends IQueueBackend, Connection>(
  { Queue: BackedQueue, FlowProducer }: BackendClasses<Backend, Connection>,
  options: QueueOptions<Connection>,
  onError: (error: Error) => void,
): Producers {
  const queues = new Map(queueNames.map((name) => [name, new BackedQueue(name, options)]));
  const flows = new FlowProducer(options);
  for (const queue of queues.values()) queue.on('error', onError);
  flows.on('error', onError);
  return {
    queue: (name) => queues.get(name)!,
    addFlow: (flow) => flows.add(flow),
    close: () => closeAll([...queues.values(), flows]),
  };
}

function wrapQueues(kind: Queues['kind'], producers: Producers): Queues {
  const everyQueue = async <Value>(
    read: (queue: BackendQueue) => Promise<Value>,
  ): Promise<Record<QueueName, Value>> => {
    const entries = await Promise.all(
      queueNames.map(async (name) => [name, await read(producers.queue(name))] as const),
    );
    return Object.fromEntries(entries) as Record<QueueName, Value>; // each name
  };
  return {
    kind,
    async add(job) {
      await producers.queue(job.queue).add(job.name, job.payload, jobOptions(job));
    },
    async addFlow(parent, children) {
      await producers.addFlow({
        ...flowNode(parent),
        children: children.map((child) => ({
          ...flowNode(child),
          opts: { ...jobOptions(child), ignoreDependencyOnFailure: true },
        })),
      });
    },
    state: async (queue, id) => jobStateOf(await producers.queue(queue).getJobState(id)),
    async failure(queue, id) {
      if (jobStateOf(await producers.queue(queue).getJobState(id)) !== 'failed') return undefined;
      const job = await producers.queue(queue).getJob(id);
      return job === undefined
        ? undefined
        : { reason: job.failedReason ?? '', byCrashes: job.failedReason === crashedReason };
    },
    async firstWaiting(queue) {
      const [job] = await producers.queue(queue).getJobs(['prioritized'], 0, 0, true);
      return job === undefined
        ? undefined
        : { priority: job.opts.priority ?? 0, payload: job.data, queuedAt: job.timestamp };
    },
    nextQueuedAt: () => everyQueue(readNextQueuedAt),
    remove: (queue, id) => removeJob(producers.queue(queue), id),
    counts: () => everyQueue(countJobs),
    workers: () => everyQueue((queue) => queue.getWorkersCount()),
    paused: () => everyQueue((queue) => queue.isPaused()),
    pause: (queue) => producers.queue(queue).pause(),
    resume: (queue) => producers.queue(queue).resume(),
    async listJobs(queue, { state, from, count }) {
      const states = state === 'waiting' ? (['waiting', 'prioritized'] as const) : ([state] as const);
      const jobs = await producers.queue(queue).getJobs([...states], from, from + count - 1, false);
      return jobs.flatMap((job) => (job === undefined ? [] : [listedJob(job)])); // one may have been removed meanwhile
    },
    runNow: (queue, id) => runJobNow(producers.queue(queue), id),
    close: () => producers.close(),
  };
}

/** Jobs without a priority run before those that have one. */
async function readNextQueuedAt(queue: BackendQueue): Promise<number | null> {
  const [first = (await queue.getJobs(['prioritized'], 0, 0, true))[0]] = await queue.getJobs(['waiting'], 0, 0, true);
  return first?.timestamp ?? null;
}

async function countJobs(queue: BackendQueue): Promise<QueueCounts> {
  const {
    prioritized = 0,
    waiting = 0,
    ...others
  } = await queue.getJobCounts(
    'waiting',
    'prioritized',
    'active',
    'delayed',
    'waiting-children',
    'completed',
    'failed',
  );
  return { ...others, waiting: waiting + prioritized } as QueueCounts; // each state that was asked for
}

function listedJob({ id, name, data, attemptsMade, timestamp, finishedOn, failedReason }: BackendJob): ListedJob {
  return {
    id: id!, // of a job that is queued
    name,
    payload: data as unknown,
    tries: attemptsMade,
    queuedAt: new Date(timestamp),
    endedAt: finishedOn === undefined ? null : new Date(finishedOn),
    reason: failedReason ?? null,
  };
}

async function runJobNow(queue: BackendQueue, id: string): Promise<boolean> {
  const state = await queue.getJobState(id);
  if (state !== 'failed' && state !== 'delayed') return false;
  const job = await queue.getJob(id);
  await (state === 'failed' ? job?.retry('failed') : job?.promote());
  return job !== undefined;
}

function flowNode(job: NewJob) {
  return { queueName: job.queue, name: job.name, data: job.payload, opts: jobOptions(job) };
}

function jobOptions({ queue, id, priority }: NewJob): JobsOptions {
  const { retryDelayMs, completedKeptSeconds, failedKeptSeconds } = QUEUES[queue];
  return {
    jobId: id,
    attempts: jobAttemptsMax,
    backoff: { type: 'exponential', delay: retryDelayMs },
    removeOnComplete: { age: completedKeptSeconds },
    removeOnFail: { age: failedKeptSeconds },
    ...(priority === undefined || priority === 0 ? {} : { priority }),
  };
}

function jobStateOf(state: Awaited<ReturnType<Queue['getJobState']>>): JobState {
  switch (state) {
    case 'unknown':
      return 'missing';
    case 'prioritized':
    case 'waiting':
      return 'waiting';
    default:
      return state;
  }
}

/** For a locked job, BullMQ throws on one backend and returns 0 on the other; for a missing one it returns 1 in Redis. */
async function removeJob(queue: BackendQueue, id: string): Promise<boolean> {
  if ((await queue.getJobState(id)) === 'unknown') return false;
  try {
    return (await queue.remove(id)) > 0;
  } catch (error) {
    if ((await queue.getJobState(id)) === 'active') return false;
    throw error;
  }
}

/** The braces keep all keys in one slot, which flows across queues need in a Redis Cluster. */
const redisPrefix = `{${queueSchema}}`;

/** Connections of one queue or worker; a worker listens on one more. Idle ones are closed. */
const connectionsMax = { producer: 1, worker: 2 } as const;

/** The installed version of the library behind the queues. */
export function queueLibraryVersion(): string {
  return (createRequire(import.meta.url)('bullmq/package.json') as { version: string }).version;
}
