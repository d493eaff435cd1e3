import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';

/** Removes the staged rows of numbers that a later line of the file repeats, and counts them. */
export async function removeSuperseded(
  client: Queryable,
  mayRepeat: boolean,
): Promise<{ duplicates: number; topNumberRows: number }> {
  if (!mayRepeat) return { duplicates: 0, topNumberRows: 1 };
  return (await queryRow<{ duplicates: number; topNumberRows: number }>(client, sql('feeds/remove_superseded')))!; // the statement returns one row
}
