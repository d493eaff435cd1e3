import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import {
  addUpReports,
  agePoints,
  complaintRule,
  countDays,
  reachesLevel,
  type ComplaintPoints,
} from '../../../pipelines/labels/complaint-rule.ts';
import { computeScores, scoreComplaints } from '../../../pipelines/labels/scoring.ts';
import { inTransaction } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { useTestDatabase } from '../../support/database.ts';

const { db } = await useTestDatabase();
const dayMs = 86_400_000;
const today = new Date('2026-06-01T02:00:00Z');
const states = [null, 'Ohio', 'Texas', 'Utah', 'Iowa'];

/** A complaint some days before the evaluation, from one of `states`, about one of a few numbers. */
interface Complaint {
  readonly daysAgo: number;
  readonly state: number;
  readonly number: number;
}

const phoneOf = (number: number) => `+1202555${String(1000 + number)}`;

afterEach(() =>
  db.query('TRUNCATE complaint, complaint_day, complaint_score, phone_number, feed_load RESTART IDENTITY CASCADE'),
);

async function store(complaints: readonly Complaint[]): Promise<void> {
  await db.query(
    "INSERT INTO feed_load (feed, file_name, file_sha256, file_bytes, submitted_by, merged_by) VALUES ('complaints', 'x', repeat('0', 64), 0, 'test', pg_current_xact_id())",
  );
  const rows = complaints.map(({ daysAgo, state, number }, at) => ({
    phone: phoneOf(number),
    at: new Date(Date.UTC(2026, 5, 1) - daysAgo * dayMs + (daysAgo === 0 ? 0 : (at % 86_400) * 1000)),
    state: states[state],
  }));
  await db.query(
    `INSERT INTO complaint (phone, country, reported_at, consumer_state, subject, recorded, occurrence, load_id)
     SELECT phone, 'US', at, state, 'Other', true, row_number() OVER (), 1 FROM jsonb_to_recordset($1::jsonb) AS r (phone text, at timestamptz, state text)`,
    [JSON.stringify(rows)],
  );
  await db.query(
    "INSERT INTO complaint_day SELECT 1, (reported_at AT TIME ZONE 'UTC')::date, count(*) FROM complaint GROUP BY 2",
  );
}

/** What the rule in TypeScript makes of the same complaints, by number. */
function computed(
  complaints: readonly Complaint[],
  holdDaysMax: number,
): Record<string, ComplaintPoints & { level: string }> {
  const first = 800; // days before the evaluation
  const counted = countDays(
    Array.from({ length: first }, (_, at) => complaints.some(({ daysAgo }) => daysAgo === first - at)),
    holdDaysMax,
  );
  const result: Record<string, ComplaintPoints & { level: string }> = {};
  for (const number of new Set(complaints.map((complaint) => complaint.number))) {
    const reports = complaints
      .filter((complaint) => complaint.number === number && complaint.daysAgo < complaintRule.windowDays)
      .map(({ daysAgo, state }) => ({ day: first - daysAgo, state }))
      .sort((a, b) => a.day - b.day || a.state - b.state);
    const sums = { points: 0, independentReports: 0, days: 0, states: 0 };
    addUpReports(
      {
        days: Int32Array.from(reports, ({ day }) => day),
        states: Uint16Array.from(reports, ({ state }) => state),
        from: 0,
        end: reports.length,
      },
      (day) => counted[first]! - counted[Math.min(day + 1, first)]!,
      sums,
    );
    if (sums.independentReports > 0)
      result[phoneOf(number)] = { ...sums, level: reachesLevel(sums) ? 'SPAM' : 'NEUTRAL' };
  }
  return result;
}

async function scored(holdDaysMax: number): Promise<ReturnType<typeof computed>> {
  await scoreComplaints(db, today, { labelHoldDaysMax: holdDaysMax, all: true });
  const { rows } = await db.query<ComplaintPoints & { phone: string; level: string }>(
    'SELECT phone, score AS points, independent_reports AS "independentReports", days, states, level FROM complaint_score ORDER BY phone',
  );
  return Object.fromEntries(rows.map(({ phone, ...sums }) => [phone, sums]));
}

describe('complaints/2', () => {
  it('is the same rule in SQL and in TypeScript, on any history', async () => {
    const complaint = fc.record({
      daysAgo: fc.oneof(fc.nat(12), fc.nat(60), fc.nat(400)),
      state: fc.nat(states.length - 1),
      number: fc.nat(5),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(complaint, { minLength: 1, maxLength: 120 }),
        fc.constantFrom(0, 3, 45),
        async (complaints, holdDaysMax) => {
          await store(complaints);
          expect(await scored(holdDaysMax)).toEqual(computed(complaints, holdDaysMax));
          await db.query(
            'TRUNCATE complaint, complaint_day, complaint_score, phone_number, feed_load RESTART IDENTITY CASCADE',
          );
        },
      ),
      { numRuns: 60 },
    );
  });

  it('counts loads and clearings of a database cluster with more transactions, from which the database was restored', async () => {
    const later = '9000000000';
    await store([1, 2].flatMap((number) => [1, 2, 3].map((state) => ({ daysAgo: state, state, number }))));
    await db.query(
      "INSERT INTO redress (phone, reason, cleared_by, recorded_by) VALUES ($1, 'x', 'op', $2::text::xid8)",
      [phoneOf(1), later],
    );
    await db.query('UPDATE feed_load SET merged_by = $1::text::xid8', [later]);
    expect(await scored(45)).toMatchObject({ [phoneOf(2)]: { level: 'SPAM' } });
    expect(await scored(45)).not.toHaveProperty([phoneOf(1)]);
    await db.query('DELETE FROM redress');
  });

  it('can be computed again for a past night, from what that night saw', async () => {
    const complaint = (daysAgo: number, state: number, number: number): Complaint => ({ daysAgo, state, number });
    await store([complaint(1, 1, 1), complaint(1, 2, 1), complaint(2, 1, 1), complaint(3, 1, 2)]);
    const first = await scored(45);
    const {
      rows: [night],
    } = await db.query<{ transactions: string }>(
      'SELECT transactions FROM scoring_run ORDER BY scoring_id DESC LIMIT 1',
    );
    await db.query("INSERT INTO redress (phone, reason, cleared_by) VALUES ($1, 'x', 'op')", [phoneOf(1)]);
    await db.query(
      "INSERT INTO feed_load (feed, file_name, file_sha256, file_bytes, submitted_by, merged_by) VALUES ('complaints', 'y', repeat('1', 64), 0, 'test', pg_current_xact_id())",
    );
    await db.query(
      `INSERT INTO complaint (phone, country, reported_at, consumer_state, subject, occurrence, load_id)
      SELECT $1, 'US', timestamptz '2026-05-30' + n * interval '1 hour', 'State ' || n, 'Other', 1, 2 FROM generate_series(1, 9) AS n`,
      [phoneOf(2)],
    );
    await db.query("INSERT INTO complaint_day VALUES (2, '2026-05-30', 9)");
    const again = await inTransaction(db, async (client) => {
      await computeScores(client, today, { labelHoldDaysMax: 45 }, { seen: night!.transactions });
      return (
        await client.query(
          'SELECT phone, score AS points, independent_reports AS "independentReports", days, states, level FROM complaint_scored ORDER BY phone',
        )
      ).rows;
    });
    expect(Object.fromEntries(again.map(({ phone, ...sums }) => [phone, sums]))).toEqual(first);
    expect(await scored(45)).toMatchObject({
      [phoneOf(1)]: { points: 0, level: 'NEUTRAL' },
      [phoneOf(2)]: { level: 'SPAM' },
    });
    await db.query('DELETE FROM redress');
  });

  it('gives less or the same for each day that a report is older', () => {
    const table = agePoints.map(({ day, furtherState }) => [day, furtherState]);
    expect(table).toHaveLength(90);
    for (const at of [0, 1] as const)
      expect(table.map((points) => points[at])).toEqual(table.map((points) => points[at]!).toSorted((a, b) => b! - a!));
  });
});

describe('counted days', () => {
  it('are those on which the feed spoke, and those of a silence beyond the limit', () => {
    const spoke = [true, false, false, false, true, false];
    expect([...countDays(spoke, 2)]).toEqual([0, 1, 1, 1, 2, 3, 3]);
    expect([...countDays(spoke, 3)]).toEqual([0, 1, 1, 1, 1, 2, 2]);
    expect([...countDays(spoke, 0)]).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('labels the same numbers as from all complaints, though a night scores what has changed', async () => {
    const day = fc.record({
      // A feed that is absent, or late, or reports days long past; a clearing; a clock that was set back; another hold.
      reports: fc.array(fc.record({ daysAgo: fc.oneof(fc.nat(3), fc.nat(80)), state: fc.nat(4), number: fc.nat(7) }), {
        maxLength: 12,
      }),
      later: fc.oneof({ weight: 8, arbitrary: fc.integer({ min: 1, max: 3 }) }, fc.integer({ min: -5, max: 60 })),
      cleared: fc.option(fc.nat(7), { freq: 6 }),
      holdDaysMax: fc.oneof({ weight: 12, arbitrary: fc.constant(5) }, fc.constantFrom(0, 45)),
    });
    let [all, changed] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(day, { minLength: 3, maxLength: 14 }), async (days) => {
        await db.query(
          'TRUNCATE complaint, complaint_day, complaint_score, scoring_run, redress, phone_number, feed_load RESTART IDENTITY CASCADE',
        );
        let now = Date.UTC(2026, 5, 1, 2);
        for (const { reports, later, cleared, holdDaysMax } of days) {
          now += later * dayMs;
          await loadReports(reports, now);
          if (cleared !== null)
            await db.query(
              "INSERT INTO redress (phone, reason, cleared_by, recorded_by) VALUES ($1, 'x', 'op', pg_current_xact_id())",
              [phoneOf(cleared)],
            );
          const settings = { labelHoldDaysMax: holdDaysMax };
          await scoreComplaints(db, new Date(now), settings);
          const { rows } = await db.query<{ phone: string }>(
            "SELECT phone, level, category FROM complaint_score WHERE level <> 'NEUTRAL' ORDER BY phone",
          );
          const expected = await inTransaction(db, async (client) => {
            await computeScores(client, new Date(now), settings);
            return (await client.query(sql('labels/list_scored_labels'))).rows;
          });
          expect(rows).toEqual(expected);
          const { rows: runs } = await db.query<{ scored_all: boolean }>(
            'SELECT scored_all FROM scoring_run ORDER BY scoring_id DESC LIMIT 1',
          );
          if (runs[0]!.scored_all) all++;
          else changed++;
        }
      }),
      { seed: 11, numRuns: 15 },
    );
    expect(Math.min(all, changed)).toBeGreaterThan(30); // both ways were taken
  });
});

/** A load of complaints, with the days that they were reported on. */
async function loadReports(reports: readonly Complaint[], now: number): Promise<void> {
  if (reports.length === 0) return;
  await inTransaction(db, async (client) => {
    const { rows } = await client.query<{ load_id: string }>(
      `INSERT INTO feed_load (feed, file_name, file_sha256, file_bytes, submitted_by, requested_at, merged_by)
       VALUES ('complaints', 'x', md5(clock_timestamp()::text) || md5(random()::text), 0, 'test', clock_timestamp(), pg_current_xact_id()) RETURNING load_id`,
    );
    const loadId = rows[0]!.load_id;
    await client.query(
      `INSERT INTO complaint (phone, country, reported_at, consumer_state, subject, recorded, occurrence, load_id)
       SELECT phone, 'US', at, state, 'Other', true, $2::bigint * 1000 + row_number() OVER (), $2
       FROM jsonb_to_recordset($1::jsonb) AS r (phone text, at timestamptz, state text)`,
      [
        JSON.stringify(
          reports.map(({ daysAgo, state, number }) => ({
            phone: phoneOf(number),
            at: new Date(now - daysAgo * dayMs + (number === 0 ? 3 * 3_600_000 : -3_600_000)), // some after the instant
            state: states[state],
          })),
        ),
        loadId,
      ],
    );
    await client.query(
      "INSERT INTO complaint_day SELECT load_id, (reported_at AT TIME ZONE 'UTC')::date, count(*) FROM complaint WHERE load_id = $1 GROUP BY 1, 2",
      [loadId],
    );
  });
}
