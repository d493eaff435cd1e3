import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { verificationAnswerOf } from '../../pipelines/audio/batches/client-verification.ts';
import { requireScope } from '../../pipelines/access/authentication.ts';
import type { PagedList } from '../http/cursor.ts';
import { databaseCodes, describeDocument } from '../http/descriptions.ts';
import type { Metrics } from '../http/metrics.ts';
import { sendClientDocument } from '../http/answer.ts';
import { makePage, startOfPage } from '../http/paging.ts';
import type { RequestReads } from '../http/request-reads.ts';
import { noQuery } from '../http/schemas.ts';
import { listNewestVerifications, type VerificationPlace } from '../../pipelines/audio/batches/stored-verifications.ts';
import { readVerification, unknownVerification, type OwnedId } from './verification-records.ts';
import {
  verificationDetailSchema,
  verificationListQuery,
  verificationListSchema,
  verificationParameters,
} from './verification-schemas.ts';

/** Dependencies of the verification and batch routes. */
export interface VerificationRoutesOptions {
  readonly reads: RequestReads;
  readonly metrics: Metrics;
}

const scope = 'verifications:read';

/** Ids of PostgreSQL and lines are below 2^53 and 2^31. */
const placeForm = /^[1-9]\d{0,14}\.[1-9]\d{0,9}$/;
const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The description of a route for keys with `verifications:read`. */
export const describeVerificationDocument = (description: Omit<Parameters<typeof describeDocument>[0], 'tag'>) =>
  describeDocument({ ...description, tag: 'Verifications', codes: [...(description.codes ?? []), ...databaseCodes] });

/** Requires the scope for the routes of this plugin. */
export function guardVerifications(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => void requireScope(request.caller, scope));
}

/** The client of the key, which the hook has checked. */
export function verificationClientOf(request: FastifyRequest): string {
  return requireScope(request.caller, scope).client;
}

/** The id in the path, with the client of the key; undefined if the text cannot be an id. */
export function ownedIdOf(request: FastifyRequest): OwnedId | undefined {
  const { id } = request.params as { id: string };
  return idForm.test(id) ? { client: verificationClientOf(request), id } : undefined;
}

/** The verifications of the key's client. Those of another client are unknown. */
export function registerVerificationRoutes(app: FastifyInstance, options: VerificationRoutesOptions): void {
  guardVerifications(app);
  registerList(app, options);
  registerOne(app, options);
}

function registerList(app: FastifyInstance, { reads, metrics }: VerificationRoutesOptions): void {
  const description = describeVerificationDocument({
    operationId: 'listVerifications',
    summary: 'Verifications of the client, newest first, without their windows',
    schema: verificationListSchema,
    codes: ['parameter_invalid'],
  });
  app.get(
    '/v1/verifications',
    { schema: { querystring: verificationListQuery, ...description } },
    async (request, reply) => {
      const client = verificationClientOf(request);
      const { state, model, batch, limit, cursor } = request.query as z.output<typeof verificationListQuery>;
      const list: PagedList = { list: 'verifications', of: [client, state ?? null, model ?? null, batch ?? null] };
      const before = parsePlace(startOfPage(list, { cursor, keyForm: placeForm }));
      const filter = { owner: client, state, model, batch, before, limit: limit + 1 };
      const rows = await reads.read((db) => listNewestVerifications(db, filter));
      const page = makePage(
        rows,
        { list, limit, path: '/v1/verifications', filters: { state, model, batch } },
        ({ batchId, line }) => `${batchId}.${line}`,
      );
      sendClientDocument(request, reply, {
        body: { verifications: page.rows.map(verificationAnswerOf), next: page.next },
        metrics,
      });
    },
  );
}

function registerOne(app: FastifyInstance, { reads, metrics }: VerificationRoutesOptions): void {
  const description = describeVerificationDocument({
    operationId: 'getVerification',
    summary: 'A verification with the scores of its windows',
    schema: verificationDetailSchema,
    codes: ['verification_unknown'],
  });
  app.get(
    '/v1/verifications/:id',
    { schema: { params: verificationParameters, querystring: noQuery, ...description } },
    async (request, reply) => {
      const name = ownedIdOf(request);
      if (name === undefined) throw unknownVerification();
      sendClientDocument(request, reply, { body: await reads.read((db) => readVerification(db, name)), metrics });
    },
  );
}

/** Where the first page begins: before the newest. */
const newestPlace: VerificationPlace = { batchId: Number.MAX_SAFE_INTEGER, line: 2 ** 31 - 1 };

function parsePlace(key: string | undefined): VerificationPlace {
  if (key === undefined) return newestPlace;
  const [batchId, line] = key.split('.').map(Number) as [number, number];
  return { batchId, line: Math.min(line, newestPlace.line) };
}
