import { createHash, randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { mkdir, open, readdir, rm, stat, utimes, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../../runtime/errors.ts';
import { containerOfRaw, type RawAudio } from '../decode/raw-audio.ts';
import { containerOf } from '../decode/sniff.ts';
import { AudioRefusal } from '../reasons.ts';
import { keepWholeFile } from '../../../runtime/files/whole-file.ts';
import { ifExists } from '../../../runtime/files/if-exists.ts';

/** A path of the file system, whose names need not be UTF-8. */
export type FilePath = string | Buffer;

/** The content of a file. */
export interface AudioContent {
  readonly sha256: string;
  readonly bytes: number;
}

/** A copy of a recording in the store before it has its name. */
export interface IncomingAudio extends AudioContent {
  readonly unfinished: string;
}

/** Limits of stored audio; see the settings of the same names. */
interface AudioStoreLimits {
  readonly audioBytesMax: number;
}

const copyBytes = 256 * 1024;
const unfinishedPrefix = 'incoming-';

/**
 * Milliseconds after which an unfinished copy, or a file without a row, counts as left by a dead process: a group of large files
 * takes hours over a slow mount.
 */
const abandonedMs = 24 * 3_600_000;

/**
 * Recordings by content: each file is named by the SHA-256 of its bytes, in a folder of the first two digits, so that the same bytes
 * are kept once. The table `recording` lists the files that must exist.
 */
export class AudioStore {
  readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** Creates its directory, if there is none. Call it before `receive`. */
  async open(): Promise<this> {
    try {
      await mkdir(this.directory, { recursive: true });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new ServiceError('setting_invalid', {
        operation: 'open audio store',
        problem: `AUDIO_DIR cannot be created (${code ?? 'unknown'}).`,
        hint: 'Name a directory that this user may write to.',
        cause: error,
      });
    }
    return this;
  }

  /** The path of the audio of a digest, whether it exists or not. */
  pathOf(sha256: string): string {
    return join(this.directory, sha256.slice(0, 2), sha256);
  }

  async has({ sha256, bytes }: AudioContent): Promise<boolean> {
    return (await ifExists(stat(this.pathOf(sha256))))?.size === bytes;
  }

  /**
   * Copies a regular file into the store under a temporary name. Symbolic links are not followed. Raw audio gets the header of
   * its form, so that what is stored says what it is.
   * @throws AudioRefusal `file_missing`, `file_unreadable`, `file_empty`, `file_too_large`, and `format_unknown` for a file with a header
   *   of its own that is submitted as raw audio
   */
  async receive(path: FilePath, { audioBytesMax }: AudioStoreLimits, raw?: RawAudio): Promise<IncomingAudio> {
    const source = await openAudio(path, audioBytesMax);
    const unfinished = join(this.directory, `${unfinishedPrefix}${randomBytes(8).toString('hex')}`);
    try {
      const target = await open(unfinished, 'wx', 0o640);
      try {
        const content = await readThrough(source, { bytesMax: audioBytesMax, raw }, (bytes) => target.writeFile(bytes));
        return { ...content, unfinished };
      } finally {
        await target.close();
      }
    } catch (error) {
      await rm(unfinished, { force: true });
      throw error;
    } finally {
      await source.close();
    }
  }

  /**
   * Renames a copy to its digest, durably. The caller holds a lock on the row of the recording, so that the file is not deleted
   * meanwhile.
   */
  async keep(incoming: IncomingAudio): Promise<void> {
    const path = this.pathOf(incoming.sha256);
    if (await this.has(incoming)) {
      const now = new Date();
      await utimes(path, now, now); // a sweep that does not see the row yet must not remove it
      return this.discard(incoming);
    }
    await keepWholeFile(incoming.unfinished, path, { durable: true });
  }

  /** Removes a copy that is not needed; does nothing if it was renamed. */
  discard({ unfinished }: IncomingAudio): Promise<void> {
    return rm(unfinished, { force: true });
  }

  /** Removes the audio of a digest, if it exists. */
  remove(sha256: string): Promise<void> {
    return rm(this.pathOf(sha256), { force: true });
  }

  /** Removes copies that a killed process left behind; returns how many. */
  async sweepUnfinished(idleMs = abandonedMs): Promise<number> {
    const names = (await namesIn(this.directory)).filter((name) => name.startsWith(unfinishedPrefix));
    return this.removeIdle(
      names.map((name) => join(this.directory, name)),
      idleMs,
    );
  }

  /** The digests of the files, a folder at a time. */
  async *folders(): AsyncGenerator<string[]> {
    const folders = (await namesIn(this.directory)).filter((name) => /^[0-9a-f]{2}$/.test(name));
    for (const folder of folders)
      yield (await namesIn(join(this.directory, folder))).filter((name) => /^[0-9a-f]{64}$/.test(name));
  }

  /** Removes files without a row, unless they are new; returns how many. */
  removeUnknown(digests: readonly string[], idleMs = abandonedMs): Promise<number> {
    return this.removeIdle(
      digests.map((sha256) => this.pathOf(sha256)),
      idleMs,
    );
  }

  private async removeIdle(paths: readonly string[], idleMs: number): Promise<number> {
    let removed = 0;
    for (const path of paths) {
      const stats = await ifExists(stat(path));
      if (stats === undefined || Date.now() - stats.ctimeMs <= idleMs) continue;
      await rm(path, { force: true });
      removed += 1;
    }
    return removed;
  }
}

/**
 * The content of a file as it would be stored.
 * @throws AudioRefusal as {@link AudioStore.receive} does
 */
export async function readAudioContent(
  path: FilePath,
  { audioBytesMax }: AudioStoreLimits,
  raw?: RawAudio,
): Promise<AudioContent> {
  const source = await openAudio(path, audioBytesMax);
  try {
    return await readThrough(source, { bytesMax: audioBytesMax, raw }, async () => {});
  } finally {
    await source.close();
  }
}

async function openAudio(path: FilePath, bytesMax: number): Promise<FileHandle> {
  // Without O_NONBLOCK the open of a named pipe would wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      throw storeRefusal(error);
    },
  );
  try {
    requireAudio(await file.stat(), bytesMax);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The refusal of a path that cannot be opened; an error that is not about the path, such as too many open files, is returned as it is. */
function storeRefusal(error: NodeJS.ErrnoException): unknown {
  if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(error.code ?? '')) return new AudioRefusal('file_missing');
  if (error.code === 'ELOOP')
    return new AudioRefusal('file_unreadable', 'It is a symbolic link, which is not followed.');
  if (['EACCES', 'EPERM', 'EISDIR', 'ENXIO', 'ENODEV', 'EIO'].includes(error.code ?? ''))
    return new AudioRefusal('file_unreadable');
  return error;
}

function requireAudio(stats: Stats, bytesMax: number): void {
  if (!stats.isFile())
    throw new AudioRefusal('file_unreadable', stats.isDirectory() ? 'It is a folder.' : 'It is not a regular file.');
  if (stats.size === 0) throw new AudioRefusal('file_empty');
  if (stats.size > bytesMax) throw audioTooLarge(bytesMax);
}

function audioTooLarge(bytesMax: number): AudioRefusal {
  return new AudioRefusal('file_too_large', `The file is larger than ${bytesMax} bytes.`);
}

interface Reading {
  readonly bytesMax: number;
  readonly raw: RawAudio | undefined;
}

/** Hashes a file to its end, which may have changed since it was opened, with the container of raw audio around it. */
async function readThrough(
  source: FileHandle,
  { bytesMax, raw }: Reading,
  take: (bytes: Buffer) => Promise<unknown>,
): Promise<AudioContent> {
  const { size } = await source.stat();
  const container = raw === undefined ? undefined : containerOfRaw(raw, size);
  const digest = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.min(copyBytes, size + 1));
  let [bytes, stored] = [0, 0];
  const put = async (part: Buffer) => {
    stored += part.length;
    if (stored > bytesMax) throw audioTooLarge(bytesMax);
    digest.update(part);
    await take(part);
  };
  if (container !== undefined) await put(container.head);
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) break;
    const part = buffer.subarray(0, bytesRead);
    if (container !== undefined && bytes === 0) requireNoHeader(part);
    bytes += bytesRead;
    await put(part);
  }
  if (bytes === 0) throw new AudioRefusal('file_empty');
  if (container !== undefined) {
    if (bytes !== size) throw new AudioRefusal('file_unreadable', 'It changed while it was read.');
    await put(container.tail);
  }
  return { sha256: digest.digest('hex'), bytes: stored };
}

/** Refuses a file that is submitted as raw audio and has a header: it would be scored as noise. */
function requireNoHeader(start: Buffer): void {
  const container = containerOf(start);
  if (container === undefined) return;
  throw new AudioRefusal(
    'format_unknown',
    `It is submitted as raw audio, but has a header (${container}): submit it without the form of raw audio.`,
  );
}

async function namesIn(directory: string): Promise<string[]> {
  return (await ifExists(readdir(directory))) ?? [];
}
