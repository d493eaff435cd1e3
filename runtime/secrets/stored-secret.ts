import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createWholeFile } from '../files/whole-file.ts';
import { ifExists } from '../files/if-exists.ts';

/**
 * A secret of 64 hex digits in a file of the state directory, created by the first call. Processes that start together get
 * the same one. The caller checks its form, since the file may have been edited.
 */
export async function readOrMakeSecret(stateDir: string, name: string): Promise<string> {
  const path = join(stateDir, name);
  const stored = await readSecret(stateDir, name);
  if (stored !== undefined) return stored;
  // If another process was faster, its secret is kept.
  await createWholeFile(path, `${randomBytes(32).toString('hex')}\n`, { durable: true, mode: 0o600 });
  return (await readSecret(stateDir, name)) ?? '';
}

/** The secret in a file of the state directory; undefined if there is none. */
export async function readSecret(stateDir: string, name: string): Promise<string | undefined> {
  return (await ifExists(readFile(join(stateDir, name), 'utf8')))?.trim();
}
