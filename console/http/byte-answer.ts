import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../runtime/errors.ts';

/** Content that is sent completely, or in a requested range. */
interface SentBytes {
  readonly type: string;
  /** A strong entity tag, in its quotes. */
  readonly etag: string;
  readonly bytes: number;
  read(range: FileRange): Readable;
}

/**
 * Answers with the bytes, or with the range that the request asks for (RFC 9110 section 14).
 * @throws ServiceError `range_not_satisfiable`, before anything is read
 */
export function sendBytes(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, etag, bytes, read }: SentBytes,
): FastifyReply {
  const ifRange = request.headers['if-range'];
  const range = ifRange === undefined || ifRange === etag ? parseRange(request.headers.range, bytes) : undefined;
  if (range === 'unsatisfiable') {
    void reply.header('Content-Range', `bytes */${bytes}`);
    throw new ServiceError('range_not_satisfiable', { operation: 'play recording' });
  }
  const { start, end } = range ?? { start: 0, end: bytes - 1 };
  void reply.headers({
    'Accept-Ranges': 'bytes',
    ETag: etag,
    'Content-Length': end - start + 1,
    ...(range === undefined ? {} : { 'Content-Range': `bytes ${start}-${end}/${bytes}` }),
  });
  return reply
    .code(range === undefined ? 200 : 206)
    .type(type)
    .send(read({ start, end }));
}

/** A range of bytes from `start` to `end`, both included. */
export interface FileRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The range of a request (RFC 9110 section 14.2): undefined for the whole file, also for another unit or several ranges;
 * `unsatisfiable` if no byte of it exists.
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
