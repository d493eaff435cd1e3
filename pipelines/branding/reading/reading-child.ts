import type { Readable } from 'node:stream';
import { ServiceError } from '../../../runtime/errors.ts';
import { ChildFailure, SandboxedChild, type SandboxedProgram } from '../../../runtime/processes/sandboxed-child.ts';
import { encodeRequest, readyLine } from './child-protocol.ts';

/** The child processes that read letters. */
export type ReadingChild = 'structure-child' | 'ocr-child';

export interface ChildLimits {
  readonly secondsMax: number;
  readonly memoryBytesMax: number;
  readonly outputBytesMax: number;
}

interface ChildRequest {
  readonly child: ReadingChild;
  readonly settings: unknown;
  readonly bytes: Uint8Array;
  readonly limits: ChildLimits;
  readonly signal?: AbortSignal | undefined;
}

/** The resources that one child used, for logs and tests. */
export interface ChildReport {
  readonly child: ReadingChild;
  readonly seconds: number;
  /** Largest observed resident memory; 0 where the system does not report it. */
  readonly peakBytes: number;
  readonly outcome: 'answered' | LimitName;
}

/** The limit that a child exceeded; `crash`: it died within its limits. */
export type LimitName = 'time' | 'memory' | 'output' | 'crash';

type ChildOutcome =
  | { readonly report: ChildReport; readonly answer: unknown }
  | { readonly report: ChildReport; readonly limit: LimitName };

const shared: Pick<SandboxedProgram, 'stdio' | 'semiSpaceMib'> = { stdio: ['pipe', 'pipe', 'ignore'], semiSpaceMib: 8 };

const programs: Readonly<Record<ReadingChild, SandboxedProgram>> = {
  'structure-child': {
    ...shared,
    module: 'pipelines/branding/reading/structure-child',
    heapMib: 128,
    permissions: { threads: 0 },
  },
  'ocr-child': {
    ...shared,
    module: 'pipelines/branding/reading/ocr-child',
    heapMib: 96,
    permissions: { threads: 1 }, // tesseract.js works in one
  },
};

/**
 * Resident memory besides written private memory, which is all that RLIMIT_DATA counts: pages of the program's file.
 * Measured for Node 20: 46 MiB. WebAssembly's reservations are not written and not counted. Of what the limits
 * of 256 and 512 MiB then leave, honest letters used at most 99 of 200 and 376 of 456 MiB (20 pages of text, a scan of
 * 600 dots an inch).
 */
const programBytes = 56 * 1024 * 1024;

/**
 * Runs one child on one letter within its limits. The child is gone when this resolves.
 * @throws ServiceError `interrupted` when the signal fires, `internal` when the child cannot be started
 */
export async function runReadingChild(request: ChildRequest): Promise<ChildOutcome> {
  const { secondsMax, memoryBytesMax, outputBytesMax } = request.limits;
  const { signal } = request;
  const started = performance.now();
  if (signal?.aborted) throw readingInterrupted();
  const child = await SandboxedChild.start(programs[request.child], {
    memoryBytesMax,
    dataBytesMax: memoryBytesMax - programBytes,
    cpuSecondsMax: secondsMax * 2 + 1,
  }).catch((cause: unknown) => {
    throw startFault(request.child, cause);
  });
  child.process.stdin!.on('error', () => {}); // a child that ends early stops reading; the reason is in its end
  for (const part of encodeRequest(request.settings, request.bytes)) child.process.stdin!.write(part);
  child.process.stdin!.end();
  const output = await child.supervise(readOutput(child, outputBytesMax), { secondsMax, signal });
  if (signal?.aborted) throw readingInterrupted();
  const answer = (await child.exited) === 0 && child.failure!.kind === 'exit' ? answerIn(output) : undefined;
  const report = (outcome: ChildReport['outcome']): ChildReport => ({
    child: request.child,
    seconds: (performance.now() - started) / 1000,
    peakBytes: child.peakBytes,
    outcome,
  });
  if (answer !== undefined) return { report: report('answered'), answer };
  const limit = limitOf(child.failure!);
  if (limit === 'crash' && !output.startsWith(readyLine)) throw startFault(request.child, child.failure);
  return { report: report(limit), limit };
}

/** The output of the child, up to the limit. */
async function readOutput(child: SandboxedChild, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of child.process.stdout as Readable & AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) child.fail('output', `It printed more than ${bytesMax} bytes.`);
    else chunks.push(chunk);
    child.checkMemory();
  }
  await child.exited;
  return Buffer.concat(chunks).toString();
}

function answerIn(output: string): unknown {
  try {
    return output.startsWith(readyLine) ? JSON.parse(output.slice(readyLine.length)) : undefined;
  } catch {
    return undefined;
  }
}

function limitOf({ kind }: ChildFailure): LimitName {
  return kind === 'time' || kind === 'memory' || kind === 'output' ? kind : 'crash';
}

function startFault(child: ReadingChild, cause: unknown): ServiceError {
  return new ServiceError('internal', {
    operation: 'start letter reader',
    object: child,
    problem: cause instanceof ChildFailure ? `It was not ready when it ended: ${cause.message}` : undefined,
    hint: 'Build the project; check the memory limits.',
    cause,
  });
}

function readingInterrupted(): ServiceError {
  return new ServiceError('interrupted', { operation: 'read letter' });
}
