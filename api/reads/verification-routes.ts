import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { verificationAnswerOf } from '../../pipelines/audio/batches/client-verification.ts';
import { listNewestVerifications, type VerificationPlace } from '../../pipelines/audio/batches/stored-verifications.ts';
import { clientReads, type ClientReadOptions } from '../documents/client-reads.ts';
import { readPage } from '../documents/paging.ts';
import { ownedIdOf, readVerification, unknownVerification, verificationReads } from './verification-records.ts';
import {
  verificationDetailSchema,
  verificationListQuery,
  verificationListSchema,
  verificationParameters,
} from './verification-schemas.ts';

/** Ids of PostgreSQL and lines are below 2^53 and 2^31. */
const placeForm = /^[1-9]\d{0,14}\.[1-9]\d{0,9}$/;

/** The verifications of the key's client. Those of another client are unknown. */
export function registerVerificationRoutes(app: FastifyInstance, { reads, metrics }: ClientReadOptions): void {
  const route = clientReads(app, { ...verificationReads, metrics });
  route(
    '/v1/verifications',
    {
      operationId: 'listVerifications',
      summary: 'Verifications of the client, newest first, without their windows',
      query: verificationListQuery,
      schema: verificationListSchema,
      codes: ['parameter_invalid'],
    },
    async (request, { client }) => {
      const { limit, cursor, ...filters } = request.query as z.output<typeof verificationListQuery>;
      const { state, model, batch } = filters;
      const list = { list: 'verifications', of: [client, state ?? null, model ?? null, batch ?? null] };
      const page = { list, limit, cursor, path: '/v1/verifications', filters, keyForm: placeForm };
      const { rows, next } = await readPage(
        page,
        (last, count) => {
          const filter = { owner: client, ...filters, before: parsePlace(last), limit: count };
          return reads.read((db) => listNewestVerifications(db, filter));
        },
        ({ batchId, line }) => `${batchId}.${line}`,
      );
      return { verifications: rows.map(verificationAnswerOf), next };
    },
  );
  route(
    '/v1/verifications/:id',
    {
      operationId: 'getVerification',
      summary: 'A verification with the scores of its windows',
      params: verificationParameters,
      schema: verificationDetailSchema,
      codes: ['verification_unknown'],
    },
    async (request, principal) => {
      const name = ownedIdOf(request, principal);
      if (name === undefined) throw unknownVerification();
      return reads.read((db) => readVerification(db, name));
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
