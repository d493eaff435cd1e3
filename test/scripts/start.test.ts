import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { isProcessAlive } from '../../runtime/files/file-lock.mjs';
import { useTestDatabase } from '../support/database.ts';
import { until } from '../support/service-process.ts';

const { url } = await useTestDatabase();
const root = fileURLToPath(new URL('../..', import.meta.url));
const processes = ['api', 'worker', 'scheduler', 'console'];

/** `npm start` in a process group of its own. */
interface StartedByNpm {
  readonly npm: ChildProcess;
  readonly stateDir: string;
  readonly log: () => string;
  /** Resolves when nobody can write to its output any more: npm, the shell and the script have ended, and `caller-trust start` too. */
  readonly silent: Promise<unknown>;
}

async function startByNpm(): Promise<StartedByNpm> {
  const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-npm-start-'));
  onTestFinished(() => rm(stateDir, { recursive: true, force: true }));
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    DATABASE_URL: url,
    STATE_DIR: stateDir,
    API_PORT: '0',
    METRICS_PORT: '0',
    CONSOLE_PORT: '0',
    NIGHT_SCHEDULE: '0 0 29 2 *', // no night but those that are asked for
    SHUTDOWN_GRACE_SECONDS: '5',
  };
  const npm = spawn('npm', ['start'], {
    cwd: root,
    env: env as NodeJS.ProcessEnv,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const output: Buffer[] = [];
  npm.stderr!.on('data', (chunk: Buffer) => output.push(chunk));
  const log = () => Buffer.concat(output).toString();
  started.push(log);
  return { npm, stateDir, log, silent: once(npm.stderr!, 'close') };
}

/** The ids of the processes that `caller-trust start` has started, by their names, and its own, from its log. */
function pidsIn(log: string): Map<string, number> {
  const lines = log
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as { msg: string; pid: number; child?: string; childPid?: number });
  const started = lines.filter(({ msg }) => msg === 'a process runs');
  return new Map(
    started.flatMap(({ pid, child, childPid }) => [
      ['start', pid],
      [child!, childPid!],
    ]),
  );
}

/** A number that Linux states about a process. */
function factOf(pid: number, name: 'PPid' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)![1]);
}

const peakMiB = (pid: number) => factOf(pid, 'VmHWM') / 1024;

const started: (() => string)[] = [];
afterEach(() => {
  for (const log of started.splice(0))
    for (const pid of pidsIn(log()).values()) if (isProcessAlive(pid)) process.kill(pid, 'SIGKILL');
});

describe('npm start', () => {
  it.each([
    { what: 'npm alone gets SIGTERM', signal: 'SIGTERM', toGroup: false },
    { what: 'everything gets SIGINT, as by Ctrl-C in a terminal', signal: 'SIGINT', toGroup: true },
  ] as const)('needs two small processes, and ends with every process when $what', async ({ signal, toGroup }) => {
    const { npm, stateDir, log, silent } = await startByNpm();
    await until(
      async () => existsSync(join(stateDir, 'console.json')) && processes.every((name) => pidsIn(log()).has(name)),
      'the service runs',
      120,
    ).catch((error: Error) => {
      throw new Error(`${error.message}: ${log()}`);
    });
    const supervisor = pidsIn(log()).get('start')!;
    expect(peakMiB(factOf(supervisor, 'PPid'))).toBeLessThan(80); // scripts/start.mjs
    expect(peakMiB(supervisor)).toBeLessThan(120);
    process.kill(toGroup ? -npm.pid! : npm.pid!, signal);
    await silent;
    expect([...pidsIn(log())].filter(([, pid]) => isProcessAlive(pid))).toEqual([]);
    expect(existsSync(join(stateDir, 'console.json'))).toBe(false); // the console came to its own end
    expect(log()).toContain(`"reason":"${signal}","msg":"stopping"`);
    expect(log()).not.toContain('did not stop in time');
  });
});
