import { beforeEach, describe, expect, it } from 'vitest';
import { clearNumber, readNumber } from '../../../pipelines/labels/number-record.ts';
import { listProtections, protectNumbers, unprotectNumbers } from '../../../pipelines/labels/protected-number.ts';
import { scoreComplaints } from '../../../pipelines/labels/scoring.ts';
import { useTestDatabase } from '../../support/database.ts';
import { useFeedLoader } from '../../support/feeds.ts';
import { eyes } from '../../support/branding.ts';

const { db } = await useTestDatabase();
const { load } = await useFeedLoader(db);
const actor = 'ann';

beforeEach(async () => {
  await db.query('TRUNCATE phone_number, feed_load, redress, complaint_score RESTART IDENTITY CASCADE');
  await db.query("DELETE FROM protected_number WHERE added_by = 'ann'");
});

async function published(): Promise<unknown[][]> {
  const { rows } = await db.query({
    text: 'SELECT phone, reputation_level, reputation_category FROM phone_number ORDER BY phone',
    rowMode: 'array',
  });
  return rows;
}

/** Changes of labels since the last load was submitted. */
async function events(): Promise<number> {
  const { rows } = await db.query<{ events: number }>(
    'SELECT count(*) AS events FROM label_event WHERE at > (SELECT max(requested_at) FROM feed_load)',
  );
  return rows[0]!.events;
}

/** Complaints of four states on one day: enough for a label by complaints. */
function complaints(phone: string): string {
  const rows = ['Texas', 'Ohio', 'Utah', 'Iowa'].flatMap((state) =>
    ['01', '02', '03', '04'].map((day) => `${phone},2021-07-${day} 10:00:00,,${state},Other,Y\n`),
  );
  return `Company_Phone_Number,Created_Date,Violation_Date,Consumer_State,Subject,Recorded_Message_Or_Robocall\n${rows.join('')}`;
}
const asOf = new Date('2021-07-05T00:00:00Z');

describe('numbers of the numbering plan', () => {
  it.each([
    ['directory assistance', '+12125551212', '+12125551213'],
    ['directory assistance of a toll-free code', '+18885551212', '+18885551211'],
    ['the code 911 of a geographic area code', '+12129115555', '+12129125555'],
    ['numbers under which emergency calls are routed', '+13075111234', '+13074111234'],
    ['emergency codes, but not where the area code is toll-free', '+14152110000', '+18882110000'],
    ['disaster relief', '+88812345678901', '+883510001234567'],
    ['a public service', '+18002738255', '+18002738256'],
  ])('are never labelled by a feed: %s', async (_name, protectedPhone, other) => {
    const report = await load('reputation', `${protectedPhone},SPAM,1\n${other},SPAM,1\n`);
    expect(await published()).toEqual(
      [
        [protectedPhone, 'NEUTRAL', null],
        [other, 'SPAM', 1],
      ].sort(),
    );
    expect(report).toMatchObject({ rowsAccepted: 2, labelsWithheld: 1 });
  });

  it('that are short codes are no E.164 numbers, and their rows are refused', async () => {
    const report = await load(
      'complaints',
      ['911', '112', '988', '411', '+1911']
        .map(complaints)
        .join('')
        .replaceAll(/(?<=.)Company.*\n/g, ''),
    );
    expect(report.rowsAccepted).toBe(0);
    expect(new Set(report.rejects.map(({ code }) => code))).toEqual(new Set(['phone_invalid']));
  });
});

describe('a protected number', () => {
  it('gets no label from complaints', async () => {
    await load('complaints', complaints('2125551212'));
    expect(await scoreComplaints(db, asOf)).toMatchObject({ scored: 1, withheld: 1 });
    expect((await published()).filter(([, level]) => level !== 'NEUTRAL')).toEqual([]);
  });

  it('loses the label of complaints when it becomes protected while they are scored', async () => {
    await load('complaints', complaints('2025550145'));
    await scoreComplaints(db, asOf);
    await db.query(
      "INSERT INTO protected_number (kind, value, reason, added_by) VALUES ('prefix', '+1202555', 'By hand', 'ann')",
    );
    expect(await scoreComplaints(db, asOf)).toMatchObject({ changed: 1, withheld: 1 });
    expect(await published()).toEqual([['+12025550145', 'NEUTRAL', null]]);
  });

  it.each([
    ['INSERT', "INSERT INTO phone_number (phone, reputation_level) VALUES ('+13125551212', 'SPAM')"],
    [
      'INSERT of many, one of them protected',
      "INSERT INTO phone_number (phone, reputation_level) SELECT '+1312555' || n, 'SPAM' FROM generate_series(1000, 1999) AS n",
    ],
    ['UPDATE', "UPDATE phone_number SET reputation_level = 'FRAUD', reputation_category = 7"],
    [
      'INSERT that meets a row',
      "INSERT INTO phone_number (phone) VALUES ('+12125551212') ON CONFLICT (phone) DO UPDATE SET reputation_level = 'SPAM'",
    ],
    [
      'MERGE',
      "MERGE INTO phone_number AS p USING (VALUES ('+12125551212')) AS n (phone) ON p.phone = n.phone WHEN MATCHED THEN UPDATE SET reputation_level = 'SPAM'",
    ],
    ['UPDATE of the number', "UPDATE phone_number SET phone = '+13125551212' WHERE phone = '+12025550143'"],
    ['COPY', "COPY phone_number (phone, reputation_level) FROM PROGRAM 'echo +13125551212,SPAM' WITH (FORMAT csv)"],
    [
      'session whose ordinary triggers are off',
      "SET LOCAL session_replication_role = replica; UPDATE phone_number SET reputation_level = 'SPAM'",
    ],
  ])('is labelled by no statement by hand (%s)', async (_name, statement) => {
    await load('reputation', '+12125551212,SPAM,1\n+12025550143,SPAM,1\n');
    const before = [await published(), await events()];
    await expect(db.query(statement)).rejects.toMatchObject({ constraint: 'phone_number_not_protected' });
    expect([await published(), await events()]).toEqual(before);
    expect(before).toEqual([
      [
        ['+12025550143', 'SPAM', 1],
        ['+12125551212', 'NEUTRAL', null],
      ],
      1,
    ]);
  });

  it('costs nothing when its feed is loaded again', async () => {
    await load('reputation', '+12125551212,SPAM,1\n');
    expect(await load('reputation', '+12125551212,SPAM,1\n# again\n')).toMatchObject({
      rowsChanged: 0,
      labelsWithheld: 1,
    });
    expect(await load('reputation', '+12125551212,SPAM,1\n+13125551212,FRAUD,7\n')).toMatchObject({
      rowsChanged: 1,
      labelsWithheld: 2,
    });
  });

  it('says why when it is shown', async () => {
    expect((await readNumber(db, '+12125551212')).protection).toContain('Directory assistance');
    expect((await readNumber(db, '+18002738255')).protection).toContain('988');
  });
});

describe("an operator's entry", () => {
  it('takes published labels back at once, from feeds and complaints, and no others', async () => {
    await load('reputation', '+12025550143,FRAUD,7\n+12025550144,SPAM,1\n+12025550150,SPAM,1\n');
    await load('complaints', complaints('2025550145'));
    await scoreComplaints(db, asOf);
    expect(await protectNumbers({ db, eyes, numbers: '+1 202 555-014*', reason: 'Test range', actor })).toEqual({
      withheld: 3,
    });
    expect((await published()).filter(([, level]) => level !== 'NEUTRAL')).toEqual([['+12025550150', 'SPAM', 1]]);
  });

  it('that is removed publishes the label of the feed again, and complaints with the next night', async () => {
    await load('reputation', '+12025550143,FRAUD,7\n');
    await load('complaints', complaints('2025550145'));
    await protectNumbers({ db, eyes, numbers: '+1202555014*', reason: 'Test range', actor });
    await scoreComplaints(db, asOf);
    expect(await unprotectNumbers({ db, numbers: '+1202555014*', reason: 'Over', actor })).toEqual({ restored: 1 });
    await scoreComplaints(db, asOf);
    expect((await published()).map(([, level]) => level)).toEqual(['FRAUD', 'SPAM']);
    expect((await listProtections(db, { all: true })).filter(({ addedBy }) => addedBy === actor)).toMatchObject([
      { value: '+1202555014', kind: 'prefix', removed: { by: actor, reason: 'Over' } },
    ]);
    expect((await listProtections(db)).filter(({ addedBy }) => addedBy === actor)).toEqual([]);
  });

  it('that is removed leaves a number NEUTRAL which another entry protects, or which was cleared', async () => {
    await load('reputation', '+12025550143,FRAUD,7\n+12025550144,FRAUD,7\n');
    await protectNumbers({ db, eyes, numbers: '+12025550143', reason: 'One', actor });
    await clearNumber({ db, eyes, phone: '+12025550144', reason: 'Recycled', actor });
    await protectNumbers({ db, eyes, numbers: '+1202*', reason: 'All', actor });
    expect(await unprotectNumbers({ db, numbers: '+1202*', reason: 'Over', actor })).toEqual({ restored: 0 });
  });

  it('is added once, with a reason, for a number or a prefix of at least three digits', async () => {
    await protectNumbers({ db, eyes, numbers: '+4930*', reason: 'Berlin', actor });
    const refused = (numbers: string, reason = 'why') => protectNumbers({ db, eyes, numbers, reason, actor });
    await expect(refused('+4930*')).rejects.toMatchObject({ code: 'protection_exists' });
    await expect(refused('+49*')).rejects.toMatchObject({ code: 'phone_invalid' });
    await expect(refused('911')).rejects.toMatchObject({ code: 'phone_invalid' });
    await expect(refused('+12025550143', ' ')).rejects.toMatchObject({ code: 'reason_required' });
    await expect(unprotectNumbers({ db, numbers: '+4931*', reason: 'why', actor })).rejects.toMatchObject({
      code: 'protection_unknown',
    });
    expect(await protectNumbers({ db, eyes, numbers: '+493*', reason: 'why', actor })).toEqual({ withheld: 0 });
  });

  it('waits for a load that runs at the same time, so that its labels are taken back too', async () => {
    const running = await db.connect();
    await running.query('BEGIN');
    await running.query("INSERT INTO phone_number (phone, reputation_level) VALUES ('+12025550143', 'SPAM')");
    const protecting = protectNumbers({ db, eyes, numbers: '+12025550143', reason: 'Hospital', actor });
    await new Promise((resolve) => setTimeout(resolve, 200));
    await running.query('COMMIT');
    running.release();
    expect(await protecting).toEqual({ withheld: 1 });
  });
});
