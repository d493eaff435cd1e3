import { finalBlock } from '../../../format/base/compression.ts';
import { joinCrc32 } from '../../../format/gzip/crc32.ts';
import { gzipHeader, gzipTrailer, trailerBytes } from '../../../format/gzip/gzip-member.ts';
import { notWhole } from '../../../format/gzip/gzip-reading.ts';

/**
 * The texts of two gzip files of {@link writeGzip} as one member, whose compressed blocks are copied.
 * `secondPlainBytes`: length of the second text.
 */
export async function* joinGzip(
  first: AsyncIterable<Uint8Array>,
  second: AsyncIterable<Uint8Array>,
  secondPlainBytes: number,
): AsyncGenerator<Uint8Array> {
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

  async *of(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
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
