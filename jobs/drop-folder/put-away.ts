import type { Stats } from 'node:fs';
import { lstat, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { createWholeFile, writeWholeFile } from '../../runtime/whole-file.ts';

/**
 * Writes `<name>.result.json` into the folder, then moves the file there: a watcher killed in between does both again.
 * The result is complete when the file lies beside it. Returns the name.
 */
export async function putFileAway(folder: string, entry: TakenEntry, result: { readonly id: string }): Promise<string> {
  const name = await writeResultBeside(folder, entry, `${JSON.stringify(result, null, 2)}\n`);
  await rename(entry.path, join(folder, name));
  await rm(dirname(entry.path), { recursive: true, force: true });
  return name;
}

/** Writes the result under the file's own name, or where that is taken or too long under one with its id. Returns the name. */
async function writeResultBeside(folder: string, entry: TakenEntry, text: string): Promise<string> {
  if (
    (await isOwnNameFree(folder, entry)) &&
    (await writeOnce(join(folder, `${entry.name}.result.json`), text, entry.id))
  )
    return entry.name;
  const name = nameWithId(entry);
  await replaceFile(join(folder, `${name}.result.json`), (append) => append(text));
  return name;
}

/** Writes a new file, which whoever reads it sees whole; true also if it is there from an earlier try for the same taken file. */
async function writeOnce(path: string, text: string, id: string): Promise<boolean> {
  if (await createWholeFile(path, text, { durable: true })) return true;
  if (!(await readFile(path, 'utf8')).includes(`"id": "${id}"`)) return false;
  await writeWholeFile(path, text, { durable: true });
  return true;
}

/** Moves a folder, whose result lies in it, into another one. The rename alone ends it, so that a killed watcher does it again. Returns the name. */
export async function putFolderAway(folder: string, entry: TakenEntry): Promise<string> {
  const name =
    (await isOwnNameFree(folder, entry)) && (await renameFolder(entry.path, join(folder, entry.name)))
      ? entry.name
      : nameWithId(entry);
  if (name !== entry.name) await rename(entry.path, join(folder, name));
  await rm(dirname(entry.path), { recursive: true, force: true });
  return name;
}

/** False if another watcher has put something of the same name there first. */
async function renameFolder(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** Replaces what is there, a folder too, by a whole and durable file. Its unfinished name is fixed: an unknown one would be a file of the request. */
export async function replaceFile(
  path: string,
  write: (append: (content: string | Uint8Array) => Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  const unfinished = `${path}.tmp`;
  await rm(unfinished, { recursive: true, force: true }); // what a killed watcher left
  await rm(path, { recursive: true, force: true });
  await writeWholeFile(path, (file) => write((content) => file.appendFile(content)), { durable: true, unfinished });
}

const nameBytesMax = 200; // a file system allows 255, and the result's ending must fit

async function isOwnNameFree(folder: string, { name }: TakenEntry): Promise<boolean> {
  return Buffer.byteLength(name) <= nameBytesMax && (await statOrUndefined(join(folder, name))) === undefined;
}

/** `names.<id>.csv`, shortened to a length that every file system takes. */
function nameWithId({ name, id }: TakenEntry): string {
  const { name: stem, ext } = parse(name);
  const short = Buffer.from(stem)
    .subarray(0, nameBytesMax - 60)
    .toString('utf8')
    .replace(/\uFFFD+$/, '');
  return `${short}.${id}${ext.slice(0, 20)}`;
}

/** What a path is, without following a link; undefined if nothing is there. */
export async function statOrUndefined(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** In words what a path is, for those who put it there. */
export function describeKind(stats: Stats): string {
  if (stats.isFile()) return 'a file';
  return stats.isSymbolicLink() ? 'a symbolic link' : stats.isDirectory() ? 'a folder' : 'not a file';
}

/** Something in `taken/<inbox>/<id>/<name>`. */
export interface TakenEntry {
  readonly id: string;
  readonly name: string;
  readonly path: string;
}
