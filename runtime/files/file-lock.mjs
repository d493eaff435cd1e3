// @ts-check
// JavaScript with built-ins alone: scripts/set-up.mjs uses it before packages are installed and sources compiled.
import { randomBytes } from 'node:crypto';
import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 25;

/**
 * Locks of this process, by the content of their files: `<process id> <its start, or -> <token>`, with a new token for each
 * acquisition. Another lock with its id is of a dead process that had the same id.
 * @type {Set<string>}
 */
const ownLocks = new Set();

/**
 * True if a process with this id exists, also one of another user.
 * @param {number} pid
 */
export function isProcessAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/**
 * Start of a process in ticks since the boot (proc_pid_stat(5)), which distinguishes it from a later one with the same id. Null for one
 * that has ended, also while its parent has not reaped it, and where the system has no /proc.
 * @param {number} pid
 */
export async function startOfProcess(pid) {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' '); // the name before may contain blanks
  return fields[0] === 'Z' ? null : (fields[19] ?? null);
}

/**
 * True if the process with this id is the one that started then; where the start is not known, if there is any process with it.
 * @param {number} pid
 * @param {string | null | undefined} start by `startOfProcess` of the process itself
 */
export async function isSameProcess(pid, start) {
  return start == null ? isProcessAlive(pid) : (await startOfProcess(pid)) === start;
}

/**
 * Runs `work` while this process holds the lock file, which names it.
 * One of the waiting processes takes over the lock of a dead process.
 * @template Result
 * @param {string} path
 * @param {() => Promise<Result>} work
 * @param {{ waitSecondsMax?: number, onWait?: (pid: number) => void }} [options] `onWait` is called once if another process holds it
 * @returns {Promise<Result>}
 * @throws Error if a live holder keeps the lock for `waitSecondsMax`, by default two minutes.
 */
export async function withFileLock(path, work, { waitSecondsMax = 120, onWait = () => {} } = {}) {
  const text = `${process.pid} ${(await startOfProcess(process.pid)) ?? '-'} ${randomBytes(8).toString('hex')}`;
  ownLocks.add(text);
  try {
    await acquire(path, text, { until: Date.now() + waitSecondsMax * 1000, onWait });
    try {
      return await work();
    } finally {
      await unlink(path).catch(() => {});
    }
  } finally {
    ownLocks.delete(text);
  }
}

/**
 * @param {string} path
 * @param {string} text
 * @param {{ until: number, onWait: (pid: number) => void }} options
 */
async function acquire(path, text, { until, onWait }) {
  const mine = `${path}.${text.replaceAll(' ', '.')}`;
  let hasWaited = false;
  await writeFile(mine, text, { mode: 0o600 });
  try {
    for (;;) {
      if (await createByLink(mine, path)) return;
      const found = await read(path);
      // Read again: on release, the file is removed before the text is forgotten.
      if ((await isHolderDead(found)) && (await read(path)) === found && (await replaceDead({ path, mine, found })))
        return;
      const holder = Number.parseInt(found, 10);
      if (Date.now() > until)
        throw new Error(`${path} is held by process ${holder}; remove the file if that process is not this service`);
      if (holder > 0 && !hasWaited) onWait(holder);
      hasWaited ||= holder > 0;
      await sleep(pollMs);
    }
  } finally {
    await unlink(mine).catch(() => {});
  }
}

/**
 * The content of a lock file; empty if there is none.
 * @param {string} path
 */
function read(path) {
  return readFile(path, 'utf8').catch(() => '');
}

/**
 * Gives a file a second name, atomically with its content; false if the name is taken.
 * @param {string} file
 * @param {string} name
 */
async function createByLink(file, name) {
  try {
    await link(file, name);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}

/** @param {string} text */
async function isHolderDead(text) {
  const [pid, start] = text.split(' ');
  if (!(Number(pid) > 0)) return false; // it was released meanwhile
  if (Number(pid) === process.pid) return !ownLocks.has(text);
  return !(await isSameProcess(Number(pid), /^\d+$/.test(start ?? '') ? start : null));
}

/**
 * Replaces the lock of a dead process by this one's. That needs a lock of its own, named after the token of the dead one, so
 * that only one process replaces it.
 * @param {{ path: string, mine: string, found: string }} lock
 */
async function replaceDead({ path, mine, found }) {
  return withFileLock(`${path}.${found.replace(/^.* /, 'dead-')}`, async () => {
    if ((await read(path)) !== found) return false;
    const replacement = `${mine}.lock`;
    await link(mine, replacement);
    await rename(replacement, path); // not keepWholeFile, which would remove the name of the waiting file
    return true;
  });
}
