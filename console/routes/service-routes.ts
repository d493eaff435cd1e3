import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { LISTED_JOB_STATES } from '../../jobs/queues/backend.ts';
import { queueNames } from '../../jobs/queues/queues.ts';
import { listAcceptedRequests } from '../../pipelines/submissions/request-ledger.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { pageOf } from '../http/paging.ts';
import { idParameter, limitParameter } from '../http/parameters.ts';
import { findPlace } from '../answers/find-answers.ts';
import { readOverview } from '../answers/overview-answers.ts';
import { listQueues, type JobPage } from '../answers/queue-answers.ts';
import { recordAction } from '../access/guard.ts';
import { parseBody } from '../http/body.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import type { AuditEvents, IntakeRequests } from '../answers/session-answers.ts';
import { listEvents, shownEvent } from '../access/audit.ts';

const queuePath = z.strictObject({ queue: z.enum(queueNames) });
const jobPath = z.strictObject({
  queue: z.enum(queueNames),
  id: z.string().regex(/^[a-z0-9.-]{1,200}$/, 'is not a job'),
});
const jobsQuery = z.strictObject({
  state: z.enum(LISTED_JOB_STATES).default('failed'),
  from: z.coerce.number().int().min(0).max(1_000_000).default(0),
  limit: limitParameter,
});

const findBody = z.strictObject({ text: z.string().max(128) });

/** `/api/find`: the page that a text names. The text is sent in the body, since it may name a person's number by mistake. */
export function registerFindRoutes(app: FastifyInstance, { db }: ConsoleWork): void {
  app.post('/api/find', { config: { access: 'viewer' } }, (request) =>
    findPlace(db, parseBody(findBody, request.body).text),
  );
}

/**
 * `/api/queues`: the queues with their jobs, for operators, who pause and resume queues, and run or remove jobs. Only the
 * service adds jobs: their payloads are ids of rows in its database.
 */
export function registerQueueRoutes(app: FastifyInstance, { db, queues }: ConsoleWork): void {
  const operator = { config: { access: 'operator' } } as const;
  app.get('/api/queues', operator, () => listQueues(queues));
  app.get('/api/queues/:queue/jobs', operator, async ({ params, query }): Promise<JobPage> => {
    const { queue } = parseBody(queuePath, params);
    const { state, from, limit } = parseBody(jobsQuery, query);
    const jobs = await queues.listJobs(queue, { state, from, count: limit + 1 });
    return { jobs: jobs.slice(0, limit), next: jobs.length > limit ? String(from + limit) : null };
  });
  for (const change of ['pause', 'resume'] as const)
    app.post(`/api/queues/:queue/${change}`, operator, async (request) => {
      const { queue } = parseBody(queuePath, request.params);
      await recordAction(db, request, { action: 'change_queue', object: `queue ${queue}: ${change}` });
      await queues[change](queue);
      return { queue };
    });
  for (const [path, change] of [
    ['run', 'runNow'],
    ['remove', 'remove'],
  ] as const)
    app.post(`/api/queues/:queue/jobs/:id/${path}`, operator, async (request) => {
      const { queue, id } = parseBody(jobPath, request.params);
      const event = { action: 'change_queue', object: `queue ${queue}, job ${id}: ${path}` } as const;
      await recordAction(db, request, event);
      if (await queues[change](queue, id)) return { queue, id };
      await recordAction(db, request, { ...event, detail: { refused: true } });
      throw new ServiceError('job_unknown', {
        operation: `${path} job`,
        object: id,
        hint: 'Read the list again: a worker may have taken it meanwhile.',
      });
    });
}

/** `GET /api/overview`: the current state, for the first page. */
export function registerOverviewRoutes(app: FastifyInstance, work: ConsoleWork): void {
  app.get('/api/overview', { config: { access: 'viewer' } }, () => readOverview(work));
}

const query = z.strictObject({
  before: z.coerce.number().int().positive().optional(),
  actor: z.string().max(40).optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});

const requestsQuery = z.strictObject({ before: idParameter.optional(), limit: limitParameter });

/** `GET /api/events`: the console's audit trail; `GET /api/intake-requests`: what the intake has accepted. Newest first, for operators. */
export function registerEventRoutes(app: FastifyInstance, { db }: Pick<ConsoleWork, 'db'>): void {
  app.get('/api/events', { config: { access: 'operator' } }, async (request): Promise<AuditEvents> => {
    const events = await listEvents(db, parseBody(query, request.query));
    return { events: events.map(shownEvent) };
  });
  app.get('/api/intake-requests', { config: { access: 'operator' } }, async (request): Promise<IntakeRequests> => {
    const { limit, ...asked } = parseBody(requestsQuery, request.query);
    const found = await listAcceptedRequests(db, { ...asked, limit: limit + 1 });
    const { rows: requests, next } = pageOf(found, limit, ({ requestId }) => requestId);
    return { requests, next };
  });
}
