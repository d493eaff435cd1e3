import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream';
import { pipeline as pipelineEnd } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { ServiceError, isZlibError } from '../../../runtime/errors.ts';
import { crc32, joinCrc32 } from './crc32.ts';
import {
  compressBlock,
  finalBlock,
  gzipHeader,
  GzipMember,
  gzipTrailer,
  trailerBytes,
  type CompressedBlock,
  type GzipFacts,
} from './gzip-member.ts';
import { formatCrc32 } from '../artefact-facts.ts';
import { ContentWatch } from './content-digest.ts';

/** Plain bytes of a block, and blocks that are compressed at a time: together the memory that writing takes. */
const blockPlainBytes = 1024 * 1024;
const blocksInFlight = 3;

/**
 * Writes text as one gzip member and returns the sizes and digests of file and text. The chunks must not change until they
 * are written. `compress`: where the blocks are compressed; default: on the calling thread.
 */
export async function writeGzip(
  texts: AsyncIterable<Buffer>,
  write: (bytes: Buffer) => Promise<void>,
  compress: (plain: Buffer) => Promise<CompressedBlock> = (plain) => compressBlock(plain, 'compact'),
): Promise<GzipFacts> {
  const member = new GzipMember();
  const inFlight: Promise<CompressedBlock>[] = [];
  const writeOldest = async () => write(member.append(await inFlight.shift()!));
  try {
    await write(member.begin());
    for await (const block of joinChunks(texts)) {
      const compressing = compress(block);
      compressing.catch(() => {}); // awaited by writeOldest
      inFlight.push(compressing);
      if (inFlight.length >= blocksInFlight) await writeOldest();
    }
    while (inFlight.length > 0) await writeOldest();
    await write(member.end());
    return member.facts();
  } finally {
    await Promise.allSettled(inFlight);
  }
}

/** The same bytes in chunks of about the size of a block. */
async function* joinChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes < blockPlainBytes) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

/** Facts of a gzip file and of the rows in it. */
interface MeasuredGzip extends GzipFacts {
  readonly rows: number;
  readonly plainSha256: string;
  /** Null if it was not asked for, or the text has not the rows of an artefact. */
  readonly contentSha256: string | null;
}

/**
 * Measures a gzip file; with `segmentRowsMax` also the content digest.
 * @throws the error of the chunks or of node:zlib
 */
export async function measureGzip(chunks: AsyncIterable<Buffer>, segmentRowsMax: number | null): Promise<MeasuredGzip> {
  const [file, plain] = [createHash('sha256'), createHash('sha256')];
  const content = segmentRowsMax === null ? undefined : new ContentWatch(segmentRowsMax);
  let [bytes, plainBytes, rows, crc] = [0, 0, 0, 0];
  await pipelineEnd(
    chunks,
    async function* (parts: AsyncIterable<Buffer>) {
      for await (const part of parts) {
        file.update(part);
        bytes += part.length;
        yield part;
      }
    },
    createGunzip({ chunkSize: 256 * 1024 }),
    async (parts: AsyncIterable<Buffer>) => {
      for await (const part of content === undefined ? parts : content.watch(parts)) {
        plain.update(part);
        crc = crc32(part, crc);
        plainBytes += part.length;
        for (let at = part.indexOf(0x0a); at !== -1; at = part.indexOf(0x0a, at + 1)) rows++;
      }
    },
  );
  return {
    bytes,
    sha256: file.digest('hex'),
    plainBytes,
    plainCrc32: formatCrc32(crc),
    plainSha256: plain.digest('hex'),
    contentSha256: content?.sha256() ?? null,
    rows,
  };
}

/**
 * The text of a gzip file that the service wrote: exactly one member with the service's header. Unlike `gunzip`, refuses
 * bytes after the member and other headers.
 * @throws ServiceError `delta_invalid`, or the error of the chunks
 */
export async function* readGzip(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const ends = { first: Buffer.alloc(0), last: Buffer.alloc(0) };
  const gunzip = createGunzip({ chunkSize: 256 * 1024 });
  pipeline(watchEnds(chunks, ends), gunzip, () => {}); // its error is that of the loop
  let crc = 0;
  let bytes = 0;
  try {
    for await (const text of gunzip as AsyncIterable<Buffer>) {
      crc = crc32(text, crc);
      bytes += text.length;
      yield text;
    }
  } catch (error) {
    throw isZlibError(error) ? notWhole(error) : error;
  }
  if (!ends.first.equals(gzipHeader) || !ends.last.equals(gzipTrailer(crc, bytes))) throw notWhole();
}

/**
 * The texts of two gzip files of {@link writeGzip} as one member, whose compressed blocks are copied.
 * `secondPlainBytes`: length of the second text.
 */
export async function* joinGzip(
  first: AsyncIterable<Buffer>,
  second: AsyncIterable<Buffer>,
  secondPlainBytes: number,
): AsyncGenerator<Buffer> {
  const [before, after] = [new MemberBody(), new MemberBody()];
  yield gzipHeader;
  yield* before.of(first);
  yield* after.of(second);
  yield finalBlock;
  yield gzipTrailer(joinCrc32(before.crc, after.crc, secondPlainBytes), before.plainBytes + after.plainBytes);
}

/** The blocks of a member without its header and its end. */
class MemberBody {
  /** From the trailer, when the body was read. */
  crc = 0;
  plainBytes = 0;

  async *of(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const endBytes = finalBlock.length + trailerBytes;
    let held: Buffer = Buffer.alloc(0); // possibly the end
    let skip = gzipHeader.length;
    for await (const chunk of chunks) {
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const to = Math.max(0, bytes.length - endBytes);
      const from = Math.min(skip, to);
      skip -= from;
      if (from < to) yield bytes.subarray(from, to);
      held = Buffer.from(bytes.subarray(to));
    }
    if (skip > 0 || held.length < endBytes) throw notWhole();
    this.crc = held.readUInt32LE(finalBlock.length);
    this.plainBytes = held.readUInt32LE(finalBlock.length + 4);
  }
}

async function* watchEnds(
  chunks: AsyncIterable<Buffer>,
  ends: { first: Buffer; last: Buffer },
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    if (ends.first.length < gzipHeader.length)
      ends.first = Buffer.concat([ends.first, chunk]).subarray(0, gzipHeader.length);
    ends.last =
      chunk.length < trailerBytes
        ? Buffer.concat([ends.last, chunk]).subarray(-trailerBytes)
        : chunk.subarray(-trailerBytes);
    yield chunk;
  }
}

function notWhole(cause?: unknown): ServiceError {
  return new ServiceError('delta_invalid', {
    operation: 'read gzip',
    problem: 'The gzip data is damaged, cut off, or has more than one member.',
    cause,
  });
}
