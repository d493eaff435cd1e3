import { randomUUID } from 'node:crypto';
import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ServiceError } from '../../runtime/errors.ts';
import type { Metrics } from './metrics.ts';
import { makeProblem, parserErrorCode, problemMediaType } from './problem.ts';

/** Headers of every answer. */
export const securityHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

/** Node stores the response that a socket is sending in this field; parser errors come without a response. */
type HttpSocket = Duplex & { readonly _httpMessage?: ServerResponse };

/**
 * Answers a request that Node's parser refused with a problem, and closes the connection.
 * If an answer is being sent already, or the client has disconnected, it only closes.
 */
export function answerUnreadable(error: Error & { code?: string }, socket: HttpSocket, metrics: Metrics): void {
  const code = parserErrorCode(error.code);
  if (error.code !== 'ECONNRESET') metrics.requestUnreadable(code);
  const answering = socket._httpMessage !== undefined && socket._httpMessage !== null;
  if (error.code === 'ECONNRESET' || answering || !socket.writable) socket.destroy(error);
  else socket.end(rawProblem(new ServiceError(code, { operation: 'read request' })));
}

/** Refuses CONNECT, which reaches no route. */
export function answerConnect(socket: Duplex): void {
  socket.end(rawProblem(new ServiceError('method_not_allowed', { operation: 'read request' })));
}

function rawProblem(error: ServiceError): string {
  const requestId = randomUUID();
  const { status, headers, body } = makeProblem(error, requestId);
  const text = JSON.stringify(body);
  const fields = {
    ...securityHeaders,
    ...headers,
    'X-Request-Id': requestId,
    'Content-Type': problemMediaType,
    'Cache-Control': 'no-store',
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`;
}
