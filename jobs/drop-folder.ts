import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { readFeedLoad, type FeedLoad } from '../pipelines/intake/feed-load.ts';
import { FEEDS, type FeedName } from '../pipelines/intake/feed.ts';
import type { Config } from '../runtime/config.ts';
import { isServiceError, ServiceError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { inTransaction, queryRow, type Pool, type Queryable } from '../runtime/postgres.ts';
import { repeat } from '../runtime/shutdown.ts';
import { sql } from '../sql/sql.ts';
import type { Queues } from './backend.ts';
import { enqueueFeedLoad } from './enqueue.ts';

const dropFeeds: readonly FeedName[] = FEEDS.map(({ name }) => name);

/** Hands a file to the intake, which copies it and records its load; `submittedBy` is kept with the load. */
export type SubmitDropped = (file: { feed: FeedName; path: string; submittedBy: string }) => Promise<{ loadId: number }>;

export interface DropFolderOptions {
  readonly config: Pick<Config, 'dropDir' | 'dropPollSeconds' | 'dropSettleSeconds'>;
  readonly db: Pool;
  readonly queues: Queues;
  readonly log: Log;
  readonly submit: SubmitDropped;
  readonly clock: () => Date;
}

/** A watcher that can look once, for tests and for {@link watchDropFolder}. */
export interface DropFolder {
  look(): Promise<void>;
}

/**
 * Watches the drop folder: takes settled files by a rename into `taken/`, submits each once, and when its load has ended
 * moves it to `done/` or `rejected/` beside `<name>.result.json`. Several watchers may share a folder, and one may be
 * killed at any point: a taken file is known to the database by an id in its path.
 */
export function watchDropFolder(options: DropFolderOptions): { stop(): Promise<void> } {
  const folder = openDropFolder(options);
  return repeat({
    seconds: options.config.dropPollSeconds,
    work: () => folder.look(),
    onError: (error) => options.log.error({ err: error }, 'the drop folder could not be read'),
  });
}

/** What was seen of a file, and since when it is unchanged. */
interface Sighting {
  readonly size: number;
  readonly changed: number;
  readonly inode: number;
  readonly since: number;
}

/** A file in `taken/<feed>/<id>/<name>`. */
interface TakenFile {
  readonly feed: FeedName;
  readonly id: string;
  readonly name: string;
  readonly path: string;
}

export function openDropFolder(options: DropFolderOptions): DropFolder {
  const sightings = new Map<string, Sighting>();
  return {
    async look() {
      await makeFolders(options.config.dropDir);
      for (const feed of dropFeeds) await takeSettled(options, feed, sightings);
      for (const file of await listTaken(options.config.dropDir)) {
        await handleTaken(options, file).catch((error: unknown) => {
          options.log.warn({ err: error, feed: file.feed, file: file.name }, 'a dropped file could not be handled and is tried again');
        });
      }
    },
  };
}

async function makeFolders(dropDir: string): Promise<void> {
  const folders = [...dropFeeds, ...dropFeeds.map((feed) => join('taken', feed)), 'done', 'rejected'];
  await Promise.all(folders.map((folder) => mkdir(join(dropDir, folder), { recursive: true })));
}

async function takeSettled(options: DropFolderOptions, feed: FeedName, sightings: Map<string, Sighting>): Promise<void> {
  const folder = join(options.config.dropDir, feed);
  const names = (await readdir(folder)).filter(isOffered);
  const present = new Set(names.map((name) => join(folder, name)));
  for (const path of sightings.keys()) if (path.startsWith(join(folder, '/')) && !present.has(path)) sightings.delete(path);
  for (const name of names) {
    if (!(await hasSettled(join(folder, name), sightings, options))) continue;
    if (await take(options.config.dropDir, feed, name)) options.log.info({ feed, file: name }, 'a dropped file was taken');
  }
}

const abandonedMs = 60_000;

/** Files that are still being written are named so, or begin with a dot, by the tools that copy them. */
function isOffered(name: string): boolean {
  return !name.startsWith('.') && !/\.(part|tmp|partial|crdownload)$/i.test(name);
}

async function hasSettled(path: string, sightings: Map<string, Sighting>, { config, clock }: DropFolderOptions): Promise<boolean> {
  const stats = await statOrUndefined(path);
  if (stats === undefined) return false;
  const now = clock().getTime();
  const before = sightings.get(path);
  const unchanged = before !== undefined && before.size === stats.size && before.changed === stats.mtimeMs && before.inode === stats.ino;
  const since = unchanged ? before.since : now;
  sightings.set(path, { size: stats.size, changed: stats.mtimeMs, inode: stats.ino, since });
  return now - since >= config.dropSettleSeconds * 1000;
}

/** Moves a file into a new folder of `taken/`, which only one watcher can do. */
async function take(dropDir: string, feed: FeedName, name: string): Promise<boolean> {
  const claim = join(dropDir, 'taken', feed, randomBytes(8).toString('hex'));
  await mkdir(claim);
  try {
    await rename(join(dropDir, feed, name), join(claim, name));
    return true;
  } catch (error) {
    await rmdir(claim).catch(() => {});
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false; // another watcher was faster
    throw error;
  }
}

async function listTaken(dropDir: string): Promise<TakenFile[]> {
  const files: TakenFile[] = [];
  for (const feed of dropFeeds) {
    for (const id of await readdir(join(dropDir, 'taken', feed))) {
      const names = await readdir(join(dropDir, 'taken', feed, id)).catch(() => []);
      if (names.length === 0) await removeAbandoned(join(dropDir, 'taken', feed, id));
      files.push(...names.map((name) => ({ feed, id, name, path: join(dropDir, 'taken', feed, id, name) })));
    }
  }
  return files;
}

/** Removes an empty folder of `taken/` whose watcher was killed, but not one that a living watcher has just made. */
async function removeAbandoned(claim: string): Promise<void> {
  const stats = await statOrUndefined(claim);
  if (stats !== undefined && Date.now() - stats.mtimeMs > abandonedMs) await rmdir(claim).catch(() => {});
}

/** One step of a taken file, by one watcher at a time: submit it, wait for its load, or put it away. */
async function handleTaken(options: DropFolderOptions, file: TakenFile): Promise<void> {
  await inTransaction(options.db, async (client) => {
    const lock = await queryRow<{ taken: boolean }>(client, sql('jobs/lock_dropped_file'), [file.id]);
    if (!lock!.taken || (await statOrUndefined(file.path)) === undefined) return;
    const load = await findLoad(client, file);
    if (load === undefined) await submit(options, file);
    else if (load.state === 'done' || load.state === 'failed') await putAway(options, file, resultOf(file, load));
  });
}

async function findLoad(client: Queryable, file: TakenFile): Promise<FeedLoad | undefined> {
  const row = await queryRow<{ load_id: number }>(client, sql('jobs/find_dropped_load'), [submitterOf(file)]);
  return row === undefined ? undefined : readFeedLoad(client, row.load_id);
}

/** Kept with the load, so that a watcher that was killed after the submission finds it again. */
function submitterOf({ id }: TakenFile): string {
  return `drop folder ${id}`;
}

async function submit(options: DropFolderOptions, file: TakenFile): Promise<void> {
  try {
    await requireRegularFile(file);
    const { loadId } = await options.submit({ feed: file.feed, path: file.path, submittedBy: submitterOf(file) });
    options.log.info({ feed: file.feed, file: file.name, loadId }, 'a dropped file is queued');
    // If this fails the reconciler queues the load.
    await enqueueFeedLoad(options.queues, { loadId }).catch((error: unknown) => options.log.warn({ err: error, loadId }, 'the load could not be queued yet'));
  } catch (error) {
    if (!isServiceError(error) || error.facts.retry) throw error;
    await putAway(options, file, { id: file.id, outcome: 'rejected', feed: file.feed, file: file.name, failure: { code: error.code, reason: error.problem }, load: null });
  }
}

async function requireRegularFile({ path, name }: TakenFile): Promise<void> {
  const stats = await lstat(path);
  if (stats.isFile()) return;
  const what = stats.isSymbolicLink() ? 'a symbolic link' : stats.isDirectory() ? 'a folder' : 'not a file';
  throw new ServiceError('feed_file_invalid', { operation: 'take dropped file', object: name, problem: `The feed is ${what}, and must be a regular file.` });
}

/** What `<name>.result.json` says: of a file that was refused at once there is no load. */
interface DropResult {
  /** Of the taken file; kept with the load as `drop folder <id>`. */
  readonly id: string;
  readonly outcome: 'done' | 'rejected';
  readonly feed: FeedName;
  readonly file: string;
  readonly failure: { readonly code: string; readonly reason: string } | null;
  readonly load: FeedLoad | null;
}

function resultOf({ id, feed, name }: TakenFile, load: FeedLoad): DropResult {
  return { id, outcome: load.state === 'done' ? 'done' : 'rejected', feed, file: name, failure: load.failure, load };
}

/**
 * Writes the result, then moves the file: a watcher killed in between does both again. The result is complete when the
 * file lies beside it.
 */
async function putAway({ config, log }: DropFolderOptions, file: TakenFile, result: DropResult): Promise<void> {
  const folder = join(config.dropDir, result.outcome);
  const name = await writeResult(folder, file, result);
  await rename(file.path, join(folder, name));
  await rm(dirname(file.path), { recursive: true, force: true });
  log.info({ feed: file.feed, file: name, outcome: result.outcome, failure: result.failure?.code }, 'a dropped file is put away');
}

/** Writes the result under the file's own name, or where that is taken or too long under one with its id. Returns the name. */
async function writeResult(folder: string, file: TakenFile, result: DropResult): Promise<string> {
  const text = `${JSON.stringify(result, null, 2)}\n`;
  const ownName = Buffer.byteLength(file.name) <= nameBytesMax && (await statOrUndefined(join(folder, file.name))) === undefined;
  if (ownName && (await writeOnce(join(folder, `${file.name}.result.json`), text, file.id))) return file.name;
  const name = nameWithId(file);
  await writeFile(join(folder, `${name}.result.json`), text);
  return name;
}

/** Writes a new file; true also if it is there from an earlier try for the same taken file. */
async function writeOnce(path: string, text: string, id: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!(await readFile(path, 'utf8')).includes(`"id": "${id}"`)) return false;
    await writeFile(path, text);
    return true;
  }
}

const nameBytesMax = 200; // a file system allows 255, and the result's ending must fit

/** `names.<id>.csv`, shortened to a length that every file system takes. */
function nameWithId({ name, id }: TakenFile): string {
  const { name: stem, ext } = parse(name);
  const short = Buffer.from(stem).subarray(0, nameBytesMax - 60).toString('utf8').replace(/\uFFFD+$/, '');
  return `${short}.${id}${ext.slice(0, 20)}`;
}

async function statOrUndefined(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
