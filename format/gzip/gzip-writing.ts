import { joinBytes } from '../base/bytes.ts';
import { GzipMember, type CompressedBlock, type GzipFacts } from './gzip-member.ts';

/** Plain bytes of a block, and blocks that are compressed at a time: together the memory that writing takes. */
const blockPlainBytes = 1024 * 1024;
const blocksInFlight = 3;

/** Where a gzip file is written, and where its blocks are compressed. */
interface GzipTarget<Piece, Block extends CompressedBlock> {
  readonly write: (bytes: Uint8Array) => Promise<void>;
  readonly compress: (piece: Piece) => Promise<Block>;
  /** Called with each block before it is written. */
  readonly onBlock?: (block: Block) => void;
}

/** Writes pieces of text as one gzip member, a block each, and returns the sizes and digests of file and text. */
export async function writeMember<Piece, Block extends CompressedBlock>(
  pieces: AsyncIterable<Piece>,
  { write, compress, onBlock = () => {} }: GzipTarget<Piece, Block>,
): Promise<GzipFacts> {
  const member = new GzipMember();
  const inFlight: Promise<Block>[] = [];
  const writeOldest = async () => {
    const block = await inFlight.shift()!;
    onBlock(block);
    await write(member.append(block));
  };
  try {
    await write(member.begin());
    for await (const piece of pieces) {
      const compressing = compress(piece);
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

/** Writes text as {@link writeMember} does. The chunks must not change until they are written. */
export function writeGzip(
  texts: AsyncIterable<Uint8Array>,
  target: GzipTarget<Uint8Array, CompressedBlock>,
): Promise<GzipFacts> {
  return writeMember(joinChunks(texts), target);
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
