import type { FastifyReply, FastifyRequest } from 'fastify';
import { describeReadFailure } from '../../api/http/reader-database.ts';
import { makeProblem, problemMediaType, toServiceError, withHeaders } from '../../api/http/problem.ts';
import { recognizeError, ServiceError } from '../../runtime/errors.ts';
import { databaseUnavailable, isConnectionLoss } from '../../runtime/postgres.ts';

/** Sends a JSON document that is not kept by caches. */
export function sendJson(
  reply: FastifyReply,
  { status, headers = {}, body }: { status: number; headers?: Record<string, string>; body: unknown },
): FastifyReply {
  return reply
    .code(status)
    .headers({ 'Cache-Control': 'no-store', ...headers, 'Content-Type': 'application/json; charset=utf-8' })
    .send(`${JSON.stringify(body)}\n`);
}

/** Sends an error as a problem (RFC 9457). */
export function sendIntakeProblem(request: FastifyRequest, reply: FastifyReply, error: ServiceError): FastifyReply {
  const { status, headers, body } = makeProblem(error, request.id);
  return reply
    .code(status)
    .headers({ ...headers, 'Cache-Control': 'no-store', 'Content-Type': problemMediaType })
    .send(Buffer.from(JSON.stringify(body))); // a text would get a charset
}

/** Maps a thrown value to the closed list of errors. */
export function asIntakeError(thrown: unknown, request: FastifyRequest): ServiceError {
  const known = recognizeError(thrown);
  if (known !== undefined) return known;
  const operation = 'read request';
  const { destroyed, complete, errored } = request.raw; // a whole body may wait to be read when the connection breaks
  if (destroyed && (!complete || errored === thrown))
    return new ServiceError('interrupted', { operation, problem: 'The sender broke off.', cause: thrown });
  if (isConnectionLoss(thrown)) return databaseUnavailable(thrown);
  const { code, statusCode } =
    thrown instanceof Error ? (thrown as Error & { code?: unknown; statusCode?: unknown }) : {};
  if (statusCode === 413) return new ServiceError('upload_too_large', { operation, cause: thrown });
  if (statusCode === 415)
    return new ServiceError('media_type_unsupported', {
      operation,
      hint: 'Requests are application/json.',
      cause: thrown,
    });
  if (typeof code === 'string' && code.startsWith('FST_ERR_CTP'))
    return new ServiceError('request_invalid', { operation, problem: 'The body is not JSON in UTF-8.', cause: thrown });
  const described = describeReadFailure(thrown);
  return isDatabaseError(thrown) && described instanceof ServiceError ? described : toServiceError(thrown);
}

/** An error that PostgreSQL has sent. */
function isDatabaseError(error: unknown): boolean {
  return error instanceof Error && 'severity' in error;
}

/** The error for a method that a path does not have. */
export function methodNotAllowed(allowed: readonly string[]): ServiceError {
  return withHeaders(
    new ServiceError('method_not_allowed', {
      operation: 'route request',
      problem: `This path takes ${allowed.join(', ')}.`,
    }),
    { Allow: allowed.join(', ') },
  );
}
