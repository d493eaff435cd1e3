import { randomBytes } from 'node:crypto';
import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const waitSecondsMax = 120;
const pollMs = 25;

/** What a lock file says: `<process id> <token>`. The token is new for each taking. */
type LockText = string;

/** Texts of the locks that this process holds. One of its id that is not here is of a dead process that had the id before. */
const ours = new Set<LockText>();

/** True while a process with this id lives, also if it belongs to another user. */
export function processLives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Runs `work` while this process alone holds the lock file, which names the holder's process id.
 * The lock of a process that has died is taken over, by one of those that wait.
 * @throws Error if a living holder keeps the lock for two minutes.
 */
export async function withFileLock<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const text = `${process.pid} ${randomBytes(8).toString('hex')}`;
  ours.add(text);
  try {
    await take(path, text);
    try {
      return await work();
    } finally {
      await unlink(path).catch(() => {});
    }
  } finally {
    ours.delete(text);
  }
}

async function take(path: string, text: LockText): Promise<void> {
  const until = Date.now() + waitSecondsMax * 1000;
  const mine = `${path}.${text.replace(' ', '.')}`;
  await writeFile(mine, text, { mode: 0o600 });
  try {
    for (;;) {
      if (await createByLink(mine, path)) return;
      const found = await read(path);
      // Read again: the file of a lock that was given back was gone before its text was forgotten.
      if (isDead(found) && (await read(path)) === found && (await replaceDead({ path, mine, found }))) return;
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

/** The text of a lock; empty if there is none. */
function read(path: string): Promise<LockText> {
  return readFile(path, 'utf8').catch(() => '');
}

/** Gives a file a second name, which appears with its content at once; false if the name is taken. */
async function createByLink(file: string, name: string): Promise<boolean> {
  try {
    await link(file, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function isDead(text: LockText): boolean {
  const pid = Number.parseInt(text, 10);
  if (!(pid > 0)) return false; // it was given back between the two looks
  return pid === process.pid ? !ours.has(text) : !processLives(pid);
}

/**
 * Puts our lock in the place of a dead process's. The right to do so is a lock of its own, named after the token of the
 * dead one: whoever has it and still sees the dead lock is the only one that replaces it.
 */
async function replaceDead({ path, mine, found }: { path: string; mine: string; found: LockText }): Promise<boolean> {
  return withFileLock(`${path}.${found.replace(/^\d+ /, 'dead-')}`, async () => {
    if ((await read(path)) !== found) return false;
    const replacement = `${mine}.lock`;
    await link(mine, replacement);
    await rename(replacement, path); // a second name of the file that waits, which keepWholeFile would have renamed away
    return true;
  });
}
