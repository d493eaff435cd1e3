import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { compiledPath } from '../runtime/package-root.ts';

/** Runs the compiled program of a bench in a process of its own; gives the JSON that it prints. */
export async function runBench<Answer>(name: string, args: readonly (string | number)[]): Promise<Answer> {
  const { stdout } = await promisify(execFile)(process.execPath, [compiledPath(`bench/${name}`), ...args.map(String)]);
  return JSON.parse(stdout) as Answer;
}

/** True in the program that was started, false where a test imports it. */
export function isMain(url: string): boolean {
  return process.argv[1] === fileURLToPath(url);
}
