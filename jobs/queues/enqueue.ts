import { renewDueBatch, type DueBatch } from '../../pipelines/audio/batches/batch.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import type { JobState, NewJob, Queues, WaitingJob } from './backend.ts';
import { parsePayload, queueOf, type JobName, type Payloads } from './queues.ts';

/** Ids are made from what the job does, so that the same work is never queued twice. */
export const jobIds = {
  feedLoad: (loadId: number) => `feed-${loadId}`,
  branding: (operationId: number) => `branding-${operationId}`,
  proof: (proofId: number) => `proof-${proofId}`,
  night: (runId: number) => `night-${runId}`,
  build: (buildId: number) => `build-${buildId}`,
  publication: ({ runId, generation }: { runId: number; generation: number }) => `publish-${runId}-g${generation}`,
  batchEnd: ({ batchId, generation }: { batchId: number; generation: number }) => `batch-${batchId}-g${generation}`,
  chunk: ({ batchId, generation }: { batchId: number; generation: number }, chunk: number) =>
    `verify-${batchId}-g${generation}-${chunk}`,
} as const;

/** Queues the load of a feed, unless it is queued or running. True if it was added. */
export function enqueueFeedLoad(queues: Queues, { loadId }: Payloads['load-feed']): Promise<boolean> {
  return enqueue(queues, newJob('load-feed', jobIds.feedLoad(loadId), { loadId }));
}

/** Queues a branding operation, unless it is queued or running. True if it was added. */
export function enqueueBranding(queues: Queues, { operationId }: Payloads['run-branding']): Promise<boolean> {
  return enqueue(queues, newJob('run-branding', jobIds.branding(operationId), { operationId }));
}

/** Queues the calls of a proof of numbers, unless they are queued or placed at this moment. True if they were added. */
export function enqueueProof(queues: Queues, { proofId }: Payloads['place-proof-calls']): Promise<boolean> {
  return enqueue(queues, newJob('place-proof-calls', jobIds.proof(proofId), { proofId }));
}

/** Queues a night, unless it is queued or running. True if it was added. */
export function enqueueNight(queues: Queues, { runId }: Payloads['open-night']): Promise<boolean> {
  return enqueue(queues, newJob('open-night', jobIds.night(runId), { runId }));
}

/**
 * Queues the builds of one attempt at a night with the publication that follows when each of them has ended, well or
 * badly. Does nothing if that publication is queued, waiting or running. True if they were added.
 */
export async function enqueueNightFlow(
  queues: Queues,
  { runId, generation, buildIds }: { runId: number; generation: number; buildIds: readonly number[] },
): Promise<boolean> {
  const parent = newJob('publish-night', jobIds.publication({ runId, generation }), { runId, generation });
  const children = buildIds.map((buildId) =>
    newJob('build-artefact', jobIds.build(buildId), { runId, generation, buildId }),
  );
  if (!(await makeRoom(queues, parent))) return false;
  for (const child of children) await makeRoom(queues, child);
  if (children.length === 0) await queues.add(parent);
  else await queues.addFlow(parent, children);
  return true;
}

/** Highest priority number that the queue library takes. */
const priorityMax = 2 ** 21;

/**
 * Seconds by which each chunk of a batch stands behind the one before, in the order of the queue: what is handed in within that time
 * goes first. A small batch so waits for hardly more than one chunk of a large one, whose chunks have their turn in the end however
 * many small ones come. A chunk takes from a second (50 files of 8 s) to minutes (of 10 min).
 */
const chunkSpacingSeconds = 60;

/** A chunk that waits. */
type WaitingChunk = Pick<WaitingJob, 'priority' | 'queuedAt'> & { readonly chunk: number };

/**
 * The priority at which a batch begins that is queued now: the seconds since the first chunk of this queue, which any of those that
 * wait tells, by when it was queued and what of its priority is not its place in its batch. Without one the count begins anew.
 */
export function startOfBatch(waiting: WaitingChunk | undefined, now: number): number {
  if (waiting === undefined) return 1; // what has no priority goes before all others
  const start = waiting.priority - waiting.chunk * chunkSpacingSeconds;
  return Math.max(1, start + Math.max(0, Math.floor((now - waiting.queuedAt) / 1000)));
}

/** The priorities of chunks, which a batch of 10 million items does not exhaust. */
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
 * Queues the chunks of a batch with the job that ends it, which runs when each of them has ended, well or badly. Does nothing if
 * these jobs are there.
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

/** Queues a batch whose jobs are gone, under a new generation. True if that was needed; two may ask at a time. */
export async function restoreBatch(
  queues: Queues,
  db: Queryable,
  batch: { batchId: number; generation: number },
): Promise<boolean> {
  if (lives(await queues.state('batches', jobIds.batchEnd(batch)))) return false;
  const due = await renewDueBatch(db, batch);
  if (due === undefined) return false;
  await enqueueBatch(queues, due);
  return true;
}

/** True for a job that will run, runs, or waits for others. */
export function lives(state: JobState): boolean {
  return state !== 'missing' && state !== 'completed' && state !== 'failed';
}

function newJob<Name extends JobName>(name: Name, id: string, payload: Payloads[Name]): NewJob {
  return { queue: queueOf(name), name, id, payload: parsePayload(name, payload) };
}

async function enqueue(queues: Queues, job: NewJob): Promise<boolean> {
  if (!(await makeRoom(queues, job))) return false;
  await queues.add(job);
  return true;
}

/**
 * Removes an ended job of the same id, because a queue silently ignores the addition of an id that it holds.
 * False if the job is yet to end, and so must not be added.
 */
async function makeRoom(queues: Queues, { queue, id }: NewJob): Promise<boolean> {
  const state = await queues.state(queue, id);
  if (state === 'missing') return true;
  if (state !== 'completed' && state !== 'failed') return false;
  await queues.remove(queue, id);
  return true;
}
