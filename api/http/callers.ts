import rateLimit, { normalizeIP } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { identifyCaller, type Caller } from '../../pipelines/access/authentication.ts';
import type { KeyTable } from '../../pipelines/access/key-table.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { withHeaders } from './problem.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who makes the request; set before any route runs. */
    caller: Caller;
  }
  interface FastifyContextConfig {
    /** True if the route does not count towards the request limit. */
    unlimited?: boolean;
  }
}

/** Callers whose requests are counted at a time; the least recent one is forgotten. */
const countedCallersMax = 10_000;

/**
 * What identifies the caller of a request and counts it among those of its caller.
 * @throws ServiceError (the returned function) `rate_limited`
 */
export async function registerCallers(
  app: FastifyInstance,
  { keys, requestsPerMinuteMax }: { readonly keys: KeyTable; readonly requestsPerMinuteMax: number },
): Promise<(request: FastifyRequest) => Promise<void>> {
  await app.register(rateLimit, {
    global: false,
    max: requestsPerMinuteMax,
    timeWindow: 60_000,
    cache: countedCallersMax,
    keyGenerator: callerName,
  });
  const limiter = app.createRateLimit();
  app.decorateRequest('caller');
  return async (request) => {
    request.caller = identifyCaller(request.headers.authorization, keys);
    if (request.routeOptions.config?.unlimited === true) return;
    const count = await limiter(request);
    if (count.isAllowed || !count.isExceeded) return;
    throw withHeaders(new ServiceError('rate_limited', { operation: 'limit requests' }), {
      'Retry-After': String(Math.max(1, count.ttlInSeconds)),
    });
  };
}

/** The subject of the rate limit: the key, or the address of a caller without a valid one. */
function callerName({ caller, ip }: { caller: Caller; ip?: string }): string {
  if (caller.kind === 'key') return `key ${caller.principal.keyId}`;
  return ip === undefined ? 'a connection that is gone' : `address ${normalizeIP(ip)}`;
}
