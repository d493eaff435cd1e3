import type { Queryable } from '../../runtime/postgres.ts';
import type { ReputationLevel } from '../../pipelines/phone/reputation-level.ts';

/** A row of phone_number as tests state it; what is left out is absent. */
export interface TestNumber {
  phone: string;
  country?: string | null;
  level?: ReputationLevel;
  category?: number | null;
  name?: string | null;
  description?: string | null;
  detail?: string | null;
  image?: string | null;
}

/** Inserts numbers, or replaces those that are there. */
export async function putNumbers(db: Queryable, numbers: TestNumber[]): Promise<void> {
  await db.query(
    `INSERT INTO phone_number (phone, country, reputation_level, reputation_category, display_name, display_description, display_detail, display_image)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::smallint[], $5::text[], $6::text[], $7::text[], $8::text[])
     ON CONFLICT (phone) DO UPDATE SET country = excluded.country, reputation_level = excluded.reputation_level,
       reputation_category = excluded.reputation_category, display_name = excluded.display_name,
       display_description = excluded.display_description, display_detail = excluded.display_detail, display_image = excluded.display_image`,
    [
      numbers.map(({ phone }) => phone),
      numbers.map(({ country }) => (country === undefined ? 'US' : country)),
      numbers.map(({ level }) => level ?? 'NEUTRAL'),
      numbers.map(({ category }) => category ?? null),
      numbers.map(({ name }) => name ?? null),
      numbers.map(({ description }) => description ?? null),
      numbers.map(({ detail }) => detail ?? null),
      numbers.map(({ image }) => image ?? null),
    ],
  );
}

/** `count` US numbers from +12025550000 on; those that end in 0 are SPAM (+1 202 555 1212, a protected one, must not be). */
export function manyNumbers(count: number, first = 12_025_550_000): TestNumber[] {
  return Array.from({ length: count }, (_, at) => ({
    phone: `+${first + at}`,
    ...((first + at) % 10 === 0 ? { level: 'SPAM' as const, category: 6 } : { name: `Shop ${at}` }),
  }));
}

/** Makes a number show a brand, from the year 2000 on. */
export async function putBranded(db: Queryable, phone: string, name: string, until: Date | null = null): Promise<void> {
  await db.query(
    `INSERT INTO branded_number (phone, brand_handle, display_name, live_from, live_until) VALUES ($1, 'brand', $2, '2000-01-01T00:00:00Z', $3)`,
    [phone, name, until],
  );
}
