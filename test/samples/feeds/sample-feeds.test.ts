import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeSampleFeeds } from '../../../samples/feeds/sample-feeds.ts';
import { scoreComplaints } from '../../../pipelines/labels/scoring.ts';
import { useTestDatabase } from '../../support/database.ts';
import { smallLimits, useFeedLoader } from '../../support/feeds.ts';

const { db } = await useTestDatabase();
const { directory, load } = await useFeedLoader(db);
const asOf = new Date('2026-03-01T01:00:00Z');
const limits = { ...smallLimits, feedPlainBytesMax: 1e9 };

describe('sample feeds', () => {
  it('are the same bytes for the same seed', async () => {
    const [a, b] = [
      await writeSampleFeeds(join(directory, 'a'), { asOf, seed: 1, scale: 0.1 }),
      await writeSampleFeeds(join(directory, 'b'), { asOf, seed: 1, scale: 0.1 }),
    ];
    for (const feed of ['reputation', 'directory', 'complaints'] as const)
      expect(await readFile(a[feed])).toEqual(await readFile(b[feed]));
  });

  it('load with a few per cent of refused rows, and give several countries and levels', async () => {
    const feeds = await writeSampleFeeds(join(directory, 'c'), { asOf, seed: 2, scale: 1 });
    for (const feed of ['reputation', 'directory', 'complaints'] as const) {
      const report = await load(feed, await readFile(feeds[feed]), limits);
      expect(report.rowsRejected / report.rowsGiven).toBeGreaterThan(0.01);
      expect(report.rowsRejected / report.rowsGiven).toBeLessThan(0.06);
    }
    const scored = await scoreComplaints(db, asOf);
    expect(scored.changed).toBeGreaterThan(20);
    const {
      rows: [row],
    } = await db.query(
      'SELECT count(DISTINCT country) AS countries, count(DISTINCT reputation_category) AS categories FROM phone_number',
    );
    expect(row.countries).toBeGreaterThanOrEqual(12);
    expect(row.categories).toBeGreaterThanOrEqual(8);
  });
});
