import { Worker, type Transferable } from 'node:worker_threads';
import { ServiceError, type ErrorCode, type ErrorDetail } from '../errors.ts';
import { compiledPath } from '../package-root.ts';

interface ThreadTask {
  /** Path of the module in the project, without its ending: it posts one message, and ends. */
  readonly module: string;
  readonly data: unknown;
  readonly transfer?: Transferable[];
  readonly heapMib: number;
  readonly secondsMax: number;
  /** The error if the thread fails or takes too long. */
  readonly failure: ErrorDetail & { readonly code: ErrorCode };
}

/**
 * The one message of a thread of its own, which gets no environment.
 * @throws ServiceError `interrupted` when the signal fires, else that of `failure`
 */
export async function answerOfThread<Answer>(task: ThreadTask, signal: AbortSignal | undefined): Promise<Answer> {
  const { code, ...failure } = task.failure;
  const thread = new Worker(compiledPath(task.module), {
    workerData: task.data,
    transferList: task.transfer,
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: task.heapMib },
  });
  const end = () => void thread.terminate();
  const timer = setTimeout(end, task.secondsMax * 1000);
  signal?.addEventListener('abort', end, { once: true });
  try {
    return await new Promise<Answer>((resolve, reject) => {
      thread.once('message', resolve);
      thread.once('error', (cause) => reject(new ServiceError(code, { ...failure, cause })));
      thread.once('exit', () => reject(new ServiceError(signal?.aborted ? 'interrupted' : code, failure)));
      if (signal?.aborted) end();
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
    await thread.terminate();
  }
}
