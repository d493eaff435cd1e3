/**
 * Claims: scoring a night costs what was reported since the last one, not what was ever reported.
 *
 *   npm run build && node dist/bench/scoring.js [complaints=2900000] [new=15000] [rounds=3] [numbers=1000000]
 *
 * Complaints of 400 days, on numbers of which few are reported often, among numbers of feeds; then night by night a load of one more
 * day. bench/night-incremental.ts has the rest of a night. The same night is
 * scored by what changed, and then again over all numbers, in a transaction each; the labels of both are compared. The bytes are those
 * of the write-ahead log.
 */
import { scoreComplaints } from '../pipelines/labels/scoring.ts';
import { fillNumbers } from './night-data.ts';
import { printSideBySide, runSideBySide } from './side-by-side.ts';
import { openOwnDatabase } from './own-database.ts';

const [complaints, fresh, rounds, numbers] = [2_900_000, 15_000, 3, 1_000_000].map((usual, at) =>
  Number(process.argv[2 + at] ?? usual),
);
const days = 400;
const dayMs = 86_400_000;
const first = Date.UTC(2025, 0, 1);
let day = 0;

const { db, client, close } = await openOwnDatabase();
try {
  await fillNumbers(client, numbers!);
  while (day < days) await load(complaints! / days);
  await db.query('VACUUM (ANALYZE)');
  console.log(`${complaints!.toLocaleString('en-US')} complaints, then ${fresh!.toLocaleString('en-US')} a night`);
  console.log('the first night:', await scoreComplaints(db, night()));
  const logged: Record<string, number[]> = { changed: [], all: [] };
  const measured = await runSideBySide(
    [
      { name: 'what changed', prepare: () => load(fresh!), run: () => logging('changed', false) },
      { name: 'all numbers', run: () => logging('all', true) },
    ],
    rounds!,
  );
  printSideBySide(measured, 'all numbers');
  for (const [name, bytes] of Object.entries(logged))
    console.log(`${name}: ${bytes.map((each) => (each / 1e6).toFixed(1)).join(', ')} MB of the log`);

  async function logging(name: string, all: boolean): Promise<void> {
    const before = await position();
    const report = await scoreComplaints(db, night(), { labelHoldDaysMax: 45, all });
    logged[name]!.push((await position()) - before);
    if (all && report.changed > 0) throw new Error(`${report.changed} labels differ`);
    console.log(name, JSON.stringify(report));
  }
} finally {
  await close();
}

/** One in the morning after the last day. */
function night(): Date {
  return new Date(first + day * dayMs + 3_600_000);
}

async function position(): Promise<number> {
  const { rows } = await db.query<{ bytes: string }>("SELECT pg_current_wal_lsn() - '0/0' AS bytes");
  return Number(rows[0]!.bytes);
}

/** A load with the complaints of the next day: two thirds about any number, the others about few that are reported again and again. */
async function load(rows: number): Promise<void> {
  await db.query(
    `WITH load AS (
       INSERT INTO feed_load (feed, file_name, file_sha256, file_bytes, submitted_by, requested_at, merged_by)
       VALUES ('complaints', 'bench', md5($1::bigint::text) || md5($1::bigint::text), 0, 'bench', now(), pg_current_xact_id())
       RETURNING load_id
     ), made AS (
       INSERT INTO complaint (phone, country, reported_at, consumer_state, subject, recorded, occurrence, load_id)
       SELECT
         '+1' || 2010000000 + CASE WHEN h % 3 > 0 THEN h / 3 % 7000000000 ELSE floor(power(h / 3 % 1000003 / 1000003.0, 3) * 900000)::bigint * 37 END,
         'US', $3::timestamptz + (h / 11 % 86000) * interval '1 second', 'State ' || h / 13 % 50, 'Other', true, i::integer, load_id
       FROM load, (SELECT i, abs(hashint8extended(i, $1::bigint)) AS h FROM generate_series(1, $2::bigint) AS i) AS numbers
       RETURNING load_id, (reported_at AT TIME ZONE 'UTC')::date AS day
     )
     INSERT INTO complaint_day SELECT load_id, day, count(*) FROM made GROUP BY 1, 2`,
    [day, Math.round(rows), new Date(first + day * dayMs)],
  );
  day++;
}
