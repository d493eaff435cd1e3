import type { Headers } from '../http/conditional.ts';

/** How the bytes of downloads reach clients; settings of the same names. */
export interface DeliverySettings {
  /** Internal location of a reverse proxy that reads the same directory; absent: the API sends. */
  readonly apiAccelPrefix: string | undefined;
  /** Seconds for which a signed URL of the object store is good; 0: the API sends. */
  readonly apiSignedUrlSeconds: number;
}

/** By whom the bytes of one answer are sent. */
export type Delivery = 'api' | 'proxy' | 'object store';

/**
 * Preconditions that a proxy would compare with an entity tag and a date of its own. Such requests, which resume a
 * download, are answered by the API; If-None-Match and If-Modified-Since are decided before and match nothing any more.
 */
const comparedByProxy = ['if-match', 'if-unmodified-since', 'if-range'] as const;

/** Decides who sends the bytes of an answer that has some. */
export function decideDelivery(
  requestHeaders: Readonly<Record<string, unknown>>,
  { apiAccelPrefix, apiSignedUrlSeconds }: DeliverySettings,
  canSign: boolean,
): Delivery {
  if (canSign && apiSignedUrlSeconds > 0) return 'object store';
  if (!canSign && apiAccelPrefix !== undefined && comparedByProxy.every((name) => requestHeaders[name] === undefined))
    return 'proxy';
  return 'api';
}

/** Headers of bytes that the answer itself does not have. */
const ofBytes = ['Content-Length', 'Content-Range'];

/** Header of an answer whose bytes a proxy takes from its own disk; it answers Range itself, and says so. */
export function handOver(headers: Headers, { prefix, path }: { prefix: string; path: string }): Headers {
  return {
    ...without(headers, [...ofBytes, 'Accept-Ranges']),
    'Content-Length': 0,
    'X-Accel-Redirect': `${prefix.replace(/\/$/, '')}/${path}`,
  };
}

/** Header of an answer that sends the client elsewhere. The address is a secret for as long as it is good. */
export function redirect(headers: Headers, url: string): Headers {
  const kept = without(headers, [
    ...ofBytes,
    'Content-Type',
    'Content-Disposition',
    'Accept-Ranges',
    'Repr-Digest',
    'Last-Modified',
    'ETag',
  ]);
  return { ...kept, 'Cache-Control': 'no-store', Location: url, 'Content-Length': 0 };
}

function without(headers: Headers, names: readonly string[]): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}
