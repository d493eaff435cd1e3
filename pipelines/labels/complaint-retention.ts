import type { Queryable } from '../../runtime/postgres.ts';
import { pruneRows } from '../../sql/prune.ts';
import { sql } from '../../sql/sql.ts';

/** Rows that one statement deletes. */
const prunedAtOnce = 50_000;

/** Deletes complaints reported more than `retentionDays` before `at`, in batches; 0: none. Returns their number. */
export async function pruneComplaints(
  db: Queryable,
  { retentionDays, at, atOnce = prunedAtOnce }: { retentionDays: number; at: Date; atOnce?: number },
): Promise<number> {
  return retentionDays === 0 ? 0 : pruneRows(db, sql('labels/prune_complaints'), { retentionDays, at, atOnce });
}
