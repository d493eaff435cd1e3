import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';

/** Rows that one statement deletes. */
const prunedAtOnce = 50_000;
const dayMs = 86_400_000;

/** Deletes complaints reported more than `retentionDays` before `at`, in batches; 0: none. Returns their number. */
export async function pruneComplaints(
  db: Queryable,
  { retentionDays, at, atOnce = prunedAtOnce }: { retentionDays: number; at: Date; atOnce?: number },
): Promise<number> {
  if (retentionDays === 0) return 0;
  const before = new Date(at.getTime() - retentionDays * dayMs);
  for (let pruned = 0; ;) {
    const { removed } = (await queryRow<{ removed: number }>(db, sql('intake/prune_complaints'), [before, atOnce]))!; // the statement returns one row
    pruned += removed;
    if (removed < atOnce) return pruned;
  }
}
