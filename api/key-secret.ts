import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../runtime/errors.ts';

const secretLengthMin = 32;

/**
 * The secret under which keys are hashed: API_KEY_SECRET, else the one in the state directory, made at the first call.
 * Processes that start together get the same one.
 * @throws ServiceError `setting_invalid` if the stored one is too short to be a secret.
 */
export async function loadKeySecret({ apiKeySecret, stateDir }: { apiKeySecret?: string | undefined; stateDir: string }): Promise<string> {
  if (apiKeySecret !== undefined) return apiKeySecret;
  const path = join(stateDir, 'api-key-secret');
  const stored = (await readStored(path)) ?? (await makeStored(path, stateDir));
  if (stored.length < secretLengthMin) {
    throw new ServiceError('setting_invalid', {
      operation: 'read the key secret',
      problem: `The file api-key-secret of the state directory has fewer than ${secretLengthMin} characters.`,
      hint: 'Restore it from a backup, or remove it: all keys must be made again then.',
    });
  }
  return stored;
}

async function readStored(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes a whole file first and then links it to its name, which fails if another process was faster. */
async function makeStored(path: string, stateDir: string): Promise<string> {
  await mkdir(stateDir, { recursive: true });
  const unfinished = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
  const file = await open(unfinished, 'wx', 0o600);
  try {
    await file.writeFile(`${randomBytes(32).toString('hex')}\n`);
    await file.sync();
    await file.close();
    await link(unfinished, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await unlink(unfinished);
  }
  return (await readStored(path)) ?? '';
}
