import { areSameBytes, joinBytes } from '../base/bytes.ts';
import { DamagedCompression, decompressGzip } from '../base/compression.ts';
import { ClientError } from '../base/errors.ts';
import { beginSha256 } from '../base/sha256.ts';
import { crc32 } from './crc32.ts';
import { gzipHeader, gzipTrailer, trailerBytes, type GzipFacts } from './gzip-member.ts';

/** Facts of a gzip file and of the rows in it. */
interface MeasuredGzip extends GzipFacts {
  readonly rows: number;
  readonly plainSha256: string;
}

/**
 * Measures a gzip file.
 * @throws DamagedCompression, or the error of the chunks
 */
export async function measureGzip(chunks: AsyncIterable<Uint8Array>): Promise<MeasuredGzip> {
  const [file, plain] = [beginSha256(), beginSha256()];
  let [bytes, plainBytes, rows] = [0, 0, 0];
  async function* hashing(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      file.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  }
  for await (const part of decompressGzip(hashing())) {
    plain.update(part);
    plainBytes += part.length;
    for (let at = part.indexOf(0x0a); at !== -1; at = part.indexOf(0x0a, at + 1)) rows++;
  }
  return { bytes, sha256: file.digest('hex'), plainBytes, plainSha256: plain.digest('hex'), rows };
}

/**
 * The text of a gzip file that the service wrote: exactly one member with the service's header. Unlike `gunzip`, refuses
 * bytes after the member and other headers.
 * @throws ClientError `delta_invalid`, or the error of the chunks
 */
export async function* readGzip(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const ends = { first: new Uint8Array(0), last: new Uint8Array(0) };
  let crc = 0;
  let bytes = 0;
  try {
    for await (const text of decompressGzip(watchEnds(chunks, ends))) {
      crc = crc32(text, crc);
      bytes += text.length;
      yield text;
    }
  } catch (error) {
    throw error instanceof DamagedCompression ? notWhole(error) : error;
  }
  if (!areSameBytes(ends.first, gzipHeader) || !areSameBytes(ends.last, gzipTrailer(crc, bytes))) throw notWhole();
}

async function* watchEnds(
  chunks: AsyncIterable<Uint8Array>,
  ends: { first: Uint8Array; last: Uint8Array },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    if (ends.first.length < gzipHeader.length)
      ends.first = joinBytes([ends.first, chunk]).subarray(0, gzipHeader.length);
    ends.last =
      chunk.length < trailerBytes
        ? joinBytes([ends.last, chunk]).subarray(-trailerBytes)
        : chunk.subarray(-trailerBytes);
    yield chunk;
  }
}

/** The error of gzip data that is not one whole member of the service. */
export function notWhole(cause?: unknown): ClientError {
  return new ClientError('delta_invalid', {
    operation: 'read gzip',
    problem: 'The gzip data is damaged, cut off, or has more than one member.',
    cause,
  });
}
