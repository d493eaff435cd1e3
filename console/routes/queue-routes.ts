import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isServiceError } from '../../runtime/errors.ts';
import { recordAction } from '../http/access.ts';
import type { NewEvent } from '../http/audit.ts';
import { parseBody } from '../http/body.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { boardPath, boardPolicy, createQueueBoard, type BoardRoute } from './queue-board.ts';
import { makeFile, sendFile, type StaticFile } from './static-files.ts';

/** The board checks the rest of what it is sent. */
const boardRequest = z.strictObject({
  query: z.record(z.string(), z.unknown()),
  params: z.record(z.string(), z.string().max(200)),
  body: z.record(z.string(), z.unknown()),
});

/** The board of the queues, for operators. What is changed there is in the audit trail, once more if the board refused it. */
export function registerQueueRoutes(app: FastifyInstance, work: ConsoleWork): void {
  const board = createQueueBoard(work.queues);
  const operator = { config: { access: 'operator' } } as const;
  const sendPage = (_request: FastifyRequest, reply: FastifyReply) =>
    reply.header('Content-Security-Policy', boardPolicy).type('text/html; charset=utf-8').send(board.page);
  app.get(boardPath, operator, (_request, reply) => reply.redirect(`${boardPath}/`));
  for (const path of board.pagePaths)
    app.get(`${boardPath}${path}`, { ...operator, errorHandler: leadToLogIn }, sendPage);
  for (const [path, read] of board.files) {
    let file: Promise<StaticFile> | undefined; // made when a page first asks for it: some of these are never loaded
    app.get(`${boardPath}${path}`, operator, async (request, reply) =>
      sendFile(request, reply, await (file ??= makeFile(path, read()))),
    );
  }
  for (const route of board.routes) registerBoardRoute(app, work, route);
}

/** The page is one that browsers are sent to: without a session, they are sent on to where users log in. */
function leadToLogIn(error: Error, _request: FastifyRequest, reply: FastifyReply): void {
  if (!isServiceError(error, 'unauthenticated')) throw error;
  void reply.redirect('/');
}

function registerBoardRoute(
  app: FastifyInstance,
  { db }: Pick<ConsoleWork, 'db'>,
  { method, path, answer }: BoardRoute,
): void {
  app.route({
    method,
    url: `${boardPath}${path}`,
    config: { access: 'operator', originOnly: true },
    exposeHeadRoute: false,
    handler: async (request, reply) => {
      const asked = parseBody(boardRequest, {
        query: request.query ?? {},
        params: request.params,
        body: request.body ?? {},
      });
      const event = eventOf(path, asked.params);
      if (method !== 'GET') await recordAction(db, request, event);
      const { status, body } = await answer(asked);
      if (method !== 'GET' && status >= 400)
        await recordAction(db, request, { ...event, detail: { ...event.detail, refused: status } });
      return reply.code(status).send(status === 204 ? undefined : body);
    },
  });
}

/** `/api/queues/:queueName/:jobId/retry` of a job of the nights: to `queue nights, job night-7: retry`. */
function eventOf(
  path: string,
  { queueName, jobId, ...others }: Record<string, string>,
): Pick<NewEvent, 'action' | 'object' | 'detail'> {
  const what = path
    .split('/')
    .filter((part) => part !== '' && part !== 'api' && part !== 'queues' && !part.startsWith(':'))
    .join(' ');
  const object = `${queueName === undefined ? 'all queues' : `queue ${queueName}`}${jobId === undefined ? '' : `, job ${jobId}`}: ${what}`;
  return { action: 'change_queue', object, detail: others };
}
