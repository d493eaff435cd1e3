import { promisify } from 'node:util';
import { constants, crc32, inflateRaw } from 'node:zlib';
import { ServiceError } from '../../../runtime/errors.ts';
import type { Segment } from './segment-index.ts';

/** What the index says of the rows of a segment. */
type PlainFacts = Pick<Segment, 'plainBytes' | 'crc'>;

const inflate = promisify(inflateRaw) as (deflated: Uint8Array, options: object) => Promise<Buffer>;

/** More than the least chunk that zlib takes. */
const spareBytes = 64;

/** Most plain bytes that are made in one piece: the index may be a stranger's, so it does not decide alone. */
const pieceBytesMax = 64 * 1024 * 1024;

/**
 * The rows of a segment from its bytes in the artefact. They need nothing of the file but themselves.
 * @throws ServiceError `segment_index_invalid` if they are not what the index says: the bytes are damaged, or of another version.
 */
export function inflateSegment(deflated: Buffer, segment: PlainFacts): Promise<Buffer> {
  return inflateSegments(deflated, [segment]);
}

/**
 * The rows of segments that follow one another, from their bytes in the artefact.
 * @throws ServiceError as {@link inflateSegment}, for each of them
 */
export async function inflateSegments(deflated: Buffer, segments: readonly PlainFacts[]): Promise<Buffer> {
  const plainBytes = segments.reduce((sum, segment) => sum + segment.plainBytes, 0);
  // One piece with room to spare: else each 16 KiB, and then the end, cross from the pool to the event loop and back.
  const options = {
    finishFlush: constants.Z_SYNC_FLUSH,
    maxOutputLength: plainBytes + 1,
    chunkSize: Math.min(plainBytes + spareBytes, pieceBytesMax),
  };
  const plain = await inflate(deflated, options).catch((cause: unknown) => {
    throw notAsIndexed(cause);
  });
  if (plain.length !== plainBytes || !areAsIndexed(plain, segments)) throw notAsIndexed();
  return plain;
}

function areAsIndexed(plain: Buffer, segments: readonly PlainFacts[]): boolean {
  let at = 0;
  return segments.every(({ plainBytes, crc }) => crc32(plain.subarray(at, (at += plainBytes))) === crc);
}

function notAsIndexed(cause?: unknown): ServiceError {
  return new ServiceError('segment_index_invalid', {
    operation: 'read segment',
    problem: 'The bytes of a segment are not what the segment index says.',
    cause,
  });
}
