import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Root of the package, the same from source and from dist. */
export const packageRoot = dirname(createRequire(import.meta.url).resolve('#package.json'));

/**
 * Path of a compiled program, from source too: Node 20 runs no TypeScript. `module` is its path as a source, such as
 * `jobs/worker-main`.
 */
export function compiledPath(module: string): string {
  return join(packageRoot, 'dist', `${module}.js`);
}

/** The version of the package. */
export async function packageVersion(): Promise<string> {
  const text = await readFile(join(packageRoot, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
