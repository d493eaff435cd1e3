import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '../../runtime/errors.ts';
import { decidePrecondition, type ConditionalHeaders, type Headers } from './conditional.ts';
import { type JsonDocument, makeJsonDocument } from './json-document.ts';
import { unknownRoute, type Metrics } from './metrics.ts';
import { makeProblem, problemMediaType } from './problem.ts';

/** An answer whose body, if it has one, is ready. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body?: Buffer;
}

/** Writes an answer as it is; a HEAD gets the same header without the body. The framework adds nothing to it. */
export function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, headers, body }: Answer,
  metrics: Metrics,
): void {
  const withBody = body !== undefined && request.method !== 'HEAD';
  const length = body === undefined ? {} : { 'Content-Length': body.length };
  reply.hijack();
  reply.raw.writeHead(status, { ...(reply.getHeaders() as Headers), ...headers, ...length });
  reply.raw.end(withBody ? body : undefined);
  if (withBody) metrics.bytesSent(routeOf(request), body.length);
}

/** Headers that go with a document in each answer. */
export interface DocumentOptions {
  readonly headers: Headers;
  readonly metrics: Metrics;
}

/**
 * Sends a JSON document, or 304 where the client has it already.
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
  const standing = { ETag: document.etag, ...headers };
  if (precondition === 'not_modified') return sendAnswer(request, reply, { status: 304, headers: standing }, metrics);
  sendAnswer(
    request,
    reply,
    { status: 200, headers: { ...standing, 'Content-Type': 'application/json; charset=utf-8' }, body: document.body },
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

/** What is read for a key is its client's own, and may be kept by nobody else. */
const readHeaders = { 'Cache-Control': 'private, no-cache', Vary: 'Authorization' };

/** A document that was read for a key; `next` is the path and query of the page after it. */
export interface OwnedDocument {
  readonly body: unknown;
  readonly next?: string | null;
  readonly metrics: Metrics;
}

/** Sends a document that was read for a key, with the next page as a link too (RFC 8288). */
export function sendOwned(
  request: FastifyRequest,
  reply: FastifyReply,
  { body, next = null, metrics }: OwnedDocument,
): void {
  const link: Record<string, string> = next === null ? {} : { Link: `<${next}>; rel="next"` };
  sendDocument(request, reply, makeJsonDocument(body), { headers: { ...readHeaders, ...link }, metrics });
}
