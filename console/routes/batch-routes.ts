import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { requestRetry } from '../../jobs/queues/verification-producer.ts';
import { BATCH_STATES, cancelBatch, hasEnded, readBatch } from '../../pipelines/audio/batches/batch.ts';
import { VERIFICATION_STATES } from '../../pipelines/audio/verification.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import { recordAction } from '../access/guard.ts';
import { listAllBatches, listItems, readLiveBatch, writeResults } from '../answers/batch-answers.ts';
import { parseBody } from '../http/body.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { sendLive } from '../http/live.ts';

const limit = z.coerce.number().int().min(1).max(200).default(50);
const listQuery = z.strictObject({
  state: z.enum(BATCH_STATES).optional(),
  before: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, 'is not a place in the list')
    .transform(Number)
    .optional(),
  limit,
});
const itemQuery = z.strictObject({
  state: z.enum(VERIFICATION_STATES).optional(),
  after: z.coerce
    .number()
    .int()
    .min(0)
    .max(2 ** 31 - 1)
    .default(0),
  limit,
});
const resultQuery = z.strictObject({ state: z.enum(VERIFICATION_STATES).optional() });
const retryBody = z.strictObject({ all: z.boolean().default(false) });

/** `/api/batches`: the batches of all clients, with the actions of the CLI. */
export function registerBatchRoutes(app: FastifyInstance, work: ConsoleWork): void {
  const { db, queues, log } = work;
  app.get('/api/batches', { config: { access: 'viewer' } }, (request) =>
    listAllBatches(db, parseBody(listQuery, request.query)),
  );
  app.get('/api/batches/:id/live', { config: { access: 'viewer' } }, (request, reply) => {
    const id = idOf(request);
    return sendLive(request, reply, {
      work,
      read: () => readLiveBatch(work, id),
      isLast: ({ batch }) => hasEnded(batch),
    });
  });
  app.get('/api/batches/:id/items', { config: { access: 'viewer' } }, (request) =>
    listItems(db, idOf(request), parseBody(itemQuery, request.query)),
  );
  app.get(
    '/api/batches/:id/results.csv',
    { config: { access: 'viewer' }, exposeHeadRoute: false },
    async (request, reply) => {
      const { state } = parseBody(resultQuery, request.query);
      const { id, batchId } = await readBatch(db, idOf(request));
      await recordAction(db, request, {
        action: 'save_results',
        object: `batch ${id}`,
        detail: state === undefined ? {} : { state },
      });
      void reply.header('Content-Disposition', `attachment; filename="results-${id}.csv"`);
      return reply
        .type('text/csv; charset=utf-8')
        .send(Readable.from(writeResults(db, batchId, state === undefined ? undefined : [state])));
    },
  );
  app.post('/api/batches/:id/retry', { config: { access: 'reviewer' } }, async (request) => {
    const { all } = parseBody(retryBody, request.body);
    const { id } = await readBatch(db, idOf(request));
    const record = (client: Queryable, items: number) =>
      recordAction(client, request, { action: 'retry_batch', object: `batch ${id}`, detail: { retried: items, all } });
    const { batch, retried } = await requestRetry({ db, queues, log }, id, { all, record });
    return { batch: batch.id, state: batch.state, retried };
  });
  app.post('/api/batches/:id/cancel', { config: { access: 'operator' } }, async (request) => {
    const { id } = await readBatch(db, idOf(request));
    const { cancelled } = await cancelBatch(db, id, (client, items) =>
      recordAction(client, request, { action: 'cancel_batch', object: `batch ${id}`, detail: { cancelled: items } }),
    );
    return { batch: id, cancelled };
  });
}

function idOf({ params }: FastifyRequest): string {
  return (params as { id: string }).id;
}
