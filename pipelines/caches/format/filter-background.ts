import { bufferOf } from '../../../runtime/buffer-of.ts';
import { answerOfThread } from '../../../runtime/processes/one-answer-thread.ts';
import type { FilterKind } from './filter-building.ts';

/** A filter of 16 million keys takes some 20 s on a core of its own. */
const secondsMax = 600;

/**
 * Makes a filter in a thread, as `buildFilter` does: 3 million keys take seconds. The array of the keys is empty afterwards.
 * @throws ServiceError `interrupted` when the signal fires, `filter_not_made` if the thread fails or takes too long
 */
export async function buildFilterInThread(
  keys: Float64Array<ArrayBuffer>,
  kind: FilterKind,
  signal?: AbortSignal,
): Promise<Buffer> {
  const made = await answerOfThread<Uint8Array>(
    {
      module: 'pipelines/caches/format/filter-thread',
      data: { keys, kind },
      transfer: [keys.buffer],
      heapMib: 64, // the keys are outside of the heap
      secondsMax,
      failure: { code: 'filter_not_made', operation: 'make filter' },
    },
    signal,
  );
  return bufferOf(made);
}
