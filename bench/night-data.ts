import type { Client } from 'pg';
import { isPhoneRefusal, judgePhone } from '../pipelines/phone/phone-number.ts';

/**
 * Fills phone_number with valid numbers of the United States as feeds leave them: spread evenly over the area codes, in random order
 * over the heap. 60 % NEUTRAL with a name, 30 % SPAM, 10 % FRAUD; a fiftieth have a description too. The same count gives the same
 * rows. They are written before the indexes are made, with the triggers off.
 */
export async function fillNumbers(client: Client, rows: number): Promise<void> {
  const areas = Array.from({ length: 1000 }, (_, area) => String(area).padStart(3, '0')).filter((area) => {
    const phone = judgePhone(`+1${area}5550100`);
    return !isPhoneRefusal(phone) && phone.country === 'US';
  });
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    "SELECT indexname AS name, indexdef AS definition FROM pg_indexes WHERE tablename = 'phone_number' AND indexname <> 'phone_number_pkey'",
  );
  await client.query('TRUNCATE phone_number');
  await client.query('ALTER TABLE phone_number DISABLE TRIGGER USER');
  await client.query('ALTER TABLE phone_number DROP CONSTRAINT phone_number_pkey');
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  await client.query(
    `INSERT INTO phone_number (phone, country, reputation_level, reputation_category, reputation_source, feed_level, feed_category, display_name, display_description)
     SELECT '+1' || ($2::text[])[1 + place / 8000000] || 2000000 + place % 8000000, 'US', level, category, 'feed', level, category,
       CASE WHEN level = 'NEUTRAL' THEN
         (ARRAY['Acme', 'Lakeside', 'Northern', 'First', 'Union', 'Cedar', 'Harbor', 'Summit'])[1 + h / 8 % 8]
         || ' ' || (ARRAY['Dental', 'Plumbing', 'Bank', 'Pharmacy', 'Roofing', 'Insurance', 'Clinic', 'Motors'])[1 + h / 64 % 8] || ' ' || h / 512 % 1000 END,
       CASE WHEN h % 50 = 0 THEN 'Customer service, Monday to Friday' END
     FROM (
       SELECT i, h, i * stride + h % stride AS place,
         CASE WHEN h % 10 < 6 THEN 'NEUTRAL' WHEN h % 10 < 9 THEN 'SPAM' ELSE 'FRAUD' END AS level,
         CASE WHEN h % 10 < 6 THEN NULL WHEN h % 10 < 9 THEN (ARRAY[1, 2, 6, 10])[1 + h / 16 % 4] ELSE (ARRAY[7, 9, 15])[1 + h / 16 % 3] END AS category
       FROM (
         SELECT i, hashint8(i)::bigint & 2147483647 AS h, array_length($2::text[], 1) * 8000000::bigint / $1 AS stride
         FROM generate_series(0, $1::bigint - 1) AS i
       ) AS drawn
     ) AS numbers
     ORDER BY hashint8extended(i, 7)`,
    [rows, areas],
  );
  await client.query('ALTER TABLE phone_number ADD CONSTRAINT phone_number_pkey PRIMARY KEY (phone)');
  for (const { definition } of indexes) await client.query(definition);
  await client.query('ALTER TABLE phone_number ENABLE TRIGGER USER');
  await client.query('VACUUM (ANALYZE) phone_number');
}

/** Changes the name of a share of the numbers, spread over all; each round others. */
export async function changeNumbers(client: Client, share: number, round: number): Promise<void> {
  const every = Math.round(1 / share);
  await client.query(
    `UPDATE phone_number SET display_name = 'Changed ' || $2 || ' ' || hashtext(phone) % 1000
     WHERE mod(abs(hashtext(phone)::bigint) / 7, $1) = $2::bigint % $1`,
    [every, round + 1],
  );
}
