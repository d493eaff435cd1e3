import { spawn, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '../../../runtime/errors.ts';
import { isolation } from '../../../runtime/network-isolation.ts';
import { encodeRequest, readyLine } from './child-protocol.ts';

/** The child processes that read letters. */
export type ReadingChild = 'text-child' | 'ocr-child';

export interface ChildLimits {
  readonly secondsMax: number;
  readonly memoryBytesMax: number;
  readonly outputBytesMax: number;
}

export interface ChildRequest {
  readonly child: ReadingChild;
  readonly settings: unknown;
  readonly bytes: Uint8Array;
  readonly limits: ChildLimits;
  readonly signal?: AbortSignal | undefined;
}

/** What one child took, for logs and tests. */
export interface ChildReport {
  readonly child: ReadingChild;
  readonly seconds: number;
  /** Largest resident memory that was seen; 0 where the system does not tell it. */
  readonly peakBytes: number;
  readonly outcome: 'answered' | LimitName;
}

/** The limit that a child went over; `crash`: it died within one, by the kernel's hand or its own. */
export type LimitName = 'time' | 'memory' | 'output' | 'crash';

export type ChildOutcome =
  | { readonly report: ChildReport; readonly answer: unknown }
  | { readonly report: ChildReport; readonly limit: LimitName };

/** How V8's own heap is bounded, in MiB: beyond it V8 ends the process. The young generation is kept small. */
const heapMib = { 'text-child': 128, 'ocr-child': 96 } as const satisfies Record<ReadingChild, number>;
const semiSpaceMib = 8;

/**
 * What is resident besides written private memory, which is all that RLIMIT_DATA counts: pages of the program's file.
 * Measured for Node 20: 46 MiB. V8's and WebAssembly's reservations are not written and not counted. Of what the limits
 * of 256 and 512 MiB then leave, honest letters used at most 99 of 200 and 376 of 456 MiB (20 pages of text, a scan of
 * 600 dots an inch).
 */
const programBytes = 56 * 1024 * 1024;

const pollMs = 40;

/**
 * Runs one child on one letter within its limits, without a network, without an environment, and without the right to
 * write a file or to start a process. The child is gone when this resolves.
 * @throws ServiceError `interrupted` when the signal fires, `internal` when the child cannot be started
 */
export async function runLimitedChild(request: ChildRequest): Promise<ChildOutcome> {
  const { signal } = request;
  const [command, ...args] = [
    ...(await isolation()),
    '/bin/sh',
    '-c',
    limitScript(request.limits),
    'sh',
    process.execPath,
    ...nodeFlags(request.child),
    entryPath(request.child),
  ];
  if (signal?.aborted) throw interrupted();
  const child = spawn(command!, args, { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'ignore'] });
  return new ChildWatch(child, request).outcome();
}

function interrupted(): ServiceError {
  return new ServiceError('interrupted', { operation: 'read letter' });
}

/** What the kernel bounds: written memory in KiB, CPU seconds in case that nobody watches any more, no file written, no core. */
function limitScript({ memoryBytesMax, secondsMax }: ChildLimits): string {
  const dataKib = Math.max(1, Math.floor((memoryBytesMax - programBytes) / 1024));
  return `ulimit -c 0; ulimit -f 0; ulimit -t ${Math.ceil(secondsMax * 2) + 1}; ulimit -d ${dataKib}; exec "$@"`;
}

function nodeFlags(child: ReadingChild): string[] {
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  return [
    '--no-warnings',
    permission,
    ...readablePaths().map((path) => `--allow-fs-read=${path}`),
    ...(child === 'ocr-child' ? ['--allow-worker'] : []), // tesseract.js works in a thread
    `--max-old-space-size=${heapMib[child]}`,
    `--max-semi-space-size=${semiSpaceMib}`,
    '--single-threaded-gc',
    '--v8-pool-size=1',
    `--import=${new URL(`file://${entryPath('child-guard')}`).href}`,
  ];
}

const compiled = import.meta.url.endsWith('.js');
const root = fileURLToPath(new URL(compiled ? '../../../..' : '../../..', import.meta.url));

/** The compiled module of this directory, from source too: Node 20 runs no TypeScript. */
function entryPath(name: ReadingChild | 'child-guard'): string {
  return fileURLToPath(
    new URL(compiled ? `./${name}.js` : `../../../dist/pipelines/branding/reading/${name}.js`, import.meta.url),
  );
}

/** The compiled code, the packages, and the file that says that this is a package of modules. */
function readablePaths(): string[] {
  const unpdf = createRequire(import.meta.url).resolve('unpdf');
  const packages = unpdf.slice(0, unpdf.lastIndexOf(`${sep}node_modules${sep}`)) + `${sep}node_modules`;
  return [`${root}dist/*`, `${packages}/*`, `${root}package.json`];
}

/** One running child: what it prints, how long it runs, how much memory it has. */
class ChildWatch {
  private readonly process: ChildProcess;
  private readonly request: ChildRequest;
  private readonly started = performance.now();
  private readonly output: Buffer[] = [];
  private outputBytes = 0;
  private peakBytes = 0;
  private limit: LimitName | undefined;

  constructor(process: ChildProcess, request: ChildRequest) {
    this.process = process;
    this.request = request;
  }

  async outcome(): Promise<ChildOutcome> {
    const { signal, limits } = this.request;
    const deadline = setTimeout(() => setImmediate(() => this.endLate()), limits.secondsMax * 1000);
    const poll = setInterval(() => void this.checkMemory(), pollMs);
    const abort = () => this.process.kill('SIGKILL');
    signal?.addEventListener('abort', abort, { once: true });
    try {
      this.process.stdout!.on('data', (chunk: Buffer) => this.receive(chunk));
      this.process.stdin!.on('error', () => {}); // a child that ends early does not read on; its end tells why
      for (const part of encodeRequest(this.request.settings, this.request.bytes)) this.process.stdin!.write(part);
      this.process.stdin!.end();
      const code = await this.exit();
      if (signal?.aborted) throw interrupted();
      return this.judge(code);
    } finally {
      clearTimeout(deadline);
      clearInterval(poll);
      signal?.removeEventListener('abort', abort);
    }
  }

  private exit(): Promise<number | null> {
    return new Promise((resolve, reject) => {
      this.process.once('error', (cause) =>
        reject(new ServiceError('internal', { operation: 'start letter reader', object: this.request.child, cause })),
      );
      this.process.once('close', (code) => resolve(code));
    });
  }

  private judge(code: number | null): ChildOutcome {
    const answer = code === 0 && this.limit === undefined ? this.answer() : undefined;
    if (answer !== undefined) return { report: this.report('answered'), answer };
    const limit = this.limit ?? 'crash';
    if (limit === 'crash' && !this.isReady()) throw this.startFault(code);
    return { report: this.report(limit), limit };
  }

  private startFault(code: number | null): ServiceError {
    const problem = `The child process ended before it was ready, with ${code ?? 'a signal'}.`;
    return new ServiceError('internal', {
      operation: 'start letter reader',
      object: this.request.child,
      problem,
      hint: 'Build the project; check the memory limits.',
    });
  }

  private report(outcome: ChildReport['outcome']): ChildReport {
    return {
      child: this.request.child,
      seconds: (performance.now() - this.started) / 1000,
      peakBytes: this.peakBytes,
      outcome,
    };
  }

  private isReady(): boolean {
    return Buffer.concat(this.output).subarray(0, readyLine.length).toString() === readyLine;
  }

  private answer(): unknown {
    const text = Buffer.concat(this.output).toString();
    try {
      return text.startsWith(readyLine) ? JSON.parse(text.slice(readyLine.length)) : undefined;
    } catch {
      return undefined;
    }
  }

  private receive(chunk: Buffer): void {
    this.outputBytes += chunk.length;
    if (this.outputBytes > this.request.limits.outputBytesMax) return this.end('output');
    this.output.push(chunk);
    void this.checkMemory();
  }

  /** A child that ended in time may be seen late, when this process was busy: what came of it is looked at first. */
  private endLate(): void {
    if (this.process.exitCode === null && this.process.signalCode === null) this.end('time');
  }

  /** The first limit counts. */
  private end(limit: LimitName): void {
    this.limit ??= limit;
    this.process.kill('SIGKILL');
  }

  /** The kernel keeps the high-water mark, so that no peak between two looks is missed. Systems without /proc tell nothing. */
  private async checkMemory(): Promise<void> {
    const status = await readFile(`/proc/${this.process.pid}/status`, 'utf8').catch(() => '');
    const peak = Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
    this.peakBytes = Math.max(this.peakBytes, peak);
    if (peak > this.request.limits.memoryBytesMax) this.end('memory');
  }
}
