import { parentPort } from 'node:worker_threads';
import { isServiceError } from '../../../runtime/errors.ts';
import { compressSegment, patchSegment, wholeBuffers, type SegmentAnswer, type SegmentTask } from './segment-work.ts';
import { freeUsedBytes } from './used-buffers.ts';

let working = Promise.resolve();

/** A thread of segment-threads.ts. Tasks run one after the other, so a waiting one holds only the bytes that came with it. */
parentPort!.on('message', (task: SegmentTask) => {
  working = working.then(() => work(task));
});

async function work(task: SegmentTask): Promise<void> {
  const given = await answer(task);
  const { block } = given;
  parentPort!.postMessage(given, wholeBuffers(block === undefined ? [] : [block.deflated, block.delta ?? undefined]));
  freeUsedBytes(4 * (block?.plainBytes ?? 0)); // before, after, with the delta applied, decompressed again
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
