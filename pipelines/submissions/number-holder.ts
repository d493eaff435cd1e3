import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';

/** True if the brand of an owner holds a number now, verified or not. */
export async function holdsNumber(
  db: Queryable,
  { owner, handle, phone }: { readonly owner: string; readonly handle: string; readonly phone: string },
): Promise<boolean> {
  return (await queryRow(db, sql('submissions/is_number_of_brand'), [phone, handle, owner])) !== undefined;
}
