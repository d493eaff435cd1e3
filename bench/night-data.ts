import type { Client } from 'pg';
import { isPhoneRefusal, judgePhone } from '../pipelines/phone/phone-number.ts';

/** SQL for the level, the category and the name of a number, by its hash `h`. */
const levelSql = `CASE WHEN h % 10 < 6 THEN 'NEUTRAL' WHEN h % 10 < 9 THEN 'SPAM' ELSE 'FRAUD' END`;
const categorySql = `CASE WHEN h % 10 < 6 THEN NULL WHEN h % 10 < 9 THEN (ARRAY[1, 2, 6, 10])[1 + h / 16 % 4] ELSE (ARRAY[7, 9, 15])[1 + h / 16 % 3] END`;
const nameSql = `(ARRAY['Acme', 'Lakeside', 'Northern', 'First', 'Union', 'Cedar', 'Harbor', 'Summit'])[1 + h / 8 % 8]
         || ' ' || (ARRAY['Dental', 'Plumbing', 'Bank', 'Pharmacy', 'Roofing', 'Insurance', 'Clinic', 'Motors'])[1 + h / 64 % 8] || ' ' || h / 512 % 1000`;

/**
 * Fills phone_number with numbers of one country as feeds leave them: in random order over the heap.
 * 60 % NEUTRAL with a name, 30 % SPAM, 10 % FRAUD; a fifth have a description too. The same count gives the same rows.
 */
export async function fillNumbers(client: Client, rows: number): Promise<void> {
  await client.query('TRUNCATE phone_number');
  await client.query(
    `INSERT INTO phone_number (phone, country, reputation_level, reputation_category, reputation_source, display_name, display_description)
     SELECT '+1' || (2010000000 + i * (7900000000 / $1) + h % (7900000000 / $1)), 'US',
       ${levelSql},
       ${categorySql},
       'feed',
       CASE WHEN h % 10 < 6 THEN ${nameSql} END,
       CASE WHEN h % 50 = 0 THEN 'Customer service, Monday to Friday' END
     FROM (SELECT i, hashint8(i)::bigint & 2147483647 AS h FROM generate_series(0, $1::bigint - 1) AS i) AS numbers
     ORDER BY hashint8extended(i, 7)`,
    [rows],
  );
}

/**
 * Fills phone_number with valid numbers of the United States, spread evenly over its area codes, in random order over the heap:
 * before its indexes are made and with its triggers off. 60 % have a name, 40 % a level.
 */
export async function fillValidNumbers(client: Client, rows: number): Promise<void> {
  const areas = Array.from({ length: 1000 }, (_, area) => String(area).padStart(3, '0')).filter((area) => {
    const phone = judgePhone(`+1${area}5550100`);
    return !isPhoneRefusal(phone) && phone.country === 'US';
  });
  const { rows: indexes } = await client.query<{ name: string; indexdef: string }>(
    "SELECT indexname AS name, indexdef FROM pg_indexes WHERE tablename = 'phone_number' AND indexname <> 'phone_number_pkey'",
  );
  await client.query('ALTER TABLE phone_number DISABLE TRIGGER USER');
  await client.query('ALTER TABLE phone_number DROP CONSTRAINT phone_number_pkey');
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  await client.query(
    `INSERT INTO phone_number (phone, country, reputation_level, reputation_category, reputation_source, feed_level, feed_category, display_name, display_description)
     SELECT '+1' || ($2::text[])[1 + place / 8000000] || 2000000 + place % 8000000, 'US', level, category, 'feed', level, category,
       CASE WHEN level = 'NEUTRAL' THEN ${nameSql} END,
       CASE WHEN h % 50 = 0 THEN 'Customer service, Monday to Friday' END
     FROM (
       SELECT i, h, i * stride + h % stride AS place,
         ${levelSql} AS level,
         ${categorySql} AS category
       FROM (
         SELECT i, hashint8(i)::bigint & 2147483647 AS h, array_length($2::text[], 1) * 8000000::bigint / $1 AS stride
         FROM generate_series(0, $1::bigint - 1) AS i
       ) AS drawn
     ) AS numbers
     ORDER BY hashint8extended(i, 7)`,
    [rows, areas],
  );
  await client.query('ALTER TABLE phone_number ADD CONSTRAINT phone_number_pkey PRIMARY KEY (phone)');
  for (const { indexdef } of indexes) await client.query(indexdef);
  await client.query('ALTER TABLE phone_number ENABLE TRIGGER USER');
  await client.query('VACUUM (ANALYZE) phone_number');
}

/** Changes the level of every 50th number, in place: 2 % of the rows move to new places of the heap. */
export async function changeSomeNumbers(client: Client): Promise<void> {
  await client.query(
    `UPDATE phone_number SET reputation_level = 'SPAM', reputation_category = 6 WHERE hashtext(phone) % 50 = 0`,
  );
}

/** Gives every 100th number a brand that has ended. */
export async function addEndedBrands(client: Client): Promise<void> {
  await client.query(
    `INSERT INTO branded_number (phone, brand_handle, display_name, live_from, live_until)
     SELECT phone, 'ended', 'Ended', '2020-01-01', '2021-01-01' FROM phone_number WHERE hashtext(phone) % 100 = 0`,
  );
}
