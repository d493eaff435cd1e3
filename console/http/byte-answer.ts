import type { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../runtime/errors.ts';
import { parseRange, type FileRange } from './file-range.ts';

/** Bytes that are sent whole, or the part of them that is asked for. */
export interface SentBytes {
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
