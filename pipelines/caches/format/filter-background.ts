import { Worker } from 'node:worker_threads';
import { bufferOf } from '../../../runtime/buffer-of.ts';
import { ServiceError } from '../../../runtime/errors.ts';
import { compiledPath } from '../../../runtime/package-root.ts';
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
  const thread = new Worker(compiledPath('pipelines/caches/format/filter-thread'), {
    workerData: { keys, kind },
    transferList: [keys.buffer],
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 64 }, // the keys are outside of the heap
  });
  const timer = setTimeout(() => void thread.terminate(), secondsMax * 1000);
  const abort = () => void thread.terminate();
  signal?.addEventListener('abort', abort, { once: true });
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      thread.once('message', (bytes: Uint8Array) => resolve(bufferOf(bytes)));
      thread.once('error', (cause) => reject(notMade(cause)));
      thread.once('exit', () =>
        reject(signal?.aborted ? new ServiceError('interrupted', { operation: 'make filter' }) : notMade()),
      );
      if (signal?.aborted) abort();
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    await thread.terminate();
  }
}

function notMade(cause?: unknown): ServiceError {
  return new ServiceError('filter_not_made', { operation: 'make filter', cause });
}
