import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { countStates, listBatches } from '../../pipelines/audio/batches/batch.ts';
import { verificationAnswerOf } from '../../pipelines/audio/batches/client-verification.ts';
import { listVerifications } from '../../pipelines/audio/batches/stored-verifications.ts';
import { clientReads, type ClientReadOptions } from '../documents/client-reads.ts';
import { makePage, readPage, startOfPage } from '../documents/paging.ts';
import { batchAnswer, findBatch, ownedIdOf, unknownBatch, verificationReads } from './verification-records.ts';
import {
  batchDetailSchema,
  batchListQuery,
  batchListSchema,
  batchParameters,
  batchQuery,
} from './verification-schemas.ts';

const batchIdForm = /^[1-9]\d{0,14}$/;
const lineForm = /^[1-9]\d{0,8}$/;

/** The batches of the key's client, with their verifications. A batch of another client is unknown. */
export function registerBatchRoutes(app: FastifyInstance, { reads, metrics }: ClientReadOptions): void {
  const route = clientReads(app, { ...verificationReads, metrics });
  route(
    '/v1/batches',
    {
      operationId: 'listBatches',
      summary: 'Batches of the client, newest first',
      query: batchListQuery,
      schema: batchListSchema,
      codes: ['parameter_invalid'],
    },
    async (request, { client }) => {
      const { state, limit, cursor } = request.query as z.output<typeof batchListQuery>;
      const list = { list: 'batches', of: [client, state ?? null] };
      const page = { list, limit, cursor, path: '/v1/batches', filters: { state }, keyForm: batchIdForm };
      const { rows, next } = await readPage(
        page,
        (last, count) => {
          const before = Number(last ?? Number.MAX_SAFE_INTEGER);
          return reads.read((db) => listBatches(db, { owner: client, state, before, limit: count }));
        },
        ({ batchId }) => String(batchId),
      );
      return { batches: rows.map(batchAnswer), next };
    },
  );
  route(
    '/v1/batches/:id',
    {
      operationId: 'getBatch',
      summary: 'A batch with the counts of its states and a page of its verifications',
      params: batchParameters,
      query: batchQuery,
      schema: batchDetailSchema,
      codes: ['parameter_invalid', 'batch_unknown'],
    },
    async (request, principal) => {
      const name = ownedIdOf(request, principal);
      if (name === undefined) throw unknownBatch();
      const { state, limit, cursor } = request.query as z.output<typeof batchQuery>;
      const list = { list: 'batch', of: [name.client, name.id.toLowerCase(), state ?? null] };
      const after = Number(startOfPage(list, { cursor, keyForm: lineForm }) ?? 0);
      const states = state && [state];
      const { batch, counts, rows } = await reads.read(async (db) => {
        const found = await findBatch(db, name);
        return {
          batch: batchAnswer(found),
          counts: await countStates(db, found.batchId),
          rows: await listVerifications(db, found.batchId, { states, after, limit: limit + 1, windows: false }),
        };
      });
      const wanted = { list, limit, path: batch.links.self, filters: { state } };
      const page = makePage(rows, wanted, ({ line }) => String(line));
      return { ...batch, counts, verifications: page.rows.map(verificationAnswerOf), next: page.next };
    },
  );
}
