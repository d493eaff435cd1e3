import type { FastifyReply, FastifyRequest } from 'fastify';
import { isServiceError, ServiceError, type ErrorCode } from '../../runtime/errors.ts';
import { isConnectionLoss, unavailable } from '../../runtime/postgres.ts';

/** An error as the console answers it (RFC 9457): what is wrong and what to do, never a cause. */
export interface ConsoleProblem {
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
  /** What to do; null where the detail says it. */
  readonly hint: string | null;
  readonly requestId: string;
}

/** Answers a request with an error. */
export function sendProblem(request: FastifyRequest, reply: FastifyReply, error: ServiceError): FastifyReply {
  const { http: status, meaning } = error.facts;
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

/** Codes with which PostgreSQL refuses a value that no column of the kind can hold, such as a number beyond its range (appendix A, class 22). */
const dataException = /^22[0-9A-Z]{3}$/;

/** The error of the closed list that a thrown value stands for. */
export function asServiceError(thrown: unknown): ServiceError {
  if (isServiceError(thrown)) return thrown;
  if (isConnectionLoss(thrown)) return unavailable(thrown);
  const { statusCode, code } =
    thrown instanceof Error ? (thrown as Error & { statusCode?: unknown; code?: unknown }) : {};
  if (typeof code === 'string' && dataException.test(code))
    return new ServiceError('parameter_invalid', { operation: 'read request', cause: thrown });
  if (statusCode === 413) return new ServiceError('upload_too_large', { operation: 'read request', cause: thrown });
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new ServiceError('request_invalid', { operation: 'read request', cause: thrown });
  return new ServiceError('internal', { operation: 'answer request', cause: thrown });
}
