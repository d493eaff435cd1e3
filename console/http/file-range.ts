/** What of a file is sent: the bytes from `start` to `end`, both included. */
export interface FileRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The one range that a request asks for (RFC 9110 section 14.2): undefined for the whole file, also where the header has another unit
 * or more than one range; `unsatisfiable` where no byte of it exists.
 */
export function parseRange(header: string | undefined, bytes: number): FileRange | undefined | 'unsatisfiable' {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return undefined;
  const [first, last] = [match[1]!, match[2]!];
  if (first === '')
    return Number(last) === 0 || bytes === 0
      ? 'unsatisfiable'
      : { start: Math.max(0, bytes - Number(last)), end: bytes - 1 };
  const start = Number(first);
  const end = last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (last !== '' && Number(last) < start) return undefined;
  return start >= bytes ? 'unsatisfiable' : { start, end };
}
