// The labels of complaints/2 that remain while the complaint feed is missing, with and without a hold: the reports of a
// history before a day, scored by the statement of the nights in a database of its own for each night of the silence. Prints a table.
//   node dist/bench/label-outage.js HISTORY.tsv.gz [first silent day, 2020-08-31]
import { dateOfDay, readReportHistory, type ReportHistory } from '../evaluation/labels/report-history.ts';
import { agePoints } from '../pipelines/labels/complaint-rule.ts';
import { scoreComplaints, scoringDefaults } from '../pipelines/labels/scoring.ts';
import { queryRow } from '../runtime/postgres.ts';
import { openOwnDatabase } from './own-database.ts';

const [path = '', silentFrom = '2020-08-31'] = process.argv.slice(2);
const dayMs = 86_400_000;
const nights = { hold: [0, 7, 20, 28, 43, 45, 46, 52, 60], none: [0, 7, 20, 28, 43] };

const { db, close } = await openOwnDatabase();
try {
  await store(await readReportHistory([path]));
  const { labelHoldDaysMax } = scoringDefaults;
  await walk(nights.hold, labelHoldDaysMax);
  await walk(nights.none, 0);
} finally {
  await close();
}

/** The reports of the counted days before the silence, as one load would have brought them; each is a complaint of its own. */
async function store(history: ReportHistory): Promise<void> {
  const end = Date.parse(silentFrom) / dayMs - history.firstDay;
  const first = Math.max(0, end - 2 * agePoints.length);
  await db.query(
    "INSERT INTO feed_load (feed, file_name, file_sha256, file_bytes, submitted_by) VALUES ('complaints', 'history', repeat('0', 64), 0, 'bench')",
  );
  const rows = { phones: [] as string[], days: [] as string[], states: [] as string[] };
  for (const [at, phone] of history.phones.entries()) {
    for (let report = history.firstReport[at]!; report < history.firstReport[at + 1]!; report++) {
      const day = history.days[report]!;
      if (day < first || day >= end) continue;
      rows.phones.push(`+${phone}`);
      rows.days.push(dateOfDay(history, day));
      rows.states.push(String(history.states[report]!));
    }
    if (rows.phones.length > 50_000 || at === history.phones.length - 1) await insert(rows);
  }
  await db.query(
    "INSERT INTO complaint_day SELECT 1, (reported_at AT TIME ZONE 'UTC')::date, count(*) FROM complaint GROUP BY 2",
  );
  await db.query('ANALYZE complaint');
}

async function insert({
  phones,
  days,
  states,
}: Readonly<Record<'phones' | 'days' | 'states', string[]>>): Promise<void> {
  await db.query(
    `INSERT INTO complaint (phone, country, reported_at, consumer_state, subject, recorded, occurrence, load_id)
     SELECT phone, 'US', day::date + interval '12 hours', nullif(state, '0'), 'Other', true, place, 1
     FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS given (phone, day, state, place)`,
    [phones, days, states],
  );
  for (const column of [phones, days, states]) column.length = 0;
}

/** Scores night after night, and prints how many of the first night's labels are left. */
async function walk(silence: readonly number[], labelHoldDaysMax: number): Promise<void> {
  let before = 0;
  for (const days of silence) {
    await scoreComplaints(db, new Date(Date.parse(silentFrom) + days * dayMs + 3_600_000), { labelHoldDaysMax });
    const row = await queryRow<{ labels: number }>(
      db,
      "SELECT count(*) AS labels FROM phone_number WHERE reputation_level <> 'NEUTRAL'",
    );
    if (days === 0) before = row!.labels;
    console.log(
      `hold of ${labelHoldDaysMax} days, night ${days} of the silence: ${row!.labels} labels, ${((row!.labels / before) * 100).toFixed(1)} %`,
    );
  }
}
