/** A span of bytes of a representation. */
export interface ByteSpan {
  readonly start: number;
  readonly length: number;
}

/** What a Range header selects. */
export type RangeDecision = 'whole' | 'unsatisfiable' | ByteSpan;

/** One int-range or suffix-range (RFC 9110 section 14.1.2); empty list elements around it are allowed. */
const singleRange = /^bytes=[ \t]*(?:,[ \t]*)*(?:(\d+)-(\d*)|-(\d+))[ \t]*(?:,[ \t]*)*$/i;

/**
 * Decides which of `size` bytes a Range header selects (RFC 9110 section 14.2).
 *
 * An absent or malformed header, or one with another unit, selects all of them. So does one with several ranges: a server
 * may ignore Range, these files are for downloading and resuming, and with `multipart/byteranges` a short request could
 * ask for thousands of parts.
 */
export function decideRange(header: string | undefined, size: number): RangeDecision {
  const range = header === undefined ? null : singleRange.exec(header);
  if (range === null) return 'whole';
  const [, first, last, suffix] = range;
  return suffix === undefined ? intRange(Number(first), last ?? '', size) : suffixRange(Number(suffix), size);
}

function intRange(first: number, last: string, size: number): RangeDecision {
  const lastWanted = last === '' ? Number.POSITIVE_INFINITY : Number(last);
  if (lastWanted < first) return 'whole';
  if (first >= size) return 'unsatisfiable';
  return { start: first, length: Math.min(lastWanted, size - 1) - first + 1 };
}

function suffixRange(wanted: number, size: number): RangeDecision {
  const length = Math.min(wanted, size);
  return length === 0 ? 'unsatisfiable' : { start: size - length, length };
}
