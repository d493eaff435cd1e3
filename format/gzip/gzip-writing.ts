import { joinBytes } from '../base/bytes.ts';
import { deflateBlock } from '../base/compression.ts';
import { crc32 } from './crc32.ts';
import { GzipMember, type CompressedBlock, type GzipFacts } from './gzip-member.ts';

/** Plain bytes of a block of plain text: with three in flight, the memory that writing takes. */
const blockPlainBytes = 1024 * 1024;

/** Where a gzip file is written, and how its blocks are made. */
interface GzipTarget<Piece, Block extends CompressedBlock> {
  readonly write: (bytes: Uint8Array) => Promise<void>;
  readonly compress: (piece: Piece) => Promise<Block>;
  /** Called with each block, in order, before it is written. */
  readonly onBlock?: (block: Block) => Promise<void> | void;
  /** Pieces that are compressed at a time. Default: 3. */
  readonly inFlightMax?: number;
}

/** Writes pieces of text as one gzip member, a block each, and returns the sizes and the digest of the file. */
export async function writeMember<Piece, Block extends CompressedBlock>(
  pieces: AsyncIterable<Piece>,
  { write, compress, onBlock = () => {}, inFlightMax = 3 }: GzipTarget<Piece, Block>,
): Promise<GzipFacts> {
  const member = new GzipMember();
  const inFlight: Promise<Block>[] = [];
  const writeOldest = async () => {
    const block = await inFlight.shift()!;
    await onBlock(block);
    await write(member.append(block));
  };
  try {
    await write(member.begin());
    for await (const piece of pieces) {
      const compressing = compress(piece);
      compressing.catch(() => {}); // awaited by writeOldest
      inFlight.push(compressing);
      if (inFlight.length >= inFlightMax) await writeOldest();
    }
    while (inFlight.length > 0) await writeOldest();
    await write(member.end());
    return member.facts();
  } finally {
    await Promise.allSettled(inFlight);
  }
}

/** Compresses a text into a block that can be decompressed alone. Not in browsers. */
export async function compressBlock(plain: Uint8Array): Promise<CompressedBlock> {
  return { deflated: await deflateBlock(plain), plainBytes: plain.length, crc: crc32(plain) };
}

/** Writes text as {@link writeMember} does. The chunks must not change until they are written. */
export function writeGzip(
  texts: AsyncIterable<Uint8Array>,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<GzipFacts> {
  return writeMember(joinChunks(texts), { write, compress: compressBlock });
}

/** The same bytes in chunks of about the size of a block. */
async function* joinChunks(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes < blockPlainBytes) continue;
    yield joinBytes(waiting);
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield joinBytes(waiting);
}
