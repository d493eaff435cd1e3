import { randomBytes } from 'node:crypto';
import { readFile, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { ClientError } from '../../../format/base/errors.ts';
import { isSameProcess, startOfProcess, withFileLock } from '../../../runtime/files/file-lock.mjs';

/** Renewal interval of the lock; a holder that has not renewed it for `deadAfterMs` is dead, on any machine. */
const renewalMs = 5_000;
const deadAfterMs = 60_000;

/** Locks that this process holds. */
const heldTokens = new Set<string>();

interface Holder {
  readonly pid: number;
  /** By `startOfProcess`. */
  readonly start?: string | null;
  readonly host: string;
  readonly token: string;
}

/** The lock of a directory, while `work` runs. */
export interface DirectoryLock {
  /**
   * Call it before an irreversible step: a process that was stopped for more than a minute may have lost the lock.
   * @throws ClientError `directory_busy`
   */
  readonly requireHeld: () => Promise<void>;
}

/**
 * Runs `work` while no other process works in the directory. The lock of a killed process is taken over.
 * @throws ClientError `directory_busy`, at once, if another process works there.
 */
export async function withDirectoryLock<Result>(
  directory: string,
  work: (lock: DirectoryLock) => Promise<Result>,
): Promise<Result> {
  const path = join(directory, '.lock');
  const start = await startOfProcess(process.pid);
  const mine: Holder = { pid: process.pid, start, host: hostname(), token: randomBytes(8).toString('hex') };
  heldTokens.add(mine.token);
  try {
    await withFileLock(`${path}.taking`, () => takeLock(path, mine));
    const renewals = setInterval(() => void renew(path, mine).catch(() => {}), renewalMs);
    try {
      return await work({ requireHeld: () => requireHeld(path, mine) });
    } finally {
      clearInterval(renewals);
      await withFileLock(`${path}.taking`, () => release(path, mine)).catch(() => {}); // a lock that stays is taken over, since its process has ended
    }
  } finally {
    heldTokens.delete(mine.token);
  }
}

async function takeLock(path: string, mine: Holder): Promise<void> {
  const holder = await readHolder(path);
  if (holder !== undefined && (await isAlive(path, holder))) {
    throw new ClientError('directory_busy', {
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
  throw new ClientError('directory_busy', {
    operation: 'check lock',
    object: path,
    problem: 'Another process has taken this directory over, because this one did not renew its lock for a minute.',
  });
}

async function renew(path: string, mine: Holder): Promise<void> {
  if (await isHeld(path, mine)) await utimes(path, new Date(), new Date());
}

/** Removes the lock unless another process holds it. */
async function release(path: string, mine: Holder): Promise<void> {
  if (await isHeld(path, mine)) await unlink(path);
}

/** Undefined if nobody holds the lock, or its file is incomplete. */
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

async function isAlive(path: string, { pid, start, host, token }: Holder): Promise<boolean> {
  const { mtimeMs } = await stat(path);
  if (Date.now() - mtimeMs > deadAfterMs) return false;
  if (host !== hostname()) return true;
  return pid === process.pid ? heldTokens.has(token) : isSameProcess(pid, start);
}
