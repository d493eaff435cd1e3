import { queryRows, type Pool } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { listIdleUploadFiles, removeUploadFiles } from './upload-file.ts';

const hourMs = 3_600_000;

/** Hours after which an upload is removed: an incomplete one to which no byte has come, and a complete one that no request has used. */
export const uploadHours = { incomplete: 1, complete: 24 } as const;

/** Uploads of one statement. */
const pageUploads = 1000;

/** What one run has removed. */
interface UploadRetentionEnd {
  /** Uploads that were idle too long, or whose key has ended. */
  readonly removed: number;
  /** Files without an upload: of killed processes, or of requests that had used them. */
  readonly swept: number;
}

/** Removes uploads that are idle for {@link uploadHours}, incomplete ones whose key has ended, and files that belong to no upload. */
export async function runUploadRetention(
  { db, directory }: { db: Pool; directory: string },
  at: Date,
): Promise<UploadRetentionEnd> {
  const before = (hours: number) => new Date(at.getTime() - hours * hourMs);
  const values = [before(uploadHours.incomplete), before(uploadHours.complete), at, pageUploads];
  let removed = 0;
  for (let page = -1; page !== 0; removed += page) {
    const rows = await queryRows<{ uploadId: string }>(db, sql('submissions/delete_idle_uploads'), values);
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
