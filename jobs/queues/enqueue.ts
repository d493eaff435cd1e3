import { renewDueBatch, type DueBatch } from '../../pipelines/audio/batches/batch.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import type { JobState, NewJob, Queues, WaitingJob } from './backend.ts';
import { parsePayload, queueOf, type JobName, type Payloads } from './queues.ts';

/** Ids name the work of a job, so that the same work is not queued twice. */
export const jobIds = {
  night: (runId: number) => `night-${runId}`,
  build: (buildId: number) => `build-${buildId}`,
  publication: ({ runId, generation }: { runId: number; generation: number }) => `publish-${runId}-g${generation}`,
  batchEnd: ({ batchId, generation }: { batchId: number; generation: number }) => `batch-${batchId}-g${generation}`,
  chunk: ({ batchId, generation }: { batchId: number; generation: number }, chunk: number) =>
    `verify-${batchId}-g${generation}-${chunk}`,
} as const;

/** The jobs that are queued alone, with the ids of their work. */
const singleJobIds: { readonly [Name in SingleJob]: (payload: Payloads[Name]) => string } = {
  'load-feed': ({ loadId }) => `feed-${loadId}`,
  'run-branding': ({ operationId }) => `branding-${operationId}`,
  'place-proof-calls': ({ proofId }) => `proof-${proofId}`,
  'deliver-webhook': ({ deliveryId }) => `webhook-${deliveryId}`,
  'open-night': ({ runId }) => jobIds.night(runId),
};

/** A load of a feed, a branding operation, the calls of a proof of numbers, a delivery of a webhook, or a night. */
export type SingleJob = 'load-feed' | 'run-branding' | 'place-proof-calls' | 'deliver-webhook' | 'open-night';

/** The job of such work as it is queued. @throws ServiceError `job_invalid` */
export function singleJob<Name extends SingleJob>(name: Name, payload: Payloads[Name]): NewJob {
  return newJob(name, singleJobIds[name](payload), payload);
}

/** Queues such work, unless it is queued or running. True if it was added. */
export function enqueueJob<Name extends SingleJob>(
  queues: Queues,
  name: Name,
  payload: Payloads[Name],
): Promise<boolean> {
  return enqueue(queues, singleJob(name, payload));
}

/** The builds of one attempt at a night. */
interface NightFlow {
  readonly runId: number;
  readonly generation: number;
  readonly buildIds: readonly number[];
}

/**
 * Queues the builds of one attempt at a night with its publication, which runs when all of them have completed or failed.
 * Does nothing if that publication is queued, waiting or running. Only the process that holds the night open calls it.
 */
export async function enqueueNightFlow(queues: Queues, { runId, generation, buildIds }: NightFlow): Promise<void> {
  const parent = newJob('publish-night', jobIds.publication({ runId, generation }), { runId, generation });
  const children = buildIds.map((buildId) =>
    newJob('build-artefact', jobIds.build(buildId), { runId, generation, buildId }),
  );
  if (!(await makeRoom(queues, parent))) return;
  for (const child of children) await makeRoom(queues, child);
  if (children.length === 0) await queues.add(parent);
  else await queues.addFlow(parent, children);
}

/** Queues the jobs of {@link enqueueNightFlow} again, if the queue has lost them. */
export async function restoreNightFlow(queues: Queues, flow: NightFlow): Promise<void> {
  if ((await queues.state('publications', jobIds.publication(flow))) === 'missing')
    await enqueueNightFlow(queues, flow);
}

/** Highest priority number of the queue library. */
const priorityMax = 2 ** 21;

/**
 * Chunk n of a batch is queued like one submitted n times this many seconds later. So a small batch waits for about one chunk
 * of a large batch, and the large one still advances while small ones arrive. A chunk takes from a second (50 files of 8 s)
 * to minutes (50 files of 10 min).
 */
const chunkSpacingSeconds = 60;

type WaitingChunk = Pick<WaitingJob, 'priority' | 'queuedAt'> & { readonly chunk: number };

/**
 * The priority of the first chunk of a new batch: seconds since an origin that the waiting chunks define. Any waiting chunk
 * gives it: its priority less the offset of its chunk number is the start of its batch, at the time when it was queued.
 * Without a waiting chunk, the count restarts at 1.
 */
export function startOfBatch(waiting: WaitingChunk | undefined, now: number): number {
  if (waiting === undefined) return 1; // jobs without a priority run before all others
  const start = waiting.priority - waiting.chunk * chunkSpacingSeconds;
  return Math.max(1, start + Math.max(0, Math.floor((now - waiting.queuedAt) / 1000)));
}

/** The priority of a chunk. A batch of 10 million items stays below the maximum. */
export function chunkPriority(start: number, chunk: number): number {
  return Math.min(priorityMax, start + chunk * chunkSpacingSeconds);
}

async function nextStart(queues: Queues): Promise<number> {
  const waiting = await queues.firstWaiting('verifications');
  return startOfBatch(
    waiting && { ...waiting, chunk: parsePayload('verify-items', waiting.payload).chunk },
    Date.now(),
  );
}

/**
 * Queues the chunks of a batch with the job that ends it, which runs when all of them have completed or failed. Does nothing
 * if the queue has that job.
 */
export async function enqueueBatch(queues: Queues, { batchId, generation, chunks }: DueBatch): Promise<void> {
  const parent = newJob('finish-batch', jobIds.batchEnd({ batchId, generation }), { batchId, generation });
  if ((await queues.state(parent.queue, parent.id)) !== 'missing') return;
  const start = await nextStart(queues);
  const children = chunks.map((chunk) => ({
    ...newJob('verify-items', jobIds.chunk({ batchId, generation }, chunk), { batchId, generation, chunk }),
    priority: chunkPriority(start, chunk),
  }));
  if (children.length === 0) await queues.add(parent);
  else await queues.addFlow(parent, children);
}

/** Queues a batch whose jobs are lost, under a new generation. True if that was necessary. Safe to call concurrently. */
export async function restoreBatch(
  queues: Queues,
  db: Queryable,
  batch: { batchId: number; generation: number },
): Promise<boolean> {
  if (isLive(await queues.state('batches', jobIds.batchEnd(batch)))) return false;
  const due = await renewDueBatch(db, batch);
  if (due === undefined) return false;
  await enqueueBatch(queues, due);
  return true;
}

/** True for a job that waits or runs. */
export function isLive(state: JobState): boolean {
  return state !== 'missing' && state !== 'completed' && state !== 'failed';
}

function newJob<Name extends JobName>(name: Name, id: string, payload: Payloads[Name]): NewJob {
  return { queue: queueOf(name), name, id, payload: parsePayload(name, payload) };
}

/** Queues a job, unless it is queued or running. True if it was added. */
export async function enqueue(queues: Queues, job: NewJob): Promise<boolean> {
  if (!(await makeRoom(queues, job))) return false;
  await queues.add(job);
  return true;
}

/**
 * Removes an ended job of the same id, because a queue silently ignores an id that it has.
 * False if the job has not ended, and so must not be added.
 */
async function makeRoom(queues: Queues, { queue, id }: NewJob): Promise<boolean> {
  const state = await queues.state(queue, id);
  if (state === 'missing') return true;
  if (state !== 'completed' && state !== 'failed') return false;
  await queues.remove(queue, id);
  return true;
}
