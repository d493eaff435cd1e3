import { randomBytes } from 'node:crypto';
import { link, mkdir, open, rename, rm, unlink, type FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/** How a file gets its name. */
interface NamingOptions {
  /** Content and name survive a crash of the machine after the call; false: a crash of the process only. */
  readonly durable: boolean;
}

/** How a file is written. */
interface WritingOptions extends NamingOptions {
  /** Permissions; default: 0o666 less the umask. */
  readonly mode?: number;
  /** Temporary path, on the same file system. Default: a new name next to the file. */
  readonly unfinished?: string;
}

/** The content of a file, or a function that writes it. */
export type Content = string | Uint8Array | ((file: FileHandle) => Promise<unknown>);

/** Writes a file under a temporary name and renames it, so that a reader sees the complete new file or the old one. */
export async function writeWholeFile(path: string, content: Content, options: WritingOptions): Promise<void> {
  await withUnfinished(path, content, options, (unfinished) => rename(unfinished, path));
}

/** Writes a new file as {@link writeWholeFile} does; false, without a change, if the path exists. */
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

/** Renames a closed file (or a directory with synced files) to its final path, in a directory that is created if necessary. */
export async function keepWholeFile(unfinished: string, path: string, { durable }: NamingOptions): Promise<void> {
  if (durable) await syncPath(unfinished);
  await makeDirectory(dirname(path), durable);
  await rename(unfinished, path);
  if (durable) await syncPath(dirname(path));
}

/** Syncs a file, or the names in a directory, to disk. */
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

/** Creates a directory with its parents. The parent of each new one is synced, since it has its name. */
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
