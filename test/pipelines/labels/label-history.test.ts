import { beforeEach, describe, expect, it } from 'vitest';
import { listLabelEvents, pruneLabelHistory } from '../../../pipelines/labels/label-history.ts';
import { clearNumber, readNumber } from '../../../pipelines/labels/number-record.ts';
import { complaintRule } from '../../../pipelines/labels/complaint-rule.ts';
import { scoreComplaints } from '../../../pipelines/labels/scoring.ts';
import { inTransaction } from '../../../runtime/postgres.ts';
import { complaintFile, severalStates } from '../../support/complaints.ts';
import { useTestDatabase } from '../../support/database.ts';
import { useFeedLoader } from '../../support/feeds.ts';
import { putNumbers } from '../../support/numbers.ts';
import { eyes } from '../../support/branding.ts';

const { db } = await useTestDatabase();
const { load } = await useFeedLoader(db);

const phone = '+12025550143';
const evaluatedAt = new Date('2021-07-08T00:00:00Z');

/** What the history says of a number, oldest first. */
const history = async (number = phone) => (await listLabelEvents(db, number, { limit: 100 })).toReversed();
const short = async (number = phone) =>
  (await history(number)).map(
    ({ from, to, cause }) => `${from.level} ${from.category} -> ${to.level} ${to.category}: ${cause}`,
  );

/** The history is kept for 400 days; between tests it is taken away as only the owner of the table can. */
async function forgetHistory(): Promise<void> {
  await db.query(
    'ALTER TABLE label_event DISABLE TRIGGER USER; TRUNCATE phone_number, branded_number, feed_load, redress, complaint_score, scoring_run RESTART IDENTITY CASCADE; DELETE FROM label_event; ALTER TABLE label_event ENABLE ALWAYS TRIGGER label_event_append_only; ALTER TABLE label_event ENABLE ALWAYS TRIGGER label_event_retention',
  );
}

beforeEach(forgetHistory);

describe('the history of labels', () => {
  it('keeps each change that a reputation feed makes, with its load', async () => {
    await load('reputation', `${phone},SPAM,6\n+12025550144,NEUTRAL\n`);
    await load('reputation', `${phone},SPAM,6\n`); // says nothing new
    await load('reputation', `${phone},FRAUD,7\n`);
    await load('reputation', `${phone},NEUTRAL\n`);
    expect((await history()).map(({ from, to, cause, loadId }) => ({ from, to, cause, loadId }))).toEqual([
      {
        from: { level: 'NEUTRAL', category: null, source: null },
        to: { level: 'SPAM', category: 6, source: 'feed' },
        cause: 'feed',
        loadId: 1,
      },
      {
        from: { level: 'SPAM', category: 6, source: 'feed' },
        to: { level: 'FRAUD', category: 7, source: 'feed' },
        cause: 'feed',
        loadId: 3,
      },
      {
        from: { level: 'FRAUD', category: 7, source: 'feed' },
        to: { level: 'NEUTRAL', category: null, source: 'feed' },
        cause: 'feed',
        loadId: 4,
      },
    ]);
    expect(await history('+12025550144')).toEqual([]);
  });

  it('keeps each change that a scoring makes, with its rule, its instant and what it counted', async () => {
    await load('complaints', complaintFile(severalStates('2021-07-06')));
    await scoreComplaints(db, evaluatedAt);
    await scoreComplaints(db, new Date('2022-07-08T00:00:00Z'));
    const { rule_version: ruleVersion } = (
      await db.query<{ rule_version: string }>('SELECT rule_version FROM complaint_score')
    ).rows[0] ?? { rule_version: complaintRule.version };
    expect(await history()).toMatchObject([
      {
        from: { level: 'NEUTRAL' },
        to: { level: 'SPAM', source: 'complaints' },
        cause: 'complaints',
        ruleVersion,
        evaluatedAt,
        loadId: null,
        evidence: { lastReportDay: '2021-07-06' },
      },
      {
        from: { level: 'SPAM' },
        to: { level: 'NEUTRAL', source: 'complaints' },
        cause: 'complaints',
        evaluatedAt: new Date('2022-07-08T00:00:00Z'),
      },
    ]);
    expect(
      (await db.query('SELECT evaluated_at, rule_version FROM scoring_run ORDER BY scoring_id')).rows,
    ).toMatchObject([{ evaluated_at: evaluatedAt, rule_version: ruleVersion }, {}]);
  });

  it('keeps a clearing with its reason and who did it', async () => {
    await load('reputation', `${phone},SPAM,6\n`);
    const { redressId } = await clearNumber({ db, eyes, phone, reason: 'Recycled number', actor: 'ada' });
    expect((await history()).at(-1)).toMatchObject({
      from: { level: 'SPAM' },
      to: { level: 'NEUTRAL', source: 'redress' },
      cause: 'clearing',
      redress: { redressId, reason: 'Recycled number', by: 'ada' },
    });
  });

  it('keeps a change of the source of a label, and still says since when the label has its level', async () => {
    await load('complaints', complaintFile(severalStates('2021-07-06')));
    await scoreComplaints(db, evaluatedAt);
    const { since, reputation } = await readNumber(db, phone);
    await load('reputation', `${phone},${reputation!.level},${reputation!.category!.id}\n`);
    expect((await history()).map(({ to, cause }) => [to.source, cause])).toEqual([
      ['complaints', 'complaints'],
      ['feed', 'feed'],
    ]);
    expect(since).toEqual((await history())[0]!.at);
    expect(await readNumber(db, phone)).toMatchObject({ since, reputation: { source: 'feed' } });
  });

  it('is written by whatever changes the table, also by hand', async () => {
    await putNumbers(db, [
      { phone, level: 'SPAM', category: 6 },
      { phone: '+12025550144', level: 'FRAUD', category: 7 },
      { phone: '+12025550145' },
    ]);
    await db.query(`UPDATE phone_number SET display_name = 'Shop'`); // no label changes
    await db.query(`UPDATE phone_number SET phone = '+12025550149' WHERE phone = $1`, [phone]);
    await db.query(`DELETE FROM phone_number WHERE phone = '+12025550144'`);
    await db.query('TRUNCATE phone_number');
    expect(await short()).toEqual(['NEUTRAL null -> SPAM 6: other', 'SPAM 6 -> NEUTRAL null: other']);
    expect(await short('+12025550149')).toEqual(['NEUTRAL null -> SPAM 6: other', 'SPAM 6 -> NEUTRAL null: removed']);
    expect(await short('+12025550144')).toEqual(['NEUTRAL null -> FRAUD 7: other', 'FRAUD 7 -> NEUTRAL null: removed']);
    expect(await history('+12025550145')).toEqual([]);
  });

  it('is written by COPY, and where the ordinary triggers of a session are off', async () => {
    await db.query(
      `COPY phone_number (phone, reputation_level) FROM PROGRAM 'echo ${phone},SPAM; echo +12025550144,NEUTRAL' WITH (FORMAT csv)`,
    );
    await db.query("SET LOCAL session_replication_role = replica; UPDATE phone_number SET reputation_level = 'FRAUD'");
    expect(await short()).toEqual(['NEUTRAL null -> SPAM null: other', 'SPAM null -> FRAUD null: other']);
    expect(await short('+12025550144')).toEqual(['NEUTRAL null -> FRAUD null: other']);
  });

  it('goes with its change: a transaction that is rolled back leaves none', async () => {
    await inTransaction(db, async (client) => {
      await putNumbers(client, [{ phone, level: 'SPAM', category: 6 }]);
      throw new Error('no');
    }).catch(() => {});
    expect(await history()).toEqual([]);
  });

  it('cannot be changed, and not be deleted within 400 days', async () => {
    await putNumbers(db, [{ phone, level: 'SPAM', category: 6 }]);
    await expect(db.query(`UPDATE label_event SET cause = 'feed'`)).rejects.toThrow('only ever added');
    await expect(db.query('TRUNCATE label_event')).rejects.toThrow('only ever added');
    await expect(db.query('DELETE FROM label_event')).rejects.toThrow('kept for 400 days');
    await expect(pruneLabelHistory(db, { retentionDays: 399, at: new Date(Date.now() + 60_000) })).resolves.toBe(0);
  });

  it('is pruned after its retention, and keeps the change that gave the label of that time', async () => {
    const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
    await db.query(
      `INSERT INTO label_event (phone, at, level_before, level, cause) SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::text[], $4::text[], $5::text[])`,
      [
        ['+12025550101', '+12025550101', '+12025550101', '+12025550102', '+12025550102', '+12025550103'],
        [ago(600), ago(500), ago(20), ago(600), ago(500), ago(600)],
        ['NEUTRAL', 'SPAM', 'FRAUD', 'NEUTRAL', 'SPAM', 'NEUTRAL'],
        ['SPAM', 'FRAUD', 'SPAM', 'SPAM', 'NEUTRAL', 'SPAM'],
        Array(6).fill('other'),
      ],
    );
    expect(await pruneLabelHistory(db, { retentionDays: 450, at: new Date() })).toBe(3);
    expect(
      (await db.query<{ phone: string; level: string }>('SELECT phone, level FROM label_event ORDER BY event_id')).rows,
    ).toEqual([
      { phone: '+12025550101', level: 'FRAUD' },
      { phone: '+12025550101', level: 'SPAM' },
      { phone: '+12025550103', level: 'SPAM' },
    ]);
  });
});

describe('the clearing of a number', () => {
  it('also takes one that only complaints are about, and it stays clear of them', async () => {
    await load('complaints', complaintFile(severalStates('2021-07-06').slice(0, 1)));
    await clearNumber({ db, eyes, phone, reason: 'A hospital', actor: 'ada' });
    expect(await readNumber(db, phone)).toMatchObject({
      country: 'US',
      reputation: { level: 'NEUTRAL', source: 'redress' },
      redress: [{ before: { level: null } }],
    });
    await scoreComplaints(db, evaluatedAt);
    expect(await readNumber(db, phone)).toMatchObject({
      reputation: { level: 'NEUTRAL', source: 'redress' },
      since: null,
    });
  });

  it('is refused for a number that nothing at all is known about', async () => {
    await expect(clearNumber({ db, eyes, phone: '+12025550199', reason: 'x', actor: 'ada' })).rejects.toMatchObject({
      code: 'phone_unknown',
    });
    expect((await db.query('SELECT FROM phone_number')).rowCount).toBe(0);
  });
});
