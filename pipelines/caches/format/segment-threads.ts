import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { ServiceError, type ErrorCode } from '../../../runtime/errors.ts';
import { compiledPath } from '../../../runtime/package-root.ts';
import type { ChangedRows, NewRows, PatchedBlock, SegmentBlock } from './segment-work.ts';

/** A piece of work for a thread. */
export interface SegmentTask {
  readonly id: number;
  readonly work: NewRows | ChangedRows;
}

/** What a thread answers. */
export type SegmentAnswer =
  | { readonly id: number; readonly block: SegmentBlock | PatchedBlock }
  | {
      readonly id: number;
      readonly failure: {
        readonly code: ErrorCode;
        readonly operation: string;
        readonly problem: string;
        readonly hint: string | undefined;
      };
    }
  | { readonly id: number; readonly error: unknown };

interface Waiting {
  readonly resolve: (block: SegmentBlock | PatchedBlock) => void;
  readonly reject: (error: unknown) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
}

/** More threads than this would wait for the thread that writes the file. */
const threadsMax = 4;

/** Started with the first work; they keep no process alive. */
const threads: Thread[] = [];
let lastId = 0;

/**
 * Compresses, or merges and compresses, in a thread of this process, of which there is one a core.
 * @throws as `compressSegment` and `patchSegment`
 */
export function inThread(work: NewRows): Promise<SegmentBlock>;
export function inThread(work: ChangedRows): Promise<PatchedBlock>;
export function inThread(work: NewRows | ChangedRows): Promise<SegmentBlock | PatchedBlock> {
  const thread = leastBusy();
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    thread.waiting.set(id, { resolve, reject });
    thread.worker.ref();
    thread.worker.postMessage({ id, work } satisfies SegmentTask);
  });
}

function leastBusy(): Thread {
  const idle = threads.find(({ waiting }) => waiting.size === 0);
  if (idle !== undefined) return idle;
  if (threads.length < Math.min(threadsMax, availableParallelism())) return startThread();
  return threads.reduce((least, thread) => (thread.waiting.size < least.waiting.size ? thread : least));
}

function startThread(): Thread {
  const worker = new Worker(compiledPath('pipelines/caches/format/segment-thread'), { env: {}, execArgv: [] });
  const thread: Thread = { worker, waiting: new Map() };
  threads.push(thread);
  worker.on('message', (answer: SegmentAnswer) => {
    const waiting = thread.waiting.get(answer.id)!;
    thread.waiting.delete(answer.id);
    if (thread.waiting.size === 0) worker.unref();
    if ('block' in answer) waiting.resolve(withBuffers(answer.block));
    else waiting.reject('failure' in answer ? new ServiceError(answer.failure.code, answer.failure) : answer.error);
  });
  worker.once('error', (error) => endThread(thread, error));
  worker.once('exit', () => endThread(thread, new Error('A thread that compresses rows has ended.')));
  worker.unref();
  return thread;
}

function endThread(thread: Thread, error: unknown): void {
  const at = threads.indexOf(thread);
  if (at !== -1) threads.splice(at, 1);
  for (const { reject } of thread.waiting.values()) reject(error);
  thread.waiting.clear();
}

/** A message brings plain arrays in the place of buffers. */
function withBuffers<Block extends SegmentBlock | PatchedBlock>(block: Block): Block {
  const entries = Object.entries(block).map(([name, value]) => [
    name,
    value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : value,
  ]);
  return Object.fromEntries(entries) as Block;
}
