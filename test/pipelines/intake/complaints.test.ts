import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { clearNumber, readNumber } from '../../../pipelines/intake/number-record.ts';
import { scoreComplaints } from '../../../pipelines/intake/scoring.ts';
import { useTestDatabase } from '../../support/database.ts';
import { useFeedLoader } from '../../support/feeds.ts';

const { db } = await useTestDatabase();
const { load } = await useFeedLoader(db);

beforeEach(async () => {
  await db.query('TRUNCATE phone_number, branded_number, feed_load, redress, complaint_score RESTART IDENTITY CASCADE');
});

const header = 'Company_Phone_Number,Created_Date,Violation_Date,Consumer_City,Consumer_State,Consumer_Area_Code,Subject,Recorded_Message_Or_Robocall\n';
const phone = '+12025550143';

/** Complaint rows: [created, violated, state, subject, recorded, phone]. */
function feed(...rows: [created: string, violated?: string, state?: string, subject?: string, recorded?: string, phone?: string][]): string {
  return header + rows.map(([created, violated = '', state = 'Texas', subject = 'Other', recorded = 'Y', number = '2025550143']) =>
    `${number},${created},${violated},Springfield,${state},555,${subject.includes(',') ? `"${subject}"` : subject},${recorded}\n`).join('');
}

async function published(): Promise<unknown[][]> {
  const { rows } = await db.query({ text: 'SELECT phone, country, reputation_level, reputation_category, reputation_source FROM phone_number ORDER BY phone', rowMode: 'array' });
  return rows;
}

async function score(): Promise<Record<string, unknown> | undefined> {
  const { rows } = await db.query('SELECT level, category, score, reports, independent_reports FROM complaint_score');
  return rows[0];
}

const asOf = new Date('2021-07-08T00:00:00Z');

describe('a complaint feed', () => {
  it('keeps phone, times, state, subject and the recorded flag, and nothing else of the complainant', async () => {
    await load('complaints', feed(['2021-07-07 10:00:00', '2021-07-06 09:00:00', 'Texas', 'Energy, solar, & utilities', 'N'], ['2021-07-07 10:00:01', '', '', '', '', '011442079460958']));
    const { rows } = await db.query('SELECT * FROM complaint ORDER BY complaint_id');
    expect(rows.map(({ complaint_id: _id, ...row }) => row)).toEqual([
      { phone, country: 'US', reported_at: new Date('2021-07-07T10:00:00Z'), violated_at: new Date('2021-07-06T09:00:00Z'), consumer_state: 'Texas', subject: 'Energy, solar, & utilities', recorded: false, occurrence: 1, load_id: 1 },
      { phone: '+442079460958', country: 'GB', reported_at: new Date('2021-07-07T10:00:01Z'), violated_at: null, consumer_state: null, subject: 'No Subject Provided', recorded: null, occurrence: 1, load_id: 1 },
    ]);
  });

  it('adds nothing when it is loaded again, and only what is new from a longer file that overlaps it', async () => {
    const same: Parameters<typeof feed>[0] = ['2021-07-07 10:00:00'];
    expect(await load('complaints', feed(same, same))).toMatchObject({ rowsAccepted: 2, rowsChanged: 2 });
    expect(await load('complaints', feed(same, same))).toMatchObject({ rowsAccepted: 2, rowsChanged: 0 });
    expect(await load('complaints', feed(['2021-07-07 09:00:00'], same, same, same))).toMatchObject({ rowsAccepted: 4, rowsChanged: 2 });
    expect(await load('complaints', feed(same))).toMatchObject({ rowsChanged: 0 });
  });

  it('is refused row by row for dates and flags that make no sense', async () => {
    const future = new Date(Date.now() + 86_400_000).toISOString().slice(0, 19).replace('T', ' ');
    const { rejects } = await load('complaints', feed(
      ['2024-02-29 00:00:00'], ['2023-02-29 00:00:00'], ['2021-13-01 00:00:00'], ['7/7/21'], ['2021-07-07 24:00:00'], ['07-2021'], [''], [future],
      ['2021-07-07 10:00:00', '2021-06-31 10:00:00'], ['2021-07-07 10:00:00', future], ['2021-07-07 10:00:00', '', 'Texas', 'Other', 'X'],
      ['2021-07-07 10:00:00', '', 'x'.repeat(65)], ['2021-07-07 10:00:00', '', 'x', 'y'.repeat(257)], ['2021-07-07 10:00:00', '', '', '', '', ''], ['2021-07-07 10:00:00', '', '', '', '', '5550143'],
      ['2021-07-07 10:00:00', '', 'x'.repeat(64), 'y'.repeat(256)],
    ));
    expect(rejects.map(({ line, code }) => [line, code])).toEqual([
      [3, 'date_invalid'], [4, 'date_invalid'], [5, 'date_invalid'], [6, 'date_invalid'], [7, 'date_invalid'], [8, 'date_missing'], [9, 'date_in_future'],
      [10, 'date_invalid'], [11, 'date_in_future'], [12, 'recorded_invalid'], [13, 'text_too_long'], [14, 'text_too_long'], [15, 'phone_missing'], [16, 'phone_invalid'],
    ]);
  });

  it('never shows city or area code in a refused row, and nothing of a row that cannot be split', async () => {
    const { rejects } = await load('complaints', Buffer.from(`${header}bad,2021-07-07 10:00:00,,SECRETVILLE,Texas,987,Other,Y\n2025550143,2021-07-07 10:00:00,,SECRETVILLE, Texas,TX,987,Other,Y\n2025550143,"SECRETVILLE\n\xffSECRETVILLE\nSECRETVILLE\0\n${'SECRETVILLE'.repeat(200)}\n`, 'latin1'));
    expect(rejects.map(({ code, excerpt }) => [code, excerpt])).toEqual([
      ['phone_invalid', 'bad,2021-07-07 10:00:00,,Texas,Other,Y'], ['field_count', '(withheld)'], ['quote_unterminated', '(withheld)'], ['utf8_invalid', '(withheld)'], ['nul_byte', '(withheld)'], ['line_too_long', '(withheld)'],
    ]);
    const { rows } = await db.query<{ hits: number }>("SELECT count(*) AS hits FROM feed_reject WHERE feed_reject::text ~ 'SECRET|987'");
    expect(rows[0]?.hits).toBe(0);
  });
});

describe('the score of a number', () => {
  it('reaches a level with three independent reports of enough weight', async () => {
    await load('complaints', feed(['2021-07-07 00:00:00', '', 'Texas'], ['2021-07-07 00:00:00', '', 'Ohio'], ['2021-07-07 00:00:00', '', 'Utah']));
    expect(await scoreComplaints(db, asOf)).toEqual({ scored: 1, changed: 1 });
    expect(await published()).toEqual([[phone, 'US', 'SPAM', 10, 'complaints']]);
    expect(await score()).toMatchObject({ level: 'SPAM', category: 10, reports: 3, independent_reports: 3 });
    expect((await score())?.['score']).toBeCloseTo(3 * 0.5 ** (1 / 30), 6);
  });

  it('counts reports from one state about one day as one', async () => {
    await load('complaints', feed(['2021-07-07 00:00:00'], ['2021-07-07 05:00:00'], ['2021-07-06 05:00:00'], ['2021-07-07 06:00:00', '2021-07-06 06:00:00']));
    await scoreComplaints(db, asOf);
    expect(await score()).toMatchObject({ level: 'NEUTRAL', category: null, reports: 4, independent_reports: 2 });
    expect(await published()).toEqual([]);
  });

  it('decays, falls below the level, and the number becomes NEUTRAL', async () => {
    await load('complaints', feed(['2021-07-07 00:00:00', '', 'Texas'], ['2021-07-07 00:00:00', '', 'Ohio'], ['2021-07-07 00:00:00', '', 'Utah']));
    expect(await scoreComplaints(db, new Date('2021-08-06T00:00:00Z'))).toEqual({ scored: 1, changed: 1 }); // 3 x 0.5 = 1.5
    expect(await score()).toMatchObject({ level: 'SPAM', score: 1.5 });
    expect(await scoreComplaints(db, new Date('2021-08-06T00:01:00Z'))).toEqual({ scored: 1, changed: 1 });
    expect(await published()).toEqual([[phone, 'US', 'NEUTRAL', null, 'complaints']]);
    expect(await scoreComplaints(db, new Date('2022-07-07T00:00:00Z'))).toEqual({ scored: 1, changed: 0 }); // a year old
    expect(await score()).toMatchObject({ level: 'NEUTRAL', score: 0, reports: 0, independent_reports: 0 });
  });

  it('ignores complaints after the instant at which it is evaluated', async () => {
    await load('complaints', feed(['2021-07-08 00:00:00', '', 'Texas'], ['2021-07-08 00:00:01', '', 'Ohio']));
    await scoreComplaints(db, asOf);
    expect(await score()).toMatchObject({ reports: 1 });
  });

  it('takes the category with the greatest weight, ties to the lowest id, and the level from it', async () => {
    const rows = (subjects: string[]) => feed(...subjects.map((subject, n) => ['2021-07-07 00:00:00', '', `State ${n}`, subject, 'N'] as [string, string, string, string, string]));
    await load('complaints', rows(['Warranties  & protection plans', 'VACATION & Timeshares', 'vacation  &  timeshares']));
    await scoreComplaints(db, asOf);
    expect(await score()).toMatchObject({ level: 'FRAUD', category: 13 });
    await db.query('TRUNCATE complaint, complaint_score');
    await load('complaints', rows(['Vacation & timeshares', 'Other', 'Never heard of', 'Vacation & timeshares']));
    await scoreComplaints(db, asOf);
    expect(await score()).toMatchObject({ level: 'SPAM', category: 1 });
  });

  it('is the same whatever order complaints came in, and a second scoring changes nothing', async () => {
    const rows = Array.from({ length: 200 }, (_, n) => [`2021-0${1 + (n % 6)}-${String(1 + (n % 28)).padStart(2, '0')} 00:00:${String(n % 60).padStart(2, '0')}`, '', `State ${n % 50}`, ['Other', 'Charities', 'Vacation & timeshares'][n % 3]] as [string, string, string, string]);
    const results: unknown[] = [];
    for (const order of [rows, [...rows].reverse()]) {
      await db.query('TRUNCATE complaint, complaint_score, phone_number');
      await load('complaints', feed(...order));
      await scoreComplaints(db, asOf);
      results.push(await score());
      const before = await db.query('SELECT xmin FROM complaint_score');
      expect(await scoreComplaints(db, asOf)).toEqual({ scored: 1, changed: 0 });
      expect((await db.query('SELECT xmin FROM complaint_score')).rows).toEqual(before.rows);
    }
    expect(results[0]).toEqual(results[1]);
  });

  it('does not overrule a feed', async () => {
    await load('reputation', `${phone},NEUTRAL\n`);
    await load('complaints', feed(['2021-07-07 00:00:00', '', 'Texas'], ['2021-07-07 00:00:00', '', 'Ohio'], ['2021-07-07 00:00:00', '', 'Utah']));
    expect(await scoreComplaints(db, asOf)).toEqual({ scored: 1, changed: 0 });
    expect(await published()).toEqual([[phone, 'US', 'NEUTRAL', null, 'feed']]);
  });
});

describe('a cleared number', () => {
  const three = (day: string) => feed([`${day} 00:00:00`, '', 'Texas'], [`${day} 00:00:00`, '', 'Ohio'], [`${day} 00:00:00`, '', 'Utah']);

  it('stays clear until new reports come, of which there must be enough on their own', async () => {
    await load('complaints', three('2021-07-06'));
    await scoreComplaints(db, asOf);
    const cleared = await clearNumber({ db, phone: '+1 202 555 0143', reason: ' A hospital. ', actor: 'op' });
    expect(cleared).toMatchObject({ reason: 'A hospital.', clearedBy: 'op', before: { level: 'SPAM', category: 10, source: 'complaints' } });
    expect(await scoreComplaints(db, asOf)).toEqual({ scored: 1, changed: 0 });
    expect(await load('complaints', three('2021-07-06'))).toMatchObject({ rowsChanged: 0 });
    await load('complaints', feed(['2021-07-07 00:00:00', '', 'Iowa'], ['2021-07-07 00:00:00', '', 'Ohio']));
    expect(await scoreComplaints(db, asOf)).toEqual({ scored: 1, changed: 0 });
    expect(await published()).toEqual([[phone, 'US', 'NEUTRAL', null, 'redress']]);
    await load('complaints', feed(['2021-07-05 00:00:00', '', 'Maine']));
    expect(await scoreComplaints(db, asOf)).toEqual({ scored: 1, changed: 1 });
    expect(await published()).toEqual([[phone, 'US', 'SPAM', 10, 'complaints']]);
  });

  it('is shown with its score, its redress and its last feed', async () => {
    await load('reputation', `${phone},SPAM,6\n`);
    await load('directory', `${phone},Acme\n`);
    await load('complaints', three('2021-07-06'));
    await scoreComplaints(db, asOf);
    await clearNumber({ db, phone, reason: 'Wrong', actor: 'op' });
    await db.query("INSERT INTO branded_number (phone, brand_handle, display_name, live_from) VALUES ($1, 'acme', 'Acme Inc', '2026-01-01')", [phone]);
    expect(await readNumber(db, '+1 (202) 555-0143')).toMatchObject({
      phone, country: 'US', complaints: 3,
      reputation: { level: 'NEUTRAL', category: null, source: 'redress' },
      display: { name: 'Acme', description: null, detail: null, image: null },
      feed: { level: 'SPAM', category: 6, loadId: 1, fileName: expect.stringMatching(/^feed-/) },
      score: { level: 'SPAM', category: 10, reports: 3, independentReports: 3, firstReportedAt: new Date('2021-07-06T00:00:00Z'), ruleVersion: 'complaints/1', scoredAt: asOf },
      redress: [{ reason: 'Wrong', clearedBy: 'op', before: { level: 'SPAM', category: 6, source: 'feed' } }],
      branded: { brandHandle: 'acme', display: { name: 'Acme Inc' }, liveUntil: null },
    });
  });

  it.each([['x', 'why', 'phone_invalid'], ['+12025550199', 'why', 'phone_unknown'], [phone, ' ', 'reason_required']])('%j for the reason %j is refused with %s', async (number, reason, code) => {
    await load('reputation', `${phone},SPAM,6\n`);
    await expect(clearNumber({ db, phone: number, reason, actor: 'op' })).rejects.toMatchObject({ code });
  });

  it('must be known to be shown', async () => {
    await expect(readNumber(db, phone)).rejects.toMatchObject({ code: 'phone_unknown' });
    await expect(readNumber(db, '1')).rejects.toMatchObject({ code: 'phone_invalid' });
  });
});

const ftcDirectory = resolve(import.meta.dirname, '../../../../shared/data/ftc');
const ftcFile = existsSync(ftcDirectory) ? readdirSync(ftcDirectory).find((name) => name.endsWith('.csv')) : undefined;

describe('the real FTC file of 2021-07-08', () => {
  it.skipIf(ftcFile === undefined)('is loaded whole, adds nothing the second time, and is scored (skipped where ../shared/data/ftc is not there)', async () => {
    const content = readFileSync(resolve(ftcDirectory, ftcFile!));
    const report = await load('complaints', content);
    expect(report).toMatchObject({ rowsGiven: 9000, rowsAccepted: 8416, rowsRejected: 584, rowsChanged: 8416, rejectsByCode: { phone_missing: 428, phone_invalid: 156 } });
    expect(report.rowsAccepted + report.rowsRejected).toBe(9000);
    expect(await load('complaints', content)).toMatchObject({ rowsGiven: 9000, rowsChanged: 0 });
    expect(await scoreComplaints(db, new Date('2021-07-08T01:00:00Z'))).toEqual({ scored: 7666, changed: 73 });
    const { rows } = await db.query("SELECT reputation_category AS category, count(*) AS numbers FROM phone_number GROUP BY 1 ORDER BY 1");
    expect(rows).toEqual([{ category: 1, numbers: 9 }, { category: 6, numbers: 15 }, { category: 10, numbers: 36 }, { category: 15, numbers: 13 }]);
  });
});
