import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '../../runtime/errors.ts';

/** The header fields of a request that sends bytes of an upload. */
export interface UploadFields {
  /** The request has the last byte; undefined if it does not say. */
  readonly complete: boolean | undefined;
  /** Where its bytes begin. */
  readonly offset: number | undefined;
  /** Bytes of the whole upload. */
  readonly length: number | undefined;
  /** Bytes of this request. */
  readonly contentLength: number | undefined;
  /** SHA-256 of the whole upload, as hex digits. */
  readonly wholeSha256: string | undefined;
  /** SHA-256 of the bytes of this request, as hex digits. */
  readonly contentSha256: string | undefined;
}

/**
 * Reads the fields of draft-ietf-httpbis-resumable-upload-10 (structured fields, RFC 9651) and of RFC 9530.
 * @throws ServiceError `upload_invalid`
 */
export function readUploadFields(headers: IncomingHttpHeaders): UploadFields {
  const text = (name: string): string | undefined => {
    const value = headers[name];
    return typeof value === 'string' ? value.trim() : undefined;
  };
  return {
    complete: readBoolean('Upload-Complete', text('upload-complete')),
    offset: readCount('Upload-Offset', text('upload-offset')),
    length: readCount('Upload-Length', text('upload-length')),
    contentLength: readCount('Content-Length', text('content-length')),
    wholeSha256: readSha256('Repr-Digest', text('repr-digest')),
    contentSha256: readSha256('Content-Digest', text('content-digest')),
  };
}

/** What a request that opens an upload says: whether it sends all, and how many bytes the upload has. */
export function readOpening(fields: UploadFields): { complete: boolean; bytes: number } {
  const { complete = true, length, contentLength } = fields;
  if (complete && length !== undefined && contentLength !== undefined && length !== contentLength)
    throw fieldsInvalid('Upload-Length and Content-Length differ, though Upload-Complete is ?1.');
  const bytes = length ?? (complete ? contentLength : undefined);
  if (bytes === undefined)
    throw fieldsInvalid('The length of the upload is missing.', 'Send Upload-Length with the number of its bytes.');
  if (bytes === 0) throw fieldsInvalid('An upload has at least one byte.');
  return { complete, bytes };
}

function readBoolean(name: string, text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (text === '?1' || text === '?0') return text === '?1';
  throw fieldsInvalid(`${name} is not ?1 or ?0.`);
}

function readCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw fieldsInvalid(`${name} is not a number of bytes.`);
}

/** The member `sha-256` of a digest field; others are not looked at. */
function readSha256(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const encoded = /(?:^|,)\s*sha-256=:([^:]*):/.exec(text)?.[1];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length === 32 && bytes.toString('base64') === encoded) return bytes.toString('hex');
  throw fieldsInvalid(`${name} is not sha-256=:BASE64: with 32 bytes.`);
}

/** A digest as RFC 9530 writes it. */
export function formatDigest(sha256: string): string {
  return `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`;
}

/** The error for a request whose fields do not fit. */
export function fieldsInvalid(problem: string, hint = 'docs/intake.md shows how a file is sent.'): ServiceError {
  return new ServiceError('upload_invalid', { operation: 'read upload', problem, hint });
}
