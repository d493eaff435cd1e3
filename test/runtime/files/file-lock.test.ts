import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { isProcessAlive, startOfProcess, withFileLock } from '../../../runtime/files/file-lock.mjs';

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-lock-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const path = join(directory, 'lock');
const deadPid = 2 ** 22 + 1; // above the greatest process id of Linux and macOS

beforeEach(() => rm(path, { force: true }));

/** Runs `count` holders at once and returns the highest number of concurrent ones. */
async function mostInside(count: number): Promise<number> {
  let inside = 0;
  let most = 0;
  const hold = () =>
    withFileLock(path, async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 2));
      inside--;
    });
  await Promise.all(Array.from({ length: count }, hold));
  return most;
}

describe('withFileLock', () => {
  it('lets one in at a time', async () => {
    expect(await mostInside(20)).toBe(1);
    expect(await readdir(directory)).toEqual([]);
  });

  it('lets one in at a time when all of them find the lock of a dead process', async () => {
    for (let round = 0; round < 20; round++) {
      await writeFile(path, `${deadPid} token${round}`);
      expect(await mostInside(8)).toBe(1);
    }
    expect(await readdir(directory)).toEqual([]);
  });

  it('names its holder, and is free again after an error', async () => {
    await expect(
      withFileLock(path, async () => {
        expect(await readFile(path, 'utf8')).toMatch(new RegExp(`^${process.pid} [0-9]+ [0-9a-f]{16}$`));
        throw new Error('inside');
      }),
    ).rejects.toThrow('inside');
    expect(await readdir(directory)).toEqual([]);
  });

  it('is taken over from a dead process that had our id, and when one that took it over has died in the middle', async () => {
    await writeFile(path, `${process.pid} of-a-container-before`);
    await writeFile(`${path}.dead-of-a-container-before`, `${deadPid} other`);
    expect(await withFileLock(path, async () => 'taken')).toBe('taken');
    expect(await readdir(directory)).toEqual([]);
  });

  it('is taken over from a dead process whose id another one has', async () => {
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await writeFile(path, `${other.pid} 123 token`);
    expect(await withFileLock(path, async () => 'taken', { waitSecondsMax: 5 })).toBe('taken');
    const text = `${other.pid} ${await startOfProcess(other.pid!)} token`;
    await writeFile(path, text);
    const refused = withFileLock(path, async () => 'taken', { waitSecondsMax: 0.2 });
    await expect(refused).rejects.toThrow(`is held by process ${other.pid}`);
    expect(await readFile(path, 'utf8')).toBe(text);
    other.kill('SIGKILL');
    expect(await withFileLock(path, async () => 'taken')).toBe('taken');
    expect(await readdir(directory)).toEqual([]);
  });

  it('lets one in at a time after a long wait too', async () => {
    const holder = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await writeFile(path, `${holder.pid} token`);
    const most = mostInside(12);
    await new Promise((resolve) => setTimeout(resolve, 11_000));
    holder.kill('SIGKILL');
    expect(await most).toBe(1);
  });

  it('is taken over from a process that was killed', async () => {
    const holder = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    await writeFile(path, `${holder.pid} token`);
    const taken = withFileLock(path, async () => 'taken');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isProcessAlive(holder.pid!)).toBe(true);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    expect(await taken).toBe('taken');
  });
});
