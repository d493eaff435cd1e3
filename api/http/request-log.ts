import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../runtime/log.ts';
import { routeOf } from './answer.ts';
import { securityHeaders } from './client-errors.ts';

/** A request whose answer has ended. */
interface EndedRequest {
  /** The pattern of its route. */
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
}

/** Sets the headers of every answer, and counts and logs the request when its answer has ended, successfully or not. */
export function beginRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  { log, onEnd }: { readonly log: Log; readonly onEnd: (ended: EndedRequest) => void },
): void {
  void reply.headers({ ...securityHeaders, 'X-Request-Id': request.id });
  const startedAt = performance.now();
  reply.raw.once('close', () => {
    const keyId = request.caller?.kind === 'key' ? request.caller.principal.keyId : undefined;
    const level = request.routeOptions.config?.unlimited === true ? 'debug' : 'info'; // probes come every few seconds
    const { statusCode: status, writableFinished: whole } = reply.raw; // false: the client disconnected before the end
    const seconds = (performance.now() - startedAt) / 1000;
    const { method, id: requestId } = request;
    const route = routeOf(request);
    onEnd({ route, method, status, seconds });
    const ms = Math.round(seconds * 1000);
    log[level]({ requestId, method, route, status, ms, keyId, ...(whole ? {} : { cut: true }) }, 'request');
  });
}
