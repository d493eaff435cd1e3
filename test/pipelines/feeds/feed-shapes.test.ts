import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { DateObserver, readFeedTime } from '../../../pipelines/feeds/feed-dates.ts';
import { listFeedLoads, listFeedRejects, runFeedLoad } from '../../../pipelines/feeds/feed-load.ts';
import { useTestDatabase } from '../../support/database.ts';
import { smallLimits, useFeedLoader } from '../../support/feeds.ts';

const { db } = await useTestDatabase();
const { feedDir, submit, load } = await useFeedLoader(db);
const withOptions = (feed: string, content: string | Uint8Array, options: object) =>
  load(feed, content, smallLimits, options);

beforeEach(async () => {
  await db.query('TRUNCATE phone_number, feed_load RESTART IDENTITY CASCADE');
});

async function column<Value>(sql: string): Promise<Value[]> {
  const { rows } = await db.query<{ value: Value }>(sql);
  return rows.map(({ value }) => value);
}

const names = () => column<string>('SELECT display_name AS value FROM phone_number ORDER BY phone');
const levels = () =>
  column<string>(
    "SELECT phone || ' ' || reputation_level || ' ' || coalesce(reputation_category::text, '-') AS value FROM phone_number ORDER BY phone",
  );
const times = () =>
  column<string>(
    "SELECT to_char(reported_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS value FROM complaint ORDER BY reported_at",
  );

const complaintHeader = [
  'Company_Phone_Number',
  'Created_Date',
  'Violation_Date',
  'Consumer_State',
  'Subject',
  'Recorded_Message_Or_Robocall',
];
const complaints = (dates: readonly string[], delimiter = ',') =>
  [complaintHeader, ...dates.map((date) => ['2025550143', date, '', 'Texas', 'Other', 'Y'])]
    .map((row) => `${row.join(delimiter)}\n`)
    .join('');

describe('the delimiter', () => {
  it.each([[';'], ['\t'], ['|'], [',']])('%j is detected from the header', async (delimiter) => {
    expect(await load('complaints', complaints(['2021-07-07 00:01:15'], delimiter))).toMatchObject({ rowsAccepted: 1 });
  });

  it('of a file with quotes, and of one without a header, is detected too', async () => {
    await load('directory', '"phone";"name"\n+12025550143;"Ann; ""Bob"""\n');
    expect(await names()).toEqual(['Ann; "Bob"']);
    expect(await load('reputation', '+12025550143;SPAM;1\n+12025550144;FRAUD;7\n')).toMatchObject({ rowsAccepted: 2 });
  });

  it('may be in a line `sep=;` before the header, or be an option', async () => {
    expect(await load('reputation', 'sep=;\nphone;level\n+12025550143;SPAM\n')).toMatchObject({
      rowsGiven: 1,
      rowsAccepted: 1,
    });
    expect(await withOptions('reputation', 'phone|level\n+12025550144|SPAM\n', { delimiter: '|' })).toMatchObject({
      rowsAccepted: 1,
    });
  });
});

describe('the encoding', () => {
  const text = 'phone,name\n+12025550143,Müller – Zoë\n+12025550144,株式会社\n';
  const bigEndian = (plain: string) => Buffer.from(`\uFEFF${plain}`, 'utf16le').swap16();

  it.each([
    ['UTF-16 LE with a byte order mark', Buffer.from(`\uFEFF${text}`, 'utf16le'), {}],
    ['UTF-16 BE with a byte order mark', bigEndian(text), {}],
    ['UTF-16 LE without one, by option', Buffer.from(text, 'utf16le'), { encoding: 'utf-16le' }],
    ['UTF-8 with a byte order mark', `\uFEFF${text}`, {}],
  ])('%s is read', async (_name, bytes, options) => {
    expect(await withOptions('directory', bytes, options)).toMatchObject({ rowsAccepted: 2, rowsRejected: 0 });
    expect(await names()).toEqual(['Müller – Zoë', '株式会社']);
  });

  it('Windows-1252 is read by option; without it each row that is not UTF-8 is refused with the cause', async () => {
    const bytes = Buffer.concat([
      Buffer.from('phone;name\n+12025550143;M'),
      Buffer.from([0xfc]),
      Buffer.from('ller '),
      Buffer.from([0x96]),
      Buffer.from('\n+12025550144;Plain\n'),
    ]);
    const { rejects, rowsAccepted } = await load('directory', bytes);
    expect([rowsAccepted, rejects[0]]).toMatchObject([
      1,
      { code: 'utf8_invalid', reason: expect.stringContaining('--encoding windows-1252') as string },
    ]);
    expect(await withOptions('directory', bytes, { encoding: 'windows-1252' })).toMatchObject({ rowsAccepted: 2 });
    expect(await names()).toEqual(['Müller –', 'Plain']);
  });

  it.each([
    ['UTF-16 without a byte order mark', Buffer.from(text, 'utf16le'), 'load it with --encoding utf-16le', {}],
    ['UTF-16 BE without one', bigEndian(text).subarray(2), 'load it with --encoding utf-16be', {}],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x70, 0, 0, 0]), 'UTF-32', {}],
    [
      'UTF-16 that is cut in a character',
      Buffer.from(`\uFEFF${text}`, 'utf16le').subarray(0, -1),
      'not valid UTF-16LE',
      {},
    ],
  ])('%s is refused with a sentence that names the cause', async (_name, bytes, words, options) => {
    const error = await withOptions('directory', bytes, options).then(
      () => null,
      (thrown: Error) => thrown,
    );
    expect(error).toMatchObject({ code: 'feed_encoding_invalid', message: expect.stringContaining(words) as string });
    expect((await listFeedLoads(db))[0]).toMatchObject({ state: 'failed', failure: { code: 'feed_encoding_invalid' } });
  });
});

describe('dates', () => {
  it.each([
    ['2021-07-07 00:01:15', null, '2021-07-07 00:01:15'],
    ['2021-07-07', null, '2021-07-07 00:00:00'],
    ['2021-07-07T09:08:07.123Z', null, '2021-07-07 09:08:07'],
    ['7.8.2021 9:05', null, '2021-08-07 09:05:00'],
    ['7/8/2021 9:05', 'mdy', '2021-07-08 09:05:00'],
    ['7/8/2021 9:05', 'dmy', '2021-08-07 09:05:00'],
    ['7/8/2021 9:05', null, null],
    ['12/31/2021 12:00:01 AM', 'mdy', '2021-12-31 00:00:01'],
    ['12/31/2021 12:00 p.m.', 'mdy', '2021-12-31 12:00:00'],
    ['12/31/2021 13:00 PM', 'mdy', null],
    ['31/12/2021', 'mdy', null],
    ['2/29/2021', 'mdy', null],
    ['7/8/21', 'mdy', null],
    ['44384.5', 'serial', '2021-07-07 12:00:00'],
    ['44384,000868', 'serial', '2021-07-07 00:01:15'],
    ['44384.5', null, null],
    ['2021-07-07 25:00:00', null, null],
  ] as const)('%s under %s is %s', (text, form, expected) => {
    expect(readFeedTime(text, form)).toBe(expected);
  });

  it('with slashes are read in the order that all of them agree on', async () => {
    expect(await load('complaints', complaints(['7/5/2021 0:01', '7/13/2021 0:02']))).toMatchObject({
      rowsAccepted: 2,
      dateForm: 'mdy',
    });
    expect(await times()).toEqual(['2021-07-05 00:01:00', '2021-07-13 00:02:00']);
    expect(await load('complaints', complaints(['05/07/2021', '13/07/2021']))).toMatchObject({
      rowsAccepted: 2,
      dateForm: 'dmy',
    });
  });

  it.each([
    ['could be either', ['7/5/2021 0:01', '7/6/2021 0:02'], '--dates mdy'],
    ['are of both orders', ['7/13/2021', '13/7/2021'], 'Some dates have the month first and some the day'],
    ['are numbers of a spreadsheet', ['44384.0007', '44384.1'], '--dates serial'],
  ])('that %s fail the load with the cause', async (_name, dates, words) => {
    await expect(load('complaints', complaints(dates))).rejects.toMatchObject({
      code: 'feed_dates_unclear',
      message: expect.stringContaining(words) as string,
    });
  });

  it('are read by option where the file does not decide it, also when the load is run again', async () => {
    const loadId = await submit('complaints', complaints(['7/5/2021 0:01']), { dates: 'dmy' });
    const first = await runFeedLoad({ db, feedDir, loadId, limits: smallLimits });
    expect(first).toMatchObject({ options: { dates: 'dmy' }, dateForm: 'dmy', rowsAccepted: 1 });
    expect(await times()).toEqual(['2021-05-07 00:01:00']);
    expect(await withOptions('complaints', complaints(['44385']), { dates: 'serial' })).toMatchObject({
      rowsAccepted: 1,
      dateForm: 'serial',
    });
  });

  it('with slashes that first show up late in a file are looked for in its first 1,000 rows only', async () => {
    const dates = [...Array.from({ length: 1000 }, () => '2021-07-07 00:01:15'), '7/5/2021'];
    const { rejects, dateForm } = await load('complaints', complaints(dates));
    expect([dateForm, rejects.map(({ code }) => code)]).toEqual([null, ['date_invalid']]);
  });

  it('show their order by one part over 12', () => {
    const observer = new DateObserver();
    for (const text of ['1/2/2021', '2021-07-13', '', 'x', '12/12/2021']) observer.observe(text);
    expect(() => observer.form()).toThrow('month first or the day');
    observer.observe('1/13/2021');
    expect(observer.form()).toBe('mdy');
  });
});

describe('a load whose rows are mostly refused', () => {
  const rows = (good: number, bad: number) =>
    `phone,level\n${Array.from({ length: good }, (_, at) => `+1202555${1000 + at},SPAM\n`).join('')}${'x,SPAM\n'.repeat(bad)}`;
  const limits = { feedPlainBytesMax: smallLimits.feedPlainBytesMax };

  it('has failed: nothing of it counts, the reason names the most frequent cause, and the refused rows are kept', async () => {
    await expect(load('reputation', rows(1, 2), limits)).rejects.toMatchObject({
      code: 'feed_mostly_rejected',
      problem:
        '2 of 3 rows are refused, more than 50 %, so that none of them counts; 2 by phone_invalid: The text is not a phone number.',
    });
    const [failed] = await listFeedLoads(db);
    expect(failed).toMatchObject({
      state: 'failed',
      rowsGiven: 3,
      rowsAccepted: 1,
      rowsRejected: 2,
      failure: { code: 'feed_mostly_rejected' },
    });
    expect(await listFeedRejects(db, failed!.loadId)).toHaveLength(2);
    expect(await levels()).toEqual([]);
  });

  it('is one past the limit; at the limit it is done', async () => {
    expect(await load('reputation', rows(2, 2), limits)).toMatchObject({ state: 'done', rowsAccepted: 2 });
  });

  const sample = resolve(import.meta.dirname, '../../../../shared/data/ftc/dnc_complaint_numbers_2021-07-08.part1.csv');
  it.runIf(existsSync(sample))('as a real file saved by a spreadsheet with two-digit years', async () => {
    const lines = readFileSync(sample, 'utf8').split('\n').slice(0, 200);
    const saved = lines
      .map((line) => line.replace(/20(\d\d)-(\d\d)-(\d\d) (\d\d:\d\d):\d\d/g, '$2/$3/$1 $4'))
      .join('\n');
    await expect(load('complaints', saved, limits)).rejects.toMatchObject({
      code: 'feed_mostly_rejected',
      problem: expect.stringContaining('date_invalid') as string,
    });
    const readable = lines
      .map((line) => line.replace(/(20\d\d)-(\d\d)-(\d\d) (\d\d:\d\d):\d\d/g, '$2/$3/$1 $4'))
      .join('\n');
    expect((await load('complaints', readable, limits)).rowsAccepted).toBeGreaterThan(150); // the days of the calls pass 12
    expect((await load('complaints', readable, limits, { dates: 'mdy' })).rowsAccepted).toBeGreaterThan(150);
  });
});

describe('public lists', () => {
  it('of one number a line load with a level, a country and comments', async () => {
    const report = await withOptions(
      'reputation',
      '# made by hand\n\n030 901820\n+4989123456\n# more\n0171/2345678\n',
      { level: 'SPAM', category: '6', country: 'DE', comment: '#', source: 'list' },
    );
    expect(report).toMatchObject({
      rowsGiven: 3,
      rowsAccepted: 3,
      source: 'list',
      options: { level: 'SPAM', category: '6', country: 'DE', comment: '#' },
    });
    expect(await levels()).toEqual(['+491712345678 SPAM 6', '+4930901820 SPAM 6', '+4989123456 SPAM 6']);
  });

  it('with columns of their own names, where given values replace empty ones', async () => {
    const csv = 'number;rating;votes\n+4930901820;FRAUD;12\n+4930901821;;3\n';
    await withOptions('reputation', csv, { columns: { phone: 'Number', level: 'rating' }, level: 'SPAM' });
    expect(await levels()).toEqual(['+4930901820 FRAUD -', '+4930901821 SPAM -']);
  });

  it("with the columns of the FCC's complaint data", async () => {
    const csv =
      'Ticket ID,Ticket Created,Date of Issue,Time of Issue,Form,Method,Issue,Caller ID Number,Type of Call or Messge,Advertiser Business Number,City,State,Zip\n' +
      '1,07/08/2021 10:30:00 PM,07/07/2021,8:08 PM,Phone,Wireless,Unwanted Calls,202-555-0143,Prerecorded Voice,,Wayne,TX,07481\n' +
      '2,07/18/2021 01:00:00 AM,,,Phone,Wired,Unwanted Calls,2025550144,Live Voice,,Wayne,OH,07481\n3,07/18/2021 01:00:00 AM,,,Phone,Wired,Robocalls,None,Text Message,,Wayne,OH,07481\n';
    const columns = {
      Company_Phone_Number: 'Caller ID Number',
      Created_Date: 'Ticket Created',
      Violation_Date: 'Date of Issue',
      Consumer_State: 'State',
      Subject: 'Issue',
      Recorded_Message_Or_Robocall: 'Type of Call or Messge',
    };
    expect(await withOptions('complaints', csv, { columns, source: 'fcc' })).toMatchObject({
      rowsAccepted: 2,
      rejectsByCode: { phone_invalid: 1 },
      dateForm: 'mdy',
    });
    expect(await times()).toEqual(['2021-07-08 22:30:00', '2021-07-18 01:00:00']);
    expect(await column('SELECT recorded AS value FROM complaint ORDER BY complaint_id')).toEqual([true, false]);
  });

  it("with the columns of the FCC's unwanted calls, which have one date", async () => {
    const csv =
      'Ticket ID,Date of Issue,Time of Issue,Form,Method,Issue,Caller ID Number,Type of Call or Messge,Advertiser Business Number,State,Zip,Location (Center point of the Zip Code)\n' +
      '1,07/18/2021,8:08 PM,Phone,Wired,Unwanted Calls,202-555-0143,Abandoned Calls,,NJ,07481,POINT (-74.2 41.0)\n2,,,Phone,Wired,Unwanted Calls,202-555-0144,Live Voice,,NJ,07481,\n';
    const columns = {
      Company_Phone_Number: 'Caller ID Number',
      Created_Date: 'Date of Issue',
      Violation_Date: '',
      Consumer_State: 'State',
      Subject: 'Issue',
      Recorded_Message_Or_Robocall: 'Type of Call or Messge',
    };
    expect(await withOptions('complaints', csv, { columns, source: 'fcc' })).toMatchObject({
      rowsAccepted: 1,
      rejectsByCode: { date_missing: 1 },
      dateForm: 'mdy',
    });
    expect(await times()).toEqual(['2021-07-18 00:00:00']);
  });

  it('without a column that an option declares absent', async () => {
    const csv = complaints(['2021-07-07 00:01:15']).replaceAll(/,Recorded_Message_Or_Robocall|,Y/g, '');
    await expect(load('complaints', csv)).rejects.toMatchObject({ code: 'feed_header_invalid' });
    expect(await withOptions('complaints', csv, { columns: { Recorded_Message_Or_Robocall: '' } })).toMatchObject({
      rowsAccepted: 1,
    });
  });

  it.each([
    ['a level of a complaint feed', 'complaints', { level: 'SPAM' }],
    ['dates of a reputation feed', 'reputation', { dates: 'mdy' }],
    ['a column that the feed has not', 'reputation', { columns: { votes: 'x' } }],
    ['a country that is none', 'reputation', { country: 'ZZ' }],
    ['an encoding that is not read', 'reputation', { encoding: 'latin-9' }],
    ['an option that there is not', 'reputation', { quote: "'" }],
  ])('are refused with %s', async (_name, feed, options) => {
    await expect(submit(feed, 'phone\n', options)).rejects.toMatchObject({ code: 'feed_option_invalid' });
  });

  it('with a column that the file has not fail by its name', async () => {
    await expect(withOptions('reputation', 'phone,level\n', { columns: { level: 'Rating' } })).rejects.toMatchObject({
      problem: 'The header lacks the column Rating.',
    });
  });
});

describe('complaints', () => {
  it('that are too old to count are counted in the report', async () => {
    const old = new Date(Date.now() - 366 * 86_400_000).toISOString().slice(0, 19).replace('T', ' ');
    const young = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 19).replace('T', ' ');
    expect(await load('complaints', complaints([old, young, '2001-01-01 00:00:00']))).toMatchObject({
      state: 'done',
      rowsAccepted: 3,
      rowsTooOld: 2,
    });
  });

  it('whose number a spreadsheet has rounded are refused with the cause', async () => {
    const { rejects } = await load(
      'complaints',
      complaints(['2021-07-07 00:01:15']).replace('2025550143', '1.20255E+11'),
    );
    expect(rejects[0]).toMatchObject({ code: 'phone_invalid', reason: expect.stringContaining('rounded') as string });
  });
});
