import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../runtime/errors.ts';
import { keepWholeFile } from '../../runtime/files/whole-file.ts';

/** A submitted file before its load, named by its content, so that the same bytes are stored once. */
export interface SpooledFile {
  readonly sha256: string;
  readonly bytes: number;
}

/** An unnamed copy of a submitted file. */
interface IncomingFile extends SpooledFile {
  /** Makes it the spooled file of its content. */
  keep(): Promise<void>;
  discard(): Promise<void>;
}

const copyBytes = 1024 * 1024;
const unfinishedPrefix = 'incoming-';

/** Path of a spooled file. */
export function spooledPath(feedDir: string, sha256: string): string {
  return join(feedDir, sha256);
}

/**
 * Copies a regular file durably into the feed directory, without its final name. Links are not followed.
 * @throws ServiceError `feed_not_found`, `feed_file_invalid`
 */
export async function receiveFile(feedDir: string, path: string): Promise<IncomingFile> {
  await mkdir(feedDir, { recursive: true });
  const source = await openRegular(path);
  const unfinished = join(feedDir, `${unfinishedPrefix}${randomBytes(8).toString('hex')}`);
  try {
    const copied = await copyDurably(source, unfinished);
    return {
      ...copied,
      keep: () => keepWholeFile(unfinished, spooledPath(feedDir, copied.sha256), { durable: true }),
      discard: () => rm(unfinished, { force: true }),
    };
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  } finally {
    await source.close();
  }
}

/** Removes a spooled file, if it exists. */
export function removeSpooled(feedDir: string, sha256: string): Promise<void> {
  return rm(spooledPath(feedDir, sha256), { force: true });
}

/** The digests of the spooled files. */
export async function listSpooled(feedDir: string): Promise<string[]> {
  return (await readdir(feedDir).catch(() => [])).filter((name) => /^[0-9a-f]{64}$/.test(name));
}

/** Removes copies of killed submissions: those not written to for `idleMs`. Returns their number. */
export async function sweepUnfinished(feedDir: string, idleMs = 3_600_000): Promise<number> {
  const names = (await readdir(feedDir).catch(() => [])).filter((name) => name.startsWith(unfinishedPrefix));
  const ages = await Promise.all(
    names.map((name) =>
      stat(join(feedDir, name)).then(
        ({ mtimeMs }) => Date.now() - mtimeMs,
        () => 0,
      ),
    ),
  );
  const dead = names.filter((_name, place) => ages[place]! > idleMs);
  await Promise.all(dead.map((name) => rm(join(feedDir, name), { force: true })));
  return dead.length;
}

async function openRegular(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK the open of a named pipe would wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      throw submitError(
        error.code === 'ENOENT' || error.code === 'ENOTDIR' ? 'feed_not_found' : 'feed_file_invalid',
        error,
      );
    },
  );
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw submitError('feed_file_invalid', undefined);
}

function submitError(code: 'feed_not_found' | 'feed_file_invalid', cause: unknown): ServiceError {
  return new ServiceError(code, {
    operation: 'submit feed',
    hint: 'Give the path of a regular file that can be read, not of a link.',
    cause,
  });
}

async function copyDurably(source: FileHandle, to: string): Promise<SpooledFile> {
  const target = await open(to, 'wx', 0o640);
  try {
    const digest = createHash('sha256');
    const buffer = Buffer.allocUnsafe(copyBytes);
    let bytes = 0;
    for (;;) {
      const { bytesRead } = await source.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) break;
      digest.update(buffer.subarray(0, bytesRead));
      await target.writeFile(buffer.subarray(0, bytesRead));
      bytes += bytesRead;
    }
    await target.sync(); // not only in keep(), which runs in a transaction that holds a lock
    return { sha256: digest.digest('hex'), bytes };
  } finally {
    await target.close();
  }
}
