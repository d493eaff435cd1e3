import { randomBytes } from 'node:crypto';
import { link, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const waitSecondsMax = 120;
const pollMs = 25;
/** Replacing the lock of a dead process takes milliseconds; who holds the right to do so for longer has died too. */
const replaceSecondsMax = 10;

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
  await take(path);
  try {
    return await work();
  } finally {
    await unlink(path).catch(() => {});
  }
}

async function take(path: string): Promise<void> {
  const mine = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const until = Date.now() + waitSecondsMax * 1000;
  await writeFile(mine, String(process.pid), { mode: 0o600 });
  try {
    for (;;) {
      if (await createByLink(mine, path)) return;
      const holder = await holderOf(path);
      if (holder !== undefined && !processLives(holder) && (await replaceDead({ path, mine, holder }))) return;
      if (Date.now() > until) throw new Error(`${path} is held by process ${holder}; remove the file if that process is not this service`);
      await sleep(pollMs);
    }
  } finally {
    await unlink(mine).catch(() => {});
  }
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

async function holderOf(path: string): Promise<number | undefined> {
  const pid = Number(await readFile(path, 'utf8').catch(() => ''));
  return pid > 0 ? pid : undefined;
}

/**
 * Puts our lock in the place of a dead process's. Of several that have seen the dead one only the one that makes the
 * file `<path>.replace` may do so, and only if it sees the dead one still: else it would replace a living lock.
 */
async function replaceDead({ path, mine, holder }: { path: string; mine: string; holder: number }): Promise<boolean> {
  const right = `${path}.replace`;
  if (!(await createByLink(mine, right))) {
    const age = await stat(right).then(({ mtimeMs }) => Date.now() - mtimeMs, () => 0);
    if (age > replaceSecondsMax * 1000) await unlink(right).catch(() => {});
    return false;
  }
  try {
    if ((await holderOf(path)) !== holder) return false;
    const ours = `${mine}.lock`;
    await writeFile(ours, String(process.pid), { mode: 0o600 });
    await rename(ours, path);
    return true;
  } finally {
    await unlink(right).catch(() => {});
  }
}
