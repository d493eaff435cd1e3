import { randomUUID } from 'node:crypto';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { registerCallers } from '../api/http/callers.ts';
import { retryAfterSeconds } from '../api/http/problem.ts';
import { beginRequest } from '../api/http/request-log.ts';
import { ServiceError } from '../runtime/errors.ts';
import { asIntakeError, methodNotAllowed, sendIntakeProblem, sendJson } from './http/answers.ts';
import type { IntakeWork } from './work/intake-work.ts';
import { makeOpenApiDocument } from './openapi.ts';
import { registerBatchRoutes } from './routes/batch-routes.ts';
import { registerBrandingRoutes } from './routes/branding-routes.ts';
import { registerDisputeRoutes } from './routes/dispute-routes.ts';
import { registerFeedRoutes } from './routes/feed-routes.ts';
import { registerUploadRoutes } from './routes/upload-routes.ts';

/** What readiness depends on. */
export interface IntakeState {
  readonly databaseReachable: boolean;
  readonly keysKnown: boolean;
  readonly stopping: boolean;
}

/** Connections that the intake holds at a time; one more is closed at once. */
const connectionsMax = 1024;

/** Seconds within which the header of a request must arrive, and without a byte after which a client is disconnected. */
const headersSecondsMax = 10;
const stalledSecondsMax = 60;

/** The HTTP server of the intake, ready to listen. Its bodies may take as long as they must, as long as bytes arrive. */
export async function createIntakeServer({
  work,
  state,
}: {
  readonly work: IntakeWork;
  readonly state: () => IntakeState;
}): Promise<FastifyInstance> {
  const { limits, log } = work;
  const app = fastify({
    http: { headersTimeout: headersSecondsMax * 1000, connectionsCheckingInterval: 1000 },
    requestTimeout: 0,
    connectionTimeout: stalledSecondsMax * 1000,
    bodyLimit: limits.bodyBytesMax,
    return503OnClosing: false,
    genReqId: () => randomUUID(),
    frameworkErrors: (error, request, reply) =>
      void answerError(error, request as FastifyRequest, reply as FastifyReply, work),
  });
  app.server.maxConnections = connectionsMax;
  const routes = collectRoutes(app);
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, work));
  await registerEntry(app, work);
  app.setNotFoundHandler((request) => {
    const allowed = routes.methodsOf(request.url);
    if (allowed.length > 0) throw methodNotAllowed(allowed);
    throw new ServiceError('route_unknown', { operation: 'route request' });
  });
  registerServiceRoutes(app, state);
  await registerUploadRoutes(app, work);
  registerBatchRoutes(app, work);
  registerBrandingRoutes(app, work);
  registerFeedRoutes(app, work);
  registerDisputeRoutes(app, work);
  log.debug('the routes are registered');
  return app;
}

/** `/healthz`: the process is alive; `/readyz`: whether it can take work; `/openapi.json`. None needs a key. */
function registerServiceRoutes(app: FastifyInstance, state: () => IntakeState): void {
  const config = { unlimited: true };
  app.get('/healthz', { config }, (_request, reply) => sendJson(reply, { status: 200, body: { status: 'live' } }));
  app.get('/readyz', { config }, (_request, reply) => {
    const { databaseReachable, keysKnown, stopping } = state();
    const ready = databaseReachable && keysKnown && !stopping;
    const status = ready ? 'ready' : 'not_ready';
    const body = { status, database: { reachable: databaseReachable }, keys: { known: keysKnown }, stopping };
    return ready
      ? sendJson(reply, { status: 200, body })
      : sendJson(reply, { status: 503, headers: { 'Retry-After': String(retryAfterSeconds) }, body });
  });
  let document: unknown;
  app.get('/openapi.json', (_request, reply) =>
    sendJson(reply, { status: 200, body: (document ??= makeOpenApiDocument()) }),
  );
}

/** Before its route, each request gets an id and a timer, and is authenticated and rate-limited. */
async function registerEntry(app: FastifyInstance, work: IntakeWork): Promise<void> {
  const { keys, config } = work;
  const admit = await registerCallers(app, { keys, requestsPerMinuteMax: config.intakeRequestsPerMinuteMax });
  app.addHook('onRequest', async (request, reply) => {
    beginRequest(request, reply, {
      log: work.log,
      onEnd: ({ seconds, ...labels }) => {
        work.metrics.count('caller_trust_intake_requests_total', labels);
        const { route, method } = labels;
        work.metrics.observe('caller_trust_intake_request_seconds', { route, method }, seconds);
      },
    });
    await admit(request);
  });
}

function answerError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { log }: Pick<IntakeWork, 'log'>,
): FastifyReply {
  const error = asIntakeError(thrown, request);
  if (error.code === 'internal')
    log.error({ err: error.cause, requestId: request.id, route: request.routeOptions.url }, 'a request failed');
  // What is left of a refused body would have to be read to its end otherwise.
  if (!request.raw.complete) void reply.header('Connection', 'close');
  return sendIntakeProblem(request, reply, error);
}

/** The methods of each path, for the answer to another one. */
function collectRoutes(app: FastifyInstance): { methodsOf(url: string): string[] } {
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ pattern: new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`), methods: [method].flat() });
  });
  return {
    methodsOf(url) {
      const path = url.split('?')[0]!;
      return [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))].sort();
    },
  };
}
