import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { compiledPath } from '../../runtime/package-root.ts';

/** A worker process under test. */
export interface WorkerProcess {
  readonly pid: number;
  readonly lines: readonly string[];
  /** Resolves when the process has printed the line. */
  line(text: string): Promise<void>;
  /** Sends the signal and resolves when the process has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
}

const program = compiledPath('test/jobs/worker-program');

/** Starts `worker-program.ts` and waits until it is ready. */
export async function startWorkerProcess(env: Record<string, string>, ...words: string[]): Promise<WorkerProcess> {
  const child: ChildProcess = spawn(process.execPath, [program, ...words], {
    env: { ...process.env, LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const ended = once(child, 'exit').then(() => waiting.forEach((wake) => wake()));
  createInterface({ input: child.stdout! }).on('line', (line) => {
    lines.push(line);
    waiting.forEach((wake) => wake());
  });
  const worker: WorkerProcess = {
    pid: child.pid!,
    lines,
    async line(text) {
      while (!lines.includes(text)) {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`the worker ended before it said "${text}": ${lines.join(', ')}`);
        await new Promise<void>((resolve) => waiting.add(resolve));
      }
    },
    async end(signal) {
      child.kill(signal);
      await ended;
    },
  };
  await worker.line('ready');
  return worker;
}
