import { isUtf8 } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../runtime/config.ts';
import type { Log } from '../../runtime/log.ts';
import { inTransaction, queryRow, type Pool } from '../../runtime/postgres.ts';
import { repeat } from '../../runtime/processes/repeat.ts';
import { sql } from '../../sql/sql.ts';
import { statOrUndefined } from './taken-entry.ts';
import { isOffered, observeFile, type Inbox, type Observation } from './inbox.ts';
import type { TakenEntry } from './taken-entry.ts';

/** Settings and services of a watcher. */
interface DropFolderOptions {
  readonly config: Pick<Config, 'dropDir' | 'dropSettleSeconds'>;
  readonly db: Pool;
  readonly log: Log;
  readonly inboxes: readonly Inbox[];
  readonly clock: () => Date;
  /** Called after each poll without an error. */
  readonly onDone?: () => void;
}

/** A watcher without its timer, for tests and for {@link watchDropFolder}. */
export interface DropFolder {
  poll(): Promise<void>;
}

/**
 * Watches the drop folder: moves entries that no longer change to `taken/`, from where their inbox moves them to `done/` or
 * `rejected/`. Several watchers may share a folder, and one may be killed at any point: the database knows a taken entry
 * by the id in its path.
 */
export function watchDropFolder(options: DropFolderOptions): { stop(): Promise<void> } {
  const folder = openDropFolder(options);
  const loop = repeat({
    seconds: pollSeconds(options.config),
    work: () => folder.poll().then(() => options.onDone?.()),
    onError: (error) => options.log.error({ err: error }, 'the drop folder could not be read'),
  });
  return {
    async stop() {
      await loop.stop();
      await Promise.all(options.inboxes.map((inbox) => inbox.close()));
    },
  };
}

/** Seconds between two polls: half of those without a change before an entry is taken, and at most 5. */
const pollSeconds = ({ dropSettleSeconds }: Pick<Config, 'dropSettleSeconds'>): number =>
  Math.min(5, Math.max(1, Math.ceil(dropSettleSeconds / 2)));

/** The last observed state of an entry, and since when it is unchanged, in milliseconds since 1970. */
interface TrackedEntry {
  readonly fingerprint: string;
  readonly since: number;
}

/** The watcher itself. It remembers the entries that may still be written. */
export function openDropFolder(options: DropFolderOptions): DropFolder {
  const { config, inboxes, log } = options;
  const tracked = new Map<string, TrackedEntry>();
  return {
    async poll() {
      await makeFolders(config.dropDir, inboxes);
      for (const inbox of inboxes) {
        await takeStable(options, inbox, tracked);
        for (const entry of await listTaken(config.dropDir, inbox)) {
          await advanceTaken(options, inbox, entry).catch((error: unknown) => {
            log.warn(
              { err: error, inbox: inbox.name, file: entry.name },
              'a dropped file could not be handled and is tried again',
            );
          });
        }
      }
    },
  };
}

async function makeFolders(dropDir: string, inboxes: readonly Inbox[]): Promise<void> {
  const folders = [...inboxes.flatMap(({ name }) => [name, join('taken', name)]), 'done', 'rejected'];
  await Promise.all(folders.map((folder) => mkdir(join(dropDir, folder), { recursive: true })));
}

async function takeStable(options: DropFolderOptions, inbox: Inbox, tracked: Map<string, TrackedEntry>): Promise<void> {
  const { config, log } = options;
  const folder = join(config.dropDir, inbox.name);
  const given = await readdir(folder, { encoding: 'buffer' });
  const names = given.filter(isUtf8).map(String).filter(isOffered);
  const misnamed = given.filter((name) => !isUtf8(name));
  const present = new Set([...names, ...misnamed.map(keyOf)].map((name) => join(folder, name)));
  for (const path of tracked.keys()) if (path.startsWith(join(folder, '/')) && !present.has(path)) tracked.delete(path);
  for (const name of misnamed) await renameStable(options, { folder, name, tracked });
  for (const name of names) {
    try {
      const path = join(folder, name);
      if (!(await isStable(path, { observe: () => inbox.observe(path), tracked, now: options.clock().getTime() })))
        continue;
      if (await take(config.dropDir, inbox, name))
        log.info({ inbox: inbox.name, file: name }, 'a dropped file was taken');
    } catch (error) {
      log.warn({ err: error, inbox: inbox.name, file: name }, 'a dropped file could not be taken and is tried again'); // the others are still taken
    }
  }
}

/** Renames an entry whose name is not UTF-8, when it no longer changes; a later poll takes it under its new name. */
async function renameStable(
  { config, clock, log }: DropFolderOptions,
  { folder, name, tracked }: { folder: string; name: Buffer; tracked: Map<string, TrackedEntry> },
): Promise<void> {
  const path = Buffer.concat([Buffer.from(join(folder, '/')), name]);
  const readable = join(folder, readableName(name));
  try {
    const observe = () => observeFile(path, config);
    if (!(await isStable(join(folder, keyOf(name)), { observe, tracked, now: clock().getTime() }))) return;
    if ((await statOrUndefined(readable)) !== undefined) throw new Error(`${readable} exists`);
    await rename(path, readable);
    log.warn({ file: readable }, 'the name of a dropped file was not UTF-8; its other bytes are percent-encoded');
  } catch (error) {
    log.warn({ err: error, file: readable }, 'a dropped file could not be renamed to UTF-8 and is tried again');
  }
}

/** Tracks an entry apart from another one that has its readable name. */
const keyOf = (name: Buffer): string => `${readableName(name)}\0`;

/** The name in UTF-8, with each byte that is not part of it as %XX. */
function readableName(name: Buffer): string {
  let text = '';
  for (let at = 0; at < name.length;) {
    const length = [1, 2, 3, 4].find((bytes) => at + bytes <= name.length && isUtf8(name.subarray(at, at + bytes)));
    text +=
      length === undefined
        ? `%${name.toString('hex', at, at + 1).toUpperCase()}`
        : name.toString('utf8', at, at + length);
    at += length ?? 1;
  }
  return text;
}

async function isStable(
  path: string,
  {
    observe,
    tracked,
    now,
  }: { observe: () => Promise<Observation | null>; tracked: Map<string, TrackedEntry>; now: number },
): Promise<boolean> {
  const observation = await observe();
  if (observation === null) {
    tracked.delete(path);
    return false;
  }
  const { fingerprint, stableSeconds } = observation;
  const before = tracked.get(path);
  const since = before !== undefined && before.fingerprint === fingerprint ? before.since : now;
  tracked.set(path, { fingerprint, since });
  return now - since >= stableSeconds * 1000;
}

/** Moves an entry to a new folder of `taken/`; only one watcher succeeds. */
async function take(dropDir: string, inbox: Inbox, name: string): Promise<boolean> {
  const claim = join(dropDir, 'taken', inbox.name, randomBytes(8).toString('hex'));
  await mkdir(claim);
  try {
    await rename(join(dropDir, inbox.name, name), join(claim, name));
    return true;
  } catch (error) {
    await rmdir(claim).catch(() => {});
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false; // another watcher was faster
    throw error;
  }
}

async function listTaken(dropDir: string, inbox: Inbox): Promise<TakenEntry[]> {
  const entries: TakenEntry[] = [];
  const taken = join(dropDir, 'taken', inbox.name);
  for (const id of await readdir(taken)) {
    const names = await readdir(join(taken, id)).catch(() => []);
    if (names.length === 0) await removeAbandoned(join(taken, id));
    entries.push(...names.map((name) => ({ id, name, path: join(taken, id, name) })));
  }
  return entries;
}

const abandonedMs = 60_000;

/** Removes an empty folder of `taken/` whose watcher was killed, but not one that a running watcher has just made. */
async function removeAbandoned(claim: string): Promise<void> {
  const stats = await statOrUndefined(claim);
  if (stats !== undefined && Date.now() - stats.mtimeMs > abandonedMs) await rmdir(claim).catch(() => {});
}

/** One step of a taken entry, by one watcher at a time. */
async function advanceTaken({ db }: DropFolderOptions, inbox: Inbox, entry: TakenEntry): Promise<void> {
  await inTransaction(db, async (client) => {
    const lock = await queryRow<{ taken: boolean }>(client, sql('jobs/lock_dropped_file'), [entry.id]);
    if (lock!.taken && (await statOrUndefined(entry.path)) !== undefined) await inbox.advance(client, entry);
  });
}
