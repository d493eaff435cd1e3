import { queryRows, type Pool } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { listIdleUploadFiles, removeUploadFiles } from './upload-file.ts';

const hourMs = 3_600_000;

/** An upload that no request has used for this many hours is removed, complete or not: clients use one at once, or send it again. */
export const uploadHours = 24;

/** Uploads of one statement. */
const pageUploads = 1000;

/** What one run has removed. */
interface UploadRetentionEnd {
  /** Uploads that no request has used in time. */
  readonly removed: number;
  /** Files without an upload: of killed processes, or of requests that had used them. */
  readonly swept: number;
}

/** Removes uploads that no request has used for {@link uploadHours}, and files that belong to none. */
export async function runUploadRetention(
  { db, directory }: { db: Pool; directory: string },
  at: Date,
): Promise<UploadRetentionEnd> {
  const before = new Date(at.getTime() - uploadHours * hourMs);
  let removed = 0;
  for (let page = -1; page !== 0; removed += page) {
    const rows = await queryRows<{ uploadId: string }>(db, sql('submissions/delete_idle_uploads'), [
      before,
      pageUploads,
    ]);
    page = rows.length;
    await removeUploadFiles(
      directory,
      rows.map(({ uploadId }) => uploadId),
    );
  }
  return { removed, swept: await sweepFiles(db, directory) };
}

/** A file is written before its row is seen, and used after its row is gone; both take far less than an hour. */
async function sweepFiles(db: Pool, directory: string): Promise<number> {
  const files = await listIdleUploadFiles(directory, hourMs);
  const rows = await queryRows<{ uploadId: string }>(db, sql('submissions/find_uploads'), [files]);
  const known = new Set(rows.map(({ uploadId }) => uploadId));
  const unknown = files.filter((uploadId) => !known.has(uploadId));
  await removeUploadFiles(directory, unknown);
  return unknown.length;
}
