import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { requireScope } from '../../pipelines/access/authentication.ts';
import type { ApiErrorCode } from '../http/error-codes.ts';
import { privateHeaders, sendDocument } from '../http/answer.ts';
import { databaseCodes, describeDocument } from './descriptions.ts';
import { makeJsonDocument } from '../http/json-document.ts';
import type { Metrics } from '../http/metrics.ts';
import type { RequestReads } from '../http/request-reads.ts';
import { noQuery } from './schemas.ts';

type Scope = Parameters<typeof requireScope>[1];
type Principal = ReturnType<typeof requireScope>;

/** Dependencies of routes that read the database for a key. */
export interface ClientReadOptions {
  readonly reads: RequestReads;
  readonly metrics: Metrics;
}

/** The OpenAPI description of a document that is read for a key. */
interface ClientDocument {
  readonly operationId: string;
  readonly summary: string;
  /** Parameters in the path, for the documentation: the routes answer other text as unknown. */
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  readonly schema: z.ZodType;
  readonly codes: readonly ApiErrorCode[];
}

/** Reads the body; `next` in it is the path and query of the next page. */
type ReadBody = (
  request: FastifyRequest,
  principal: Principal,
) => Promise<{ readonly next?: string | null; readonly [name: string]: unknown }>;

/**
 * Requires `scope` for the routes of a plugin, and returns what registers one of them: it answers with a document that is
 * read for the key, and with a link to the next page (RFC 8288).
 */
export function clientReads(
  app: FastifyInstance,
  { scope, tag, metrics }: { scope: Scope; tag: string; metrics: Metrics },
): (path: string, document: ClientDocument, read: ReadBody) => void {
  app.addHook('onRequest', async (request) => void requireScope(request.caller, scope));
  return (path, { params, query = noQuery, codes, ...operation }, read) => {
    const description = describeDocument({ ...operation, tag, codes: [...codes, ...databaseCodes] });
    const schema = { ...(params && { params }), querystring: query, ...description };
    app.get(path, { schema }, async (request, reply) => {
      const body = await read(request, requireScope(request.caller, scope));
      const link: Record<string, string> = body.next ? { Link: `<${body.next}>; rel="next"` } : {};
      sendDocument(request, reply, makeJsonDocument(body), { headers: { ...privateHeaders, ...link }, metrics });
    });
  };
}
