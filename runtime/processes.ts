import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { childEnvironment, type Config } from './config.ts';
import { ServiceError } from './errors.ts';
import type { Log } from './log.ts';
import type { ResolvedDatabase } from './services.ts';
import { within } from './repeat.ts';

/** One line of a Procfile: a process with its command, which is run without a shell. */
export interface ProcessDefinition {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

export interface RunProcfileOptions {
  /** Text of the Procfile. */
  readonly procfile: string;
  /** Directory in which the commands run. */
  readonly cwd: string;
  readonly config: Config;
  readonly database: Pick<ResolvedDatabase, 'url' | 'apiUrl'>;
  readonly log: Log;
  /** Fires when all processes must stop. */
  readonly signal: AbortSignal;
  /** Milliseconds before a process that died is started again. Default 1000. */
  readonly restartMs?: number;
}

const restartMsDefault = 1000;
const deathsMax = 3;
/** EX_UNAVAILABLE of sysexits(3). */
const unavailableExit = 69;
const deathWindowMs = 30_000;

/** Seconds over the grace of a process in which it gives jobs back and closes its connections, before SIGKILL. */
const closingSeconds = 8;

/**
 * Runs every process of a Procfile until the signal fires. Each has a process group of its own, so that only this process
 * hears the terminal: it passes SIGTERM on, waits for the grace, then sends SIGKILL. A process that dies is started again.
 * @throws ServiceError `process_failed` when one has died three times within 30 seconds; all others are stopped first
 */
export async function runProcfile(options: RunProcfileOptions): Promise<void> {
  const failed = new AbortController();
  const stopping = AbortSignal.any([options.signal, failed.signal]);
  const definitions = readProcfile(options.procfile);
  const runs = definitions.map((definition) =>
    keepRunning({ ...options, definition, stopping }).catch((error: unknown) => {
      failed.abort();
      throw error;
    }),
  );
  const results = await Promise.allSettled(runs);
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}

/** The processes of a Procfile, one a line: `name: command words`. Lines that begin with # are comments. */
export function readProcfile(text: string): ProcessDefinition[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const match = /^([a-z][a-z0-9-]*):\s+(\S.*)$/.exec(line);
    const [command, ...args] = match?.[2]?.trim().split(/\s+/) ?? [];
    if (match?.[1] === undefined || command === undefined)
      throw new ServiceError('setting_invalid', {
        operation: 'read Procfile',
        object: line,
        problem: 'The line is not `name: command`.',
      });
    // The Node that runs this process, whatever PATH says.
    return { name: match[1], command: command === 'node' ? process.execPath : command, args };
  });
}

/**
 * The environment of a process. The API gets no way to write: only the database that it reads from, and no queue. Where
 * there is no reading login it has the owner's URL, and takes the reading role on each connection.
 */
export function processEnvironment(
  name: string,
  { config, database }: Pick<RunProcfileOptions, 'config' | 'database'>,
): Record<string, string | undefined> {
  const shared = { STATE_DIR: config.stateDir };
  if (name !== 'api') return childEnvironment({ ...shared, DATABASE_URL: database.url, API_DATABASE_URL: undefined });
  const url =
    database.apiUrl === undefined
      ? { DATABASE_URL: database.url, API_DATABASE_URL: undefined }
      : { DATABASE_URL: undefined, API_DATABASE_URL: database.apiUrl };
  return childEnvironment({ ...shared, ...url, REDIS_URL: undefined });
}

interface KeepRunning extends RunProcfileOptions {
  readonly definition: ProcessDefinition;
  readonly stopping: AbortSignal;
}

async function keepRunning(options: KeepRunning): Promise<void> {
  const { definition, stopping, log, restartMs = restartMsDefault } = options;
  const deaths: number[] = [];
  while (!stopping.aborted) {
    const ended = await runOnce(options);
    if (stopping.aborted) return;
    // One that ends because a service is away comes back with the service; the others go on meanwhile.
    if (ended.code !== unavailableExit) deaths.push(Date.now());
    log.error({ child: definition.name, ...ended }, 'a process ended by itself');
    if (diedTooOften(deaths)) {
      throw new ServiceError('process_failed', {
        operation: 'run process',
        object: definition.name,
        problem: `It ended ${deathsMax} times within ${deathWindowMs / 1000} seconds.`,
        hint: 'Its last words are above.',
      });
    }
    await sleep(restartMs, undefined, { signal: stopping }).catch(() => {});
  }
}

function diedTooOften(deaths: readonly number[]): boolean {
  const first = deaths.at(-deathsMax);
  return first !== undefined && Date.now() - first <= deathWindowMs;
}

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

async function runOnce(options: KeepRunning): Promise<Ended> {
  const { definition, config, log, stopping, cwd } = options;
  // The channel tells the child when this process is gone, also by SIGKILL.
  const child = spawn(definition.command, definition.args, {
    cwd,
    env: processEnvironment(definition.name, options),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const ended = new Promise<Ended>((resolve) => {
    child.once('error', (error) => {
      log.error({ child: definition.name, err: error }, 'a process could not be started');
      resolve({ code: null, signal: null });
    });
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  log.info({ child: definition.name, childPid: child.pid }, 'a process runs');
  for (const output of [child.stdout, child.stderr]) forwardLines(output!, definition.name, log);
  const stop = (): void =>
    void stopChild({
      child,
      ended,
      graceSeconds: config.shutdownGraceSeconds + closingSeconds,
      log,
      name: definition.name,
    });
  stopping.addEventListener('abort', stop);
  if (stopping.aborted) stop();
  try {
    return await ended;
  } finally {
    stopping.removeEventListener('abort', stop);
    signalGroup(child, 'SIGKILL'); // what it left behind in its group
  }
}

/** Asks a process to stop, and ends its whole group if it does not. */
async function stopChild({
  child,
  ended,
  graceSeconds,
  log,
  name,
}: {
  child: ChildProcess;
  ended: Promise<Ended>;
  graceSeconds: number;
  log: Log;
  name: string;
}): Promise<void> {
  signalGroup(child, 'SIGTERM');
  if ((await within(graceSeconds * 1000, ended)) !== undefined) return;
  log.warn({ child: name }, 'a process did not stop in time and is killed');
  signalGroup(child, 'SIGKILL');
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // the group is gone
  }
}

/** Passes log lines on as they are, and wraps any other output, such as Node's last words, into one. */
function forwardLines(output: Readable, name: string, log: Log): void {
  createInterface({ input: output }).on('line', (line) => {
    if (line.startsWith('{')) process.stderr.write(`${line}\n`);
    else if (line !== '') log.warn({ child: name, line }, 'output of a process');
  });
}
