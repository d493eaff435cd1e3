import { promisify } from 'node:util';
import { constants, crc32, inflateRaw } from 'node:zlib';
import { ServiceError } from '../../runtime/errors.ts';
import type { Segment } from './segment-index.ts';

const inflate = promisify(inflateRaw) as (deflated: Uint8Array, options: object) => Promise<Buffer>;

/** More than the least chunk that zlib takes. */
const spareBytes = 64;

/** Most plain bytes that are made in one piece: the index may be a stranger's, so it does not decide alone. */
const pieceBytesMax = 64 * 1024 * 1024;

/**
 * The rows of a segment from its bytes in the artefact. They need nothing of the file but themselves.
 * @throws ServiceError `segment_index_invalid` if they are not what the index says: the bytes are damaged, or of another version.
 */
export async function inflateSegment(deflated: Buffer, segment: Segment): Promise<Buffer> {
  // One piece with room to spare: else each 16 KiB, and then the end, cross from the pool to the event loop and back.
  const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: segment.plainBytes + 1, chunkSize: Math.min(segment.plainBytes + spareBytes, pieceBytesMax) };
  const plain = await inflate(deflated, options).catch((cause: unknown) => {
    throw notAsIndexed(cause);
  });
  if (plain.length !== segment.plainBytes || crc32(plain) !== segment.crc) throw notAsIndexed();
  return plain;
}

function notAsIndexed(cause?: unknown): ServiceError {
  return new ServiceError('segment_index_invalid', { operation: 'read segment', problem: 'The bytes of a segment are not what the segment index says.', cause });
}
