import { createHash } from 'node:crypto';
import { ServiceError } from '../../../runtime/errors.ts';
import { crc32, joinCrc32 } from './crc32.ts';
import { inflateSegment } from './segment-index.ts';
import { formatCrc32 } from '../artefact-facts.ts';
import { deflateRows, type BuildProfile } from './row-deflate.ts';

/**
 * One gzip member (RFC 1952) of independent deflate blocks (RFC 1951): each text is compressed alone and ends in a
 * full flush, so blocks are byte-aligned, refer to nothing before them, and are joined by concatenation.
 * Several members would be easier to write, but common clients silently stop after the first.
 */

/** Method deflate, no flags, time 0, no extra flags, operating system unknown: the same rows give the same bytes. */
export const gzipHeader = Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 0xff]);

/** An empty deflate block with the final bit set, fixed codes. */
export const finalBlock = Buffer.from([0x03, 0x00]);

export const trailerBytes = 8;

/** The last bytes of a member: CRC-32 and length of its text modulo 2^32. */
export function gzipTrailer(crc: number, plainBytes: number): Buffer {
  const trailer = Buffer.alloc(trailerBytes);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(plainBytes % 2 ** 32, 4);
  return trailer;
}

/** The deflate block of a text. */
export interface CompressedBlock {
  readonly deflated: Buffer;
  readonly plainBytes: number;
  /** CRC-32 of the plain bytes. */
  readonly crc: number;
}

/** Sizes and digests of a gzip file. */
export interface GzipFacts {
  readonly bytes: number;
  readonly sha256: string;
  readonly plainBytes: number;
  readonly plainCrc32: string;
}

/**
 * Compresses text into a block that can be decompressed alone, and decompresses it once.
 * @throws ServiceError `artefact_not_stored` if that does not give the text: a fault of the encoder or of the memory.
 */
export async function compressBlock(plain: Buffer, profile: BuildProfile): Promise<CompressedBlock> {
  const block = { deflated: await deflateRows(plain, profile), plainBytes: plain.length, crc: crc32(plain) };
  await inflateSegment(block.deflated, block).catch((cause: unknown) => {
    throw new ServiceError('artefact_not_stored', {
      operation: 'compress rows',
      problem: 'A compressed segment does not give its rows again.',
      hint: 'Check the memory of the machine.',
      cause,
    });
  });
  return block;
}

/** Joins blocks into a member; every method returns the next bytes of the file. */
export class GzipMember {
  private readonly fileHash = createHash('sha256');
  private crc = 0;
  private fileBytes = 0;
  private plainBytes = 0;

  begin(): Buffer {
    return this.emit(gzipHeader);
  }

  append({ deflated, plainBytes, crc }: CompressedBlock): Buffer {
    this.crc = joinCrc32(this.crc, crc, plainBytes);
    this.plainBytes += plainBytes;
    return this.emit(deflated);
  }

  /** The end of the member: final block, CRC and length modulo 2^32. */
  end(): Buffer {
    return this.emit(Buffer.concat([finalBlock, gzipTrailer(this.crc, this.plainBytes)]));
  }

  /** Sizes and digests, after `end`. */
  facts(): GzipFacts {
    return {
      bytes: this.fileBytes,
      sha256: this.fileHash.digest('hex'),
      plainBytes: this.plainBytes,
      plainCrc32: formatCrc32(this.crc),
    };
  }

  private emit(bytes: Buffer): Buffer {
    this.fileHash.update(bytes);
    this.fileBytes += bytes.length;
    return bytes;
  }
}
