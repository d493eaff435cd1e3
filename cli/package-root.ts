import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sqlDirectory } from '../sql/sql.ts';

/** Root of the package, the same from source and from dist. */
export const packageRoot = dirname(sqlDirectory);

/** The version of the package. */
export async function packageVersion(): Promise<string> {
  const text = await readFile(join(packageRoot, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
