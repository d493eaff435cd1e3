import { describe, expect, it } from 'vitest';
import { judgeArrivals, listFeedArrivals, type ArrivalFacts } from '../../../pipelines/feeds/feed-arrivals.ts';
import { loadConfig } from '../../../runtime/config.ts';
import { useTestDatabase } from '../../support/database.ts';

const { db } = await useTestDatabase();
const limits = loadConfig({});
const now = new Date('2026-02-01T00:00:00Z');
const hoursAgo = (hours: number) => new Date(now.getTime() - hours * 3_600_000);
const facts = (hours: number, change: Partial<ArrivalFacts> = {}): ArrivalFacts => ({
  feed: 'complaints',
  source: '',
  lastAt: hoursAgo(hours),
  rows: 100,
  loads: 28,
  usualSeconds: 86_400,
  ...change,
});
const late = (given: ArrivalFacts[], feedIntervalHours?: string) =>
  judgeArrivals(given, { ...limits, feedIntervalHours }, now)
    .filter((arrival) => arrival.late)
    .map(({ feed, source }) => `${feed}/${source}`);

describe('a feed', () => {
  it('is late when it stays away for more than one and a half of its usual intervals', () => {
    expect(late([facts(36)])).toEqual([]);
    expect(late([facts(36.01)])).toEqual(['complaints/']);
  });

  it('is judged by the interval that is set for its source, before that by what was learnt from enough loads', () => {
    expect(late([facts(40, { source: 'a' }), facts(40, { source: 'b' })], 'complaints/a=48')).toEqual(['complaints/b']);
    expect(late([facts(1000, { loads: 6 })])).toEqual([]);
    expect(late([facts(1000, { loads: 6 })], 'complaints=24')).toEqual(['complaints/']);
  });

  it('that was loaded many times on one day is not late the next', () => {
    expect(late([facts(36, { usualSeconds: 60 })])).toEqual([]);
  });

  it('that is expected and never came is late', () => {
    expect(judgeArrivals([], { ...limits, feedIntervalHours: 'reputation/phoneblock=24' }, now)).toEqual([
      {
        feed: 'reputation',
        source: 'phoneblock',
        lastAt: null,
        rows: null,
        expectedHours: 24,
        ageHours: null,
        late: true,
      },
    ]);
  });

  it('is known by its loads that brought something: files that repeat, are held or failed do not count', async () => {
    const add = (hours: number, state: string, changed: number, feed = 'complaints') =>
      db.query(
        `INSERT INTO feed_load (feed, file_name, file_sha256, file_bytes, submitted_by, state, requested_at, rows_given, rows_accepted, rows_rejected, rows_changed, gates)
        VALUES ($4, 'f', repeat('a', 64), 1, 'test', $1, $2, 100, 100, 0, $3, '[{}]')`,
        [state, hoursAgo(hours), changed, feed],
      );
    for (let day = 40; day >= 30; day--) await add(day * 24, 'done', 100); // daily; then it stops
    for (let day = 29; day >= 1; day--) await add(day * 24, 'done', 0); // the last file, again and again
    await add(3, 'held', 0);
    await add(2, 'failed', 0);
    for (let day = 8; day >= 0; day--) await add(day * 24, 'done', 0, 'reputation'); // a list that says nothing new
    expect(await listFeedArrivals(db, limits, now)).toEqual([
      {
        feed: 'complaints',
        source: '',
        lastAt: hoursAgo(720),
        rows: 100,
        expectedHours: 24,
        ageHours: 720,
        late: true,
      },
      { feed: 'reputation', source: '', lastAt: hoursAgo(0), rows: 100, expectedHours: 24, ageHours: 0, late: false },
    ]);
  });
});
