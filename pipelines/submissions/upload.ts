import { ServiceError } from '../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { Config } from '../../runtime/config.ts';
import type { Scope } from '../access/keys.ts';

/** The closed list of kinds of uploads, with the scope that each needs. */
export const UPLOAD_KINDS = {
  recording: { scope: 'batches:write' },
  letter: { scope: 'branding:write' },
  numbers: { scope: 'branding:write' },
  feed: { scope: 'feeds:write' },
} as const satisfies Record<string, { readonly scope: Scope }>;

export type UploadKind = keyof typeof UPLOAD_KINDS;

/** A file that a client sends. Its bytes are in a file of its own, whose size is the offset. */
export interface Upload {
  readonly uploadId: string;
  readonly kind: UploadKind;
  /** Of the whole file. */
  readonly bytes: number;
  /** Bytes of the disk that are kept for it; its file is no larger. */
  readonly reservedBytes: number;
  /** Announced by the client; of a complete upload, that of its bytes. Hex digits. */
  readonly sha256: string | null;
  readonly completedAt: Date | null;
}

/** Who sends: the client of a key, and the id of the key. */
interface UploadOwner {
  readonly client: string;
  readonly keyId: string;
}

/** What a file takes on the disk at least, and its row in the database. */
export const uploadBytesCounted = 4096;

/** The uploads of all clients together. */
interface UploadCounts {
  /** Of one client, those that are incomplete. */
  readonly open: number;
  readonly uploads: number;
  /** Bytes of the disk that are kept for them. */
  readonly bytes: number;
  /** For those of one client. */
  readonly clientBytes: number;
}

/** How much uploads may take. */
export interface UploadLimits extends Pick<Config, 'intakeDiskBytesMax'> {
  /** Incomplete uploads of a client. */
  readonly openUploadsMax: number;
  /** Share of `intakeDiskBytesMax` for one client. */
  readonly clientShareMax: number;
  /** Bytes that are kept for an upload beyond those that have arrived. */
  readonly announcedBytesMax: number;
}

/** Bytes of the disk for the uploads of one client. */
export function clientBytesMax({ intakeDiskBytesMax, clientShareMax }: UploadLimits): number {
  return Math.floor(intakeDiskBytesMax * clientShareMax);
}

/** Counts uploads; without a `client` none is counted as open, and none as the client's. */
export async function measureUploads(db: Queryable, client: string | null = null): Promise<UploadCounts> {
  const values = [client, uploadBytesCounted];
  return (await queryRow<UploadCounts>(db, sql('submissions/measure_uploads'), values))!; // the statement returns one row
}

/**
 * Opens an upload, if the client may have one more and the disk has room for all of its bytes now. Of the bytes that have not arrived,
 * {@link UploadLimits.announcedBytesMax} are kept: what a client only announces keeps no other out.
 * @throws ServiceError `upload_too_large`, `uploads_too_many`, `uploads_full`
 */
export async function openUpload(
  db: Pool,
  { client, keyId }: UploadOwner,
  {
    kind,
    bytes,
    sha256,
    bytesMax,
    limits,
  }: {
    readonly kind: UploadKind;
    readonly bytes: number;
    readonly sha256: string | null;
    readonly bytesMax: number;
    readonly limits: UploadLimits;
  },
): Promise<Upload> {
  if (bytes > bytesMax) throw refusal('upload_too_large', `A ${kind} has at most ${bytesMax} bytes.`);
  return inTransaction(db, async (transaction) => {
    await transaction.query(sql('submissions/lock_uploads'));
    const present = await measureUploads(transaction, client);
    if (present.open >= limits.openUploadsMax)
      throw refusal(
        'uploads_too_many',
        `${present.open} uploads of this client are incomplete.`,
        'Complete them, or give them up with DELETE.',
      );
    requireRoom(present, Math.max(bytes, uploadBytesCounted), limits);
    const values = [client, keyId, kind, bytes, Math.min(bytes, limits.announcedBytesMax), sha256];
    return (await queryRow<Upload>(transaction, sql('submissions/insert_upload'), values))!; // inserted
  });
}

/**
 * Keeps bytes of the disk for an upload, which counts as active now.
 * @throws ServiceError `uploads_too_many`, `uploads_full` if there is no room for more than are kept already
 */
export async function reserveRoom(
  db: Pool,
  client: string,
  {
    upload: { uploadId, reservedBytes },
    bytes,
    limits,
  }: { readonly upload: Upload; readonly bytes: number; readonly limits: UploadLimits },
): Promise<void> {
  await inTransaction(db, async (transaction) => {
    await transaction.query(sql('submissions/lock_uploads'));
    if (bytes > reservedBytes) requireRoom(await measureUploads(transaction, client), bytes - reservedBytes, limits);
    await transaction.query(sql('submissions/reserve_upload'), [uploadId, bytes]);
  });
}

function requireRoom({ bytes, clientBytes }: UploadCounts, more: number, limits: UploadLimits): void {
  if (clientBytes + more > clientBytesMax(limits))
    throw refusal(
      'uploads_too_many',
      `The uploads of this client have ${clientBytes} bytes, and may have ${clientBytesMax(limits)}.`,
      'Use them in a request, or give some up with DELETE.',
    );
  if (bytes + more > limits.intakeDiskBytesMax)
    throw refusal('uploads_full', undefined, 'Try again later: requests use uploads, and old ones are removed.');
}

/**
 * An upload of a client.
 * @throws ServiceError `upload_unknown`
 */
export async function findUpload(db: Queryable, client: string, uploadId: string): Promise<Upload> {
  const upload = isUploadId(uploadId)
    ? await queryRow<Upload>(db, sql('submissions/find_upload'), [client, uploadId])
    : undefined;
  if (upload === undefined) throw uploadUnknown(uploadId);
  return upload;
}

/**
 * The uploads of a client in the order of the ids, which count as used now.
 * @throws ServiceError `upload_unknown` naming the first that is not one of the client's
 */
async function useUploads(db: Queryable, client: string, uploadIds: readonly string[]): Promise<Upload[]> {
  const known = new Map(
    (await queryRows<Upload>(db, sql('submissions/touch_uploads'), [client, uploadIds.filter(isUploadId)])).map(
      (upload) => [upload.uploadId, upload],
    ),
  );
  return uploadIds.map((uploadId) => {
    const upload = known.get(uploadId);
    if (upload === undefined) throw uploadUnknown(uploadId);
    return upload;
  });
}

function uploadUnknown(object: string): ServiceError {
  return new ServiceError('upload_unknown', { operation: 'find upload', object, hint: 'Send the file again.' });
}

/**
 * The complete uploads of a kind, in the order of the ids.
 * @throws ServiceError `upload_unknown`, `upload_incomplete`, `upload_invalid` for one of another kind
 */
export async function useCompleteUploads(
  db: Queryable,
  { client, kind }: { readonly client: string; readonly kind: UploadKind },
  uploadIds: readonly string[],
): Promise<Upload[]> {
  const uploads = await useUploads(db, client, uploadIds);
  for (const upload of uploads) {
    if (upload.kind !== kind)
      throw new ServiceError('upload_invalid', {
        operation: 'use upload',
        problem: `The upload ${upload.uploadId} is for a ${upload.kind}, not for a ${kind}.`,
      });
    if (upload.completedAt === null)
      throw new ServiceError('upload_incomplete', {
        operation: 'use upload',
        problem: `The upload ${upload.uploadId} is not complete.`,
        hint: 'HEAD on it returns its offset; send the rest with PATCH.',
      });
  }
  return uploads;
}

/** Keeps the digest that the client has announced; the first one counts. */
export async function announceDigest(db: Queryable, { uploadId }: Upload, sha256: string): Promise<void> {
  await db.query(sql('submissions/announce_digest'), [uploadId, sha256]);
}

/**
 * Records that an upload is complete.
 * @throws ServiceError `upload_unknown` if it was removed meanwhile
 */
export async function completeUpload(db: Queryable, { uploadId }: Upload, sha256: string): Promise<Upload> {
  const upload = await queryRow<Upload>(db, sql('submissions/complete_upload'), [uploadId, sha256]);
  if (upload !== undefined) return upload;
  throw new ServiceError('upload_unknown', { operation: 'complete upload', object: uploadId });
}

/** Removes the rows of uploads; their files go with {@link removeUploadFiles}. */
export async function forgetUploads(db: Queryable, uploadIds: readonly string[]): Promise<void> {
  if (uploadIds.length > 0) await db.query(sql('submissions/delete_uploads'), [uploadIds]);
}

/** True for the text of an id, as PostgreSQL writes it. */
export function isUploadId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);
}

function refusal(
  code: 'upload_too_large' | 'uploads_too_many' | 'uploads_full',
  problem: string | undefined,
  hint?: string,
): ServiceError {
  return new ServiceError(code, { operation: 'open upload', problem, hint });
}
