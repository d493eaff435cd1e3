import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import type { KeyTable } from '../pipelines/access/key-table.ts';
import type { Config } from '../runtime/config.ts';
import { ServiceError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { registerCallers } from './http/callers.ts';
import { routeOf, sendAnswer, sendProblem } from './http/answer.ts';
import { decideCrossOrigin } from './http/cross-origin.ts';
import { beginRequest } from './http/request-log.ts';
import { answerInTurn } from './http/answer-in-turn.ts';
import { registerBatchRoutes } from './reads/batch-routes.ts';
import { registerBrandingRoutes } from './reads/branding-routes.ts';
import { BufferPool } from './downloads/buffer-pool.ts';
import { registerCacheRoutes } from './downloads/cache-routes.ts';
import { answerConnect, answerUnreadable } from './http/client-errors.ts';
import { registerDocumentation } from './documentation.ts';
import { Downloads } from './downloads/downloads.ts';
import { registerHealthRoutes } from './health-routes.ts';
import type { Metrics } from './http/metrics.ts';
import { registerModelRoutes } from './reads/model-routes.ts';
import { registerNumberRoutes } from './reads/number-routes.ts';
import { toServiceError } from './http/problem.ts';
import type { PublicationIndex } from './downloads/publication-index.ts';
import type { SignedDocuments } from './downloads/signed-documents.ts';
import { registerTrustRoutes } from './downloads/trust-routes.ts';
import type { Readiness } from './readiness.ts';
import { registerReleaseRoutes } from './reads/release-routes.ts';
import type { RequestReads } from './http/request-reads.ts';
import { registerVerificationRoutes } from './reads/verification-routes.ts';

/** The limits of the API, named like their settings. */
type ApiLimits = Pick<Config, 'apiRequestsPerMinuteMax' | 'apiDelivery' | 'apiAllowedOrigins'>;

const KiB = 1024;

/** Limits that no installation has needed to change. Tests use smaller ones. */
export const serverLimits = {
  /** Connections at a time; one more is closed at once. */
  apiConnectionsMax: 4096,
  /** Downloads that are sent at a time; one more is answered 503. Four for each shared buffer. */
  apiDownloadsMax: 512,
  /** Seconds that an idle connection is kept for the next request: longer than a load balancer keeps its own, which is 60 for most. */
  apiKeepAliveSecondsMax: 75,
  /** Bytes of a request's headers, the request line included; more get 431. Node's default. */
  apiHeaderBytesMax: 16 * KiB,
  /** Seconds within which the headers must arrive: a few packets, even over a bad mobile connection. */
  apiHeadersSecondsMax: 10,
  /** Seconds within which a whole request must arrive: no request has a body. */
  apiRequestSecondsMax: 15,
  /** Seconds without progress after which a client is disconnected. */
  apiStalledSecondsMax: 60,
  /** Bytes that a download reads from the disk at a time; larger reads are not faster (measured at commit 96725380). */
  apiReadBufferBytes: 256 * KiB,
  /** Buffers that all downloads share, 32 MiB; a download waits for a free one. */
  apiReadBuffersMax: 128,
  /** Bytes a second below which a client is disconnected: the slowest modem in use is faster. */
  apiReaderBytesPerSecondMin: 8 * KiB,
  /** Seconds over which that rate is measured: longer than the pauses of a mobile client. */
  apiReaderSeconds: 60,
};

/** Dependencies and limits of the server. */
interface ServerOptions {
  /** Tests override {@link serverLimits}. */
  readonly limits: ApiLimits & Partial<typeof serverLimits>;
  readonly publications: PublicationIndex;
  readonly signed: SignedDocuments;
  readonly keys: KeyTable;
  readonly reads: RequestReads;
  /** Directory of added models. */
  readonly modelDir: string;
  readonly metrics: Metrics;
  readonly readiness: () => Readiness;
  readonly log: Log;
  readonly now?: () => number;
}

/** Longest path parameter; the longest name of a cache is much shorter. */
const pathParameterLengthMax = 100;

/** Interval of Node's checks for requests that take too long to arrive. */
const timeoutCheckMs = 1000;

/**
 * The HTTP server of the API, ready to listen. It reads no environment variables; numbers, branding, verifications and models read
 * the database, through `reads`.
 */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const { publications, reads, modelDir, metrics, readiness, now = Date.now } = options;
  const app = makeFramework(options);
  app.setSerializerCompiler(serializerCompiler);
  app.setValidatorCompiler(({ schema, httpPart }) =>
    httpPart === 'params' ? acceptPath : validateQuery(schema as z.ZodObject),
  );
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, options));
  await registerEntry(app, options);
  app.setNotFoundHandler(() => {
    throw new ServiceError('route_unknown', { operation: 'route request' });
  });
  await registerDocumentation(app, { metrics });
  registerHealthRoutes(app, { readiness, metrics });
  const downloads = makeDownloads(options);
  await app.register(async (scope) => registerCacheRoutes(scope, { publications, downloads, metrics, now }));
  await app.register(async (scope) =>
    registerTrustRoutes(scope, { publications, signed: options.signed, downloads, metrics, now }),
  );
  await app.register(async (scope) => registerNumberRoutes(scope, { reads, metrics }));
  await app.register(async (scope) => registerBrandingRoutes(scope, { reads, metrics }));
  await app.register(async (scope) => registerVerificationRoutes(scope, { reads, metrics }));
  await app.register(async (scope) => registerBatchRoutes(scope, { reads, metrics }));
  registerModelRoutes(app, { reads, modelDir, metrics, now });
  registerReleaseRoutes(app, { metrics });
  return app;
}

function makeDownloads({ limits: given, metrics, log }: ServerOptions): Downloads {
  const limits = { ...serverLimits, ...given };
  const buffers = new BufferPool({ bufferBytes: limits.apiReadBufferBytes, buffersMax: limits.apiReadBuffersMax });
  const pace = { bytesPerSecondMin: limits.apiReaderBytesPerSecondMin, seconds: limits.apiReaderSeconds };
  return new Downloads({ downloadsMax: limits.apiDownloadsMax, buffers, pace, delivery: limits, metrics, log });
}

function makeFramework({ limits: given, metrics, log }: ServerOptions): FastifyInstance {
  const limits = { ...serverLimits, ...given };
  const app = fastify({
    http: {
      maxHeaderSize: limits.apiHeaderBytesMax,
      headersTimeout: limits.apiHeadersSecondsMax * 1000,
      connectionsCheckingInterval: timeoutCheckMs,
      requireHostHeader: false, // Node would answer without a body; registerEntry answers with a problem
    },
    requestTimeout: Math.max(limits.apiRequestSecondsMax, limits.apiHeadersSecondsMax) * 1000,
    keepAliveTimeout: limits.apiKeepAliveSecondsMax * 1000,
    connectionTimeout: limits.apiStalledSecondsMax * 1000, // Node restarts a socket's timer with each byte that the client receives
    return503OnClosing: false, // requests on open connections are still answered while the server stops
    routerOptions: { maxParamLength: pathParameterLengthMax },
    genReqId: () => randomUUID(),
    frameworkErrors: (error, request, reply) => {
      if (begin(request as FastifyRequest, reply as FastifyReply, { limits: given, metrics, log })) return;
      const refusal = readOnly(request.method) ? error : notAllowed();
      answerError(refusal, request as FastifyRequest, reply as FastifyReply, { metrics, log });
    },
    clientErrorHandler: (error, socket) => answerUnreadable(error, socket, metrics),
  });
  const server: Server = app.server;
  server.maxConnections = limits.apiConnectionsMax;
  answerInTurn(server);
  server.on('connect', (_request, socket) => answerConnect(socket));
  server.on('checkExpectation', (request, response) => server.emit('request', request, response)); // RFC 9110 section 10.1.1: an expectation may be ignored
  return app;
}

/**
 * Gives a request an id and a timer, and its answer the headers of every answer. True if the request was a preflight, which is
 * answered then.
 */
function begin(
  request: FastifyRequest,
  reply: FastifyReply,
  { limits, metrics, log }: Pick<ServerOptions, 'limits' | 'metrics' | 'log'>,
): boolean {
  beginRequest(request, reply, { log, onEnd: (ended) => metrics.requestEnded(ended) });
  const { headers, preflight } = decideCrossOrigin(request, limits.apiAllowedOrigins);
  void reply.headers(headers);
  if (preflight !== undefined) sendAnswer(request, reply, { status: 204, headers: preflight }, metrics);
  return preflight !== undefined;
}

/**
 * Before its route, each request gets an id and a timer, is authenticated and rate-limited, and is refused if it is not a read. A
 * preflight has no key and costs nothing: it is not counted.
 */
async function registerEntry(app: FastifyInstance, options: ServerOptions): Promise<void> {
  const { keys, limits } = options;
  const admit = await registerCallers(app, { keys, requestsPerMinuteMax: limits.apiRequestsPerMinuteMax });
  app.addHook('onRequest', async (request, reply) => {
    if (begin(request, reply, options)) return;
    await admit(request);
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined)
      throw new ServiceError('request_invalid', {
        operation: 'read request',
        problem: 'The request has no Host header.',
      });
    if (!readOnly(request.method)) throw notAllowed();
  });
}

function answerError(
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { metrics, log }: Pick<ServerOptions, 'metrics' | 'log'>,
): void {
  const error = toServiceError(thrown);
  if (error.code === 'internal')
    log.error({ err: error.cause, requestId: request.id, route: routeOf(request) }, 'a request failed');
  sendProblem(request, reply, error, metrics);
}

function readOnly(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

function notAllowed(): ServiceError {
  return new ServiceError('method_not_allowed', { operation: 'route request' });
}

/** The schema of a path is for the documentation: routes answer invalid parameters with their own code for unknown objects. */
const acceptPath = (value: unknown) => ({ value });

/** Validates a query by its schema, with the error codes of the contract. Runs after authentication. */
function validateQuery(schema: z.ZodObject): (data: unknown) => { value: unknown } | { error: Error } {
  const known = Object.keys(schema.shape);
  return (data) => {
    const result = schema.safeParse(data, { reportInput: true });
    return result.success ? { value: result.data } : { error: parameterError(result.error.issues, known) };
  };
}

/**
 * The error of a query that its schema refused. An unknown parameter takes precedence: `?Country=US` is a misspelt name,
 * not a missing country. The error never repeats text of the request.
 */
function parameterError(issues: readonly z.core.$ZodIssue[], known: readonly string[]): ServiceError {
  const operation = 'read parameters';
  if (issues.some(({ code }) => code === 'unrecognized_keys')) {
    const problem =
      known.length === 0
        ? 'This resource has no parameters.'
        : `This resource has only these parameters: ${known.join(', ')}.`;
    return new ServiceError('parameter_unknown', { operation, problem });
  }
  const [issue] = issues;
  const name = issue?.path[0];
  if (issue === undefined || typeof name !== 'string') return new ServiceError('request_invalid', { operation });
  if (name !== 'country') {
    const problem = `The parameter ${name} has a value that it cannot have, or was given twice.`;
    return new ServiceError('parameter_invalid', {
      operation,
      problem,
      hint: '`/openapi.json` has the values of each parameter.',
    });
  }
  return issue.code === 'invalid_type' && issue.input === undefined
    ? new ServiceError('country_required', { operation, hint: 'Add `?country=` with two letters, such as US.' })
    : new ServiceError('country_invalid', {
        operation,
        problem: 'The country is not two upper-case letters, or was given twice.',
      });
}
