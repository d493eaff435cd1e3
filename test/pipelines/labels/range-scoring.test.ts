import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { blocksOf, rangesAtRisk } from '../../../evaluation/labels/range-walk.ts';
import { readReportHistory } from '../../../evaluation/labels/report-history.ts';
import { makeManifest, type Manifest } from '../../../pipelines/caches/manifest.ts';
import { listPublications } from '../../../pipelines/caches/publications.ts';
import { clearNumber } from '../../../pipelines/labels/number-record.ts';
import { rangeRule, scoreRanges } from '../../../pipelines/labels/range-scoring.ts';
import { useTestDatabase } from '../../support/database.ts';
import { useFeedLoader } from '../../support/feeds.ts';
import { runWholeNight, useStore } from '../../support/night.ts';
import { putNumbers } from '../../support/numbers.ts';
import { eyes } from '../../support/branding.ts';

const { db, url } = await useTestDatabase();
const store = await useStore();
const { load } = await useFeedLoader(db);

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-ranges-'));
afterAll(() => rm(directory, { recursive: true }));

beforeEach(async () => {
  await db.query(
    'TRUNCATE phone_number, feed_load, redress, complaint_score, spam_range, publication, artefact_version, build, night_run RESTART IDENTITY CASCADE',
  );
});

const header =
  'Company_Phone_Number,Created_Date,Violation_Date,Consumer_City,Consumer_State,Consumer_Area_Code,Subject,Recorded_Message_Or_Robocall\n';
const asOf = new Date('2021-07-08T00:00:00Z');
const dayMs = 86_400_000;

/** Reports about numbers, each a number of days before 8 July 2021. */
function report(...reports: readonly (readonly [phone: string, daysBefore: number])[]) {
  const row = ([phone, days]: readonly [string, number]) =>
    `${phone},${new Date(asOf.getTime() - days * dayMs).toISOString().slice(0, 19).replace('T', ' ')},,,Texas,,Other,Y\n`;
  return load('complaints', header + reports.map(row).join(''));
}

/** The same reports as a table, as `evaluate labels` reads them. */
async function tableOf(reports: readonly (readonly [phone: string, daysBefore: number])[]): Promise<string> {
  const path = join(directory, 'reports.tsv');
  await writeFile(
    path,
    `day\tphone\n${reports.map(([phone, days]) => `${new Date(asOf.getTime() - days * dayMs).toISOString().slice(0, 10)}\t${phone}\n`).join('')}`,
  );
  return path;
}

async function ranges(): Promise<unknown[][]> {
  const { rows } = await db.query({
    text: 'SELECT prefix, country, risk, numbers_reported, since::text, until::text FROM spam_range ORDER BY prefix',
    rowMode: 'array',
  });
  return rows;
}

/** Numbers of the block 202 555 0xxx. */
const inBlock = (count: number, first = 100) => Array.from({ length: count }, (_, at) => `2025550${first + at}`);
const reportedOn = (days: number, phones: readonly string[]) => phones.map((phone) => [phone, days] as const);

describe('a range of 1,000 numbers', () => {
  it('is at risk from three reported numbers on, and not with two, however often they are reported', async () => {
    await report(...reportedOn(1, inBlock(2)), ...reportedOn(2, inBlock(2)), ...reportedOn(3, inBlock(2)));
    expect(await scoreRanges(db, asOf)).toEqual({ listed: 0, written: 0, removed: 0 });
    await report([inBlock(3)[2]!, 1]);
    expect(await scoreRanges(db, asOf)).toEqual({ listed: 1, written: 1, removed: 0 });
    // 3 x 0.5^(1/7) = 2.717: 1 after 7 x log2(2.717) = 10.1 days
    expect(await ranges()).toEqual([['+12025550', 'US', 'ELEVATED', 3, '2021-07-08', '2021-07-18']]);
  });

  it('is at risk as long as its sum of weights reaches 1, and not a moment longer', async () => {
    await report(...reportedOn(0, inBlock(4)));
    expect((await scoreRanges(db, new Date(asOf.getTime() + 14 * dayMs))).listed).toBe(1); // 4 x 0.25
    expect(await ranges()).toEqual([['+12025550', 'US', 'ELEVATED', 4, '2021-07-22', '2021-07-22']]);
    expect(await scoreRanges(db, new Date(asOf.getTime() + 14 * dayMs + 60_000))).toEqual({
      listed: 0,
      written: 0,
      removed: 1,
    });
  });

  it('counts numbers whose last report is within 42 days', async () => {
    await report(...reportedOn(0, inBlock(2)), [inBlock(3)[2]!, 41.99]);
    expect((await scoreRanges(db, asOf)).listed).toBe(1);
    expect((await scoreRanges(db, new Date(asOf.getTime() + 0.02 * dayMs))).listed).toBe(0);
  });

  it.each([
    ['ELEVATED', 3],
    ['HIGH', 4],
    ['HIGH', 15],
    ['SEVERE', 16],
  ])('has the risk %s with %i numbers reported at the instant, and the lift of that risk', async (risk, count) => {
    await report(...reportedOn(0, inBlock(count)));
    await scoreRanges(db, asOf);
    const { rows } = await db.query<{ risk: string; lift: number }>('SELECT risk, lift FROM spam_range');
    expect(rows).toEqual([{ risk, lift: rangeRule.risks.find((each) => each.risk === risk)!.lift }]);
  });

  it('keeps the day since when it is listed while its facts change, and starts again after a break', async () => {
    await report(...reportedOn(0, inBlock(3)));
    await scoreRanges(db, asOf);
    await report(...reportedOn(-2, inBlock(1, 300)));
    const later = (days: number) => new Date(asOf.getTime() + days * dayMs);
    expect(await scoreRanges(db, later(3))).toMatchObject({ written: 1 });
    expect(await ranges()).toMatchObject([['+12025550', 'US', 'ELEVATED', 4, '2021-07-08', expect.any(String)]]);
    await scoreRanges(db, later(60));
    await report(...reportedOn(-60, inBlock(3)));
    await scoreRanges(db, later(60));
    expect(await ranges()).toMatchObject([['+12025550', 'US', 'ELEVATED', 3, '2021-09-06', expect.any(String)]]);
  });

  it('does not count a cleared number until it is reported again', async () => {
    await report(...reportedOn(1, inBlock(3)));
    await putNumbers(db, [{ phone: '+12025550100' }]);
    await clearNumber({ db, eyes, phone: '+12025550100', reason: 'a test', actor: 'test' });
    expect((await scoreRanges(db, asOf)).listed).toBe(0);
    await report([inBlock(1)[0]!, 0.5]);
    expect((await scoreRanges(db, asOf)).listed).toBe(1);
  });

  it('is the one that `evaluate labels` measures, on any history', async () => {
    const daysBefore = fc.integer({ min: 1, max: 45 });
    const reports = fc.array(
      fc.tuple(
        fc.constantFrom(
          ...['20255501', '20255502', '20255511', '41655501'].flatMap((hundred) =>
            [0, 1, 2, 3, 4, 5].map((n) => `${hundred}0${n}`),
          ),
        ),
        daysBefore,
      ),
      { minLength: 1, maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(reports, async (given) => {
        await db.query('TRUNCATE feed_load, spam_range CASCADE');
        await report(...given);
        await scoreRanges(db, asOf);
        const { rows } = await db.query({
          text: 'SELECT prefix, country, risk, numbers_reported FROM spam_range ORDER BY prefix',
          rowMode: 'array',
        });
        const history = await readReportHistory([await tableOf([...given, ['2125550100', 0]])]); // its day is the one of the scoring
        const blocks = blocksOf(history, 1000);
        const found = rangesAtRisk(history, blocks, history.reportsOfDay.length - 1);
        expect(
          found
            .map(({ block, country, score, numbersReported }) => [
              `+${blocks.prefixes[block]}`,
              country,
              rangeRule.risks.findLast(({ scoreMin }) => score >= scoreMin)!.risk,
              numbersReported,
            ])
            .sort(),
        ).toEqual(rows);
      }),
      { numRuns: 25 },
    );
  });

  it('labels none of its numbers', async () => {
    await report(...reportedOn(0, inBlock(20)));
    await runWholeNight({
      db,
      url,
      store,
      settings: {},
      prepare: async (at) => {
        await scoreRanges(db, at);
      },
      evaluatedAt: asOf,
    });
    const { rows } = await db.query("SELECT phone FROM phone_number WHERE reputation_level <> 'NEUTRAL'");
    expect(rows).toEqual([]);
  });
});

describe('the cache of ranges at risk', () => {
  const night = (at: Date) =>
    runWholeNight({
      db,
      url,
      store,
      settings: {},
      prepare: async (evaluatedAt) => {
        await scoreRanges(db, evaluatedAt);
      },
      evaluatedAt: at,
    });

  async function published(): Promise<{ manifest: Manifest; lines: string[] }> {
    const publication = (await listPublications(db)).find(({ cache }) => cache === 'spam_ranges')!;
    const manifest = makeManifest({ ...publication, published: publication.published! });
    const file = await readFile(store.path({ cache: 'spam_ranges', country: '', sha256: manifest.file.sha256 }));
    return { manifest, lines: gunzipSync(file).toString().split('\n').slice(0, -1) };
  }

  it('has prefix, risk, lift, numbers, since and until, ascending by prefix, and says that it labels nobody', async () => {
    await report(...reportedOn(0, inBlock(5)), ...reportedOn(0, ['2015550100', '2015550101', '2015550102']));
    await night(asOf);
    const { manifest, lines } = await published();
    expect(lines).toEqual([
      '+12015550\tELEVATED\t20\t3\t2021-07-08\t2021-07-19',
      '+12025550\tHIGH\t35\t5\t2021-07-08\t2021-07-24',
    ]);
    expect(manifest).toMatchObject({ rows: 2, levels: {}, order: 'prefix ascending in byte order', version: 1 });
    expect(manifest.columns.map(({ name, type }) => [name, type])).toEqual([
      ['prefix', 'prefix'],
      ['risk', 'risk'],
      ['lift', 'count'],
      ['numbers_reported', 'count'],
      ['since', 'date'],
      ['until', 'date'],
    ]);
    expect(manifest.notice).toContain('not a label of any number');
  });

  it('stays the same version while nothing is reported, and offers a delta when something is', async () => {
    await report(...reportedOn(0, inBlock(5)), ...reportedOn(0, ['2015550100', '2015550101', '2015550102']));
    await night(asOf);
    await night(new Date(asOf.getTime() + 3600_000));
    expect((await published()).manifest.version).toBe(1);
    await report(...reportedOn(0, ['3015550100', '3015550101', '3015550102']));
    await night(new Date(asOf.getTime() + 2 * 3600_000));
    const { manifest, lines } = await published();
    expect(manifest).toMatchObject({ version: 2, rows: 3, deltas: [{ from: 1, added: 1, changed: 0, removed: 0 }] });
    expect(lines.map((line) => line.split('\t')[0])).toEqual(['+12015550', '+12025550', '+13015550']);
  });
});
