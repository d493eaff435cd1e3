import type { Headers } from './conditional.ts';

/** Seconds for which a browser need not ask again: the most that Chromium takes. */
const preflightSecondsMax = 7200;

/** What a page may read besides the headers that every page may (Fetch standard, section 3.3.3). */
const exposedHeaders = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Link',
  'Repr-Digest',
  'Retry-After',
  'X-Cache-As-Of',
  'X-Cache-From',
  'X-Cache-Rows',
  'X-Cache-Version',
  'X-Request-Id',
].join(', ');

/** What a page may send: the key, conditions and ranges. */
const preflightHeaders: Headers = {
  'Access-Control-Allow-Methods': 'GET, HEAD',
  'Access-Control-Allow-Headers':
    'Authorization, If-Match, If-Modified-Since, If-None-Match, If-Range, If-Unmodified-Since, Range',
  'Access-Control-Max-Age': preflightSecondsMax,
};

/** The part of a request that pages of other origins depend on. */
export interface CrossOriginRequest {
  readonly method: string;
  readonly headers: { readonly origin?: string | undefined; readonly 'access-control-request-method'?: unknown };
}

/** What a page of another origin may do with the answer to its request. */
interface CrossOriginDecision {
  /** Headers of the answer, whatever it is. */
  readonly headers: Headers;
  /** Further headers of a preflight that is to be answered 204; absent: the request is judged as any other. */
  readonly preflight?: Headers;
}

/**
 * Decides by the Fetch standard which pages read the answer to a request. `allowed` is the setting: origins separated by commas,
 * `*` for all, or undefined for none. Credentials are never allowed: the API knows no cookies, and a key is sent by the page itself.
 */
export function decideCrossOrigin(request: CrossOriginRequest, allowed: string | undefined): CrossOriginDecision {
  if (allowed === undefined) return { headers: {} };
  const vary: Headers = allowed === '*' ? {} : { Vary: 'Origin' };
  const { origin, 'access-control-request-method': wantedMethod } = request.headers;
  if (origin === undefined || (allowed !== '*' && !allowed.split(',').includes(origin))) return { headers: vary };
  const headers = { ...vary, 'Access-Control-Allow-Origin': allowed === '*' ? '*' : origin };
  if (request.method === 'OPTIONS' && wantedMethod !== undefined) return { headers, preflight: preflightHeaders };
  return { headers: { ...headers, 'Access-Control-Expose-Headers': exposedHeaders } };
}
