import { decidePrecondition, ifRangeHolds, type ConditionalHeaders } from '../http/conditional.ts';
import { formatHttpDate } from '../http/http-date.ts';
import { decideRange, type ByteSpan } from './range.ts';
import type { Headers } from '../http/conditional.ts';

/** The facts of one version's bytes, as headers need them. */
export interface Representation {
  readonly size: number;
  /** Strong entity tag with its quotes: the SHA-256 of the bytes. */
  readonly etag: string;
  /** Never later than the clock of the process that serves it. */
  readonly lastModified: Date;
  /** False where the version before had the same second, so that the date alone does not tell them apart. */
  readonly dateIsStrong: boolean;
  /** Headers of every answer that speaks of this version: 200, 206 and 304. */
  readonly versionHeaders: Headers;
  /** Headers of the answers that carry its bytes: 200 and 206. */
  readonly contentHeaders: Headers;
}

/** The part of a request that a download depends on. */
export interface DownloadRequest {
  readonly method: string;
  readonly headers: ConditionalHeaders & {
    readonly range?: string | undefined;
    readonly 'if-range'?: string | undefined;
  };
}

/** What to answer: a status with headers, and the bytes to send after them, if any; or a refusal by its code. */
export type DownloadPlan =
  | { readonly status: 200 | 206 | 304; readonly headers: Headers; readonly send: ByteSpan | undefined }
  | { readonly refusal: 'precondition_failed' | 'range_not_satisfiable'; readonly headers: Headers };

/** Decides the answer to a GET or HEAD of a file: RFC 9110 sections 13.2.2, 14.2 and 15. No disk, no clock of its own. */
export function planDownload(
  { method, headers }: DownloadRequest,
  representation: Representation,
  now: number,
): DownloadPlan {
  const { size, versionHeaders, contentHeaders } = representation;
  const precondition = decidePrecondition(headers, representation, now);
  if (precondition === 'failed') return { refusal: 'precondition_failed', headers: {} };
  if (precondition === 'not_modified') return { status: 304, headers: versionHeaders, send: undefined };

  const span = wantedSpan({ method, headers }, representation, now);
  if (span === 'unsatisfiable')
    return { refusal: 'range_not_satisfiable', headers: { 'Content-Range': `bytes */${size}` } };
  const full = { ...versionHeaders, ...contentHeaders };
  if (span === 'whole') {
    const send = method === 'HEAD' ? undefined : { start: 0, length: size };
    return { status: 200, headers: { ...full, 'Content-Length': size }, send };
  }
  const contentRange = `bytes ${span.start}-${span.start + span.length - 1}/${size}`;
  return {
    status: 206,
    headers: { ...full, 'Content-Range': contentRange, 'Content-Length': span.length },
    send: span,
  };
}

/** Range is defined for GET alone, and counts only while If-Range holds. */
function wantedSpan(
  { method, headers }: DownloadRequest,
  representation: Representation,
  now: number,
): ReturnType<typeof decideRange> {
  if (method !== 'GET') return 'whole';
  const ifRange = headers['if-range'];
  if (ifRange !== undefined && !ifRangeHolds(ifRange, representation, now)) return 'whole';
  return decideRange(headers.range, representation.size);
}

/** What is known of a published file, for {@link describeFile}. */
export interface PublishedFile {
  readonly cache: string;
  readonly country: string;
  readonly version: number;
  readonly rows: number;
  readonly asOf: Date;
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
  readonly lastModified: Date;
  readonly dateIsStrong: boolean;
}

/** The representation of a published file. */
export function describeFile(file: PublishedFile): Representation {
  const etag = `"${file.sha256}"`;
  return {
    size: file.bytes,
    etag,
    lastModified: file.lastModified,
    dateIsStrong: file.dateIsStrong,
    versionHeaders: {
      ETag: etag,
      'Last-Modified': formatHttpDate(file.lastModified),
      'Cache-Control': 'private, no-cache',
      Vary: 'Authorization',
      'X-Cache-Version': file.version,
      'X-Cache-Rows': file.rows,
      'X-Cache-As-Of': file.asOf.toISOString(),
    },
    contentHeaders: {
      'Content-Type': 'application/gzip',
      'Content-Disposition': `attachment; filename="${fileName(file)}"`,
      'Repr-Digest': `sha-256=:${Buffer.from(file.sha256, 'hex').toString('base64')}:`,
      'Accept-Ranges': 'bytes',
    },
  };
}

function fileName({ cache, country, version }: PublishedFile): string {
  return `${[cache, country, `v${version}`].filter((part) => part !== '').join('-')}.tsv.gz`;
}
