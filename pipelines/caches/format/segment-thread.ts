import { parentPort } from 'node:worker_threads';
import { isServiceError } from '../../../runtime/errors.ts';
import type { SegmentAnswer, SegmentTask } from './segment-threads.ts';
import { compressSegment, patchSegment } from './segment-work.ts';

/** A thread of segment-threads.ts. */
parentPort!.on('message', (task: SegmentTask) => {
  void answer(task).then((given) => parentPort!.postMessage(given));
});

async function answer({ id, work }: SegmentTask): Promise<SegmentAnswer> {
  try {
    const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
      Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength); // a message brings plain arrays
    const block =
      work.kind === 'compress'
        ? await compressSegment({ ...work, cut: { ...work.cut, plain: asBuffer(work.cut.plain) } })
        : await patchSegment({ ...work, deflated: asBuffer(work.deflated), rows: asBuffer(work.rows) });
    return { id, block };
  } catch (error) {
    if (!isServiceError(error)) return { id, error };
    const { code, operation, problem, hint } = error;
    return { id, failure: { code, operation, problem, hint } };
  }
}
