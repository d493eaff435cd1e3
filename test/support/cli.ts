import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** What a run of the compiled command line gave. */
export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs `caller-trust` with the given words and nothing of this process's environment but PATH and HOME. */
export function runCli(env: Record<string, string>, ...args: string[]): Promise<CliResult> {
  return new Promise((resolve) => {
    const options = {
      cwd: root,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env } as NodeJS.ProcessEnv,
      maxBuffer: 64 * 1024 * 1024,
    };
    execFile(process.execPath, ['dist/cli.js', ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
    });
  });
}

/** The same with --json, which must succeed; returns what it printed. */
export async function runCliJson<Result>(env: Record<string, string>, ...args: string[]): Promise<Result> {
  const { code, stdout, stderr } = await runCli(env, ...args, '--json');
  if (code !== 0) throw new Error(`caller-trust ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
  return JSON.parse(stdout) as Result;
}
