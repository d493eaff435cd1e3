import type { Stats } from 'node:fs';
import { lstat, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, parse } from 'node:path';
import { createWholeFile, writeWholeFile } from '../../runtime/files/whole-file.ts';
import { ifExists } from '../../runtime/files/if-exists.ts';

/** An entry of `taken/<inbox>/<id>/<name>`. */
export interface TakenEntry {
  readonly id: string;
  readonly name: string;
  readonly path: string;
}

/**
 * Writes `<name>.result.json` into the folder, then moves the file there; after a kill in between, both are done again.
 * The result is complete when the file is next to it. Returns the name.
 */
export async function finishFile(folder: string, entry: TakenEntry, result: { readonly id: string }): Promise<string> {
  const name = await writeFileResult(folder, entry, `${JSON.stringify(result, null, 2)}\n`);
  await rename(entry.path, join(folder, name));
  await rm(dirname(entry.path), { recursive: true, force: true });
  return name;
}

/** Writes the result under the file's own name, or one with its id if that is taken or too long. Returns the name. */
async function writeFileResult(folder: string, entry: TakenEntry, text: string): Promise<string> {
  if (
    (await isOwnNameFree(folder, entry)) &&
    (await writeOnce(join(folder, `${entry.name}.result.json`), text, entry.id))
  )
    return entry.name;
  const name = nameWithId(entry);
  await replaceFile(join(folder, `${name}.result.json`), (append) => append(text));
  return name;
}

/** Writes a new file, which readers see complete; true also if an earlier attempt for the same taken file wrote it. */
async function writeOnce(path: string, text: string, id: string): Promise<boolean> {
  if (await createWholeFile(path, text, { durable: true })) return true;
  if (!(await readFile(path, 'utf8')).includes(`"id": "${id}"`)) return false;
  await writeWholeFile(path, text, { durable: true });
  return true;
}

/** Moves a folder with its result into another one by a single rename, which is safe to repeat after a kill. Returns the name. */
export async function finishFolder(folder: string, entry: TakenEntry): Promise<string> {
  const name =
    (await isOwnNameFree(folder, entry)) && (await renameFolder(entry.path, join(folder, entry.name)))
      ? entry.name
      : nameWithId(entry);
  if (name !== entry.name) await rename(entry.path, join(folder, name));
  await rm(dirname(entry.path), { recursive: true, force: true });
  return name;
}

/** False if the name is taken meanwhile. */
async function renameFolder(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/**
 * Replaces a file or folder by a complete, durable file. The unfinished name is fixed: an unknown one would count as a file of the
 * request.
 */
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

/** The stats of a path, without following a link; undefined if it does not exist. */
export function statOrUndefined(path: string | Buffer): Promise<Stats | undefined> {
  return ifExists(lstat(path));
}

/** False for a link to a folder, which is not followed. */
export async function isFolder({ path }: TakenEntry): Promise<boolean> {
  return (await statOrUndefined(path))?.isDirectory() === true;
}

/** The kind of a file, as messages name it. */
export function describeKind(stats: Stats): string {
  if (stats.isFile()) return 'a file';
  return stats.isSymbolicLink() ? 'a symbolic link' : stats.isDirectory() ? 'a folder' : 'not a file';
}
