import { constants, deflateRaw } from 'node:zlib';
import { promisify } from 'node:util';
import { crc32 } from '../../../format/gzip/crc32.ts';
import type { CompressedBlock } from '../../../format/gzip/gzip-member.ts';

const deflate = promisify(deflateRaw) as (plain: Uint8Array, options: object) => Promise<Uint8Array>;

/** Compresses text into a block that can be decompressed alone, on a thread of Node. */
export async function deflateBlock(plain: Uint8Array): Promise<CompressedBlock> {
  const deflated = await deflate(plain, { finishFlush: constants.Z_FULL_FLUSH });
  return { deflated, plainBytes: plain.length, crc: crc32(plain) };
}
