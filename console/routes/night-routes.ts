import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { enqueueJob } from '../../jobs/queues/enqueue.ts';
import { formatArtefact } from '../../pipelines/caches/definition.ts';
import { releaseHeldFiles } from '../../pipelines/caches/night/night-release.ts';
import {
  evaluationInstant,
  everything,
  parseScope,
  requestNightOnce,
  type NightScope,
} from '../../pipelines/caches/night/night-request.ts';
import { inTransaction } from '../../runtime/postgres.ts';
import { actorOf, recordAction } from '../access/guard.ts';
import { parseBody } from '../http/body.ts';
import { reasonField } from '../http/parameters.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { sendLive } from '../http/live.ts';
import {
  followHistory,
  readHistory,
  readTrend,
  readWholeNight,
  type NightTrend,
  type NightSettings,
  type ReleasedFiles,
} from '../answers/night-answers.ts';

const historyQuery = z.strictObject({ before: z.iso.date().optional() });
const runParams = z.strictObject({ run: z.coerce.number().int().positive().max(Number.MAX_SAFE_INTEGER) });
const onlyField = z.string().min(1).max(40).nullable().default(null);
const releaseBody = z.strictObject({ only: onlyField, reason: reasonField });
const nightRequest = z.strictObject({ only: onlyField, acceptShrink: z.boolean().default(false) });

/** A string of RFC 9651 as in draft-ietf-httpapi-idempotency-key-header, without characters that need an escape. */
const keyHeader = z.looseObject({
  'idempotency-key': z
    .string({ error: 'is missing' })
    .regex(/^"[!#-[\]-~]{1,128}"$/, 'is not 1 to 128 printable ASCII characters in quotes')
    .transform((text) => text.slice(1, -1)),
});

/**
 * `GET /api/nights` is the history, `GET /api/nights/:run` one night, both also live (the history for its last days); `POST
 * /api/nights` runs one, with an idempotency key; `POST /api/nights/release` releases held files.
 */
export function registerNightRoutes(app: FastifyInstance, work: ConsoleWork): void {
  const { db, queues, config, log } = work;
  app.get('/api/nights', { config: { access: 'viewer' } }, ({ query }) =>
    readHistory(db, parseBody(historyQuery, query).before),
  );
  app.get('/api/nights/live', { config: { access: 'viewer' } }, (request, reply) =>
    sendLive(request, reply, { work, read: followHistory(db) }),
  );
  app.get('/api/nights/settings', { config: { access: 'viewer' } }, async (): Promise<NightSettings> => ({
    shrinkPercentMax: config.shrinkPercentMax,
  }));
  app.get('/api/nights/:run', { config: { access: 'viewer' } }, ({ params }) =>
    readWholeNight(db, parseBody(runParams, params).run),
  );
  app.get('/api/nights/:run/trend', { config: { access: 'viewer' } }, async ({ params }): Promise<NightTrend> => {
    const { night } = await readWholeNight(db, parseBody(runParams, params).run);
    return { days: await readTrend(db, night.date) };
  });
  app.get('/api/nights/:run/live', { config: { access: 'viewer' } }, (request, reply) => {
    const { run } = parseBody(runParams, request.params);
    return sendLive(request, reply, {
      work,
      read: () => readWholeNight(db, run),
      isLast: ({ night }) => night.state === 'finished',
    });
  });
  app.post('/api/nights', { config: { access: 'operator' } }, async (http, reply) => {
    const { only, acceptShrink } = parseBody(nightRequest, http.body);
    const { 'idempotency-key': key } = parseBody(keyHeader, http.headers);
    const now = new Date();
    const nightDate = now.toISOString().slice(0, 10);
    const scope = scopeOf(only);
    const { runId, repeated, state } = await inTransaction(db, async (client) => {
      const asked = await requestNightOnce(client, {
        key,
        nightDate,
        scope,
        acceptShrink,
        evaluatedAt: evaluationInstant(nightDate, now),
        requestedBy: actorOf(http),
      });
      if (!asked.repeated)
        await recordAction(client, http, {
          action: 'run_night',
          object: `night ${asked.runId}`,
          detail: { only, acceptShrink },
        });
      return asked;
    });
    // If this fails, the reconciler enqueues the night.
    if (state !== 'finished')
      await enqueueJob(queues, 'open-night', { runId }).catch((error: unknown) =>
        log.warn({ err: error, runId }, 'the night could not be queued yet'),
      );
    return reply.code(202).send({ runId, repeated });
  });
  app.post('/api/nights/release', { config: { access: 'operator' } }, (request): Promise<ReleasedFiles> => {
    const { only, reason } = parseBody(releaseBody, request.body);
    return inTransaction(db, async (client) => {
      const released = await releaseHeldFiles(client, {
        scope: scopeOf(only),
        reason,
        actor: actorOf(request),
        eyes: config,
      });
      await recordAction(client, request, { action: 'release_files', object: only ?? 'all held files' });
      return { released: released.map(formatArtefact) };
    });
  });
}

function scopeOf(only: string | null): NightScope {
  return only === null ? everything : parseScope(only);
}
