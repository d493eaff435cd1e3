import { joinBytes } from '../base/bytes.ts';
import { finalBlock } from '../base/compression.ts';
import { beginSha256 } from '../base/sha256.ts';
import { joinCrc32 } from './crc32.ts';

/**
 * One gzip member (RFC 1952) of independent deflate blocks (RFC 1951): each text is compressed alone and ends in a
 * full flush, so blocks are byte-aligned, refer to nothing before them, and are joined by concatenation.
 * Several members would be easier to write, but common clients silently stop after the first.
 */

/** Method deflate, no flags, time 0, no extra flags, operating system unknown: the same rows give the same bytes. */
export const gzipHeader = Uint8Array.of(0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 0xff);

export const trailerBytes = 8;

/** The last bytes of a member: CRC-32 and length of its text modulo 2^32. */
export function gzipTrailer(crc: number, plainBytes: number): Uint8Array {
  const trailer = new Uint8Array(trailerBytes);
  const view = new DataView(trailer.buffer);
  view.setUint32(0, crc, true);
  view.setUint32(4, plainBytes % 2 ** 32, true);
  return trailer;
}

/** The deflate block of a text. */
export interface CompressedBlock {
  readonly deflated: Uint8Array;
  readonly plainBytes: number;
  /** CRC-32 of the plain bytes. */
  readonly crc: number;
}

/** Sizes and digests of a gzip file. */
export interface GzipFacts {
  readonly bytes: number;
  readonly sha256: string;
  readonly plainBytes: number;
}

/** Joins blocks into a member; every method returns the next bytes of the file. */
export class GzipMember {
  private readonly fileHash = beginSha256();
  private crc = 0;
  private fileBytes = 0;
  private plainBytes = 0;

  begin(): Uint8Array {
    return this.emit(gzipHeader);
  }

  append({ deflated, plainBytes, crc }: CompressedBlock): Uint8Array {
    this.crc = joinCrc32(this.crc, crc, plainBytes);
    this.plainBytes += plainBytes;
    return this.emit(deflated);
  }

  /** The end of the member: final block, CRC and length modulo 2^32. */
  end(): Uint8Array {
    return this.emit(joinBytes([finalBlock, gzipTrailer(this.crc, this.plainBytes)]));
  }

  /** Sizes and digests, after `end`. */
  facts(): GzipFacts {
    return { bytes: this.fileBytes, sha256: this.fileHash.digest('hex'), plainBytes: this.plainBytes };
  }

  private emit(bytes: Uint8Array): Uint8Array {
    this.fileHash.update(bytes);
    this.fileBytes += bytes.length;
    return bytes;
  }
}
