import type { FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError, type ErrorCode, factsOf } from '../../runtime/errors.ts';
import { recognizeDatabaseError } from '../../runtime/postgres.ts';

/** The console's error answer (RFC 9457): the problem and the advice, never the cause. */
export interface ConsoleProblem {
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
  /** What to do; null if the detail says it. */
  readonly hint: string | null;
  readonly requestId: string;
}

/** Answers a request with an error. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: ServiceError): FastifyReply {
  const { http: status, meaning } = factsOf(error);
  const isOurFault = error.code === 'internal';
  const problem: ConsoleProblem = {
    title: meaning,
    status,
    code: error.code,
    detail: isOurFault ? meaning : error.problem,
    hint: (isOurFault ? undefined : error.hint) ?? null,
    requestId: request.id,
  };
  if (status === 429 || status === 503) void reply.header('Retry-After', '5');
  return reply
    .code(status)
    .header('Cache-Control', 'no-store')
    .type('application/problem+json')
    .send(JSON.stringify(problem));
}

/** PostgreSQL's data exceptions, such as a number out of range (appendix A, class 22). */
const dataException = /^22[0-9A-Z]{3}$/;

/** Maps a thrown value to the closed list of errors. */
export function asServiceError(thrown: unknown): ServiceError {
  const known = recognizeDatabaseError(thrown);
  if (known !== undefined) return known;
  const { statusCode, code } =
    thrown instanceof Error ? (thrown as Error & { statusCode?: unknown; code?: unknown }) : {};
  if (typeof code === 'string' && dataException.test(code))
    return new ServiceError('parameter_invalid', { operation: 'read request', cause: thrown });
  if (statusCode === 413) return new ServiceError('upload_too_large', { operation: 'read request', cause: thrown });
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new ServiceError('request_invalid', { operation: 'read request', cause: thrown });
  return new ServiceError('internal', { operation: 'answer request', cause: thrown });
}
