import { decidePrecondition, ifRangeMatches, type ConditionalHeaders } from '../http/conditional.ts';
import { formatHttpDate } from '../http/http-date.ts';
import { decideRange, type ByteSpan } from './range.ts';
import type { Headers } from '../http/conditional.ts';

/** The facts about one version's bytes that headers need. */
export interface Representation {
  readonly size: number;
  /** Strong entity tag with its quotes: the SHA-256 of the bytes. */
  readonly etag: string;
  /** Never later than the clock of the process that serves it. Undefined: no date says which bytes these are. */
  readonly lastModified: Date | undefined;
  /** False if the previous version has the same date to the second: the date then does not identify the version. */
  readonly dateIsStrong: boolean;
  /** Headers of 200, 206 and 304 answers. */
  readonly versionHeaders: Headers;
  /** Additional headers of 200 and 206 answers. */
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

/** The answer: a status with headers and the bytes to send, if any; or the error code of a refusal. */
export type DownloadPlan =
  | { readonly status: 200 | 206 | 304; readonly headers: Headers; readonly send: ByteSpan | undefined }
  | { readonly refusal: 'precondition_failed' | 'range_not_satisfiable'; readonly headers: Headers };

/** Decides the answer to a GET or HEAD of a file (RFC 9110 sections 13.2.2, 14.2 and 15). Reads neither disk nor clock. */
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

/** Range applies to GET only, and only if If-Range matches. */
function wantedSpan(
  { method, headers }: DownloadRequest,
  representation: Representation,
  now: number,
): ReturnType<typeof decideRange> {
  if (method !== 'GET') return 'whole';
  const ifRange = headers['if-range'];
  if (ifRange !== undefined && !ifRangeMatches(ifRange, representation, now)) return 'whole';
  return decideRange(headers.range, representation.size);
}

/** Facts about a published file. */
interface PublishedFile {
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

/** A representation whose date is known. */
export interface DatedRepresentation extends Representation {
  readonly lastModified: Date;
}

/** The representation of a published file. */
export function describePublishedFile(file: PublishedFile): DatedRepresentation {
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
