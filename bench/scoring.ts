import { scoreComplaints } from '../pipelines/labels/scoring.ts';
import type { Pool } from '../runtime/postgres.ts';
import { fillNumbers } from './night-data.ts';
import { openOwnDatabase } from './own-database.ts';
import { isMain } from './program.ts';
import { printSideBySide, runSideBySide, type Measured } from './side-by-side.ts';

/**
 * Claim: scoring a night costs what was reported since the last one, not what was ever reported.
 *
 *   npm run build && node dist/bench/scoring.js [complaints=2900000] [new=15000] [rounds=3] [numbers=1000000]
 *
 * Complaints of 400 days, on numbers of which few are reported often, among numbers of feeds; then night by night a load of one more
 * day. The same night is scored by what changed, and then again over all numbers, in a transaction each; the labels of both are
 * compared.
 */
const days = 400;
const dayMs = 86_400_000;
const first = Date.UTC(2025, 0, 1);

interface ScoringSize {
  /** Before the first night, and of each night. */
  readonly complaints: number;
  readonly fresh: number;
  readonly rounds: number;
  /** Of feeds. */
  readonly numbers: number;
}

/** Scores nights by what changed and over all numbers. */
export async function compareScorings({ complaints, fresh, rounds, numbers }: ScoringSize): Promise<Measured[]> {
  const { db, client, close } = await openOwnDatabase();
  let day = 0;
  const load = async (rows: number) => loadComplaints(db, { day: day++, rows });
  const score = async (all: boolean) => {
    const night = new Date(first + day * dayMs + 3_600_000); // one in the morning after the last day
    const { changed } = await scoreComplaints(db, night, { labelHoldDaysMax: 45, all });
    if (all && changed > 0) throw new Error(`${changed} labels differ`);
  };
  try {
    await fillNumbers(client, numbers);
    while (day < days) await load(complaints / days);
    await db.query('VACUUM (ANALYZE)');
    await score(false);
    return await runSideBySide(
      [
        { name: 'what changed', prepare: () => load(fresh), run: () => score(false) },
        { name: 'all numbers', run: () => score(true) },
      ],
      rounds,
    );
  } finally {
    await close();
  }
}

/** A load with the complaints of a day: two thirds about any number, the others about few that are reported again and again. */
async function loadComplaints(db: Pool, { day, rows }: { day: number; rows: number }): Promise<void> {
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
}

if (isMain(import.meta.url)) {
  const [complaints, fresh, rounds, numbers] = [2_900_000, 15_000, 3, 1_000_000].map((usual, at) =>
    Number(process.argv[2 + at] ?? usual),
  ) as [number, number, number, number];
  console.log(`${complaints.toLocaleString('en-US')} complaints, then ${fresh.toLocaleString('en-US')} a night`);
  printSideBySide(await compareScorings({ complaints, fresh, rounds, numbers }), 'all numbers');
}
