import { randomBytes } from 'node:crypto';
import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const waitSecondsMax = 120;
const pollMs = 25;

/** Content of a lock file: `<process id> <token>`, with a new token for each acquisition. */
type LockText = string;

/** Locks of this process. Another lock with its id is of a dead process that had the same id. */
const ownLocks = new Set<LockText>();

/** True if a process with this id exists, also one of another user. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Runs `work` while this process holds the lock file, which contains its process id.
 * One of the waiting processes takes over the lock of a dead process.
 * @throws Error if a live holder keeps the lock for two minutes.
 */
export async function withFileLock<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const text = `${process.pid} ${randomBytes(8).toString('hex')}`;
  ownLocks.add(text);
  try {
    await acquire(path, text);
    try {
      return await work();
    } finally {
      await unlink(path).catch(() => {});
    }
  } finally {
    ownLocks.delete(text);
  }
}

async function acquire(path: string, text: LockText): Promise<void> {
  const until = Date.now() + waitSecondsMax * 1000;
  const mine = `${path}.${text.replace(' ', '.')}`;
  await writeFile(mine, text, { mode: 0o600 });
  try {
    for (;;) {
      if (await createByLink(mine, path)) return;
      const found = await read(path);
      // Read again: on release, the file is removed before the text is forgotten.
      if (isHolderDead(found) && (await read(path)) === found && (await replaceDead({ path, mine, found }))) return;
      if (Date.now() > until)
        throw new Error(
          `${path} is held by process ${Number.parseInt(found, 10)}; remove the file if that process is not this service`,
        );
      await sleep(pollMs);
    }
  } finally {
    await unlink(mine).catch(() => {});
  }
}

/** The content of a lock file; empty if there is none. */
function read(path: string): Promise<LockText> {
  return readFile(path, 'utf8').catch(() => '');
}

/** Gives a file a second name, atomically with its content; false if the name is taken. */
async function createByLink(file: string, name: string): Promise<boolean> {
  try {
    await link(file, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function isHolderDead(text: LockText): boolean {
  const pid = Number.parseInt(text, 10);
  if (!(pid > 0)) return false; // it was released meanwhile
  return pid === process.pid ? !ownLocks.has(text) : !isProcessAlive(pid);
}

/**
 * Replaces the lock of a dead process by this one's. That needs a lock of its own, named after the token of the dead one, so
 * that only one process replaces it.
 */
async function replaceDead({ path, mine, found }: { path: string; mine: string; found: LockText }): Promise<boolean> {
  return withFileLock(`${path}.${found.replace(/^\d+ /, 'dead-')}`, async () => {
    if ((await read(path)) !== found) return false;
    const replacement = `${mine}.lock`;
    await link(mine, replacement);
    await rename(replacement, path); // not keepWholeFile, which would remove the name of the waiting file
    return true;
  });
}
