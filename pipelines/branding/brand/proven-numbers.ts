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
  if (phones.length === 0) return new Set();
  const rows = await queryRows<{ phone: string }>(client, sql('branding/read_proven_phones'), [brandId]);
  const proven = new Set(rows.map(({ phone }) => phone));
  return new Set(phones.filter((phone) => proven.has(phone)));
}
