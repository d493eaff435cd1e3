import { z } from 'zod';
import type { Config } from '../../runtime/config.ts';
import { ServiceError } from '../../runtime/errors.ts';

/**
 * Crashes of its worker that a job survives; one more fails it. So a job survives repeated restarts, but cannot kill one worker
 * after the other.
 */
export const jobCrashesMax = 5;

/** The settings, with limits that tests change. */
export type JobConfig = Config & {
  /** Default: {@link jobCrashesMax}. */
  readonly jobCrashesMax?: number;
  /** Default: {@link verificationJobsAtOnce}. */
  readonly verificationConcurrency?: number;
};

/** Jobs of recordings that one worker runs at a time: a job may have one recording only, and the next begins while the last ends. */
export function verificationJobsAtOnce({ audioScorers }: Pick<Config, 'audioScorers'>): number {
  return Math.max(2, audioScorers);
}

const databaseId = z.number().int().positive();
const generation = z.number().int().positive();

const hourSeconds = 3600;
const daySeconds = 24 * hourSeconds;

/** A queue: its jobs with the schemas of their payloads, and how a worker runs them. */
interface QueueDefinition {
  readonly jobs: Record<string, z.ZodType>;
  /** Jobs that one worker runs at a time. */
  readonly concurrency: (config: JobConfig) => number;
  /** Milliseconds before the second attempt; each further one waits twice as long. */
  readonly retryDelayMs: number;
  /**
   * Seconds for which a job waits, without using up attempts, while a disk is full or the database is unavailable. Long for what
   * others have submitted; a night keeps the files of the night before, and the next one tries again.
   */
  readonly outageSecondsMax: number;
  /** Seconds for which ended jobs are kept for inspection. What they did is in PostgreSQL. */
  readonly completedKeptSeconds: number;
  readonly failedKeptSeconds: number;
}

/** The closed list of queues. Payloads hold ids of rows in PostgreSQL only. */
export const QUEUES = {
  feeds: {
    jobs: { 'load-feed': z.strictObject({ loadId: databaseId }) },
    concurrency: () => 1, // a load takes a core, and locks the numbers in the database
    retryDelayMs: 2000,
    outageSecondsMax: daySeconds,
    completedKeptSeconds: daySeconds,
    failedKeptSeconds: 7 * daySeconds,
  },
  nights: {
    jobs: { 'open-night': z.strictObject({ runId: databaseId }) },
    // An operator's night of one cache need not wait for the scheduled one.
    concurrency: () => 2,
    retryDelayMs: 5000,
    outageSecondsMax: hourSeconds,
    completedKeptSeconds: daySeconds,
    failedKeptSeconds: 7 * daySeconds,
  },
  builds: {
    jobs: { 'build-artefact': z.strictObject({ runId: databaseId, generation, buildId: databaseId }) },
    concurrency: (config) => config.buildConcurrency,
    retryDelayMs: 1000,
    outageSecondsMax: hourSeconds,
    completedKeptSeconds: daySeconds,
    failedKeptSeconds: 7 * daySeconds,
  },
  branding: {
    jobs: {
      'run-branding': z.strictObject({ operationId: databaseId }),
      'place-proof-calls': z.strictObject({ proofId: databaseId }),
    },
    concurrency: () => 2, // one reads its letter in a process of its own while the other waits for the database
    retryDelayMs: 1000,
    outageSecondsMax: daySeconds,
    completedKeptSeconds: daySeconds,
    failedKeptSeconds: 7 * daySeconds,
  },
  publications: {
    jobs: { 'publish-night': z.strictObject({ runId: databaseId, generation }) },
    concurrency: () => 2,
    retryDelayMs: 1000,
    outageSecondsMax: hourSeconds,
    completedKeptSeconds: daySeconds,
    failedKeptSeconds: 7 * daySeconds,
  },
  verifications: {
    jobs: {
      'verify-items': z.strictObject({ batchId: databaseId, generation, chunk: z.number().int().nonnegative() }),
    },
    concurrency: (config) => config.verificationConcurrency ?? verificationJobsAtOnce(config),
    retryDelayMs: 1000,
    outageSecondsMax: daySeconds,
    completedKeptSeconds: hourSeconds,
    failedKeptSeconds: 7 * daySeconds,
  },
  batches: {
    jobs: { 'finish-batch': z.strictObject({ batchId: databaseId, generation }) },
    concurrency: () => 2,
    retryDelayMs: 1000,
    outageSecondsMax: daySeconds,
    completedKeptSeconds: daySeconds,
    failedKeptSeconds: 7 * daySeconds,
  },
  webhooks: {
    jobs: { 'deliver-webhook': z.strictObject({ deliveryId: databaseId }) },
    concurrency: () => 20, // a delivery waits for its receiver
    retryDelayMs: 1000,
    outageSecondsMax: daySeconds,
    completedKeptSeconds: hourSeconds,
    failedKeptSeconds: daySeconds,
  },
} as const satisfies Record<string, QueueDefinition>;

type QueueTable = typeof QUEUES;

export type QueueName = keyof QueueTable;

/** Every job with its payload. */
export type Payloads = {
  [Name in { [Queue in QueueName]: keyof QueueTable[Queue]['jobs'] }[QueueName]]: {
    [Queue in QueueName]: Name extends keyof QueueTable[Queue]['jobs']
      ? QueueTable[Queue]['jobs'][Name] extends z.ZodType<infer Payload>
        ? Payload
        : never
      : never;
  }[QueueName];
};

export type JobName = keyof Payloads;

/** The names of all queues, in the order of the table. */
export const queueNames = Object.keys(QUEUES) as QueueName[];

/** The queue that holds a job. */
export function queueOf(job: JobName): QueueName {
  return queueNames.find((queue) => job in QUEUES[queue].jobs)!;
}

/**
 * The payload of a job, checked by its schema.
 * @throws ServiceError `job_invalid` if the job is not in the table or the payload does not fit.
 */
export function parsePayload<Name extends JobName>(job: Name, payload: unknown): Payloads[Name] {
  const schema = queueNames
    .map((queue) => (QUEUES[queue] as QueueDefinition).jobs[job])
    .find((found) => found !== undefined);
  if (schema === undefined)
    throw new ServiceError('job_invalid', {
      operation: 'read job',
      object: job,
      problem: 'No queue has a job of this name.',
    });
  const parsed = schema.safeParse(payload);
  if (parsed.success) return parsed.data as Payloads[Name]; // the schema of the same name
  const problem = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ');
  throw new ServiceError('job_invalid', { operation: 'read job', object: job, problem: `${problem}.` });
}
