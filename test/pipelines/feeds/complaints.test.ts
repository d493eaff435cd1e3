import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { clearNumber, readNumber } from '../../../pipelines/labels/number-record.ts';
import { pruneComplaints } from '../../../pipelines/labels/complaint-retention.ts';
import { compareScores, moveScoringRule, readScoringRule, scoreComplaints } from '../../../pipelines/labels/scoring.ts';
import { loadConfig } from '../../../runtime/config.ts';
import { useTestDatabase } from '../../support/database.ts';
import { useFeedLoader } from '../../support/feeds.ts';
import { eyes } from '../../support/branding.ts';

const { db } = await useTestDatabase();
const { load } = await useFeedLoader(db);

beforeEach(async () => {
  await db.query("DELETE FROM scoring_rule WHERE moved_by <> 'migration'");
  await db.query(
    'TRUNCATE phone_number, branded_number, feed_load, redress, complaint_day, complaint_score RESTART IDENTITY CASCADE',
  );
});

const header =
  'Company_Phone_Number,Created_Date,Violation_Date,Consumer_City,Consumer_State,Consumer_Area_Code,Subject,Recorded_Message_Or_Robocall\n';
const phone = '+12025550143';

/** Complaint rows: [created, violated, state, subject, recorded, phone]. */
function feed(
  ...rows: [created: string, violated?: string, state?: string, subject?: string, recorded?: string, phone?: string][]
): string {
  return (
    header +
    rows
      .map(
        ([created, violated = '', state = 'Texas', subject = 'Other', recorded = 'Y', number = '2025550143']) =>
          `${number},${created},${violated},Springfield,${state},555,${subject.includes(',') ? `"${subject}"` : subject},${recorded}\n`,
      )
      .join('')
  );
}

async function published(): Promise<unknown[][]> {
  const { rows } = await db.query({
    text: 'SELECT phone, country, reputation_level, reputation_category, reputation_source FROM phone_number ORDER BY phone',
    rowMode: 'array',
  });
  return rows;
}

async function score(): Promise<Record<string, unknown> | undefined> {
  const { rows } = await db.query(
    'SELECT level, category, score, reports, independent_reports, days, states FROM complaint_score',
  );
  return rows[0];
}

const asOf = new Date('2021-07-08T00:00:00Z');

describe('a complaint feed', () => {
  it('keeps phone, times, state, subject and the recorded flag, and nothing else of the complainant', async () => {
    await load(
      'complaints',
      feed(
        ['2021-07-07 10:00:00', '2021-07-06 09:00:00', 'Texas', 'Energy, solar, & utilities', 'N'],
        ['2021-07-07 10:00:01', '', '', '', '', '011442079460958'],
      ),
    );
    const { rows } = await db.query('SELECT * FROM complaint ORDER BY complaint_id');
    expect(rows.map(({ complaint_id: _id, ...row }) => row)).toEqual([
      {
        phone,
        country: 'US',
        reported_at: new Date('2021-07-07T10:00:00Z'),
        violated_at: new Date('2021-07-06T09:00:00Z'),
        consumer_state: 'Texas',
        subject: 'Energy, solar, & utilities',
        recorded: false,
        occurrence: 1,
        load_id: 1,
      },
      {
        phone: '+442079460958',
        country: 'GB',
        reported_at: new Date('2021-07-07T10:00:01Z'),
        violated_at: null,
        consumer_state: null,
        subject: 'No Subject Provided',
        recorded: null,
        occurrence: 1,
        load_id: 1,
      },
    ]);
  });

  it('adds nothing when it is loaded again, and only what is new from a longer file that overlaps it', async () => {
    const same: Parameters<typeof feed>[0] = ['2021-07-07 10:00:00'];
    expect(await load('complaints', feed(same, same))).toMatchObject({ rowsAccepted: 2, rowsChanged: 2 });
    expect(await load('complaints', feed(same, same))).toMatchObject({ rowsAccepted: 2, rowsChanged: 0 });
    expect(await load('complaints', feed(['2021-07-07 09:00:00'], same, same, same))).toMatchObject({
      rowsAccepted: 4,
      rowsChanged: 2,
    });
    expect(await load('complaints', feed(same))).toMatchObject({ rowsChanged: 0 });
  });

  it('is refused row by row for dates and flags that make no sense', async () => {
    const future = new Date(Date.now() + 86_400_000).toISOString().slice(0, 19).replace('T', ' ');
    const { rejects } = await load(
      'complaints',
      feed(
        ['2024-02-29 00:00:00'],
        ['2023-02-29 00:00:00'],
        ['2021-13-01 00:00:00'],
        ['7/7/21'],
        ['2021-07-07 24:00:00'],
        ['07-2021'],
        [''],
        [future],
        ['2021-07-07 10:00:00', '2021-06-31 10:00:00'],
        ['2021-07-07 10:00:00', future],
        ['2021-07-07 10:00:00', '', 'Texas', 'Other', 'X'],
        ['2021-07-07 10:00:00', '', 'x'.repeat(65)],
        ['2021-07-07 10:00:00', '', 'x', 'y'.repeat(257)],
        ['2021-07-07 10:00:00', '', '', '', '', ''],
        ['2021-07-07 10:00:00', '', '', '', '', '5550143'],
        ['2021-07-07 10:00:00', '', 'x'.repeat(64), 'y'.repeat(256)],
      ),
    );
    expect(rejects.map(({ line, code }) => [line, code])).toEqual([
      [3, 'date_invalid'],
      [4, 'date_invalid'],
      [5, 'date_invalid'],
      [6, 'date_invalid'],
      [7, 'date_invalid'],
      [8, 'date_missing'],
      [9, 'date_in_future'],
      [10, 'date_invalid'],
      [11, 'date_in_future'],
      [12, 'recorded_invalid'],
      [13, 'text_too_long'],
      [14, 'text_too_long'],
      [15, 'phone_missing'],
      [16, 'phone_invalid'],
    ]);
  });

  it('never shows city or area code in a refused row, and nothing of a row that cannot be split', async () => {
    const { rejects } = await load(
      'complaints',
      Buffer.from(
        `${header}bad,2021-07-07 10:00:00,,SECRETVILLE,Texas,987,Other,Y\n2025550143,2021-07-07 10:00:00,,SECRETVILLE, Texas,TX,987,Other,Y\n2025550143,"SECRETVILLE\n\xffSECRETVILLE\nSECRETVILLE\0\n${'SECRETVILLE'.repeat(6000)}\n`,
        'latin1',
      ),
    );
    expect(rejects.map(({ code, excerpt }) => [code, excerpt])).toEqual([
      ['phone_invalid', 'bad,2021-07-07 10:00:00,,Texas,Other,Y'],
      ['field_count', '(withheld)'],
      ['quote_unterminated', '(withheld)'],
      ['utf8_invalid', '(withheld)'],
      ['nul_byte', '(withheld)'],
      ['line_too_long', '(withheld)'],
    ]);
    const { rows } = await db.query<{ hits: number }>(
      "SELECT count(*) AS hits FROM feed_reject WHERE feed_reject::text ~ 'SECRET|987'",
    );
    expect(rows[0]?.hits).toBe(0);
  });
});

describe('the score of a number', () => {
  const threeStates = feed(
    ['2021-07-07 00:00:00', '', 'Texas'],
    ['2021-07-07 00:00:00', '', 'Ohio'],
    ['2021-07-07 00:00:00', '', 'Utah'],
  );

  it('reaches a level with three reports of enough points', async () => {
    await load('complaints', threeStates);
    expect(await scoreComplaints(db, asOf)).toEqual({ scored: 1, changed: 1 });
    expect(await published()).toEqual([[phone, 'US', 'SPAM', 10, 'complaints']]);
    expect(await score()).toEqual({
      level: 'SPAM',
      category: 10,
      score: 12 + 6 + 6 + 6,
      reports: 3,
      independent_reports: 3,
      days: 1,
      states: 3,
    });
  });

  it('counts reports from one state on one day as one, whatever day the complainant gives for the call', async () => {
    await load(
      'complaints',
      feed(
        ['2021-07-07 00:00:00'],
        ['2021-07-07 05:00:00', '2021-07-05 05:00:00'],
        ['2021-07-06 05:00:00'],
        ['2021-07-07 06:00:00', '2021-07-06 06:00:00'],
      ),
    );
    await scoreComplaints(db, asOf);
    expect(await score()).toEqual({
      level: 'NEUTRAL',
      category: null,
      score: 24,
      reports: 4,
      independent_reports: 2,
      days: 2,
      states: 1,
    });
    expect(await published()).toEqual([]);
  });

  it('counts complaints without a state as one source, and not as a state', async () => {
    await load(
      'complaints',
      feed(['2021-07-07 00:00:00', '', ''], ['2021-07-07 01:00:00', '', ''], ['2021-07-07 02:00:00', '', 'Texas']),
    );
    await scoreComplaints(db, asOf);
    expect(await score()).toMatchObject({ level: 'NEUTRAL', score: 18, independent_reports: 2, states: 1 });
  });

  it('falls below the level as its reports age, and the number becomes NEUTRAL', async () => {
    const everyDay = { labelHoldDaysMax: 0 };
    await load('complaints', threeStates);
    expect(await scoreComplaints(db, new Date('2021-07-12T23:59:59Z'), everyDay)).toEqual({ scored: 1, changed: 1 });
    expect(await score()).toMatchObject({ level: 'SPAM', score: 10 + 2 + 2 + 6 });
    expect(await scoreComplaints(db, new Date('2021-07-13T00:00:00Z'), everyDay)).toEqual({ scored: 1, changed: 1 });
    expect(await score()).toMatchObject({ level: 'NEUTRAL', score: 8 + 6 });
    expect(await published()).toEqual([[phone, 'US', 'NEUTRAL', null, 'complaints']]);
    const yearLater = new Date('2022-07-07T00:00:00Z');
    expect(await scoreComplaints(db, yearLater, everyDay)).toEqual({ scored: 0, changed: 0 }); // it has no label, and no new report
    expect(await score()).toMatchObject({ level: 'NEUTRAL', score: 8 + 6 });
    expect(await scoreComplaints(db, yearLater, { ...everyDay, all: true })).toEqual({ scored: 0, changed: 0 });
    expect(await score()).toMatchObject({ level: 'NEUTRAL', score: 0, reports: 0, independent_reports: 0 });
  });

  it('holds while the feed is silent, 43 days as in 2025, and ages again when the silence lasts longer than the limit', async () => {
    await load('complaints', threeStates);
    let silentDays: number | undefined;
    const levelAfter = async (daysOfSilence: number) => {
      ({ silentDays } = await scoreComplaints(
        db,
        new Date(Date.parse('2021-07-08T01:00:00Z') + daysOfSilence * 86_400_000),
      ));
      return (await score())?.['level'];
    };
    for (const days of [0, 1, 20, 43, 45]) expect([days, await levelAfter(days)]).toEqual([days, 'SPAM']);
    expect(await score()).toMatchObject({ score: 30 });
    expect(silentDays).toBeUndefined();
    expect(await levelAfter(49)).toBe('SPAM'); // four days count
    expect(silentDays).toBe(49);
    expect(await levelAfter(50)).toBe('NEUTRAL');
    // The feed comes back with the days that were missing: they count after all.
    await load(
      'complaints',
      feed(
        ...Array.from(
          { length: 43 },
          (_, n) =>
            [
              new Date(Date.parse('2021-07-08T12:00:00Z') + n * 86_400_000)
                .toISOString()
                .slice(0, 19)
                .replace('T', ' '),
              '',
              'Texas',
              '',
              '',
              '2025550199',
            ] as [string, string, string, string, string, string],
        ),
      ),
    );
    expect(await levelAfter(43)).toBe('NEUTRAL');
  });

  it('ignores complaints after the instant at which it is evaluated', async () => {
    await load('complaints', feed(['2021-07-08 00:00:00', '', 'Texas'], ['2021-07-08 00:00:01', '', 'Ohio']));
    await scoreComplaints(db, asOf);
    expect(await score()).toMatchObject({ reports: 1 });
  });

  it('takes the category with the greatest weight, ties to the lowest id, and the level from it', async () => {
    const rows = (subjects: string[]) =>
      feed(
        ...subjects.map(
          (subject, n) =>
            ['2021-07-07 00:00:00', '', `State ${n}`, subject, 'N'] as [string, string, string, string, string],
        ),
      );
    await load(
      'complaints',
      rows(['Warranties  & protection plans', 'VACATION & Timeshares', 'vacation  &  timeshares']),
    );
    await scoreComplaints(db, asOf);
    expect(await score()).toMatchObject({ level: 'FRAUD', category: 13 });
    await db.query('TRUNCATE complaint, complaint_day, complaint_score');
    await load('complaints', rows(['Vacation & timeshares', 'Other', 'Never heard of', 'Vacation & timeshares']));
    await scoreComplaints(db, asOf);
    expect(await score()).toMatchObject({ level: 'SPAM', category: 1 });
  });

  it('is the same whatever order complaints came in, and a second scoring changes nothing', async () => {
    const rows = Array.from(
      { length: 200 },
      (_, n) =>
        [
          `2021-0${1 + (n % 6)}-${String(1 + (n % 28)).padStart(2, '0')} 00:00:${String(n % 60).padStart(2, '0')}`,
          '',
          `State ${n % 50}`,
          ['Other', 'Charities', 'Vacation & timeshares'][n % 3],
        ] as [string, string, string, string],
    );
    const results: unknown[] = [];
    for (const order of [rows, [...rows].reverse()]) {
      await db.query('TRUNCATE complaint, complaint_day, complaint_score, phone_number');
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
    await load(
      'complaints',
      feed(
        ['2021-07-07 00:00:00', '', 'Texas'],
        ['2021-07-07 00:00:00', '', 'Ohio'],
        ['2021-07-07 00:00:00', '', 'Utah'],
      ),
    );
    expect(await scoreComplaints(db, asOf)).toEqual({ scored: 1, changed: 0 });
    expect(await published()).toEqual([[phone, 'US', 'NEUTRAL', null, 'feed']]);
  });
});

describe('a cleared number', () => {
  const three = (day: string) =>
    feed([`${day} 00:00:00`, '', 'Texas'], [`${day} 00:00:00`, '', 'Ohio'], [`${day} 00:00:00`, '', 'Utah']);

  it('stays clear until new reports come, which must be enough on their own', async () => {
    await load('complaints', three('2021-07-06'));
    await scoreComplaints(db, asOf);
    const cleared = await clearNumber({ db, eyes, phone: '+1 202 555 0143', reason: ' A hospital. ', actor: 'op' });
    expect(cleared).toMatchObject({
      reason: 'A hospital.',
      clearedBy: 'op',
      before: { level: 'SPAM', category: 10, source: 'complaints' },
    });
    expect(await scoreComplaints(db, asOf)).toEqual({ scored: 0, changed: 0 });
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
    await clearNumber({ db, eyes, phone, reason: 'Wrong', actor: 'op' });
    await db.query(
      "INSERT INTO branded_number (phone, brand_handle, display_name, live_from) VALUES ($1, 'acme', 'Acme Inc', '2026-01-01')",
      [phone],
    );
    expect(await readNumber(db, '+1 (202) 555-0143')).toMatchObject({
      phone,
      country: 'US',
      complaints: 3,
      reputation: { level: 'NEUTRAL', category: null, source: 'redress' },
      display: { name: 'Acme', description: null, detail: null, image: null },
      feed: { level: 'SPAM', category: 6, loadId: 1, fileName: expect.stringMatching(/^feed-/) },
      score: {
        level: 'SPAM',
        category: 10,
        reports: 3,
        independentReports: 3,
        firstReportedAt: new Date('2021-07-06T00:00:00Z'),
        ruleVersion: 'complaints/2',
        scoredAt: asOf,
      },
      redress: [{ reason: 'Wrong', clearedBy: 'op', before: { level: 'SPAM', category: 6, source: 'feed' } }],
      branded: { brandHandle: 'acme', display: { name: 'Acme Inc' }, liveUntil: null },
    });
  });

  it.each([
    ['x', 'why', 'phone_invalid'],
    ['+12025550199', 'why', 'phone_unknown'],
    [phone, ' ', 'reason_required'],
  ])('%j for the reason %j is refused with %s', async (number, reason, code) => {
    await load('reputation', `${phone},SPAM,6\n`);
    await expect(clearNumber({ db, eyes, phone: number, reason, actor: 'op' })).rejects.toMatchObject({ code });
  });

  it('must be known to be shown', async () => {
    await expect(readNumber(db, phone)).rejects.toMatchObject({ code: 'phone_unknown' });
    await expect(readNumber(db, '1')).rejects.toMatchObject({ code: 'phone_invalid' });
  });
});

describe('another version of the rule', () => {
  const three = feed(
    ['2021-07-07 00:00:00', '', 'Texas'],
    ['2021-07-07 00:00:00', '', 'Ohio'],
    ['2021-07-07 00:00:00', '', 'Utah'],
  );

  it('is in force in a new installation', async () => {
    expect(await readScoringRule(db)).toMatchObject({
      version: 'complaints/2',
      movedBy: 'migration',
      reason: 'new installation',
    });
    expect(await moveScoringRule(db, { actor: 'op', reason: 'again' })).toMatchObject({
      version: 'complaints/2',
      movedBy: 'migration',
    });
  });

  it('labels nothing until it is moved, with a reason; before that it is compared without a change', async () => {
    const other = '+12025550199';
    await load('complaints', three);
    await db.query(
      "INSERT INTO scoring_rule (version, moved_by, reason) VALUES ('complaints/1', 'test', 'in force before')",
    );
    await db.query(
      `INSERT INTO complaint_score (phone, country, level, category, score, reports, independent_reports, days, states, rule_version, scored_at)
      VALUES ($1, 'US', 'SPAM', 10, 2, 3, 3, 3, 3, 'complaints/1', $2), ($3, 'US', 'NEUTRAL', NULL, 1, 1, 1, 1, 1, 'complaints/1', $2)`,
      [other, asOf, phone],
    );
    await db.query(
      "INSERT INTO phone_number (phone, country, reputation_level, reputation_category, reputation_source) VALUES ($1, 'US', 'SPAM', 10, 'complaints')",
      [other],
    );
    await db.query(
      `INSERT INTO scoring_run (evaluated_at, rule_version, days, ages, scored_all, transactions, cluster)
      VALUES ($1, 'complaints/1', '{}', '{}', true, pg_current_snapshot()::text, 'this')`,
      [asOf],
    );
    expect(await scoreComplaints(db, asOf)).toEqual({ scored: 0, changed: 0, ruleWaiting: 'complaints/2' });
    const drift = await compareScores(db, new Date());
    expect(drift).toMatchObject({
      before: 'complaints/1',
      after: 'complaints/2',
      evaluatedAt: asOf,
      labelledBefore: 1,
      labelledAfter: 1,
      labelledByBoth: 0,
      changed: 2,
    });
    expect(drift.changes).toEqual([
      { from: { level: 'NEUTRAL', category: null }, to: { level: 'SPAM', category: 10 }, numbers: 1, published: 1 },
      { from: { level: 'SPAM', category: 10 }, to: { level: 'NEUTRAL', category: null }, numbers: 1, published: 1 },
    ]);
    expect(await published()).toEqual([[other, 'US', 'SPAM', 10, 'complaints']]);
    await expect(moveScoringRule(db, { actor: 'op', reason: ' ' })).rejects.toMatchObject({ code: 'reason_required' });
    expect(await moveScoringRule(db, { actor: 'op', reason: 'Compared.' })).toMatchObject({
      version: 'complaints/2',
      movedBy: 'op',
      reason: 'Compared.',
    });
    expect(await scoreComplaints(db, asOf)).toEqual({ scored: 1, changed: 2 });
    expect(await published()).toEqual([
      [phone, 'US', 'SPAM', 10, 'complaints'],
      [other, 'US', 'NEUTRAL', null, 'complaints'],
    ]);
  });
});

describe('complaints past their retention', () => {
  const at = new Date('2026-07-08T00:00:00Z');

  it('are deleted in batches, to the instant; labels of the days that count are as before', async () => {
    await load(
      'complaints',
      feed(
        ...Array.from({ length: 5 }, (_, n) => ['2024-06-02 23:59:59', '', `State ${n}`] as [string, string, string]),
        ['2024-06-03 00:00:00', '', 'Texas'],
        ['2026-07-07 00:00:00', '', 'Texas'],
        ['2026-07-07 00:00:00', '', 'Ohio'],
        ['2026-07-07 00:00:00', '', 'Utah'],
      ),
    );
    await scoreComplaints(db, at);
    const before = await score();
    expect(await pruneComplaints(db, { retentionDays: 765, at, atOnce: 2 })).toBe(5);
    expect((await db.query('SELECT count(*) AS kept FROM complaint')).rows).toEqual([{ kept: 4 }]);
    expect(await pruneComplaints(db, { retentionDays: 765, at, atOnce: 2 })).toBe(0);
    expect(await scoreComplaints(db, at)).toEqual({ scored: 1, changed: 0 });
    expect(await score()).toEqual(before);
  });

  it('are kept for ever by the setting 0; fewer days than labels are computed again for are refused', async () => {
    await load('complaints', feed(['2021-07-07 00:00:00']));
    expect(await pruneComplaints(db, { retentionDays: 0, at })).toBe(0);
    for (const days of ['0', '765'])
      expect(loadConfig({ COMPLAINT_RETENTION_DAYS: days }).complaintRetentionDays).toBe(Number(days));
    for (const days of ['1', '764'])
      expect(() => loadConfig({ COMPLAINT_RETENTION_DAYS: days })).toThrow('COMPLAINT_RETENTION_DAYS');
  });
});

const ftcDirectory = resolve(import.meta.dirname, '../../../../shared/data/ftc');
const ftcFile = existsSync(ftcDirectory) ? readdirSync(ftcDirectory).find((name) => name.endsWith('.csv')) : undefined;

describe('the real FTC file of 2021-07-08', () => {
  it.skipIf(ftcFile === undefined)(
    'is loaded whole, adds nothing the second time, and is scored (skipped where ../shared/data/ftc is not there)',
    async () => {
      const content = readFileSync(resolve(ftcDirectory, ftcFile!));
      const report = await load('complaints', content);
      expect(report).toMatchObject({
        rowsGiven: 9000,
        rowsAccepted: 8416,
        rowsRejected: 584,
        rowsChanged: 8416,
        rejectsByCode: { phone_missing: 428, phone_invalid: 156 },
      });
      expect(report.rowsAccepted + report.rowsRejected).toBe(9000);
      expect(await load('complaints', content)).toMatchObject({ rowsGiven: 9000, rowsChanged: 0 });
      expect(await scoreComplaints(db, new Date('2021-07-08T01:00:00Z'))).toEqual({ scored: 7666, changed: 49 });
      const { rows } = await db.query(
        'SELECT reputation_category AS category, count(*) AS numbers FROM phone_number GROUP BY 1 ORDER BY 1',
      );
      expect(rows).toEqual([
        { category: 1, numbers: 7 },
        { category: 6, numbers: 10 },
        { category: 10, numbers: 22 },
        { category: 15, numbers: 10 },
      ]);
    },
  );
});
