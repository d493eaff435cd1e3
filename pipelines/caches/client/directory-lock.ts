import { randomBytes } from 'node:crypto';
import { readFile, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { ServiceError } from '../../../runtime/errors.ts';
import { processLives, withFileLock } from '../../../runtime/file-lock.ts';

/** A holder shows that it lives this often; one that has not for much longer is dead, on whatever machine it was. */
const signOfLifeMs = 5_000;
const deadAfterMs = 60_000;

/** Locks that this process holds. */
const ours = new Set<string>();

interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly token: string;
}

/** The lock of a directory, while `work` runs. */
export interface DirectoryLock {
  /**
   * Called before what cannot be undone: a process that was stopped for longer than a minute may have lost the lock meanwhile.
   * @throws ServiceError `directory_busy`
   */
  readonly requireHeld: () => Promise<void>;
}

/**
 * Runs `work` while no other process works in the directory. The lock of a process that was killed is taken over.
 * @throws ServiceError `directory_busy`, at once, if another one does.
 */
export async function withDirectoryLock<Result>(
  directory: string,
  work: (lock: DirectoryLock) => Promise<Result>,
): Promise<Result> {
  const path = join(directory, '.lock');
  const mine: Holder = { pid: process.pid, host: hostname(), token: randomBytes(8).toString('hex') };
  ours.add(mine.token);
  try {
    await withFileLock(`${path}.taking`, () => take(path, mine));
    const signs = setInterval(() => void showLife(path, mine).catch(() => {}), signOfLifeMs);
    try {
      return await work({ requireHeld: () => requireHeld(path, mine) });
    } finally {
      clearInterval(signs);
      await withFileLock(`${path}.taking`, () => giveBack(path, mine)).catch(() => {}); // one that stays is taken over, since its process has ended
    }
  } finally {
    ours.delete(mine.token);
  }
}

async function take(path: string, mine: Holder): Promise<void> {
  const holder = await readHolder(path);
  if (holder !== undefined && (await lives(path, holder))) {
    throw new ServiceError('directory_busy', {
      operation: 'lock directory',
      object: path,
      problem: `Process ${holder.pid} of ${holder.host} works in this directory.`,
    });
  }
  await writeFile(path, JSON.stringify(mine));
}

async function isHeld(path: string, mine: Holder): Promise<boolean> {
  return (await readHolder(path))?.token === mine.token;
}

async function requireHeld(path: string, mine: Holder): Promise<void> {
  if (await isHeld(path, mine)) return;
  throw new ServiceError('directory_busy', {
    operation: 'check lock',
    object: path,
    problem: 'Another process has taken this directory over, because this one showed no sign of life for a minute.',
  });
}

async function showLife(path: string, mine: Holder): Promise<void> {
  if (await isHeld(path, mine)) await utimes(path, new Date(), new Date());
}

/** Leaves the lock of another process where it is. */
async function giveBack(path: string, mine: Holder): Promise<void> {
  if (await isHeld(path, mine)) await unlink(path);
}

/** Undefined if nobody holds it, or what is there was cut off while it was written. */
async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const holder = JSON.parse(await readFile(path, 'utf8')) as Partial<Holder>;
    return typeof holder.pid === 'number' && typeof holder.host === 'string' && typeof holder.token === 'string'
      ? (holder as Holder)
      : undefined;
  } catch {
    return undefined;
  }
}

async function lives(path: string, { pid, host, token }: Holder): Promise<boolean> {
  const { mtimeMs } = await stat(path);
  if (Date.now() - mtimeMs > deadAfterMs) return false;
  if (host !== hostname()) return true;
  return pid === process.pid ? ours.has(token) : processLives(pid);
}
