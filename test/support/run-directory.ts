import { chmod, mkdir, mkdtemp, readdir, readFile, readlink, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSameProcess, startOfProcess } from '../../runtime/files/file-lock.mjs';
import { removeStateDirectory } from '../../runtime/services/embedded-postgres.ts';

/** The file system in memory, where Linux has one. */
const memory = '/dev/shm';

/** What a whole run takes at most in memory, with room to spare. */
const memoryBytesMin = 4 * 1024 ** 3;

/** The directory of a run: the cluster's state and the temporary files of all tests. */
export interface RunDirectory {
  readonly stateDir: string;
  readonly temporary: string;
  /** Stops the cluster if it still runs, and removes everything. */
  remove(): Promise<void>;
}

/**
 * Makes the directory of this run, in memory where there is room: every TRUNCATE, temporary table and database of a test creates
 * and removes some dozens of files, for which ext4 took two fifths of the processor time of PostgreSQL. What killed runs have left
 * is removed first. A large run writes more than memory may hold.
 */
export async function makeRunDirectory({ isLarge }: { isLarge: boolean }): Promise<RunDirectory> {
  const place = !isLarge && (await hasRoom()) ? memory : tmpdir();
  await removeLeftovers(place);
  const directory = await mkdtemp(join(place, prefix)); // short: a socket's path has 107 bytes at most
  await writeFile(join(directory, ownerFile), JSON.stringify(await describeProcess(process.pid)));
  await chmod(directory, 0o755); // the accounts of servers must reach what is theirs
  const temporary = join(directory, 'tmp');
  await mkdir(temporary);
  await chmod(temporary, 0o1777); // as /tmp has it
  return { stateDir: join(directory, 'state'), temporary, remove: () => removeRun(directory) };
}

async function hasRoom(): Promise<boolean> {
  const { bavail, bsize } = await statfs(memory).catch(() => ({ bavail: 0, bsize: 0 }));
  return Math.min(bavail * bsize, process.availableMemory()) >= memoryBytesMin;
}

const prefix = 'caller-trust-run-';
const ownerFile = 'owner.json';

/** A process, with the namespace of its id: in a directory that containers share, an id of another one says nothing here. */
interface Owner {
  readonly namespace: string;
  readonly pid: number;
  readonly start: string | null;
}

async function describeProcess(pid: number): Promise<Owner> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '');
  return { namespace, pid, start: await startOfProcess(pid) };
}

async function removeLeftovers(place: string): Promise<void> {
  const { namespace } = await describeProcess(process.pid);
  for (const name of await readdir(place)) {
    if (!name.startsWith(prefix)) continue;
    const directory = join(place, name);
    const text = await readFile(join(directory, ownerFile), 'utf8').catch(() => '');
    if (text === '') continue; // it is being made, or is of another user
    const owner = JSON.parse(text) as Owner;
    if (owner.namespace !== namespace || (await isSameProcess(owner.pid, owner.start))) continue;
    await removeRun(directory).catch(() => {}); // of another user
  }
}

async function removeRun(directory: string): Promise<void> {
  await removeStateDirectory(join(directory, 'state'));
  await rm(directory, { recursive: true, force: true });
}
