import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { enqueueNight } from '../../jobs/enqueue.ts';
import { evaluationInstant, everything, parseScope, requestNight } from '../../pipelines/caches/night-request.ts';
import { inTransaction } from '../../runtime/postgres.ts';
import { actorOf, recordAction } from '../access.ts';
import { parseBody } from '../body.ts';
import type { ConsoleWork } from '../console-work.ts';
import { sendLive } from '../live.ts';
import { followHistory, readHistory, readWholeNight } from '../night-answers.ts';

const historyQuery = z.strictObject({ before: z.iso.date().optional() });
const runParams = z.strictObject({ run: z.coerce.number().int().positive().max(Number.MAX_SAFE_INTEGER) });
const nightRequest = z.strictObject({ only: z.string().min(1).max(40).nullable().default(null), full: z.boolean().default(false), acceptShrink: z.boolean().default(false) });

/** `GET /api/nights` is the history, `GET /api/nights/:run` one night, both also live (of the history the last days); `POST /api/nights` runs one. */
export function registerNightRoutes(app: FastifyInstance, work: ConsoleWork): void {
  const { db, queues, config, log } = work;
  app.get('/api/nights', { config: { access: 'viewer' } }, ({ query }) => readHistory(db, parseBody(historyQuery, query).before));
  app.get('/api/nights/live', { config: { access: 'viewer' } }, (request, reply) => sendLive(request, reply, { work, read: followHistory(db) }));
  app.get('/api/nights/settings', { config: { access: 'viewer' } }, async () => ({ shrinkPercentMax: config.shrinkPercentMax }));
  app.get('/api/nights/:run', { config: { access: 'viewer' } }, ({ params }) => readWholeNight(db, parseBody(runParams, params).run));
  app.get('/api/nights/:run/live', { config: { access: 'viewer' } }, (request, reply) => {
    const { run } = parseBody(runParams, request.params);
    return sendLive(request, reply, { work, read: () => readWholeNight(db, run), isLast: ({ night }) => night.state === 'finished' });
  });
  app.post('/api/nights', { config: { access: 'operator' } }, async (http, reply) => {
    const { only, full, acceptShrink } = parseBody(nightRequest, http.body);
    const now = new Date();
    const nightDate = now.toISOString().slice(0, 10);
    const scope = only === null ? everything : parseScope(only);
    const runId = await inTransaction(db, async (client) => {
      const asked = (await requestNight(client, { nightDate, trigger: 'operator', scope, acceptShrink, fullBuild: full, evaluatedAt: evaluationInstant(nightDate, now), requestedBy: actorOf(http) }))!; // only a scheduled night can be there already
      await recordAction(client, http, { action: 'run_night', object: `night ${asked}`, detail: { only, full, acceptShrink } });
      return asked;
    });
    // It is asked for: were this told as a failure, it would be asked for again. The reconciler queues it.
    await enqueueNight(queues, { runId }).catch((error: unknown) => log.warn({ err: error, runId }, 'the night could not be queued yet'));
    return reply.code(202).send({ runId });
  });
}
