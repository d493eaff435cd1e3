import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach } from 'vitest';

/** A real process of the service, compiled, as the Procfile starts it. */
export interface ServiceProcess {
  readonly pid: number;
  /** What it has logged so far. */
  readonly log: () => string;
  signal(name: NodeJS.Signals): void;
  /** Its exit code (null: ended by a signal), when it has ended. */
  readonly ended: Promise<number | null>;
  /** Sends a signal, and resolves with the exit code (null: ended by a signal) when the process has ended. */
  end(name: NodeJS.Signals): Promise<number | null>;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const running = new Set<ChildProcess>();
/** Of the processes of the present test. */
let logs: { readonly pid: number; readonly read: () => string }[] = [];
/** Characters of the end of a log that a failed test shows. */
const logShownMax = 4000;

/** Starts `node dist/<path>`, by another program where one is given. What still runs after a test is killed. */
export function startProcess(
  path: string,
  env: Record<string, string>,
  { args = [], by = [] }: { args?: string[]; by?: readonly string[] } = {},
): ServiceProcess {
  const [command, ...words] = [...by, process.execPath, `dist/${path}`, ...args];
  const child = spawn(command!, words, {
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env } as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  running.add(child);
  const exit = once(child, 'exit').finally(() => running.delete(child));
  const log = () => Buffer.concat(output).toString();
  logs.push({ pid: child.pid!, read: () => `${path}, ${child.exitCode ?? child.signalCode ?? 'running'}: ${log()}` });
  return {
    pid: child.pid!,
    log,
    signal: (name) => void child.kill(name),
    ended: exit.then(([code]) => code as number | null),
    async end(name) {
      child.kill(name);
      return this.ended;
    },
  };
}

/** Where a process of the service listens, as it writes it into its state directory. */
interface ServiceAddress {
  readonly url: string;
  readonly metricsUrl: string;
}

/**
 * Waits until the API, the console or the intake of a state directory serves: it listens before it has read its keys, and
 * answers 503 until then.
 */
export function untilServing(stateDir: string, name: 'api' | 'console' | 'intake'): Promise<ServiceAddress> {
  return until(async () => {
    const written = await readFile(join(stateDir, `${name}.json`), 'utf8').catch(() => 'null');
    const address = JSON.parse(written) as ServiceAddress | null;
    return address !== null && (await isServing(address.url)) && address;
  }, `the ${name} serves`);
}

/** The console has no such path, and is ready when it listens. */
async function isServing(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`).catch(() => undefined); // the address may be that of a killed process
  return answer !== undefined && answer.status !== 503;
}

/** A whole service, as `start` runs it. */
export interface WholeService {
  readonly service: ServiceProcess;
  readonly env: Record<string, string>;
  readonly api: ServiceAddress;
}

/** Starts every process of the service in a state directory, with no night but those that are asked for, and waits for its API. */
export async function startWholeService(stateDir: string, settings: Record<string, string>): Promise<WholeService> {
  const env = {
    STATE_DIR: stateDir,
    NIGHT_SCHEDULE: '0 0 29 2 *',
    API_PORT: '0',
    METRICS_PORT: '0',
    CONSOLE_PORT: '0',
    DROP_SETTLE_SECONDS: '0',
    POLL_MS: '100',
    ...settings,
  };
  const service = startProcess('cli.js', env, { args: ['start'] });
  return { service, env, api: await untilServing(stateDir, 'api') };
}

/** Kills what a test left running, and shows the logs of a failed one. Call it at the top level of a test file. */
export function killProcessesAfterEach(): void {
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail')
      for (const { pid, read } of logs)
        console.error(`process ${pid} of "${task.name}", ${read().slice(-logShownMax)}`);
    logs = [];
    for (const child of running) {
      child.kill('SIGCONT');
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
  });
}

/** A state that has not come by then does not come: work that takes a second may take half a minute beside other work. */
const stateSecondsMax = 120;

/** Waits until `read` gives a value that is neither undefined, null nor false. */
export async function until<Value>(
  read: () => Promise<Value | undefined | null | false>,
  what: string,
  secondsMax = stateSecondsMax,
): Promise<Value> {
  const deadline = Date.now() + secondsMax * 1000;
  for (;;) {
    const value = await read();
    if (value !== undefined && value !== null && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`waited ${secondsMax} s in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
