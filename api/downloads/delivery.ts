import type { Headers } from '../http/conditional.ts';

/** The setting that decides how the bytes of downloads reach clients. */
export interface DeliverySettings {
  /** `object-store`, or the internal location of a reverse proxy that reads the same directory; undefined: the API sends the bytes. */
  readonly apiDelivery: string | undefined;
}

/** Who sends the bytes of an answer. */
type Delivery = 'api' | 'proxy' | 'object store';

/**
 * Preconditions that a proxy would compare with its own entity tag and date. The API answers these requests, which resume
 * a download, itself. If-None-Match and If-Modified-Since have been evaluated before this point.
 */
const comparedByProxy = ['if-match', 'if-unmodified-since', 'if-range'] as const;

/** Decides who sends the bytes of an answer. */
export function decideDelivery(
  requestHeaders: Readonly<Record<string, unknown>>,
  { apiDelivery }: DeliverySettings,
  canSign: boolean,
): Delivery {
  if (apiDelivery === undefined) return 'api';
  if (apiDelivery === 'object-store') return canSign ? 'object store' : 'api';
  return !canSign && comparedByProxy.every((name) => requestHeaders[name] === undefined) ? 'proxy' : 'api';
}

/** Headers of a body, which these answers do not have. */
const bodyHeaders = ['Content-Length', 'Content-Range'];

/** Headers of an answer whose bytes the proxy reads from its own disk. The proxy handles Range and sends Accept-Ranges itself. */
export function proxyHeaders(headers: Headers, { prefix, path }: { prefix: string; path: string }): Headers {
  return {
    ...omitHeaders(headers, [...bodyHeaders, 'Accept-Ranges']),
    'Content-Length': 0,
    'X-Accel-Redirect': `${prefix.replace(/\/$/, '')}/${path}`,
  };
}

/** Headers of a redirect to the object store. The address is a secret while it is valid. */
export function redirectHeaders(headers: Headers, url: string): Headers {
  const kept = omitHeaders(headers, [
    ...bodyHeaders,
    'Content-Type',
    'Content-Disposition',
    'Accept-Ranges',
    'Repr-Digest',
    'Last-Modified',
    'ETag',
  ]);
  return { ...kept, 'Cache-Control': 'no-store', Location: url, 'Content-Length': 0 };
}

function omitHeaders(headers: Headers, names: readonly string[]): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}
