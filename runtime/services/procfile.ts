import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { childEnvironment, type Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { ResolvedDatabase } from './services.ts';
import { within } from '../processes/repeat.ts';

/** A process of a Procfile with its command, which runs without a shell. */
interface ProcessDefinition {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

interface RunProcfileOptions {
  /** Text of the Procfile. */
  readonly procfile: string;
  /** Directory in which the commands run. */
  readonly cwd: string;
  readonly config: Config;
  readonly database: Pick<ResolvedDatabase, 'url' | 'apiUrl' | 'intakeUrl'>;
  readonly log: Log;
  /** Takes each log line of the processes, JSON without its line end. Default: written to standard error. */
  readonly onLogLine?: (line: string) => void;
  /** Fires when all processes must stop. */
  readonly signal: AbortSignal;
  /** Milliseconds before a dead process is started again. Default: 1000. */
  readonly restartMs?: number;
}

const restartMsDefault = 1000;
const deathsMax = 3;
/** EX_UNAVAILABLE of sysexits(3). */
const unavailableExit = 69;
const deathWindowMs = 30_000;

/** Seconds after the grace period in which a process returns jobs and closes connections, before SIGKILL. */
const closingSeconds = 8;

/**
 * Runs every process of a Procfile until the signal fires. Each has a process group of its own, so that only this process gets
 * the signals of the terminal: it forwards SIGTERM, waits for the grace period, then sends SIGKILL. A dead process is started
 * again.
 * @throws ServiceError `process_failed` when a process has died three times within 30 seconds; the others are stopped first
 */
export async function runProcfile(options: RunProcfileOptions): Promise<void> {
  const failed = new AbortController();
  const stopping = AbortSignal.any([options.signal, failed.signal]);
  const definitions = readProcfile(options.procfile).filter(({ name }) => {
    if (name !== 'intake' || options.config.intake === 'on') return true;
    options.log.info({ child: name }, 'the process is off: INTAKE=on turns it on');
    return false;
  });
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

/** The processes of a Procfile, one a line: `name: command arguments`. Lines that start with # are comments. */
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
    // The Node of this process, not that of PATH.
    return { name: match[1], command: command === 'node' ? process.execPath : command, args };
  });
}

/**
 * The environment of a process. The API cannot write: it gets only the database that it reads, and no queue; the intake gets only the
 * login that submits. Without a login of its own, either gets the owner's URL and sets its role on each connection.
 */
export function processEnvironment(
  name: string,
  { config, database }: Pick<RunProcfileOptions, 'config' | 'database'>,
): Record<string, string | undefined> {
  const shared = { STATE_DIR: config.stateDir };
  const owner = { ...shared, DATABASE_URL: database.url, API_DATABASE_URL: undefined, INTAKE_DATABASE_URL: undefined };
  if (name === 'api')
    return childEnvironment({
      ...owner,
      ...(database.apiUrl === undefined ? {} : { DATABASE_URL: undefined, API_DATABASE_URL: database.apiUrl }),
      REDIS_URL: undefined,
    });
  if (name === 'intake' && database.intakeUrl !== undefined)
    return childEnvironment({ ...owner, DATABASE_URL: undefined, INTAKE_DATABASE_URL: database.intakeUrl });
  return childEnvironment(owner);
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
    // A process that ends because a service is unavailable is started until the service is back.
    if (ended.code !== unavailableExit) deaths.push(Date.now());
    log.error({ child: definition.name, ...ended }, 'a process ended by itself');
    if (diedTooOften(deaths)) {
      throw new ServiceError('process_failed', {
        operation: 'run process',
        object: definition.name,
        problem: `It ended ${deathsMax} times within ${deathWindowMs / 1000} seconds.`,
        hint: 'Its last output is above.',
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
  // The channel closes when this process ends, also by SIGKILL, which the child notices.
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
  for (const output of [child.stdout, child.stderr]) forwardLines(output!, definition.name, options);
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
    signalGroup(child, 'SIGKILL'); // remaining processes of its group
  }
}

/** Sends SIGTERM to the group of a process, and SIGKILL if it does not end in time. */
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

/** Forwards log lines, and wraps other output, such as Node's crash report, into log lines. */
function forwardLines(
  output: Readable,
  name: string,
  { log, onLogLine = (line) => void process.stderr.write(`${line}\n`) }: Pick<RunProcfileOptions, 'log' | 'onLogLine'>,
): void {
  createInterface({ input: output }).on('line', (line) => {
    if (line.startsWith('{')) onLogLine(line);
    else if (line !== '') log.warn({ child: name, line }, 'output of a process');
  });
}
