import { execFile } from 'node:child_process';
import { mkdir, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  failFeedLoad,
  listFeedLoads,
  listFeedRejects,
  readFeedLoad,
  runFeedLoad,
  sweepFeedFiles,
  submitFeed,
} from '../../../pipelines/feeds/feed-load.ts';
import { clearNumber } from '../../../pipelines/labels/number-record.ts';
import { isConnectionLoss } from '../../../runtime/postgres.ts';
import { useTestDatabase } from '../../support/database.ts';
import { gzipMembers, runLoad, smallLimits, useFeedLoader } from '../../support/feeds.ts';
import { eyes } from '../../support/branding.ts';

const { db } = await useTestDatabase();
const { directory, feedDir, submit, load } = await useFeedLoader(db);

beforeEach(async () => {
  await db.query('TRUNCATE phone_number, feed_load, redress RESTART IDENTITY CASCADE');
});

const us = (number: number) => `+1202555${String(number).padStart(4, '0')}`;

async function numbers(): Promise<unknown[][]> {
  const { rows } = await db.query({
    text: 'SELECT phone, country, reputation_level, reputation_category, reputation_source FROM phone_number ORDER BY phone',
    rowMode: 'array',
  });
  return rows;
}

/** Which rows were written since they were last looked at: their versions. */
async function rowVersions(): Promise<unknown[]> {
  const { rows } = await db.query('SELECT phone, xmin, ctid FROM phone_number ORDER BY phone');
  return rows;
}

describe('a reputation feed', () => {
  it('publishes level and category of each number with its country', async () => {
    const report = await load(
      'reputation',
      `phone,level,category\n${us(1)},SPAM,6\n+447400123456,fraud,Scam\n+80012345678,Neutral,\n+14165550143,SPAM,\n`,
    );
    expect(report).toMatchObject({
      state: 'done',
      rowsGiven: 4,
      rowsAccepted: 4,
      rowsRejected: 0,
      rowsSuperseded: 0,
      rowsChanged: 4,
      rejectsByCode: {},
      failure: null,
    });
    expect(await numbers()).toEqual([
      ['+12025550001', 'US', 'SPAM', 6, 'feed'],
      ['+14165550143', 'CA', 'SPAM', null, 'feed'],
      ['+447400123456', 'GB', 'FRAUD', 7, 'feed'],
      ['+80012345678', null, 'NEUTRAL', null, 'feed'],
    ]);
  });

  it('keeps every refused row with line, code, reason and excerpt, and accepted and rejected add up', async () => {
    const { rejects, ...report } = await load(
      'reputation',
      [
        'phone,level,category',
        `${us(1)},SPAM,6`,
        ',SPAM,',
        'abc,SPAM,',
        `${us(2)},,`,
        `${us(2)},BAD,`,
        `${us(2)},SPAM,99`,
        `${us(2)},SPAM,7`,
        `${us(2)},NEUTRAL,1`,
        '',
        '\\.,SPAM,',
        'a\\b\tc,SPAM,',
        'x',
      ].join('\n'),
    );
    expect(report).toMatchObject({
      rowsGiven: 12,
      rowsAccepted: 1,
      rowsRejected: 11,
      rejectsByCode: {
        phone_missing: 1,
        phone_invalid: 3,
        level_missing: 1,
        level_invalid: 1,
        category_unknown: 1,
        category_unfit: 2,
        line_empty: 1,
        field_count: 1,
      },
    });
    expect(rejects.map(({ line, code }) => [line, code])).toEqual([
      [3, 'phone_missing'],
      [4, 'phone_invalid'],
      [5, 'level_missing'],
      [6, 'level_invalid'],
      [7, 'category_unknown'],
      [8, 'category_unfit'],
      [9, 'category_unfit'],
      [10, 'line_empty'],
      [11, 'phone_invalid'],
      [12, 'phone_invalid'],
      [13, 'field_count'],
    ]);
    expect(rejects[5]).toEqual({
      line: 8,
      code: 'category_unfit',
      reason: 'The category belongs to FRAUD.',
      excerpt: `${us(2)},SPAM,7`,
    });
    expect(rejects.slice(8, 10).map(({ excerpt }) => excerpt)).toEqual(['\\\\.,SPAM,', 'a\\\\b\\x09c,SPAM,']);
    expect(await listFeedRejects(db, report.loadId, { after: 4, limit: 2 })).toHaveLength(2);
  });

  it('lets the last line of a number count', async () => {
    const report = await load(
      'reputation',
      `phone,level,category\n${us(1)},SPAM,6\n${us(2)},SPAM,\n${us(1)},FRAUD,7\n${us(1)},FRAUD,9\n`,
    );
    expect(report).toMatchObject({ rowsAccepted: 4, rowsSuperseded: 2, rowsChanged: 2 });
    expect((await numbers())[0]).toEqual([us(1), 'US', 'FRAUD', 9, 'feed']);
  });

  it('does not touch rows that it does not change', async () => {
    const feed = `phone,level,category\n${us(1)},SPAM,6\n${us(2)},SPAM,\n`;
    await load('reputation', feed);
    const before = await rowVersions();
    expect(await load('reputation', feed)).toMatchObject({ rowsAccepted: 2, rowsChanged: 0 });
    expect(await rowVersions()).toEqual(before);
    expect(await load('reputation', `phone,level,category\n${us(1)},SPAM,6\n${us(2)},SPAM,1\n`)).toMatchObject({
      rowsChanged: 1,
    });
  });

  it('wins over complaints', async () => {
    await db.query(
      "INSERT INTO phone_number (phone, country, reputation_level, reputation_category, reputation_source) VALUES ($1, 'US', 'SPAM', 10, 'complaints')",
      [us(1)],
    );
    await load('reputation', `phone,level,category\n${us(1)},NEUTRAL,\n`);
    expect(await numbers()).toEqual([[us(1), 'US', 'NEUTRAL', null, 'feed']]);
  });

  it('leaves a cleared number clear while it repeats the word that was cleared, and takes over with another', async () => {
    const word = (text: string) => load('reputation', `phone,level,category\n${us(1)},${text}\n`);
    await word('SPAM,6');
    await clearNumber({ db, eyes, phone: us(1), reason: 'Wrong number', actor: 'op' });
    expect(await word('SPAM,6')).toMatchObject({ rowsChanged: 0 });
    expect(await numbers()).toEqual([[us(1), 'US', 'NEUTRAL', null, 'redress']]);
    expect(await word('SPAM,10')).toMatchObject({ rowsChanged: 1 });
    expect(await numbers()).toEqual([[us(1), 'US', 'SPAM', 10, 'feed']]);
    expect(await word('SPAM,6')).toMatchObject({ rowsChanged: 1 });
    expect(await numbers()).toEqual([[us(1), 'US', 'SPAM', 6, 'feed']]);
  });

  it('that was held up does not overrule one that was submitted after it', async () => {
    const earlier = await submit('reputation', `phone,level\n${us(1)},SPAM\n${us(2)},SPAM\n`);
    await load('reputation', `phone,level\n${us(1)},FRAUD\n`);
    await runFeedLoad({ db, feedDir, loadId: earlier, limits: smallLimits });
    expect(await numbers()).toEqual([
      [us(1), 'US', 'FRAUD', null, 'feed'],
      [us(2), 'US', 'SPAM', null, 'feed'],
    ]);
  });

  it('is read from gzip of several members, tab separated, without header', async () => {
    const report = await load('reputation', gzipMembers(`${us(1)}\tSPAM\t6\n`, `${us(2)}\tSPAM\t6\n`));
    expect(report).toMatchObject({ rowsGiven: 2, rowsAccepted: 2 });
  });
});

describe('a directory feed', () => {
  it('sets display info and makes numbers that are not known NEUTRAL', async () => {
    await load('reputation', `${us(1)},SPAM\n`);
    const report = await load(
      'directory',
      `phone,name,description,detail,image\n${us(1)},"Zoë\u0301, ""Inc""",Line\\one,,https://example.com/a.png\n${us(2)},株式会社,,Two  words,\n`,
    );
    expect(report).toMatchObject({ rowsAccepted: 2, rowsChanged: 2 });
    const { rows } = await db.query(
      'SELECT phone, reputation_level, display_name, display_description, display_detail, display_image FROM phone_number ORDER BY phone',
    );
    expect(rows).toEqual([
      {
        phone: us(1),
        reputation_level: 'SPAM',
        display_name: 'Zoë\u0301, "Inc"'.normalize('NFC'),
        display_description: 'Line/one',
        display_detail: null,
        display_image: 'https://example.com/a.png',
      },
      {
        phone: us(2),
        reputation_level: 'NEUTRAL',
        display_name: '株式会社',
        display_description: null,
        display_detail: 'Two words',
        display_image: null,
      },
    ]);
    expect(await load('directory', `phone,display_name\n${us(1)},B\n`)).toMatchObject({ rowsChanged: 1 });
    const after = await db.query(
      'SELECT display_name, display_description, display_image, reputation_level FROM phone_number WHERE phone = $1',
      [us(1)],
    );
    expect(after.rows).toEqual([
      { display_name: 'B', display_description: null, display_image: null, reputation_level: 'SPAM' },
    ]);
  });

  it.each([
    ['name', 128, 0],
    ['description', 512, 1],
    ['detail', 1024, 2],
    ['image', 512, 3],
  ] as const)('takes a %s of %i bytes and refuses one more', async (_name, bytes, place) => {
    const text = (size: number) =>
      place === 3
        ? `https://example.com/${'x'.repeat(size - 20)}`
        : `${'é'.repeat((size - (size % 2)) / 2)}${size % 2 === 1 ? 'x' : ''}`;
    const row = (size: number) =>
      `${us(1)},${['N', '', '', ''].map((value, at) => (at === place ? text(size) : value)).join(',')}`;
    const report = await load('directory', `phone,name,description,detail,image\n${row(bytes)}\n${row(bytes + 1)}\n`);
    expect(report).toMatchObject({ rowsAccepted: 1, rejectsByCode: { text_too_long: 1 } });
  });

  it('refuses rows without a name and images that are no https URL', async () => {
    const images = [
      'http://example.com/a',
      'javascript:alert(1)',
      'https://',
      'https://user:pw@example.com/',
      '//example.com',
      'ftp://example.com',
      'https:/example.com',
      'https://exa mple.com/',
    ];
    const report = await load(
      'directory',
      `phone,name,image\n${us(1)},\u202e ,\n${images.map((image) => `${us(1)},N,${image}\n`).join('')}`,
    );
    expect(report).toMatchObject({ rowsAccepted: 0, rejectsByCode: { name_missing: 1, image_invalid: images.length } });
  });
});

describe('a submitted feed', () => {
  it.each([
    ['reputation.csv', 'weather', 'feed_unknown'],
    ['gone.csv', 'reputation', 'feed_not_found'],
    ['link.csv', 'reputation', 'feed_file_invalid'],
    ['folder', 'reputation', 'feed_file_invalid'],
    ['pipe', 'reputation', 'feed_file_invalid'],
  ])('%s as %s is refused with %s', async (name, feed, code) => {
    await writeFile(join(directory, 'reputation.csv'), 'phone,level\n');
    await symlink(join(directory, 'reputation.csv'), join(directory, 'link.csv')).catch(() => {});
    await mkdir(join(directory, 'folder'), { recursive: true });
    await promisify(execFile)('mkfifo', [join(directory, 'pipe')]).catch(() => {});
    await expect(
      submitFeed({ db, feedDir, feed, path: join(directory, name), submittedBy: 'test' }),
    ).rejects.toMatchObject({ code });
    expect(await listFeedLoads(db)).toEqual([]);
    expect(await readdir(feedDir)).toEqual([]);
  });

  it('that was killed while it was copied leaves a file that is swept after an hour', async () => {
    await mkdir(feedDir, { recursive: true });
    await writeFile(join(feedDir, 'incoming-1'), 'x');
    await writeFile(join(feedDir, 'incoming-2'), 'x');
    await utimes(join(feedDir, 'incoming-1'), 0, 0);
    expect(await sweepFeedFiles(db, feedDir)).toBe(1);
    expect(await readdir(feedDir)).toEqual(['incoming-2']);
    await rm(join(feedDir, 'incoming-2'));
  });

  it('whose transaction fails after the file has its name leaves no file', async () => {
    await writeFile(join(directory, 'lost.csv'), `phone,level\n${us(1)},SPAM\n`);
    const lost = submitFeed({
      db,
      feedDir,
      feed: 'reputation',
      path: join(directory, 'lost.csv'),
      submittedBy: 'test',
      record: async (client) => {
        expect(await readdir(feedDir)).toHaveLength(1);
        await client.query('SELECT pg_terminate_backend(pg_backend_pid())');
      },
    });
    await expect(lost).rejects.toMatchObject({ code: '57P01' });
    expect([await listFeedLoads(db), await readdir(feedDir)]).toEqual([[], []]);
  });

  it('whose process was killed before its load was recorded is swept, and no file that a load needs', async () => {
    const { sha256 } = await readFeedLoad(db, await submit('reputation', `${us(1)},SPAM\n`));
    await writeFile(join(feedDir, '0'.repeat(64)), 'x');
    expect([await sweepFeedFiles(db, feedDir), await readdir(feedDir)]).toEqual([1, [sha256]]);
  });

  it('waits under its digest and is removed when no load needs it any more', async () => {
    const [first, second] = [
      await submit('reputation', `${us(1)},SPAM\n`),
      await submit('reputation', `${us(1)},SPAM\n`),
    ];
    const { sha256 } = await readFeedLoad(db, first);
    expect(await readdir(feedDir)).toEqual([sha256]);
    expect(await listFeedLoads(db, { state: 'queued' })).toHaveLength(2);
    await runFeedLoad({ db, feedDir, loadId: first, limits: smallLimits });
    expect(await readdir(feedDir)).toEqual([sha256]);
    await runFeedLoad({ db, feedDir, loadId: second, limits: smallLimits });
    expect(await readdir(feedDir)).toEqual([]);
  });
});

describe('a load', () => {
  it('runs at the same time as another of the same numbers in another order, and both are done', async () => {
    const lines = Array.from({ length: 5000 }, (_, n) => `${us(n)},SPAM\n`);
    const ids = [
      await submit('reputation', lines.join('')),
      await submit('reputation', [...lines].reverse().join('').replaceAll('SPAM', 'FRAUD')),
      await submit('directory', lines.join('')),
    ];
    const reports = await Promise.all(ids.map((loadId) => runFeedLoad({ db, feedDir, loadId, limits: smallLimits })));
    expect(reports.map(({ state, rowsAccepted }) => [state, rowsAccepted])).toEqual([
      ['done', 5000],
      ['done', 5000],
      ['done', 5000],
    ]);
    expect(await numbers()).toHaveLength(5000);
  });

  it('waits for a transaction that has locked one of its numbers, and lets it change that number', async () => {
    await load('reputation', `${us(1)},SPAM\n`);
    const clearing = await db.connect();
    await clearing.query('BEGIN');
    await clearing.query('SELECT FROM phone_number WHERE phone = $1 FOR UPDATE', [us(1)]);
    const loading = load('reputation', `${us(1)},FRAUD\n`);
    await vi.waitUntil(
      async () =>
        (await db.query("SELECT FROM pg_locks WHERE relation = 'phone_number'::regclass AND NOT granted")).rowCount ===
        1,
      { timeout: 10_000 },
    );
    await clearing.query("UPDATE phone_number SET reputation_level = 'NEUTRAL' WHERE phone = $1", [us(1)]);
    await clearing.query('COMMIT');
    clearing.release();
    expect(await loading).toMatchObject({ state: 'done', rowsChanged: 1 });
    expect(await numbers()).toEqual([[us(1), 'US', 'FRAUD', null, 'feed']]);
  });

  it('that is done gives its stored counts when it is run again', async () => {
    const loadId = await submit('reputation', `${us(1)},SPAM\n${us(2)},X\n`);
    const first = await runFeedLoad({ db, feedDir, loadId, limits: smallLimits });
    expect(await runFeedLoad({ db, feedDir, loadId, limits: smallLimits })).toEqual(first);
  });

  it('that two workers run at the same time is done once', async () => {
    const loadId = await submit(
      'reputation',
      `phone,level\n${Array.from({ length: 9999 }, (_, n) => `${us(n)},SPAM\n`).join('')}x,SPAM\n`,
    );
    const [a, b] = await Promise.all([1, 2].map(() => runFeedLoad({ db, feedDir, loadId, limits: smallLimits })));
    expect(a).toEqual(b);
    expect(a).toMatchObject({ rowsGiven: 10_000, rowsAccepted: 9999, rowsChanged: 9999 });
  });

  it('that failed permanently is stored with code and reason, changes nothing, and fails the same when it is run again', async () => {
    const damaged = gzipSync(`phone,level\n${us(1)},SPAM\nx,SPAM\n`).subarray(0, 40);
    const loadId = await submit('reputation', damaged);
    const run = () => runLoad({ db, feedDir, loadId, limits: smallLimits });
    await expect(run()).rejects.toMatchObject({ code: 'feed_gzip_invalid' });
    await expect(run()).rejects.toMatchObject({ code: 'feed_gzip_invalid' });
    expect(await readFeedLoad(db, loadId)).toMatchObject({
      state: 'failed',
      failure: { code: 'feed_gzip_invalid' },
      rowsGiven: null,
    });
    expect(await numbers()).toEqual([]);
    expect(await listFeedRejects(db, loadId)).toEqual([]);
    expect([await sweepFeedFiles(db, feedDir), await readdir(feedDir)]).toEqual([1, []]);
  });

  it('of a feed beyond the limit of plain bytes changes nothing', async () => {
    const loadId = await submit('reputation', gzipSync(`phone,level\n${us(1)},SPAM\n`.padEnd(1001, '\n')));
    await expect(
      runFeedLoad({ db, feedDir, loadId, limits: { ...smallLimits, feedPlainBytesMax: 1000 } }),
    ).rejects.toMatchObject({ code: 'feed_too_large' });
    expect(await numbers()).toEqual([]);
  });

  it('that is interrupted can be run again', async () => {
    const loadId = await submit('reputation', `phone,level\n${us(1)},SPAM\n`);
    const stop = new AbortController();
    const interrupted = runFeedLoad({
      db,
      feedDir,
      loadId,
      limits: smallLimits,
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    await expect(interrupted).rejects.toMatchObject({ code: 'interrupted' });
    expect(await readFeedLoad(db, loadId)).toMatchObject({ state: 'running' });
    expect(await numbers()).toEqual([]);
    expect(await runFeedLoad({ db, feedDir, loadId, limits: smallLimits })).toMatchObject({
      state: 'done',
      rowsAccepted: 1,
    });
  });

  it('whose database session is killed halfway changes nothing and is done by the next attempt', async () => {
    const rows = Array.from(
      { length: 40_000 },
      (_, n) => `+1${212 + (n % 5)}${2_000_000 + n},SPAM\n${n % 100 === 0 ? 'bad,SPAM\n' : ''}`,
    );
    const loadId = await submit('reputation', `phone,level\n${rows.join('')}`);
    let killed = false;
    const kill = async () => {
      const {
        rows: [row],
      } = await db.query(
        "SELECT count(pg_terminate_backend(pid)) AS ended FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
      );
      killed = row?.ended > 0;
    };
    const killing: Promise<void>[] = [];
    const onProgress = () => void (killing.length === 0 && killing.push(kill()));
    const first = runFeedLoad({ db, feedDir, loadId, limits: smallLimits, onProgress });
    await expect(first).rejects.toSatisfy(isConnectionLoss);
    await Promise.all(killing);
    expect(killed).toBe(true);
    expect(await readFeedLoad(db, loadId)).toMatchObject({ state: 'running' });
    expect(await numbers()).toEqual([]);
    const report = await runFeedLoad({ db, feedDir, loadId, limits: smallLimits });
    expect(report.rowsGiven).toBe(40_400);
    expect(report.rowsAccepted + report.rowsRejected).toBe(40_400);
    expect(await listFeedRejects(db, loadId, { limit: 1000 })).toHaveLength(report.rowsRejected);
  });

  it('is given up by its caller only while it is not done', async () => {
    const loadId = await submit('reputation', `${us(1)},SPAM\n`);
    await failFeedLoad(db, loadId, { code: 'internal', reason: 'Tried 3 times.' });
    await expect(runFeedLoad({ db, feedDir, loadId, limits: smallLimits })).rejects.toMatchObject({
      code: 'internal',
      problem: 'Tried 3 times.',
    });
    const done = await submit('reputation', `${us(1)},SPAM\n`);
    await runFeedLoad({ db, feedDir, loadId: done, limits: smallLimits });
    await failFeedLoad(db, done, { code: 'internal', reason: 'late' });
    expect(await readFeedLoad(db, done)).toMatchObject({ state: 'done', failure: null });
  });

  it('that does not exist is an error', async () => {
    await expect(runFeedLoad({ db, feedDir, loadId: 999, limits: smallLimits })).rejects.toMatchObject({
      code: 'feed_not_found',
    });
  });

  it('of texts that PostgreSQL is picky about is taken whole', async () => {
    const names = [
      '\\N',
      '\\.',
      'é\u0301',
      '\u{105d2}\u0307',
      '\uffff x',
      "' OR 1=1 --",
      '$1',
      '👩‍👩‍👧',
      'a\u2028b',
      '\ud55c',
    ];
    const report = await load('directory', `phone,name\n${names.map((name, n) => `${us(n)},${name}\n`).join('')}`);
    expect(report).toMatchObject({ rowsAccepted: names.length, rowsChanged: names.length });
  });
});
