import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../runtime/errors.ts';
import { decidePrecondition, type ConditionalHeaders, type Headers } from './conditional.ts';
import type { JsonDocument } from './json-document.ts';
import { unknownRoute, type Metrics } from './metrics.ts';
import { makeProblem, problemMediaType } from './problem.ts';

/** A complete answer, with its body if it has one. */
interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body?: Buffer;
}

/** Writes an answer without further headers from the framework; HEAD gets the same headers without the body. */
export function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, body }: Answer,
  metrics: Metrics,
): void {
  const withBody = body !== undefined && request.method !== 'HEAD';
  const all = body === undefined ? headers : { ...headers, 'Content-Length': body.length };
  reply.hijack();
  reply.raw.writeHead(status, allHeaders(reply, all));
  reply.raw.end(withBody ? body : undefined);
  if (withBody) metrics.bytesSent(routeOf(request), body.length);
}

/** The headers of every answer and those of this one; `Vary` has the fields of both. */
export function allHeaders(reply: FastifyReply, headers: Headers): Headers {
  const { vary, ...standing } = reply.getHeaders() as Headers;
  if (vary === undefined) return { ...standing, ...headers };
  return { ...standing, ...headers, Vary: headers['Vary'] === undefined ? vary : `${headers['Vary']}, ${vary}` };
}

/** Headers of each answer with a document. */
interface DocumentOptions {
  readonly headers: Headers;
  readonly metrics: Metrics;
}

/**
 * Sends a JSON document, or 304 if the client has it.
 * @throws ServiceError `precondition_failed`
 */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  document: JsonDocument,
  { headers, metrics }: DocumentOptions,
): void {
  const precondition = decidePrecondition(
    request.headers as ConditionalHeaders,
    { etag: document.etag, lastModified: undefined },
    Date.now(),
  );
  if (precondition === 'failed') throw new ServiceError('precondition_failed', { operation: 'read document' });
  const documentHeaders = { ETag: document.etag, ...headers };
  if (precondition === 'not_modified')
    return sendAnswer(request, reply, { status: 304, headers: documentHeaders }, metrics);
  sendAnswer(
    request,
    reply,
    {
      status: 200,
      headers: { ...documentHeaders, 'Content-Type': 'application/json; charset=utf-8' },
      body: document.body,
    },
    metrics,
  );
}

/** Sends an error as a problem (RFC 9457). */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: ServiceError, metrics: Metrics): void {
  const { status, headers, body } = makeProblem(error, request.id);
  sendAnswer(
    request,
    reply,
    {
      status,
      headers: { ...headers, 'Content-Type': problemMediaType, 'Cache-Control': 'no-store' },
      body: Buffer.from(JSON.stringify(body)),
    },
    metrics,
  );
}

/** The pattern of the route that a request matched, for labels and logs. */
export function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? unknownRoute;
}

/** The client of the key may cache what is read for it; shared caches may not. */
export const privateHeaders = { 'Cache-Control': 'private, no-cache', Vary: 'Authorization' };
