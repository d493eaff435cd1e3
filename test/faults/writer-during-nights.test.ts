import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { listPublications } from '../../pipelines/caches/publications.ts';
import { Seeded } from '../../runtime/seeded.ts';
import { connect, queryRows } from '../../runtime/postgres.ts';
import { useTestDatabase } from '../support/database.ts';
import { sizes } from '../support/run-size.ts';
import { runWholeNight, useStore } from '../support/night.ts';
import { putNumbers } from '../support/numbers.ts';

const { db, url } = await useTestDatabase();
const store = await useStore();
const limits = { segmentRowsMax: 50 };
const { nights } = sizes;
const areas = Array.from({ length: 12 }, (_, at) => 202 + at);
const pairs = 40;
const phoneOf = (area: number, pair: number) => `+1${area}555${String(pair).padStart(4, '0')}`;

/** Commits all the time until it is stopped: the two numbers of a pair, far from one another, always change together. */
class Writer {
  readonly choose = new Seeded(5);
  commits = 0;
  private ended = false;
  private readonly done: Promise<void>;

  constructor() {
    this.done = this.write();
  }

  async end(): Promise<void> {
    this.ended = true;
    await this.done;
  }

  private async write(): Promise<void> {
    const client = await connect({ url, applicationName: 'writer' });
    while (!this.ended) {
      // For a while in the same two of twelve areas, so that nights copy the segments of the others.
      const [area, pair] = [Math.floor(this.commits / 300) % (areas.length / 2), this.choose.below(pairs)];
      const both = [phoneOf(areas[area]!, pair), phoneOf(areas[areas.length - 1 - area]!, pair)];
      await client.query('BEGIN');
      for (const phone of both)
        await client.query('UPDATE phone_number SET display_name = $2 WHERE phone = $1', [phone, `v${this.commits}`]);
      if (this.choose.chance(0.2)) await new Promise((resolve) => setTimeout(resolve, this.choose.below(30))); // some are open for a while
      await client.query('COMMIT');
      this.commits++;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await client.end();
  }
}

let writer: Writer | undefined;
afterAll(() => writer?.end());

async function publishedNames(): Promise<Map<string, string>> {
  const { published } = (await listPublications(db)).find(
    ({ cache, country }) => cache === 'phones' && country === 'US',
  )!;
  const plain = gunzipSync(
    await readFile(store.path({ cache: 'phones', country: 'US', sha256: published!.file.sha256 })),
  ).toString();
  return new Map(
    plain
      .trimEnd()
      .split('\n')
      .map((line) => [line.split('\t')[0]!, line.split('\t')[3]!]),
  );
}

describe('a writer that commits all through the nights', () => {
  it(
    `is never half seen in ${nights} nights, and nothing of it is missing after the last`,
    { timeout: 600_000 },
    async () => {
      await putNumbers(
        db,
        areas.flatMap((area) =>
          Array.from({ length: pairs }, (_, pair) => ({ phone: phoneOf(area, pair), name: 'v' })),
        ),
      );
      writer = new Writer();
      for (let night = 0; night < nights; night++) {
        const report = await runWholeNight({ db, url, store, only: 'phones/US', limits });
        expect(report.artefacts[0]!.outcome).not.toBe('failed');
        const names = await publishedNames();
        for (const [at, area] of areas.slice(0, areas.length / 2).entries()) {
          for (let pair = 0; pair < pairs; pair++)
            expect(names.get(phoneOf(area, pair))).toBe(names.get(phoneOf(areas[areas.length - 1 - at]!, pair)));
        }
      }
      await writer.end();
      expect(writer.commits).toBeGreaterThan(nights);
      await runWholeNight({ db, url, store, limits, only: 'phones/US' });
      const rows = await queryRows<{ phone: string; name: string }>(
        db,
        'SELECT phone, display_name AS name FROM phone_number ORDER BY phone',
      );
      expect([...(await publishedNames())]).toEqual(rows.map(({ phone, name }) => [phone, name]));
    },
  );
});
