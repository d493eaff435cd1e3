import { open, readFile, unlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const waitSecondsMax = 120;

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
 * A lock whose holder has died is taken over.
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
  const until = Date.now() + waitSecondsMax * 1000;
  for (;;) {
    try {
      const file = await open(path, 'wx', 0o600);
      await file.writeFile(String(process.pid));
      await file.close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = Number(await readFile(path, 'utf8').catch(() => ''));
    if (holder > 0 && !processLives(holder)) await unlink(path).catch(() => {});
    else if (Date.now() > until) throw new Error(`${path} is held by process ${holder}; remove the file if that process is not this service`);
    else await sleep(25);
  }
}
