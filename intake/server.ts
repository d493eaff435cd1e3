import { randomUUID } from 'node:crypto';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { registerCallers } from '../api/http/callers.ts';
import { retryAfterSeconds } from '../api/http/problem.ts';
import { beginRequest } from '../api/http/request-log.ts';
import { ServiceError } from '../runtime/errors.ts';
import { asIntakeError, methodNotAllowed, sendIntakeProblem, sendJson } from './http/answers.ts';
import { describeOpen, type Json } from './http/operations.ts';
import { refuseUnstorableText } from './http/path-text.ts';
import type { IntakeWork } from './work/intake-work.ts';
import { makeOpenApiDocument } from './openapi.ts';
import { registerBatchRoutes } from './routes/batch-routes.ts';
import { registerBrandingRoutes } from './routes/branding-routes.ts';
import { registerDisputeRoutes } from './routes/dispute-routes.ts';
import { registerFormRoutes } from './routes/form-routes.ts';
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
  refuseUnstorableText(app);
  app.setNotFoundHandler((request) => {
    const allowed = routes.methodsOf(request.url);
    if (allowed.length > 0) throw methodNotAllowed(allowed);
    throw new ServiceError('route_unknown', { operation: 'route request' });
  });
  await registerUploadRoutes(app, work);
  registerBatchRoutes(app, work);
  registerBrandingRoutes(app, work);
  registerFormRoutes(app, work);
  registerFeedRoutes(app, work);
  registerDisputeRoutes(app, work);
  registerServiceRoutes(app, { state, paths: routes.paths });
  log.debug('the routes are registered');
  return app;
}

/** `/healthz`: the process is alive; `/readyz`: whether it can take work; `/openapi.json`. None needs a key. */
function registerServiceRoutes(
  app: FastifyInstance,
  { state, paths }: { readonly state: () => IntakeState; readonly paths: Readonly<Record<string, Json>> },
): void {
  const described = (...operation: Parameters<typeof describeOpen>) => ({
    config: { unlimited: true, operations: { get: describeOpen(...operation) } },
  });
  app.get('/healthz', described('getHealth', 'The process lives', { status: 'live' }), (_request, reply) =>
    sendJson(reply, { status: 200, body: { status: 'live' } }),
  );
  const ready = { status: 'ready', database: { reachable: true }, keys: { known: true }, stopping: false };
  app.get('/readyz', described('getReadiness', 'The intake can take work', ready), (_request, reply) => {
    const { databaseReachable, keysKnown, stopping } = state();
    const isReady = databaseReachable && keysKnown && !stopping;
    const status = isReady ? 'ready' : 'not_ready';
    const body = { status, database: { reachable: databaseReachable }, keys: { known: keysKnown }, stopping };
    return isReady
      ? sendJson(reply, { status: 200, body })
      : sendJson(reply, { status: 503, headers: { 'Retry-After': String(retryAfterSeconds) }, body });
  });
  const operations = { get: describeOpen('getDocument', 'This document', { openapi: '3.1.0' }) };
  app.get('/openapi.json', { config: { operations } }, (_request, reply) =>
    sendJson(reply, { status: 200, body: makeOpenApiDocument(paths) }),
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

/** The methods of each path, for the answer to another one, and its operations, for the document. */
function collectRoutes(app: FastifyInstance): {
  methodsOf(url: string): string[];
  readonly paths: Readonly<Record<string, Json>>;
} {
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];
  const paths: Record<string, Json> = {};
  app.addHook('onRoute', ({ url, method, config }) => {
    routes.push({ pattern: new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`), methods: [method].flat() });
    const path = url.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], ...config?.operations };
  });
  return {
    paths,
    methodsOf(url) {
      const path = url.split('?')[0]!;
      return [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))].sort();
    },
  };
}
