import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendDocument } from './answer.ts';
import { makeJsonDocument } from './json-document.ts';
import type { Metrics } from './metrics.ts';

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
