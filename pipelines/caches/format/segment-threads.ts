import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { bufferOf } from '../../../runtime/buffer-of.ts';
import { ServiceError } from '../../../runtime/errors.ts';
import { compiledPath } from '../../../runtime/package-root.ts';
import {
  wholeBuffers,
  type ChangedRows,
  type NewRows,
  type PatchedBlock,
  type SegmentAnswer,
  type SegmentBlock,
  type SegmentTask,
} from './segment-work.ts';

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

/** Tasks that a thread has at a time: the next one is there when one is done. Bytes that waited in a thread would be freed late. */
const tasksOfThreadMax = 2;

/** Started with the first work; they keep no process alive. */
const threads: Thread[] = [];
/** Work that no thread has yet. */
const pending: (Waiting & { readonly work: NewRows | ChangedRows })[] = [];
let lastId = 0;

/**
 * Compresses, or merges and compresses, in a thread of this process (one per core, up to {@link threadsMax}). The buffers of the
 * work are empty afterwards.
 * @throws as `compressSegment` and `patchSegment`
 */
export function inThread(work: NewRows): Promise<SegmentBlock>;
export function inThread(work: ChangedRows): Promise<PatchedBlock>;
export function inThread(work: NewRows | ChangedRows): Promise<SegmentBlock | PatchedBlock> {
  return new Promise((resolve, reject) => {
    pending.push({ work, resolve, reject });
    handOut();
  });
}

/** Gives pending work to threads that can take some. */
function handOut(): void {
  for (let thread; pending.length > 0 && (thread = freeThread()) !== undefined;) {
    const { work, ...waiting } = pending.shift()!;
    const id = ++lastId;
    thread.waiting.set(id, waiting);
    thread.worker.ref();
    const buffers = work.kind === 'compress' ? [work.cut?.plain, work.before?.deflated] : [work.deflated, work.rows];
    thread.worker.postMessage({ id, work } satisfies SegmentTask, wholeBuffers(buffers));
  }
}

function freeThread(): Thread | undefined {
  const idle = threads.find(({ waiting }) => waiting.size === 0);
  if (idle !== undefined) return idle;
  if (threads.length < Math.min(threadsMax, availableParallelism())) return startThread();
  return threads.find(({ waiting }) => waiting.size < tasksOfThreadMax);
}

function startThread(): Thread {
  const worker = new Worker(compiledPath('pipelines/caches/format/segment-thread'), {
    env: {},
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 2 }, // rows are outside of the heap
  });
  const thread: Thread = { worker, waiting: new Map() };
  threads.push(thread);
  worker.on('message', (answer: SegmentAnswer) => {
    const waiting = thread.waiting.get(answer.id)!;
    thread.waiting.delete(answer.id);
    if (thread.waiting.size === 0) worker.unref();
    const { block, failure, error } = answer;
    if (block === undefined) waiting.reject(failure === undefined ? error : new ServiceError(failure.code, failure));
    else waiting.resolve(withBuffers(block));
    handOut();
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
  handOut();
}

function withBuffers(block: SegmentBlock): SegmentBlock {
  const { deflated, delta } = block;
  return { ...block, deflated: bufferOf(deflated), delta: delta && bufferOf(delta) };
}
