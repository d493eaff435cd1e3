import { recognizeError, ServiceError, type ErrorCode, factsOf } from '../../runtime/errors.ts';
import type { Headers } from './conditional.ts';

/** Media type of every error (RFC 9457). */
export const problemMediaType = 'application/problem+json';

/** Default of Retry-After, in seconds. */
export const retryAfterSeconds = 5;

/** The body of an error. */
interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string;
  readonly requestId: string;
}

/** The answer to an error. */
interface ProblemAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Problem;
}

/** Extra headers of an error's answer: Retry-After of a limit, Content-Range of a 416. */
const headersOfErrors = new WeakMap<ServiceError, Headers>();

/** Attaches headers to an error for its answer. */
export function withHeaders(error: ServiceError, headers: Headers): ServiceError {
  headersOfErrors.set(error, headers);
  return error;
}

export function makeProblem(error: ServiceError, requestId: string): ProblemAnswer {
  const { code } = error;
  const { http: status } = factsOf(error);
  return {
    status,
    headers: { ...headersOfCode(code, status), ...headersOfErrors.get(error) },
    body: problemBody({ code, detail: detailOf(error), requestId }),
  };
}

/** The body of an error as the documentation shows it. */
export function exampleProblem(code: ErrorCode, requestId: string): Problem {
  return problemBody({ code, detail: factsOf({ code }).meaning, requestId });
}

function problemBody({ code, detail, requestId }: Pick<Problem, 'code' | 'detail' | 'requestId'>): Problem {
  const { http: status, meaning } = factsOf({ code });
  return { type: `urn:caller-trust:error:${code}`, title: meaning, status, code, detail, requestId };
}

/** The statuses of a set of errors, ascending, each with its codes and what they mean, for the documentation. */
export function explainErrors<Code extends ErrorCode>(
  codes: readonly Code[],
): { readonly status: number; readonly codes: readonly Code[]; readonly description: string }[] {
  const byStatus = new Map<number, Code[]>();
  for (const code of codes) {
    const { http: status } = factsOf({ code });
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, ofStatus]) => ({
      status,
      codes: ofStatus,
      description: ofStatus.map((code) => `\`${code}\`: ${factsOf({ code }).meaning}`).join(' '),
    }));
}

/**
 * The public detail: for an invalid request the problem and the hint, for an internal fault only the meaning of the code.
 * The object is left out because it can contain text of the request.
 */
function detailOf({ code, problem, hint }: ServiceError): string {
  const facts = factsOf({ code });
  if (facts.http >= 500 && code !== 'not_ready') return facts.meaning;
  return hint === undefined ? problem : `${problem} ${hint}`;
}

function headersOfCode(code: ErrorCode, status: number): Record<string, string> {
  if (code === 'method_not_allowed') return { Allow: 'GET, HEAD' };
  if (code === 'unauthenticated') return { 'WWW-Authenticate': 'Bearer realm="caller-trust"' };
  if (code === 'forbidden') return { 'WWW-Authenticate': 'Bearer realm="caller-trust", error="insufficient_scope"' };
  if (status === 429 || status === 503) return { 'Retry-After': String(retryAfterSeconds) };
  return {};
}

/** Maps a thrown value to the closed list of errors: service errors unchanged, known framework errors, else `internal`. */
export function toServiceError(thrown: unknown): ServiceError {
  const known = recognizeError(thrown);
  if (known !== undefined) return known;
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

/** Maps a code of Node's HTTP parser to the closed list of errors. */
export function parserErrorCode(code: string | undefined): ErrorCode {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'request_timeout';
  if (code === 'HPE_HEADER_OVERFLOW') return 'header_too_large';
  return 'request_invalid';
}
