import { queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';

/**
 * Which of some numbers (E.164) a brand has proven to answer, by returning the codes of calls. A proof counts until its time of
 * validity is over, the number leaves the brand, or another brand takes it.
 */
export async function readProvenPhones(
  client: Queryable,
  brandId: number,
  phones: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await queryRows<{ phone: string }>(client, sql('branding/read_proven_phones'), [brandId, phones]);
  return new Set(rows.map(({ phone }) => phone));
}
