import { queryRow, type Queryable } from '../runtime/postgres.ts';

const dayMs = 86_400_000;

/** How long rows are kept, and how many one statement deletes, so that none holds its locks for long. */
interface Retention {
  readonly retentionDays: number;
  readonly at: Date;
  readonly atOnce: number;
}

/**
 * Deletes rows of more than `retentionDays` before `at`, with a statement of this directory that takes an instant and the most rows and
 * returns how many it has `removed`. Returns their number.
 */
export async function pruneRows(
  db: Queryable,
  statement: string,
  { retentionDays, at, atOnce }: Retention,
): Promise<number> {
  const before = new Date(at.getTime() - retentionDays * dayMs);
  for (let pruned = 0; ;) {
    const { removed } = (await queryRow<{ removed: number }>(db, statement, [before, atOnce]))!; // the statement returns one row
    pruned += removed;
    if (removed < atOnce) return pruned;
  }
}
