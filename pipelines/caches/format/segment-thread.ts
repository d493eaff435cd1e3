import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parentPort } from 'node:worker_threads';
import { isServiceError } from '../../../runtime/errors.ts';
import { compressSegment, patchSegment, wholeBuffers, type SegmentAnswer, type SegmentTask } from './segment-work.ts';

/** Bytes of buffers after which those of earlier tasks are freed: V8 does that by itself after 64 MiB in each thread. */
const bytesBetweenCollections = 4 * 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
let bytesSinceCollection = 0;

let working = Promise.resolve();

/** A thread of segment-threads.ts. One task after the other: what waits holds the bytes that came with it, and no others. */
parentPort!.on('message', (task: SegmentTask) => {
  working = working.then(() => work(task));
});

async function work(task: SegmentTask): Promise<void> {
  const given = await answer(task);
  const { block } = given;
  parentPort!.postMessage(given, wholeBuffers(block === undefined ? [] : [block.deflated, block.delta ?? undefined]));
  bytesSinceCollection += 4 * (block?.plainBytes ?? 0); // before, after, with the delta applied, decompressed again
  if (bytesSinceCollection < bytesBetweenCollections) return;
  collect({ type: 'minor' });
  bytesSinceCollection = 0;
}

async function answer({ id, work }: SegmentTask): Promise<SegmentAnswer> {
  try {
    return { id, block: work.kind === 'compress' ? await compressSegment(work) : await patchSegment(work) };
  } catch (error) {
    if (!isServiceError(error)) return { id, error };
    const { code, operation, problem, hint } = error;
    return { id, failure: { code, operation, problem, hint } };
  }
}
