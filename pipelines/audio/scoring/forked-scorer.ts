import { fork, type ChildProcess, type ForkOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '../../../runtime/errors.ts';
import { isolation } from '../../../runtime/network-isolation.ts';

/** Time that a process may take to start: 0.3 s when nothing else runs. */
export const startSecondsMax = 60;

/** JavaScript's own heap, in MiB, beyond which V8 ends the process: what is large here are samples, which lie outside of it. */
const heapMib = 128;

/** What the kernel holds a process to. */
export interface ForkLimits {
  readonly memoryBytesMax: number;
}

/** The programs of such processes, below pipelines/audio. */
export type ScorerProgram = 'scoring/scorer-child' | 'streaming/stream-scorer-child';

/** How such a process is reached: what it prints, its messages, and a pipe for decoded samples (`pcm-pipe.ts`). */
const connections: Readonly<Record<ScorerProgram, Pick<ForkOptions, 'stdio' | 'serialization'>>> = {
  'scoring/scorer-child': { stdio: ['ignore', 'ignore', 'pipe', 'ipc', 'pipe'], serialization: 'json' },
  'streaming/stream-scorer-child': { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], serialization: 'advanced' },
};

/**
 * Starts a process without a network where the system can take it away, which takes 9 ms of its 500. A system without processes, memory or descriptors to give throws, or reports an error instead of a process.
 * @throws ServiceError `scorer_unavailable`
 */
export async function forkScorer(program: ScorerProgram, limits: ForkLimits): Promise<ChildProcess> {
  const unavailable = (cause: unknown) =>
    new ServiceError('scorer_unavailable', {
      operation: 'start scorer',
      problem: 'The system made no process.',
      hint: 'Look at its limits of processes, memory and open files.',
      cause,
    });
  const [execPath, ...execArgv] = [
    ...(await isolation()),
    '/bin/sh',
    '-c',
    limitScript(limits),
    'sh',
    ...parentDeath(),
    process.execPath,
    ...nodeFlags,
  ];
  let child: ChildProcess;
  try {
    child = fork(entryPath(program), [], { execPath: execPath!, execArgv, env: {}, cwd: '/', ...connections[program] });
  } catch (cause) {
    throw unavailable(cause);
  }
  if (child.pid === undefined) throw unavailable(await new Promise((resolve) => child.once('error', resolve)));
  return child;
}

const compiled = import.meta.url.endsWith('.js');

/** The compiled module, from source too: Node 20 runs no TypeScript. */
function entryPath(program: ScorerProgram): string {
  return fileURLToPath(new URL(`${compiled ? '..' : '../../../dist/pipelines/audio'}/${program}.js`, import.meta.url));
}

const nodeFlags = ['--no-warnings', `--max-old-space-size=${heapMib}`, '--single-threaded-gc', '--v8-pool-size=1'];

/**
 * What the kernel bounds: no file written, no core, and written private memory, so that one great allocation fails before the
 * next look at the memory. Resident memory is that and the pages of the programs' files, some 60 MiB: an honest recording that
 * stays within its limit does not meet this one.
 */
function limitScript({ memoryBytesMax }: ForkLimits): string {
  return `ulimit -c 0; ulimit -f 0; ulimit -d ${Math.ceil(memoryBytesMax / 1024)}; exec "$@"`;
}

/** Where the system can tie a process to its parent, it dies with it even in the middle of a native call. */
function parentDeath(): string[] {
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));
  return process.platform !== 'linux' || setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--'];
}
