import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256OfStream } from '../../runtime/digest.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { isUploadId } from './upload.ts';

/** The path of an upload's bytes. */
export function uploadPath(directory: string, uploadId: string): string {
  return join(directory, uploadId);
}

/** Creates the empty file of a new upload, readable by this user alone. */
export async function createUploadFile(directory: string, uploadId: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await (await open(uploadPath(directory, uploadId), 'wx', 0o600)).close();
}

/**
 * The bytes that an upload has: the size of its file, which a killed process has written as far as it came.
 * @throws ServiceError `upload_unknown` if the file is gone
 */
export async function readOffset(directory: string, uploadId: string): Promise<number> {
  return (await stat(uploadPath(directory, uploadId)).catch(fileGone(uploadId))).size;
}

/** Bytes to be appended. */
interface Appending {
  readonly offset: number;
  /** Most bytes; one more is an error, and nothing is kept of these. */
  readonly bytesMax: number;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Called before a chunk is written, with the bytes that the upload has then; where it throws, the chunk is not written. */
  readonly beforeWrite: (bytes: number) => Promise<void>;
}

/**
 * Writes bytes behind those that are there, each chunk before the next one is taken, so that a sender is as fast as the disk. What
 * has arrived when the sender breaks off is kept. Synced to disk at the end, so that an acknowledged offset holds.
 * @throws ServiceError `upload_invalid` for more bytes than the upload has left; and what `bytes` and `beforeWrite` throw
 */
export async function appendBytes(
  directory: string,
  uploadId: string,
  { offset, bytesMax, bytes, beforeWrite }: Appending,
): Promise<{ offset: number; sha256: string }> {
  const file = await open(uploadPath(directory, uploadId), 'r+').catch(fileGone(uploadId));
  const digest = createHash('sha256');
  let written = 0;
  try {
    await file.truncate(offset);
    for await (const chunk of bytes) {
      if (written + chunk.length > bytesMax) {
        await file.truncate(offset);
        throw tooManyBytes(bytesMax);
      }
      await beforeWrite(offset + written + chunk.length);
      await writeAt(file, chunk, offset + written);
      digest.update(chunk);
      written += chunk.length;
    }
    return { offset: offset + written, sha256: digest.digest('hex') };
  } finally {
    try {
      await file.datasync();
    } finally {
      await file.close();
    }
  }
}

/** Writes all bytes at a position; one call of `write` may write fewer. */
async function writeAt(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length;)
    at += (await file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
}

/** Takes the last bytes of an upload away again. */
export async function truncateUpload(directory: string, uploadId: string, offset: number): Promise<void> {
  const file = await open(uploadPath(directory, uploadId), 'r+').catch(fileGone(uploadId));
  try {
    await file.truncate(offset);
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** The SHA-256 of all bytes of an upload, as hex digits. */
export function digestOfUpload(directory: string, uploadId: string): Promise<string> {
  return sha256OfStream(createReadStream(uploadPath(directory, uploadId), { highWaterMark: 1024 * 1024 }));
}

/** Removes the bytes of uploads. */
export async function removeUploadFiles(directory: string, uploadIds: readonly string[]): Promise<void> {
  for (const uploadId of uploadIds) await rm(uploadPath(directory, uploadId), { force: true });
}

/** The uploads that have a file which was not written to for `idleMs`. */
export async function listIdleUploadFiles(directory: string, idleMs: number): Promise<string[]> {
  const names = (await readdir(directory).catch(() => [])).filter(isUploadId);
  const idle: string[] = [];
  for (const name of names) {
    const facts = await stat(uploadPath(directory, name)).catch(() => undefined);
    if (facts !== undefined && Date.now() - facts.mtimeMs > idleMs) idle.push(name);
  }
  return idle;
}

function tooManyBytes(bytesMax: number): ServiceError {
  return new ServiceError('upload_invalid', {
    operation: 'receive upload',
    problem: `More than the ${bytesMax} bytes that the upload has left arrived.`,
  });
}

function fileGone(uploadId: string): (error: NodeJS.ErrnoException) => never {
  return (error) => {
    if (error.code !== 'ENOENT') throw error;
    throw new ServiceError('upload_unknown', { operation: 'find upload', object: uploadId, cause: error });
  };
}
