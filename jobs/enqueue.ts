import type { NewJob, Queues } from './backend.ts';
import { parsePayload, queueOf, type JobName, type Payloads } from './queues.ts';

/** Ids are made from what the job does, so that the same work is never queued twice. */
export const jobIds = {
  feedLoad: (loadId: number) => `feed-${loadId}`,
  branding: (operationId: number) => `branding-${operationId}`,
  night: (runId: number) => `night-${runId}`,
  build: (buildId: number) => `build-${buildId}`,
  publication: ({ runId, generation }: { runId: number; generation: number }) => `publish-${runId}-g${generation}`,
} as const;

/** Queues the load of a feed, unless it is queued or running. True if it was added. */
export function enqueueFeedLoad(queues: Queues, { loadId }: Payloads['load-feed']): Promise<boolean> {
  return enqueue(queues, newJob('load-feed', jobIds.feedLoad(loadId), { loadId }));
}

/** Queues a branding operation, unless it is queued or running. True if it was added. */
export function enqueueBranding(queues: Queues, { operationId }: Payloads['run-branding']): Promise<boolean> {
  return enqueue(queues, newJob('run-branding', jobIds.branding(operationId), { operationId }));
}

/** Queues a night, unless it is queued or running. True if it was added. */
export function enqueueNight(queues: Queues, { runId }: Payloads['open-night']): Promise<boolean> {
  return enqueue(queues, newJob('open-night', jobIds.night(runId), { runId }));
}

/**
 * Queues the builds of one attempt at a night with the publication that follows when each of them has ended, well or
 * badly. Does nothing if that publication is queued, waiting or running. True if they were added.
 */
export async function enqueueNightFlow(queues: Queues, { runId, generation, buildIds }: { runId: number; generation: number; buildIds: readonly number[] }): Promise<boolean> {
  const parent = newJob('publish-night', jobIds.publication({ runId, generation }), { runId, generation });
  const children = buildIds.map((buildId) => newJob('build-artefact', jobIds.build(buildId), { runId, generation, buildId }));
  if (!(await makeRoom(queues, parent))) return false;
  for (const child of children) await makeRoom(queues, child);
  if (children.length === 0) await queues.add(parent);
  else await queues.addFlow(parent, children);
  return true;
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
