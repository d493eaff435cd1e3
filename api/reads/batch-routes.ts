import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import type { PagedList } from '../http/cursor.ts';
import { sendClientDocument } from '../http/answer.ts';
import { makePage, startOfPage } from '../http/paging.ts';
import {
  describeVerificationDocument,
  guardVerifications,
  ownedIdOf,
  verificationClientOf,
  type VerificationRoutesOptions,
} from './verification-routes.ts';
import { countStates, listBatches } from '../../pipelines/audio/batches/batch.ts';
import { verificationAnswerOf } from '../../pipelines/audio/batches/client-verification.ts';
import { listVerifications } from '../../pipelines/audio/batches/stored-verifications.ts';
import { batchAnswer, findBatch, unknownBatch } from './verification-records.ts';
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
export function registerBatchRoutes(app: FastifyInstance, options: VerificationRoutesOptions): void {
  guardVerifications(app);
  registerList(app, options);
  registerOne(app, options);
}

function registerList(app: FastifyInstance, { reads, metrics }: VerificationRoutesOptions): void {
  const description = describeVerificationDocument({
    operationId: 'listBatches',
    summary: 'Batches of the client, newest first',
    schema: batchListSchema,
    codes: ['parameter_invalid'],
  });
  app.get('/v1/batches', { schema: { querystring: batchListQuery, ...description } }, async (request, reply) => {
    const client = verificationClientOf(request);
    const { state, limit, cursor } = request.query as z.output<typeof batchListQuery>;
    const list: PagedList = { list: 'batches', of: [client, state ?? null] };
    const before = Number(startOfPage(list, { cursor, keyForm: batchIdForm }) ?? Number.MAX_SAFE_INTEGER);
    const rows = await reads.read((db) => listBatches(db, { owner: client, state, before, limit: limit + 1 }));
    const page = makePage(rows, { list, limit, path: '/v1/batches', filters: { state } }, ({ batchId }) =>
      String(batchId),
    );
    sendClientDocument(request, reply, { body: { batches: page.rows.map(batchAnswer), next: page.next }, metrics });
  });
}

function registerOne(app: FastifyInstance, { reads, metrics }: VerificationRoutesOptions): void {
  const description = describeVerificationDocument({
    operationId: 'getBatch',
    summary: 'A batch with the counts of its states and a page of its verifications',
    schema: batchDetailSchema,
    codes: ['parameter_invalid', 'batch_unknown'],
  });
  app.get(
    '/v1/batches/:id',
    { schema: { params: batchParameters, querystring: batchQuery, ...description } },
    async (request, reply) => {
      const name = ownedIdOf(request);
      if (name === undefined) throw unknownBatch();
      const { state, limit, cursor } = request.query as z.output<typeof batchQuery>;
      const list: PagedList = { list: 'batch', of: [name.client, name.id.toLowerCase(), state ?? null] };
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
      const page = makePage(rows, { list, limit, path: batch.links.self, filters: { state } }, ({ line }) =>
        String(line),
      );
      sendClientDocument(request, reply, {
        body: { ...batch, counts, verifications: page.rows.map(verificationAnswerOf), next: page.next },
        metrics,
      });
    },
  );
}
