import fastifyCookie from '@fastify/cookie';
import fastifyMultipart from '@fastify/multipart';
import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { randomUUID } from 'node:crypto';
import { ServiceError } from '../runtime/errors.ts';
import { unmeasured, type Metrics } from '../runtime/metrics/metrics.ts';
import type { OpenSpan } from '../runtime/tracing/span.ts';
import { openServerSpan } from '../runtime/tracing/tracing.ts';
import { guardRoutes } from './access/guard.ts';
import type { ConsoleAddress } from './access/address.ts';
import type { ConsoleWork } from './http/console-work.ts';
import { asServiceError, sendProblem } from './http/problem.ts';
import type { LeastRole } from './access/roles.ts';
import { registerBrandRoutes, registerProofRoutes } from './routes/brand-routes.ts';
import { registerArtefactRoutes } from './routes/artefact-routes.ts';
import { registerBatchRoutes } from './routes/batch-routes.ts';
import { registerDetectionRoutes } from './routes/detection-routes.ts';
import { registerModelRoutes } from './routes/model-routes.ts';
import { registerVoiceRoutes } from './routes/voice-routes.ts';
import { registerVerificationRoutes } from './routes/verification-routes.ts';
import { registerFeedRoutes } from './routes/feed-routes.ts';
import { registerNightRoutes } from './routes/night-routes.ts';
import { registerNumberRoutes } from './routes/number-routes.ts';
import {
  registerEventRoutes,
  registerFindRoutes,
  registerOverviewRoutes,
  registerQueueRoutes,
} from './routes/service-routes.ts';
import { registerLetterFormRoutes, registerLetterRoutes } from './routes/letter-routes.ts';
import { registerOperationRoutes } from './routes/operation-routes.ts';
import { registerProtectedNameRoutes, registerReviewRoutes } from './routes/review-routes.ts';
import { registerSessionRoutes } from './routes/session-routes.ts';
import { registerWebhookRoutes } from './routes/webhook-routes.ts';
import { registerStaticFiles } from './http/static-files.ts';
import { registerStreaming } from './streaming/stream-routes.ts';
import { registerUploads } from './http/uploads.ts';

/** Only resources of this console: no inline script or style, no external address, no framing. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** Headers of every answer. */
const securityHeaders = {
  'Content-Security-Policy': contentSecurityPolicy,
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'microphone=(self), camera=(), geolocation=()',
} as const;

/** One year; only if the console is reached through TLS. */
const transportSecurity = 'max-age=31536000';

/** A route with its access rule. */
export interface RouteRule {
  readonly method: string;
  readonly url: string;
  readonly access: LeastRole | 'nobody';
  /** True if agencies may use it for their own data. */
  readonly forAgencies: boolean;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route, in order of registration. */
    routeRules: readonly RouteRule[];
  }
}

/** Dependencies of the server. */
interface ConsoleServerOptions {
  readonly work: ConsoleWork;
  /** Default: requests are not counted. */
  readonly metrics?: Metrics;
  /** Known once the server listens. */
  readonly address: () => ConsoleAddress;
}

/** Largest body other than a form with files. */
const bodyBytesMax = 1024 * 1024;

/**
 * Requests per minute and address. The files of the pages do not count: they are in memory. A page asks for the session and what it
 * shows, some three requests; a live page makes one.
 */
const requestsPerMinuteMax = 1200;

/** Seconds within which a request must arrive; a recording of 512 MiB takes seven minutes at 10 Mbit/s. */
const requestSecondsMax = 900;
const headersSecondsMax = 10;

/** The HTTP server of the console, ready to listen. */
export async function createConsoleServer({
  work,
  metrics = unmeasured,
  address,
}: ConsoleServerOptions): Promise<FastifyInstance> {
  const { db, config, log } = work;
  const app = fastify({
    trustProxy: config.consoleOrigin === undefined ? false : config.consoleProxies, // otherwise every user would have the address of the proxy, and share its limits
    bodyLimit: bodyBytesMax,
    requestTimeout: requestSecondsMax * 1000,
    http: { headersTimeout: headersSecondsMax * 1000 },
    forceCloseConnections: true, // live answers do not end by themselves
    genReqId: () => randomUUID(),
    frameworkErrors: (thrown, request, reply) => void answerError(thrown, request, setHeaders(request, reply)), // these errors run no hooks
  });
  const setHeaders = (request: FastifyRequest, reply: FastifyReply) =>
    reply.headers({
      ...securityHeaders,
      'X-Request-Id': request.id,
      'Cache-Control': 'no-store',
      ...(address().secure ? { 'Strict-Transport-Security': transportSecurity } : {}),
    });
  const answerError = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const error = asServiceError(thrown);
    if (error.code === 'internal')
      log.error({ err: error.cause, requestId: request.id, route: request.routeOptions.url }, 'a request failed');
    if (error.code === 'parameter_invalid' && error.cause !== undefined)
      log.warn(
        { err: error.cause, requestId: request.id, route: request.routeOptions.url },
        'the database refused a value',
      );
    return sendProblem(request, reply, error);
  };
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(() => {
    throw new ServiceError('route_unknown', { operation: 'route request' });
  });
  app.removeContentTypeParser('text/plain'); // cross-site forms can send it
  app.addHook('onRequest', async (request, reply) => void setHeaders(request, reply));
  measureRequests(app, metrics);
  await app.register(fastifyCookie);
  // The address is absent once the connection is gone.
  const keyGenerator = ({ ip }: { ip?: string }) => (ip === undefined ? 'gone' : normalizeIP(ip));
  await app.register(rateLimit, { global: false, keyGenerator });
  const countRequest = app.createRateLimit({ max: requestsPerMinuteMax, timeWindow: 60_000 });
  app.addHook('onRequest', async (request) => {
    if (request.routeOptions.config.isCounted === false) return;
    const count = await countRequest(request); // before any work for the request
    if (!count.isAllowed && count.isExceeded)
      throw new ServiceError('rate_limited', {
        operation: 'limit requests',
        problem: 'Too many requests from this address.',
        hint: 'Try again in a minute.',
      });
  });
  await app.register(fastifyMultipart, { throwFileSizeLimit: false }); // uploads.ts throws its own error
  traceChanges(app);
  registerUploads(app, config.stateDir);
  guardRoutes(app, { db, limits: config, address });
  requireAccessOfRoutes(app);
  registerSessionRoutes(app, { db, limits: config, address });
  registerEventRoutes(app, work);
  registerBrandRoutes(app, work);
  registerLetterFormRoutes(app, work);
  registerLetterRoutes(app, work);
  registerOperationRoutes(app, work);
  registerProofRoutes(app, work);
  registerProtectedNameRoutes(app, work);
  registerReviewRoutes(app, work);
  await registerStreaming(app, work, { address });
  registerOverviewRoutes(app, work);
  registerFindRoutes(app, work);
  registerNightRoutes(app, work);
  registerNumberRoutes(app, work);
  registerFeedRoutes(app, work);
  registerArtefactRoutes(app, work);
  registerQueueRoutes(app, work);
  registerWebhookRoutes(app, work);
  registerVerificationRoutes(app, work);
  registerBatchRoutes(app, work);
  registerDetectionRoutes(app, work);
  registerModelRoutes(app, work);
  registerVoiceRoutes(app, work);
  await registerStaticFiles(app);
  return app;
}

/** Routes that clients invent are one label. */
const unknownRoute = 'unknown';

/** Live answers and streams last as long as somebody looks at them: they are counted, without their duration. */
function measureRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.is404 ? unknownRoute : (request.routeOptions.url ?? unknownRoute);
    const { method } = request;
    metrics.count('caller_trust_console_requests_total', { route, method, status: reply.statusCode });
    if (!route.endsWith('/live') && request.headers.upgrade === undefined)
      metrics.observe('caller_trust_console_request_seconds', { route, method }, reply.elapsedTime / 1000);
  });
}

/**
 * Traces requests that change something, so that the jobs which they queue belong to their trace. Begun before the handler: what
 * runs while a body is read does not follow a context.
 */
function traceChanges(app: FastifyInstance): void {
  const spans = new WeakMap<FastifyRequest, OpenSpan>();
  app.addHook('preHandler', (request, _reply, done) => {
    const isReading = request.method === 'GET' || request.method === 'HEAD';
    const span = isReading
      ? undefined
      : openServerSpan(`${request.method} ${request.routeOptions.url ?? unknownRoute}`);
    if (span === undefined) return done();
    spans.set(request, span);
    span.within(done);
  });
  app.addHook('onResponse', async (request, { statusCode }) =>
    spans
      .get(request)
      ?.end({
        attributes: { 'http.response.status_code': statusCode, 'http.request.method': request.method },
        problem: statusCode >= 500 ? `answered ${statusCode}` : undefined,
      }),
  );
}

/** Fails at startup if a route has no access rule. */
function requireAccessOfRoutes(app: FastifyInstance): void {
  const rules: RouteRule[] = [];
  app.decorate('routeRules', rules);
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.access === undefined) throw new Error(`the route ${url} does not say who may use it`);
    for (const each of [method].flat())
      rules.push({ method: each, url, access: config.access, forAgencies: config.forAgencies === true });
  });
}
