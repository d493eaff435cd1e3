import { type ChildProcess, execFile, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

/** What a run of the compiled command line gave. */
export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Nothing of this process's environment but PATH and HOME. */
const environment = (env: Record<string, string>): NodeJS.ProcessEnv =>
  ({ PATH: process.env['PATH'], HOME: process.env['HOME'], ...env }) as NodeJS.ProcessEnv;

/**
 * Runs `caller-trust` with the given words and nothing of this process's environment but PATH and HOME, in a process that may
 * have run other commands before. A command that leaves open what would keep its process alive is an error.
 */
export async function runCli(env: Record<string, string>, ...args: string[]): Promise<CliResult> {
  const host = idleHosts.pop() ?? new CommandHost();
  const { result, isReusable } = await host.run(environment(env), args);
  if (isReusable && idleHosts.length < idleHostsMax) idleHosts.push(host);
  else host.end();
  return result;
}

/** The same in a process of its own, for tests of how one starts and ends. */
export function runCliProcess(env: Record<string, string>, ...args: string[]): Promise<CliResult> {
  return new Promise((resolve) => {
    const options = { cwd: root, env: environment(env), maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, ['dist/cli.js', ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

/** `runCli` with --json, which must succeed; returns what it printed. */
export async function runCliJson<Result>(env: Record<string, string>, ...args: string[]): Promise<Result> {
  const { code, stdout, stderr } = await runCli(env, ...args, '--json');
  if (code !== 0) throw new Error(`caller-trust ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
  return JSON.parse(stdout) as Result;
}

/** Processes between two commands: one, and one more for tests that run two at a time. */
const idleHosts: CommandHost[] = [];
const idleHostsMax = 2;

/** Above this a process has gathered more than a command needs, and is not used again. */
const hostBytesMax = 400 * 1024 ** 2;

interface Ending {
  readonly code: number;
  /** Kinds of what is still open. */
  readonly left: readonly string[];
  readonly bytes: number;
}

/** A process of `command-host.mjs`, which ends with this one. */
class CommandHost {
  private readonly child: ChildProcess = fork(fileURLToPath(new URL('command-host.mjs', import.meta.url)), [], {
    cwd: root,
    env: environment({}),
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  private readonly ended = once(this.child, 'exit');

  async run(env: NodeJS.ProcessEnv, args: string[]): Promise<{ result: CliResult; isReusable: boolean }> {
    const { child } = this;
    this.keepWorkerAlive(true);
    const mark = `\0${randomUUID()}\0`;
    const outputs = Promise.all([child.stdout!, child.stderr!].map((stream) => readUntil(stream, mark)));
    const answer = once(child, 'message').then(([ending]) => ending as Ending);
    child.send({ args, env, mark });
    const ending = await Promise.race([answer, this.ended.then(() => undefined)]);
    const [stdout, stderr] = await outputs;
    if (ending === undefined) {
      return { result: { code: child.exitCode ?? -1, stdout: stdout!, stderr: stderr! }, isReusable: false };
    }
    this.keepWorkerAlive(false);
    if (ending.left.length > 0) throw new Error(`caller-trust ${args.join(' ')} left open ${ending.left.join(', ')}`);
    return { result: { code: ending.code, stdout: stdout!, stderr: stderr! }, isReusable: ending.bytes < hostBytesMax };
  }

  end(): void {
    if (this.child.connected) this.child.disconnect();
  }

  private keepWorkerAlive(isRunning: boolean): void {
    const handles = [this.child, this.child.channel, this.child.stdout, this.child.stderr];
    for (const handle of handles as ({ ref(): void; unref(): void } | null | undefined)[])
      if (isRunning) handle?.ref();
      else handle?.unref();
  }
}

/** The text of a stream up to a mark, or to its end. */
function readUntil(stream: NodeJS.ReadableStream, mark: string): Promise<string> {
  const end = Buffer.from(mark);
  const chunks: Buffer[] = [];
  return new Promise((resolve) => {
    const finish = (bytes: Buffer) => {
      stream.off('data', take).off('end', stop);
      resolve(bytes.toString());
    };
    const stop = () => finish(Buffer.concat(chunks));
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      const last = Buffer.concat(chunks.slice(-2)); // a mark may come in two pieces
      if (last.subarray(-end.length).equals(end)) finish(Buffer.concat(chunks).subarray(0, -end.length));
    };
    stream.on('data', take).on('end', stop);
  });
}

/** A command that ended with an error of this code. */
export function refusedWith(code: string, exit = 1): Partial<CliResult> {
  return { code: exit, stderr: expect.stringContaining(`[${code}]`) as string };
}
