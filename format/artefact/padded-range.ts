import { ClientError } from '../base/errors.ts';
import type { Segment } from './segment-index.ts';

/** Bytes of a file, the end exclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

interface Padding {
  /** Bytes of the largest deflate block of the file. */
  readonly blockBytesMax: number;
  readonly fileBytes: number;
  /** Bytes of a request at least. */
  readonly padTo: number;
}

/** Bytes of a padded request. */
const padToMax = 2 ** 30;

/**
 * The range to request instead of a segment, so that its length reveals nothing: all of a version have one length, the least
 * power of two that is at least `padTo` and twice the largest segment, and begin at multiples of half of it; the last one ends
 * with the file, and a shorter file is requested whole.
 * @throws ClientError `usage_invalid` unless `padTo` is from 1 byte to 1 GiB
 */
export function paddedRange(
  { offset }: Pick<Segment, 'offset'>,
  { blockBytesMax, fileBytes, padTo }: Padding,
): ByteRange {
  if (!Number.isInteger(padTo) || padTo < 1 || padTo > padToMax)
    throw new ClientError('usage_invalid', {
      operation: 'look number up',
      problem: `A request can be padded to 1 to ${padToMax} bytes.`,
    });
  let length = 2;
  while (length < padTo || length < 2 * blockBytesMax) length *= 2;
  const aligned = Math.floor(offset / (length / 2)) * (length / 2);
  const start = Math.max(0, Math.min(aligned, fileBytes - length));
  return { start, end: Math.min(start + length, fileBytes) };
}
