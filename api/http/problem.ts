import { isServiceError, ServiceError, type ErrorCode } from '../../runtime/errors.ts';
import type { Headers } from './conditional.ts';

/** Media type of every error (RFC 9457). */
export const problemMediaType = 'application/problem+json';

/** Seconds after which a client may try again, where the answer does not know better. */
export const retryAfterSeconds = 5;

/** The body of an error. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly requestId: string;
}

/** An error as it is answered: status, headers of its own, and the body. */
export interface ProblemAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Problem;
}

/** Headers that an error carries to its answer: Retry-After of a limit, Content-Range of a 416. */
const headersOfErrors = new WeakMap<ServiceError, Headers>();

/** The same error with headers for its answer. */
export function withHeaders(error: ServiceError, headers: Headers): ServiceError {
  headersOfErrors.set(error, headers);
  return error;
}

/** The answer to a request that failed with an error. */
export function makeProblem(error: ServiceError, requestId: string): ProblemAnswer {
  const { http: status, meaning } = error.facts;
  return {
    status,
    headers: { ...standingHeaders(error.code, status), ...headersOfErrors.get(error) },
    body: {
      type: `urn:caller-trust:error:${error.code}`,
      title: meaning,
      status,
      code: error.code,
      detail: detailOf(error),
      requestId,
    },
  };
}

/**
 * What a stranger may read: of a request that was wrong, the problem and what to do; of a fault of ours, the meaning
 * of the code only. The object is left out: it can be text that came with the request.
 */
function detailOf({ code, problem, hint, facts }: ServiceError): string {
  if (facts.http >= 500 && code !== 'not_ready') return facts.meaning;
  return hint === undefined ? problem : `${problem} ${hint}`;
}

function standingHeaders(code: ErrorCode, status: number): Record<string, string> {
  if (code === 'method_not_allowed') return { Allow: 'GET, HEAD' };
  if (code === 'unauthenticated') return { 'WWW-Authenticate': 'Bearer realm="caller-trust"' };
  if (code === 'forbidden') return { 'WWW-Authenticate': 'Bearer realm="caller-trust", error="insufficient_scope"' };
  if (status === 429 || status === 503) return { 'Retry-After': String(retryAfterSeconds) };
  return {};
}

/** The error of the closed list that a thrown value stands for: its own, one for the framework's, else `internal`. */
export function toServiceError(thrown: unknown): ServiceError {
  if (isServiceError(thrown)) return thrown;
  const { code, statusCode } =
    thrown instanceof Error ? (thrown as Error & { code?: unknown; statusCode?: unknown }) : {};
  if (code === 'FST_ERR_MAX_PARAM_LENGTH')
    return new ServiceError('route_unknown', { operation: 'route request', cause: thrown });
  if (code === 'FST_ERR_BAD_URL')
    return new ServiceError('request_invalid', {
      operation: 'route request',
      problem: 'The path has an escape that is not valid.',
      cause: thrown,
    });
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500)
    return new ServiceError('request_invalid', { operation: 'handle request', cause: thrown });
  return new ServiceError('internal', { operation: 'handle request', cause: thrown });
}

/** The error of the closed list for a request that Node's HTTP parser refused, by the parser's code. */
export function parserErrorCode(code: string | undefined): ErrorCode {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  if (code === 'HPE_HEADER_OVERFLOW') return 'header_too_large';
  return 'request_invalid';
}
