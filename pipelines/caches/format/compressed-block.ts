import { crc32 } from '../../../format/gzip/crc32.ts';
import type { CompressedBlock } from '../../../format/gzip/gzip-member.ts';
import { inflateSegment } from '../../../format/artefact/segment-index.ts';
import { ServiceError } from '../../../runtime/errors.ts';
import { deflateRows, type BuildProfile } from './row-deflate.ts';

/**
 * Compresses text into a block that can be decompressed alone, and decompresses it once.
 * @throws ServiceError `artefact_not_stored` if that does not give the text: a fault of the encoder or of the memory.
 */
export async function compressBlock(
  plain: Buffer,
  profile: BuildProfile,
): Promise<CompressedBlock & { readonly deflated: Buffer }> {
  const block = { deflated: await deflateRows(plain, profile), plainBytes: plain.length, crc: crc32(plain) };
  await inflateSegment(block.deflated, block).catch((cause: unknown) => {
    throw new ServiceError('artefact_not_stored', {
      operation: 'compress rows',
      problem: 'A compressed segment does not decompress to its rows.',
      hint: 'Check the memory of the machine.',
      cause,
    });
  });
  return block;
}
