import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { ServiceError, isZlibError } from '../../runtime/errors.ts';

/**
 * Bytes that are judged at a time. Their rows are in memory together: with 256 KiB the garbage collector copied most of them,
 * and a row took 2.1 us instead of 1.3 (300,000 rows, bench/feed.ts).
 */
const chunkBytes = 64 * 1024;

/** Largest feed file that is taken over HTTP: text of numbers is an eighth of its size when it is compressed. */
export function feedFileBytesMax({ feedPlainBytesMax }: { readonly feedPlainBytesMax: number }): number {
  return Math.ceil(feedPlainBytesMax / 8);
}

/** How a feed file is read. */
interface FeedBytesOptions {
  /** Largest feed after decompression. */
  readonly plainBytesMax: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The plain bytes of a feed file in chunks. Gzip is detected by the first bytes, not by the name; several members are one feed.
 * @throws ServiceError `feed_gzip_invalid` if the gzip data is damaged, cut off, or followed by anything else;
 * `feed_too_large`; `feed_not_found`; `feed_file_invalid`; `interrupted` if the signal fired.
 */
export async function* readFeedBytes(
  path: string,
  { plainBytesMax, signal }: FeedBytesOptions,
): AsyncGenerator<Buffer> {
  const chunks = (await isGzip(path)) ? gunzippedChunks(path) : plainChunks(path);
  let bytes = 0;
  for await (const chunk of chunks) {
    throwIfInterrupted(signal);
    bytes += chunk.length;
    if (bytes > plainBytesMax) throw feedTooLarge(plainBytesMax);
    yield chunk;
  }
  throwIfInterrupted(signal);
}

/** @throws ServiceError `interrupted` */
export function throwIfInterrupted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new ServiceError('interrupted', { operation: 'load feed' });
}

async function isGzip(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? fileNotFound(error) : error;
  });
  try {
    if (!(await file.stat()).isFile()) throw new ServiceError('feed_file_invalid', { operation: 'read feed' });
    const { bytesRead, buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await file.close();
  }
}

function plainChunks(path: string): AsyncIterable<Buffer> {
  return createReadStream(path, { highWaterMark: chunkBytes });
}

async function* gunzippedChunks(path: string): AsyncGenerator<Buffer> {
  const file = createReadStream(path, { highWaterMark: chunkBytes });
  const members = createGunzip({ chunkSize: chunkBytes });
  file.on('error', (error) => members.destroy(error));
  try {
    for await (const chunk of file.pipe(members) as Readable as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    throw isZlibError(error) ? gzipDamaged(error) : error;
  } finally {
    file.destroy();
    members.destroy();
  }
  // zlib stops without an error at zero bytes after a member, and would skip a member after them.
  if (members.bytesWritten !== file.bytesRead) throw gzipDamaged(undefined);
}

function fileNotFound(cause: unknown): ServiceError {
  return new ServiceError('feed_not_found', {
    operation: 'read feed',
    problem: 'The feed file does not exist.',
    hint: 'Give the path of a file, or submit the feed again.',
    cause,
  });
}

function gzipDamaged(cause: unknown): ServiceError {
  return new ServiceError('feed_gzip_invalid', { operation: 'read feed', hint: 'Send the whole file again.', cause });
}

function feedTooLarge(plainBytesMax: number): ServiceError {
  return new ServiceError('feed_too_large', {
    operation: 'read feed',
    problem: `The feed is larger than ${plainBytesMax} bytes after decompression.`,
    hint: 'Split it, or raise FEED_PLAIN_BYTES_MAX.',
  });
}
