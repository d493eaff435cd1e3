import { execFile, spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { compiledPath, packageRoot } from '../package-root.ts';

/** Seconds that a child may take to start: 0.3 when nothing else runs. */
const startSecondsMax = 60;

/** Interval of memory checks. The kernel keeps the high-water mark, so that no peak between two checks is missed. */
const pollMs = 40;

/** Characters of standard error that are kept for a child that does not start. */
const printedMax = 2000;

/** A program for hostile input. It runs without network and environment, and writes no file. */
export interface SandboxedProgram extends Pick<SpawnOptions, 'stdio' | 'serialization'> {
  /** Its module by the path of the source: `pipelines/audio/scorers/scorer-child`. */
  readonly module: string;
  /** Limit of the JavaScript heap, beyond which V8 ends the process; samples and files are outside of it. */
  readonly heapMib: number;
  readonly semiSpaceMib?: number;
  /**
   * Node's permission model: reads only the compiled code and the packages, starts no process. Absent for native libraries, which
   * bypass it: then the kernel's limits and the empty network namespace confine the child.
   */
  readonly permissions?: {
    /** Threads of JavaScript that it may need besides the first. */
    readonly threads: number;
  };
}

/** Limits of a child, besides its time. */
export interface SandboxLimits {
  /** Resident memory; a child beyond it is killed. */
  readonly memoryBytesMax: number;
  /** Private writable memory (RLIMIT_DATA) besides what V8 reserves for code: beyond it an allocation fails. */
  readonly dataBytesMax: number;
  /** Processor time (RLIMIT_CPU), in case the parent is gone; absent for a long-lived child. */
  readonly cpuSecondsMax?: number;
}

/** `exit`: it ended by itself or by the kernel; `protocol`: its answer is malformed; `cancelled`: its parent ended it. */
type ChildFailureKind = 'start' | 'time' | 'memory' | 'output' | 'protocol' | 'cancelled' | 'exit';

/** Why a child was killed, or how it ended. */
export class ChildFailure extends Error {
  override readonly name = 'ChildFailure';
  readonly kind: ChildFailureKind;

  constructor(kind: ChildFailureKind, problem: string, cause?: unknown) {
    super(problem, { cause });
    this.kind = kind;
  }
}

/** A process for hostile input. It is killed by its parent, by a limit of the kernel, or with its parent. */
export class SandboxedChild {
  readonly process: ChildProcess;
  /** Resolves with the exit code when the process has ended; null after a signal. */
  readonly exited: Promise<number | null>;
  /** Rejects with the first failure. */
  readonly failed: Promise<never>;
  private readonly memoryBytesMax: number;
  private rejectFailed: (failure: ChildFailure) => void = () => {};
  private ready: () => void = () => {};
  private readonly isReady: Promise<void>;
  private firstFailure: ChildFailure | undefined;
  private printed = '';
  private deadline: NodeJS.Timeout | undefined;
  private poll: NodeJS.Timeout | undefined;
  private peak = 0;

  /** @throws ChildFailure `start` if the system cannot create a process, for lack of memory or descriptors */
  static async start(program: SandboxedProgram, limits: SandboxLimits): Promise<SandboxedChild> {
    const [command, ...args] = [
      ...(await networkIsolation()),
      '/bin/sh',
      '-c',
      limitScript(program, limits),
      'sh',
      ...parentDeath(),
      process.execPath,
      ...nodeFlags(program),
      compiledPath(program.module),
    ];
    const { stdio, serialization } = program;
    const failure = (cause: unknown) => new ChildFailure('start', 'The system could not create a process.', cause);
    let child: ChildProcess;
    try {
      child = spawn(command!, args, { env: {}, cwd: '/', stdio, serialization });
    } catch (cause) {
      throw failure(cause);
    }
    if (child.pid === undefined) throw failure(await new Promise((resolve) => child.once('error', resolve)));
    return new SandboxedChild(child, limits);
  }

  private constructor(child: ChildProcess, { memoryBytesMax }: SandboxLimits) {
    this.process = child;
    this.memoryBytesMax = memoryBytesMax;
    this.isReady = new Promise((resolve) => (this.ready = resolve));
    this.failed = new Promise((_resolve, reject) => (this.rejectFailed = reject));
    this.failed.catch(() => {}); // handled where it is awaited
    this.exited = new Promise((resolve) => child.once('exit', resolve));
    child.once('exit', (code, signal) => this.fail('exit', `The process ended with ${signal ?? `code ${code}`}.`));
    child.on('error', () => {}); // a message that cannot be sent; the exit is reported
    child.stderr?.on('data', (chunk: Buffer) => (this.printed = (this.printed + chunk.toString()).slice(-printedMax)));
  }

  get pid(): number | undefined {
    return this.process.pid;
  }

  /** The first failure; the end of the process is one, with any exit code. */
  get failure(): ChildFailure | undefined {
    return this.firstFailure;
  }

  get isAlive(): boolean {
    return this.firstFailure === undefined;
  }

  /** The highest observed resident memory; 0 if the system does not report it. */
  get peakBytes(): number {
    return this.peak;
  }

  /** Call when the child has loaded its modules. */
  markReady(): void {
    this.ready();
  }

  /**
   * Waits until {@link markReady}; the child has ended if this throws.
   * @throws ChildFailure `start`
   */
  async untilReady(): Promise<void> {
    this.limitTime(startSecondsMax);
    try {
      await Promise.race([this.isReady, this.failed]);
    } catch (cause) {
      await this.exited;
      throw new ChildFailure('start', `It did not start: ${this.printed.trim() || 'it printed nothing'}.`, cause);
    } finally {
      this.releaseTime();
    }
  }

  /** Limits time and memory of the child until the work has ended; a failed child has ended when this returns. */
  async supervise<Result>(
    work: Promise<Result>,
    { secondsMax, signal }: { readonly secondsMax: number; readonly signal?: AbortSignal | undefined },
  ): Promise<Result> {
    const cancel = () => this.fail('cancelled', 'The work was cancelled.');
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    this.limitTime(secondsMax);
    try {
      return await work;
    } finally {
      signal?.removeEventListener('abort', cancel);
      this.checkMemory();
      this.releaseTime();
      if (!this.isAlive) await this.exited;
    }
  }

  /** Limits the child to `secondsMax` from now, and checks its memory meanwhile. */
  limitTime(secondsMax: number): void {
    clearTimeout(this.deadline);
    if (!this.isAlive) return;
    // If this process was busy, messages that arrived in time are handled first.
    const deadline = setTimeout(
      () => setImmediate(() => this.deadline === deadline && this.failLate(secondsMax)),
      secondsMax * 1000,
    );
    this.deadline = deadline;
    this.poll ??= setInterval(() => this.checkMemory(), pollMs);
  }

  /** Ends the limits of time and memory, while the child has no work. */
  releaseTime(): void {
    clearTimeout(this.deadline);
    clearInterval(this.poll);
    this.deadline = this.poll = undefined;
  }

  /** Fails a child that has exceeded its memory limit. Without /proc only the kernel's limit applies. */
  checkMemory(): void {
    this.peak = Math.max(this.peak, residentPeakBytes(this.process.pid!));
    if (this.peak > this.memoryBytesMax)
      this.fail('memory', `It needed more than ${Math.round(this.memoryBytesMax / 1024 / 1024)} MiB.`);
  }

  /** Kills the child with a failure; later ones are ignored. */
  fail(kind: ChildFailureKind, problem: string, cause?: unknown): void {
    if (!this.isAlive) return;
    this.firstFailure = new ChildFailure(kind, problem, cause);
    this.releaseTime();
    this.process.kill('SIGKILL');
    this.rejectFailed(this.firstFailure);
  }

  /** Kills the child; resolves when it has ended. */
  async end(): Promise<void> {
    this.fail('cancelled', 'The process was ended.');
    await this.exited;
  }

  private failLate(secondsMax: number): void {
    if (this.process.exitCode === null && this.process.signalCode === null)
      this.fail('time', `It took more than ${secondsMax} s.`);
  }
}

let isolation: Promise<readonly string[]> | undefined;

/** The command prefix that removes the network, which takes 9 ms; empty if the system has no such namespaces. Probed once. */
export function networkIsolation(): Promise<readonly string[]> {
  isolation ??= probeIsolation();
  return isolation;
}

async function probeIsolation(): Promise<readonly string[]> {
  const unshare = programPath('unshare');
  if (unshare === undefined) return [];
  for (const flags of [['-n'], ['-r', '-n']]) {
    const works = await promisify(execFile)(unshare, [...flags, '/bin/sh', '-c', ':'], {
      env: {},
      timeout: 20_000,
    }).then(
      () => true,
      () => false,
    );
    if (works) return [unshare, ...flags];
  }
  return [];
}

/** The command prefix that kills the process with its parent, even in the middle of a native call. */
function parentDeath(): string[] {
  const setpriv = programPath('setpriv');
  return setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--'];
}

/** The path of a Linux program; undefined if it is missing. */
function programPath(name: string): string | undefined {
  return process.platform === 'linux'
    ? ['/usr/bin', '/bin'].map((directory) => `${directory}/${name}`).find((path) => existsSync(path))
    : undefined;
}

/** The limits of the kernel: no core dump, no file written, data memory in KiB, and processor seconds. */
function limitScript({ permissions }: SandboxedProgram, { dataBytesMax, cpuSecondsMax }: SandboxLimits): string {
  const threads = 1 + (permissions?.threads ?? 0);
  const dataKib = Math.max(1, Math.floor((dataBytesMax + threads * codeReservationBytes()) / 1024));
  const cpu = cpuSecondsMax === undefined ? '' : `ulimit -t ${Math.ceil(cpuSecondsMax)}; `;
  return `ulimit -c 0; ulimit -f 0; ${cpu}ulimit -d ${dataKib}; exec "$@"`;
}

/** A mapping of at least this size is a reservation: V8's are 128 MiB on ARM and 512 MiB on x64. */
const reservationBytesMin = 64 * 1024 * 1024;

let reservedForCode: number | undefined;

/**
 * What the kernel counts as data in each thread of JavaScript, though next to nothing of it is written: Node 24 reserves the place for
 * compiled code as writable memory, Node 20 and 22 do not (0). Read from the mappings of this process, whose program the child runs.
 */
function codeReservationBytes(): number {
  return (reservedForCode ??= measureCodeReservation());
}

function measureCodeReservation(): number {
  if (process.platform !== 'linux') return 0;
  const mappings = readFileSync('/proc/self/maps', 'latin1').matchAll(/^([0-9a-f]+)-([0-9a-f]+) rwxp/gm);
  const sizes = [...mappings]
    .map(([, start, end]) => Number.parseInt(end!, 16) - Number.parseInt(start!, 16))
    .filter((bytes) => bytes >= reservationBytesMin);
  return sizes.length === 0 ? 0 : Math.min(...sizes); // one for each thread of this process
}

function nodeFlags({ heapMib, semiSpaceMib, permissions }: SandboxedProgram): string[] {
  return [
    '--no-warnings',
    ...(permissions === undefined ? [] : permissionFlags(permissions)),
    `--max-old-space-size=${heapMib}`,
    ...(semiSpaceMib === undefined ? [] : [`--max-semi-space-size=${semiSpaceMib}`]),
    '--single-threaded-gc',
    '--v8-pool-size=1',
    `--import=${pathToFileURL(compiledPath('runtime/processes/sandbox-guard')).href}`,
  ];
}

function permissionFlags({ threads }: NonNullable<SandboxedProgram['permissions']>): string[] {
  const flag = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';
  return [
    flag,
    ...readablePaths().map((path) => `--allow-fs-read=${path}`),
    ...(threads > 0 ? ['--allow-worker'] : []),
  ];
}

/** The compiled code, the packages, and package.json, which declares the module type. */
function readablePaths(): string[] {
  const zod = createRequire(import.meta.url).resolve('zod');
  const packages = zod.slice(0, zod.lastIndexOf(`${sep}node_modules${sep}`)) + `${sep}node_modules`;
  return [join(packageRoot, 'dist', '*'), `${packages}/*`, join(packageRoot, 'package.json')];
}

/**
 * High-water mark of the resident memory of a process; 0 if unknown. Synchronous: /proc is memory, and an asynchronous read costs
 * ten times as much.
 */
function residentPeakBytes(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
