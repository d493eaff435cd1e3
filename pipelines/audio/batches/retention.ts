import { ServiceError } from '../../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { cleanText } from '../../phone/text-cleaning.ts';
import type { AudioStore } from '../store/audio-store.ts';
import { cancelAbandonedBatches } from './batch.ts';

const dayMs = 86_400_000;

/** Recordings of one transaction of the retention. */
const pageRecordings = 200;

interface LockedRecording {
  readonly sha256: string;
  readonly bytes: number;
  readonly deletedAt: Date | null;
  readonly deletedWhy: string | null;
}

interface Deletion {
  readonly db: Pool;
  readonly store: AudioStore;
  /** Writes the caller's record in the transaction of the deletion; if it fails, nothing is deleted. */
  readonly record?: ((client: Queryable) => Promise<void>) | undefined;
}

/**
 * Deletes stored audio. The row keeps the time and the reason; results stay, and items that wait for the audio end in error
 * `recording_deleted`. Deleting it again changes nothing.
 * @throws ServiceError `recording_unknown`, `audio_request_invalid`
 */
export async function deleteRecording(
  { db, store, record }: Deletion,
  sha256: string,
  reason: string,
): Promise<{ deleted: boolean; at: Date; reason: string }> {
  const why = cleanText(reason);
  if (why === null)
    throw new ServiceError('audio_request_invalid', {
      operation: 'delete recording',
      object: sha256,
      problem: 'The reason is empty.',
    });
  return inTransaction(db, async (client) => {
    const row = await queryRow<LockedRecording>(client, sql('audio/lock_recording'), [sha256]);
    if (row === undefined)
      throw new ServiceError('recording_unknown', {
        operation: 'delete recording',
        object: sha256,
        hint: 'Give the SHA-256 of the audio: `caller-trust batch results` shows it with --json.',
      });
    if (row.deletedAt === null) await record?.(client);
    await store.remove(sha256); // first: if this process dies now, the row still has the file to delete
    if (row.deletedAt !== null) return { deleted: false, at: row.deletedAt, reason: row.deletedWhy! };
    await client.query(sql('audio/delete_recordings'), [[sha256], why]);
    return { deleted: true, at: new Date(), reason: why };
  });
}

/** What one run of the retention did. */
interface RetentionEnd {
  /** Recordings whose time was over. */
  readonly deleted: number;
  /** Files that no row named: copies of killed processes. */
  readonly swept: number;
  /** Batches whose submission was never completed. */
  readonly cancelled: number;
}

/**
 * Deletes the audio that was not submitted for `retentionDays`, unless an item waits for it, and files that killed processes left in the
 * store. Several processes may do so at the same time.
 */
export async function runRetention(
  { db, store }: { db: Pool; store: AudioStore },
  { retentionDays, at }: { retentionDays: number; at: Date },
): Promise<RetentionEnd> {
  const before = new Date(at.getTime() - retentionDays * dayMs);
  const cancelled = await cancelAbandonedBatches(db, before);
  let deleted = 0;
  for (let page = -1; page !== 0; deleted += page) page = await deletePage({ db, store }, before, retentionDays);
  return { deleted, cancelled, swept: await sweepStore({ db, store }) };
}

function deletePage(
  { db, store }: { db: Pool; store: AudioStore },
  before: Date,
  retentionDays: number,
): Promise<number> {
  return inTransaction(db, async (client) => {
    const rows = await queryRows<{ sha256: string }>(client, sql('audio/lock_old_recordings'), [
      before,
      pageRecordings,
    ]);
    const digests = rows.map(({ sha256 }) => sha256);
    for (const sha256 of digests) await store.remove(sha256);
    await client.query(sql('audio/delete_recordings'), [digests, `Retention of ${retentionDays} days is over.`]);
    return digests.length;
  });
}

async function sweepStore({ db, store }: { db: Pool; store: AudioStore }): Promise<number> {
  let swept = await store.sweepUnfinished();
  for await (const digests of store.folders()) {
    const known = new Set(
      (await queryRows<{ sha256: string }>(db, sql('audio/find_stored_recordings'), [digests])).map(
        ({ sha256 }) => sha256,
      ),
    );
    swept += await store.removeUnknown(digests.filter((sha256) => !known.has(sha256)));
  }
  return swept;
}
