import type { FeedArrivals, FeedLoads, FeedRejects, SubmittedFeed } from '../answers/number-answers.ts';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { enqueueJob } from '../../jobs/queues/enqueue.ts';
import { requestFeedLoad } from '../../jobs/queues/feed-producer.ts';
import { feedFileBytesMax } from '../../pipelines/feeds/feed-bytes.ts';
import { listFeedArrivals } from '../../pipelines/feeds/feed-arrivals.ts';
import {
  decideHeldLoad,
  listFeedLoads,
  listFeedRejects,
  readFeedLoad,
  removeFileOfLoad,
} from '../../pipelines/feeds/feed-load.ts';
import { LOAD_STATES } from '../../pipelines/feeds/load-record.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { inTransaction } from '../../runtime/postgres.ts';
import { parseStorableJson } from '../../runtime/stored-text.ts';
import { actorOf, recordAction } from '../access/guard.ts';
import { parseBody } from '../http/body.ts';
import { pageOf } from '../http/paging.ts';
import { idOf, idParameter, limitParameter, lineParameter, reasonField } from '../http/parameters.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { sendLive } from '../http/live.ts';
import { withForm } from '../http/uploads.ts';

const listQuery = z.strictObject({
  before: idParameter.optional(),
  state: z.enum(LOAD_STATES).optional(),
  limit: limitParameter,
});
const rejectsQuery = z.strictObject({ after: lineParameter, limit: limitParameter });
const submission = z.strictObject({ feed: z.string().max(40), options: z.string().max(10_000).default('{}') });
const decision = z.strictObject({ decision: z.enum(['release', 'discard']), reason: reasonField });

/** `/api/feeds`: arrivals, loads with gates and refused rows, submission of a feed, and decisions on held loads. */
export function registerFeedRoutes(app: FastifyInstance, work: ConsoleWork): void {
  const { db, config, queues, log } = work;
  // If this fails, the reconciler enqueues the load.
  const enqueue = (loadId: number) =>
    enqueueJob(queues, 'load-feed', { loadId }).catch((error: unknown) =>
      log.warn({ err: error, loadId }, 'the load could not be queued yet'),
    );
  app.get('/api/feeds', { config: { access: 'viewer' } }, async (): Promise<FeedArrivals> => ({
    arrivals: await listFeedArrivals(db, config, new Date()),
  }));
  app.get('/api/feeds/loads', { config: { access: 'viewer' } }, async (request): Promise<FeedLoads> => {
    const { limit, ...query } = parseBody(listQuery, request.query);
    const { rows: loads, next } = pageOf(await listFeedLoads(db, { ...query, limit: limit + 1 }), limit, ({ loadId }) =>
      String(loadId),
    );
    return { loads, next };
  });
  app.post('/api/feeds/loads', { config: { access: 'operator' } }, (request): Promise<SubmittedFeed> =>
    withForm(request, { filesMax: 1, fileBytesMax: feedFileBytesMax(config) }, async ({ fields, files: [file] }) => {
      const { feed, options } = parseBody(submission, fields);
      if (file === undefined)
        throw new ServiceError('parameter_invalid', { operation: 'receive form', problem: 'The form has no file.' });
      return requestFeedLoad(work, {
        feed,
        path: file.path,
        fileName: file.name,
        submittedBy: actorOf(request),
        options: parseOptions(options),
        record: (client, id) =>
          recordAction(client, request, { action: 'load_feed', object: `load ${id}`, detail: { feed } }),
      });
    }),
  );
  app.get('/api/feeds/loads/:id', { config: { access: 'viewer' } }, (request) => readFeedLoad(db, idOf(request)));
  app.get('/api/feeds/loads/:id/live', { config: { access: 'viewer' } }, (request, reply) => {
    const id = idOf(request);
    return sendLive(request, reply, {
      work,
      read: () => readFeedLoad(db, id),
      isLast: ({ state }) => state !== 'queued' && state !== 'running',
    });
  });
  app.get('/api/feeds/loads/:id/rejects', { config: { access: 'viewer' } }, async (request): Promise<FeedRejects> => {
    const { after, limit } = parseBody(rejectsQuery, request.query);
    const { loadId } = await readFeedLoad(db, idOf(request)); // an unknown load is an error, not an empty list
    const { rows: rejects, next } = pageOf(
      await listFeedRejects(db, loadId, { after, limit: limit + 1 }),
      limit,
      ({ line }) => String(line),
    );
    return { rejects, next };
  });
  app.post('/api/feeds/loads/:id/decision', { config: { access: 'operator' } }, async (request) => {
    const loadId = idOf(request);
    const asked = parseBody(decision, request.body);
    const load = await inTransaction(db, async (client) => {
      await recordAction(client, request, {
        action: 'decide_load',
        object: `load ${loadId}`,
        detail: { decision: asked.decision },
      });
      return decideHeldLoad({ db: client, loadId, ...asked, eyes: config, actor: actorOf(request) });
    });
    if (asked.decision === 'discard') await removeFileOfLoad(db, config.feedDir, loadId);
    if (asked.decision === 'release') await enqueue(loadId);
    return load;
  });
}

function parseOptions(text: string): unknown {
  try {
    return parseStorableJson(text);
  } catch (error) {
    throw new ServiceError('feed_option_invalid', {
      operation: 'submit feed',
      problem: 'The options are not JSON, or a text of them cannot be stored.',
      cause: error,
    });
  }
}
