import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A secret of 64 hex digits that the state directory keeps under a name, made at the first call. Processes that start
 * together get the same one. What is stored may have been changed by hand: the caller checks it.
 */
export async function readOrMakeSecret(stateDir: string, name: string): Promise<string> {
  const path = join(stateDir, name);
  return (await readStored(path)) ?? makeStored(path, stateDir);
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
