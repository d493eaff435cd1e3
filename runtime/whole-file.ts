import { randomBytes } from 'node:crypto';
import { link, mkdir, open, rename, rm, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** How a file gets its name. */
export interface NamingOptions {
  /** True: content and name survive a crash of the machine once the call has returned. False: a crash of the process only. */
  readonly durable: boolean;
}

/** How a file is written. */
export interface WritingOptions extends NamingOptions {
  /** Permissions; default: 0o666 less the umask. */
  readonly mode?: number;
  /** Where it is written before it gets its name, on the same file system. Default: a new name beside it. */
  readonly unfinished?: string;
}

/** A file's content, or what writes it. */
export type Content = string | Uint8Array | ((file: FileHandle) => Promise<unknown>);

/** Writes a file under another name and renames it, so that a reader of `path` sees all of it or what was there before. */
export async function writeWholeFile(path: string, content: Content, options: WritingOptions): Promise<void> {
  await withUnfinished(path, content, options, (unfinished) => rename(unfinished, path));
}

/** Writes a new file as {@link writeWholeFile} does; false, and nothing is changed, if something of this name is there. */
export async function createWholeFile(path: string, content: Content, options: WritingOptions): Promise<boolean> {
  let created = true;
  await withUnfinished(path, content, options, async (unfinished) => {
    await link(unfinished, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      created = false;
    });
    await unlink(unfinished);
  });
  return created;
}

/** Gives a file (or a directory, whose files the caller has synced) that is written and closed its name, in a directory that is made if need be. */
export async function keepWholeFile(unfinished: string, path: string, { durable }: NamingOptions): Promise<void> {
  if (durable) await syncPath(unfinished);
  await makeDirectory(dirname(path), durable);
  await rename(unfinished, path);
  if (durable) await syncPath(dirname(path));
}

/** Has the disk take what was written to a file, or the names in a directory. */
export async function syncPath(path: string): Promise<void> {
  const opened = await open(path, 'r');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

async function withUnfinished(
  path: string,
  content: Content,
  { durable, mode = 0o666, unfinished = temporaryName(path) }: WritingOptions,
  name: (unfinished: string) => Promise<void>,
): Promise<void> {
  await makeDirectory(dirname(path), durable);
  try {
    const file = await open(unfinished, 'wx', mode);
    try {
      await (typeof content === 'function' ? content(file) : file.writeFile(content));
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    await name(unfinished);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  if (durable) await syncPath(dirname(path));
}

function temporaryName(path: string): string {
  return `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
}

/** Makes a directory with those above it. The name of each new one is in the one above, which is synced. */
async function makeDirectory(directory: string, durable: boolean): Promise<void> {
  const first = await mkdir(directory, { recursive: true });
  if (first === undefined || !durable) return;
  for (let made = resolve(directory); ; made = dirname(made)) {
    await syncPath(dirname(made));
    if (made === resolve(first) || made === dirname(made)) return;
  }
}

/** Writes all bytes at the current position of a file; one call of `write` may write fewer. */
export async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += (await file.write(bytes, at)).bytesWritten;
}
