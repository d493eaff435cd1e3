import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  decideHeldLoad,
  discardFeedLoad,
  listFeedLoads,
  readFeedLoad,
  runFeedLoad,
} from '../../../pipelines/feeds/feed-load.ts';
import { judgeLoad, loadGateLimits, type FeedMeasures } from '../../../pipelines/feeds/load-gates.ts';
import { loadConfig } from '../../../runtime/config.ts';
import { useTestDatabase } from '../../support/database.ts';
import { runLoad, useFeedLoader } from '../../support/feeds.ts';
import { eyes } from '../../support/branding.ts';

const { db } = await useTestDatabase();
const { feedDir, load: loadWith } = await useFeedLoader(db);
const gates = { ...loadGateLimits, rowsMin: 10 };
const limits = { ...loadConfig({}), gates };
const load = (feed: string, content: string, options: object = {}) => loadWith(feed, content, limits, options);

const usual: FeedMeasures = {
  given: 1000,
  accepted: 1000,
  numbers: 900,
  newNumbers: 720,
  duplicates: 50,
  knownRows: 0,
  topNumberRows: 10,
  topStateRows: 100,
  oldRows: 0,
  levels: { NEUTRAL: 0, SPAM: 810, FRAUD: 90 },
};
const judge = (change: Partial<FeedMeasures>, loads = 7) =>
  judgeLoad(
    { ...usual, ...change },
    Array.from({ length: loads }, () => usual),
    gates,
  ).map(({ gate }) => gate);

describe('a gate', () => {
  it.each([
    [
      'volume, small',
      {
        given: 100,
        accepted: 100,
        numbers: 90,
        newNumbers: 72,
        duplicates: 5,
        topNumberRows: 1,
        topStateRows: 10,
        levels: {},
      },
      {
        given: 99,
        accepted: 99,
        numbers: 90,
        newNumbers: 72,
        duplicates: 5,
        topNumberRows: 1,
        topStateRows: 10,
        levels: {},
      },
      'volume',
    ],
    [
      'volume, large',
      { given: 2000, accepted: 2000, levels: {} },
      { given: 2001, accepted: 2001, levels: {} },
      'volume',
    ],
    ['rejects', { given: 1111, accepted: 1000 }, { given: 1112, accepted: 1000 }, 'rejects'],
    ['new numbers', { newNumbers: 810 }, { newNumbers: 811 }, 'new_numbers'],
    ['duplicates', { duplicates: 250 }, { duplicates: 251 }, 'duplicates'],
    ['known rows', { knownRows: 500 }, { knownRows: 501 }, 'known_rows'],
    ['one number', { topNumberRows: 110 }, { topNumberRows: 111 }, 'one_number'],
    ['one state', { topStateRows: 300 }, { topStateRows: 301 }, 'one_state'],
    ['old rows', { oldRows: 200 }, { oldRows: 201 }, 'old_rows'],
    [
      'levels',
      { levels: { NEUTRAL: 0, SPAM: 630, FRAUD: 270 } },
      { levels: { NEUTRAL: 0, SPAM: 629, FRAUD: 271 } },
      'levels',
    ],
  ])('of %s passes the limit and holds one past it', (_name, at, past, gate) => {
    expect(judge(at)).toEqual([]);
    expect(judge(past)).toEqual([gate]);
  });

  it('judges nothing before there are enough loads, nor for a few rows', () => {
    expect(judge({ accepted: 1, given: 1 }, 6)).toEqual([]);
    expect(judge({ accepted: 1, given: 1 }, 7)).toContain('volume');
    const small = {
      ...usual,
      given: 12,
      accepted: 12,
      numbers: 12,
      newNumbers: 0,
      duplicates: 0,
      topNumberRows: 1,
      topStateRows: 2,
      levels: {},
    };
    expect(
      judgeLoad(
        { ...small, given: 2, accepted: 2, numbers: 2, newNumbers: 2 },
        Array.from({ length: 9 }, () => small),
        { ...gates, rowsMin: 11 },
      ),
    ).toEqual([]);
  });

  it('compares with nothing where the loads before had no row', () => {
    const empty = {
      ...usual,
      given: 0,
      accepted: 0,
      numbers: 0,
      newNumbers: 0,
      duplicates: 0,
      topNumberRows: 0,
      topStateRows: 0,
      levels: { NEUTRAL: 0, SPAM: 0, FRAUD: 0 },
    };
    const first = { ...usual, newNumbers: 900, levels: { NEUTRAL: 0, SPAM: 0, FRAUD: 1000 } };
    expect(
      judgeLoad(
        first,
        Array.from({ length: 28 }, () => empty),
        gates,
      ),
    ).toEqual([]);
  });

  it('says what was seen, what is usual and the limit', () => {
    expect(
      judgeLoad(
        { ...usual, accepted: 50, given: 50 },
        Array.from({ length: 28 }, () => usual),
        gates,
      )[0],
    ).toEqual({
      gate: 'volume',
      figure: 5,
      usual: 100,
      limit: 10,
      reason: '50 rows are 5.0 % of the median of the last 28 loads (1000); the limit is 10 %.',
    });
    expect(
      judgeLoad(
        { ...usual, newNumbers: 900 },
        Array.from({ length: 7 }, () => usual),
        gates,
      )[0],
    ).toMatchObject({
      figure: 100,
      usual: 80,
      reason: '100.0 % of the numbers are new, where 80.0 % is usual; the limit is 10 points more.',
    });
  });
});

describe('a load', () => {
  beforeEach(async () => {
    await db.query('TRUNCATE phone_number, feed_load RESTART IDENTITY CASCADE');
  });

  const states = ['Texas', 'Ohio', 'Utah', 'Iowa', 'Maine'];
  /** Complaints of one day: half of the numbers return each day, as they do in the FTC's files. */
  const row = (number: number, day: number, state: string, second = number % 60) =>
    `202${5550000 + number},2021-07-${String(day).padStart(2, '0')} 10:${String(number % 60).padStart(2, '0')}:${String(second).padStart(2, '0')},,${state},Other,Y`;
  const file = (rows: readonly string[]) =>
    `Company_Phone_Number,Created_Date,Violation_Date,Consumer_State,Subject,Recorded_Message_Or_Robocall\n${rows.join('\n')}\n`;
  const usualDay = (day: number, rows = 100) =>
    file(Array.from({ length: rows }, (_, at) => row(at % 2 === 0 ? at : 200 * day + at, day, states[at % 5]!)));

  async function usualWeek(): Promise<void> {
    for (let day = 1; day <= 7; day++)
      expect(await load('complaints', usualDay(day))).toMatchObject({ state: 'done', gates: [] });
  }
  const stored = async () => (await db.query<{ count: number }>('SELECT count(*) FROM complaint')).rows[0]!.count;

  it('like those before it is merged', async () => {
    await usualWeek();
    expect(await load('complaints', usualDay(8, 120))).toMatchObject({ state: 'done', rowsAccepted: 120 });
  });

  it.each([
    ['that is cut off', usualDay(8, 8), ['volume']],
    [
      'that has everything three times',
      file(Array.from({ length: 3 }, () => usualDay(8).split('\n').slice(1, -1)).flat()),
      ['volume', 'duplicates'],
    ],
    [
      'about one number',
      file(Array.from({ length: 100 }, (_, at) => row(1, 8, states[at % 5]!, at % 60))),
      ['duplicates', 'one_number'],
    ],
    ["that is yesterday's once more", usualDay(7), ['known_rows']],
    [
      'of new numbers from one state in addition to the usual rows',
      file([
        ...usualDay(8).split('\n').slice(1, -1),
        ...Array.from({ length: 80 }, (_, at) => row(9000 + at, 8, 'Nevada')),
      ]),
      ['new_numbers', 'one_state'],
    ],
  ])('%s is held by the gates that it should be', async (_name, content, gates) => {
    await usualWeek();
    const before = await stored();
    const report = await load('complaints', content);
    expect(report.gates.map(({ gate }) => gate)).toEqual(gates);
    expect(report.state).toBe('held');
    expect(await stored()).toBe(before);
  });

  it('that is held keeps its file and its refused rows; released, it is merged once, with who and why', async () => {
    await usualWeek();
    const held = await load('complaints', usualDay(8, 8).replace('2025550002', 'x'));
    expect(held).toMatchObject({ state: 'held', rowsGiven: 8, rowsRejected: 1, rowsChanged: null });
    expect(held.rejects).toHaveLength(1);
    expect(existsSync(join(feedDir, held.sha256))).toBe(true);
    const run = () => runFeedLoad({ db, feedDir, loadId: held.loadId, limits });
    expect(await run()).toMatchObject({ state: 'held' });
    await decideHeldLoad({
      db,
      eyes,
      loadId: held.loadId,
      decision: 'release',
      reason: 'Few calls on a holiday',
      actor: 'ann',
    });
    expect(await run()).toMatchObject({
      state: 'done',
      rowsAccepted: 7,
      rowsChanged: 7,
      gates: [{ gate: 'volume' }],
      decision: { kind: 'release', by: 'ann', reason: 'Few calls on a holiday' },
    });
    expect(existsSync(join(feedDir, held.sha256))).toBe(false);
    expect(await stored()).toBe(707);
  });

  it('that is discarded ends, with its file; it can be neither released nor discarded again', async () => {
    await usualWeek();
    const { loadId, sha256 } = await load('complaints', usualDay(8, 8));
    const decision = { db, loadId, reason: 'Cut off', actor: 'ann', eyes };
    await expect(discardFeedLoad({ ...decision, feedDir, reason: ' ' })).rejects.toMatchObject({
      code: 'reason_required',
    });
    expect(await discardFeedLoad({ ...decision, feedDir })).toMatchObject({
      state: 'discarded',
      decision: { kind: 'discard' },
    });
    expect(existsSync(join(feedDir, sha256))).toBe(false);
    await expect(decideHeldLoad({ ...decision, decision: 'release' })).rejects.toMatchObject({ code: 'feed_not_held' });
    expect(await runFeedLoad({ db, feedDir, loadId, limits })).toMatchObject({ state: 'discarded' });
    await expect(decideHeldLoad({ ...decision, loadId: 999, decision: 'release' })).rejects.toMatchObject({
      code: 'feed_not_found',
    });
    expect(await stored()).toBe(700);
  });

  it('of another source has gates of its own', async () => {
    await usualWeek();
    expect(await load('complaints', usualDay(8, 8), { source: 'fcc' })).toMatchObject({ state: 'done', source: 'fcc' });
  });

  it('that was released but whose file is gone fails, and changes nothing', async () => {
    await usualWeek();
    const { loadId, sha256 } = await load('complaints', usualDay(8, 8));
    await decideHeldLoad({ db, eyes, loadId, decision: 'release', reason: 'why', actor: 'ann' });
    await rm(join(feedDir, sha256));
    await expect(runLoad({ db, feedDir, loadId, limits })).rejects.toMatchObject({ code: 'feed_not_found' });
    expect(await readFeedLoad(db, loadId)).toMatchObject({ state: 'failed' });
  });

  it('of a reputation feed is held when its levels change places', async () => {
    const list = (level: string) =>
      Array.from({ length: 100 }, (_, at) => `+1202555${2000 + at},${at < 90 ? level : 'FRAUD'}\n`).join('');
    for (let times = 0; times < 7; times++) await load('reputation', list('SPAM'));
    expect((await load('reputation', list('FRAUD'))).gates.map(({ gate }) => gate)).toEqual(['levels']);
    expect((await listFeedLoads(db, { state: 'held' })).map(({ feed }) => feed)).toEqual(['reputation']);
  });
});
