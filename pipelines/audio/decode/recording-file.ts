import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { AudioRefusal, type AudioReason } from '../reasons.ts';

/** A regular file with reads at offsets. */
export interface RecordingFile {
  /** The size when it was opened; bytes that are appended later are not read. */
  readonly bytes: number;
  readonly handle: FileHandle;
  /** Reads `into.length` bytes from `at`, fewer only at the end of the file. */
  read(at: number, into: Buffer): Promise<Buffer>;
}

/**
 * Opens a file; a symbolic link is not followed.
 * @throws AudioRefusal `file_missing`, `file_unreadable`, `file_empty` or `file_too_large`
 */
export async function openRecordingFile(path: string, bytesMax: number): Promise<RecordingFile> {
  // Non-blocking, so that a named pipe cannot block the process.
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (cause: NodeJS.ErrnoException) => {
      throw openRefusal(cause);
    },
  );
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new AudioRefusal('file_unreadable', 'It is not a regular file.');
    if (stats.size === 0) throw new AudioRefusal('file_empty');
    if (stats.size > bytesMax)
      throw new AudioRefusal('file_too_large', `It has ${stats.size} bytes; ${bytesMax} are read at most.`);
    return { bytes: stats.size, handle, read: (at, into) => readAt(handle, { at, into, end: stats.size }) };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function readAt(
  handle: FileHandle,
  { at, into, end }: { readonly at: number; readonly into: Buffer; readonly end: number },
): Promise<Buffer> {
  const wanted = Math.max(0, Math.min(into.length, end - at));
  let length = 0;
  while (length < wanted) {
    const { bytesRead } = await handle
      .read(into, length, wanted - length, at + length)
      .catch((cause: NodeJS.ErrnoException) => {
        throw openRefusal(cause);
      });
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return into.subarray(0, length);
}

const refusals: Record<string, readonly [AudioReason, string]> = {
  ENOENT: ['file_missing', 'There is no such file.'],
  ENOTDIR: ['file_missing', 'There is no such file.'],
  ENAMETOOLONG: ['file_missing', 'Its name is too long.'],
  ERR_INVALID_ARG_VALUE: ['file_missing', 'Its name holds a zero byte.'],
  ELOOP: ['file_unreadable', 'It is a symbolic link.'],
  EACCES: ['file_unreadable', 'It may not be read.'],
  EPERM: ['file_unreadable', 'It may not be read.'],
  ENXIO: ['file_unreadable', 'It is not a regular file.'],
  EISDIR: ['file_unreadable', 'It is a folder.'],
};

/** The refusal of a file that cannot be opened; a fault of the machine (too many open files, a broken disk) is rethrown. */
function openRefusal(cause: NodeJS.ErrnoException): Error {
  const known = refusals[cause.code ?? ''];
  return known === undefined ? cause : new AudioRefusal(...known);
}
