import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { instantsOf, makeLabelReport } from '../../../evaluation/labels/label-report.ts';
import { labelRules, type Predictor } from '../../../evaluation/labels/label-rules.ts';
import { blocksOf, rangesAtRisk, walkRanges } from '../../../evaluation/labels/range-walk.ts';
import { dateOfDay, readReportHistory } from '../../../evaluation/labels/report-history.ts';
import { walkHistory } from '../../../evaluation/labels/walk.ts';

let directory: string;
let files = 0;
beforeAll(async () => (directory = await mkdtemp(join(tmpdir(), 'caller-trust-labels-'))));
afterAll(() => rm(directory, { recursive: true }));

type Report = readonly [day: string, phone: string, areaCode: string];

async function tableOf(reports: readonly Report[], { gzip = true } = {}): Promise<string> {
  const path = join(directory, `history-${++files}`);
  const text = `day\tphone\tconsumer_area_code\n${reports.map((report) => `${report.join('\t')}\n`).join('')}`;
  await writeFile(path, gzip ? gzipSync(text) : text);
  return path;
}

const history = async (reports: readonly Report[]) => readReportHistory([await tableOf(reports)]);
const march = (day: number) => `2026-03-${String(day).padStart(2, '0')}`;
const [called, other] = ['2025550143', '2025550144'];

describe('a history of reports', () => {
  it('is read from tables and complaint files, gzipped or not, in any order; the state of an area code is that of its name', async () => {
    const complaints = join(directory, 'complaints.csv');
    await writeFile(
      complaints,
      `Company_Phone_Number,Created_Date,Violation_Date,Consumer_City,Consumer_State,Consumer_Area_Code,Subject,Recorded_Message_Or_Robocall
2025550143,2026-03-02 10:00:00,,"Town, A",Ohio,614,"Energy, solar",Y\n`,
    );
    const read = await readReportHistory([
      await tableOf(
        [
          [march(3), `1${called}`, '216'],
          [march(3), called, '800'],
          [march(1), other, '512'],
          [march(1), '0000000000', '512'],
          ['later', called, '512'],
        ],
        { gzip: false },
      ),
      complaints,
    ]);
    expect(read.rowsGiven).toBe(6);
    expect(read.rowsLeftOut).toBe(2);
    expect(dateOfDay(read, 0)).toBe('2026-03-01');
    expect([...read.reportsOfDay]).toEqual([1, 1, 2]);
    const of = (phone: number) => {
      const at = read.phones.indexOf(phone);
      return [...read.days.subarray(read.firstReport[at], read.firstReport[at + 1])].map((day, place) => [
        day,
        read.states[read.firstReport[at]! + place],
      ]);
    };
    const ohio = of(12025550143)[0]![1]!;
    expect(of(12025550143)).toEqual([
      [1, ohio],
      [2, 0],
      [2, ohio],
    ]);
    expect(of(12025550144)).toEqual([[0, expect.any(Number)]]);
  });

  it('without a report is refused', async () => {
    await expect(history([[march(1), '1', '']])).rejects.toMatchObject({ code: 'usage_invalid' });
  });
});

/** Marks numbers that were reported on the day before. */
const yesterday: Predictor = {
  name: 'yesterday',
  description: '',
  mark: ({ days, from, end }, marks) => {
    for (let at = from; at < end; at++) marks[days[at]! + 1] = 1;
    return true;
  },
};

describe('walking a history', () => {
  it('asks the days from the instant on, and takes labels from the days before it alone', async () => {
    const read = await history([
      [march(1), called, '614'],
      [march(2), called, '614'],
      [march(2), other, '614'],
      [march(8), called, '614'],
      [march(10), other, '614'],
      [march(31), other, '614'],
    ]);
    const [walked] = walkHistory(read, [yesterday], [1, 2]);
    expect(walked!.instants).toEqual([
      { day: 1, labels: 1, againInWeek: 1, againInMonth: 1, caught: 2, reports: 3, monthKnown: true },
      { day: 2, labels: 2, againInWeek: 1, againInMonth: 2, caught: 1, reports: 1, monthKnown: true },
    ]);
    expect(walkHistory(read, [yesterday], [4])[0]!.instants[0]).toMatchObject({ labels: 0, monthKnown: false });
  });

  it('counts how long labels last after the last report, and those that come back', async () => {
    const read = await history([
      [march(1), called, '614'],
      [march(5), called, '614'],
      [march(31), other, '614'],
    ]);
    const [walked] = walkHistory(read, [yesterday], []);
    expect(walked).toMatchObject({ begun: 3, flipped: 1 });
    expect([...walked!.endedAfter.subarray(0, 4)]).toEqual([0, 0, 2, 0]);
  });
});

describe('ranges at risk', () => {
  const reported = (block: string, count: number, day: string): Report[] =>
    Array.from({ length: count }, (_, n) => [day, `${block}${100 + n}`, '614']);

  it('are the blocks with three reported numbers in the 42 days before, those with the greatest sums first', async () => {
    const read = await history([
      ...reported('2025550', 3, march(1)),
      ...reported('2025551', 2, march(1)),
      ...reported('2025552', 4, march(8)),
      ['2026-04-20', '2025550100', '614'],
    ]);
    const found = (day: number, size = 1000) => {
      const blocks = blocksOf(read, size);
      return rangesAtRisk(read, blocks, day).map(({ block, ...range }) => [blocks.prefixes[block], range]);
    };
    expect(found(8)).toEqual([
      [12025552, { country: 'US', numbersReported: 4, score: expect.closeTo(4 * 0.5 ** (1 / 7), 8), place: 1 }],
      [12025550, { country: 'US', numbersReported: 3, score: expect.closeTo(3 * 0.5 ** (8 / 7), 8), place: 2 }],
    ]);
    expect(found(8, 100)).toHaveLength(2);
    expect(found(0)).toEqual([]);
    expect(found(48)).toEqual([]); // four numbers 41 days old weigh 0.07
  });

  it('catch reports about numbers that nobody reported before, and those of labelled numbers once', async () => {
    const read = await history([
      ...reported('2025550', 3, march(1)),
      [march(3), '2025550999', '614'],
      [march(3), '2025550100', '614'],
      [march(4), '3015550100', '614'],
      [march(9), '2025550998', '614'],
    ]);
    const labelled: Predictor = {
      name: '',
      description: '',
      mark: ({ phone }, marks) => (phone === 12025550100 || phone === 13015550100) && marks.fill(1) === marks,
    };
    const [instant] = walkRanges(read, labelled, [1]);
    expect(instant).toMatchObject({
      day: 1,
      reports: 3,
      labelled: 2,
      risks: [
        { ranges: 1, caught: 2 },
        { ranges: 0, caught: 0 },
        { ranges: 0, caught: 0 },
      ],
    });
    expect([...instant!.sizes[0]!.caught]).toEqual([1, 2]);
    expect([...instant!.sizes[0]!.caughtUnlabelled]).toEqual([0, 1]);
  });
});

/** The peers as their definitions say, one day at a time. */
function labelledBy(rule: string, reports: readonly { day: number; state: string }[], day: number): boolean {
  const before = reports.filter((report) => report.day < day);
  if (rule === '3 reports in 7 days') return before.filter((report) => report.day >= day - 7).length >= 3;
  if (rule === 'any report in 90 days') return before.some((report) => report.day >= day - 90);
  if (rule === '10 votes, half-life 120 days')
    return before.reduce((sum, report) => sum + 0.5 ** ((day - report.day) / 120), 0) >= 10;
  const independent = [...new Map(before.map((report) => [`${report.day} ${report.state}`, report])).values()];
  return (
    independent.length >= 3 &&
    independent.reduce((sum, report) => sum + 0.5 ** ((day - report.day) / 30), 0) >= 1.5 - 1e-9
  );
}

describe('the rules of others', () => {
  it('label as they are defined, on any history', async () => {
    const report = fc.record({ day: fc.integer({ min: 1, max: 28 }), state: fc.constantFrom('614', '512', '801') });
    await fc.assert(
      fc.asyncProperty(fc.array(report, { minLength: 1, maxLength: 40 }), async (reports) => {
        const read = await history([
          ...reports.map(({ day, state }): Report => [march(day), called, state]),
          ['2026-03-01', other, '614'],
          ['2026-06-30', other, '614'],
        ]);
        const at = read.phones.indexOf(Number(`1${called}`));
        for (const rule of labelRules(read, { holdDaysMax: 45 }).slice(1)) {
          const marks = new Uint8Array(read.reportsOfDay.length + 1);
          rule.mark(
            {
              phone: 0,
              days: read.days,
              states: read.states,
              from: read.firstReport[at]!,
              end: read.firstReport[at + 1]!,
            },
            marks,
          );
          const days = Array.from({ length: marks.length }, (_, day) => day);
          expect([rule.name, ...days.filter((day) => marks[day] === 1)]).toEqual([
            rule.name,
            ...days.filter((day) =>
              labelledBy(
                rule.name,
                reports.map((each) => ({ day: each.day - 1, state: each.state })),
                day,
              ),
            ),
          ]);
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe('the report', () => {
  it('has an instant each Monday after the warm-up, and only those with a week after them', async () => {
    const read = await history([
      [march(1), called, '614'],
      [march(31), called, '614'],
    ]);
    const dates = (options: Parameters<typeof instantsOf>[1]) =>
      instantsOf(read, options).map((day) => dateOfDay(read, day));
    expect(dates({ warmUpDays: 3 })).toEqual(['2026-03-09', '2026-03-16', '2026-03-23']);
    expect(dates({ warmUpDays: 3, from: 5 })).toEqual(['2026-03-06', '2026-03-13', '2026-03-20']);
    expect(dates({ warmUpDays: 3, until: 10 })).toEqual(['2026-03-09']);
    expect(dates({ warmUpDays: 60 })).toEqual([]);
  });

  it('gives means and intervals over weeks, the same for the same seed, and divides the instants at the given day', async () => {
    const reports = Array.from({ length: 3000 }, (_, n): Report => [
      new Date(Date.UTC(2026, 0, 1 + ((n * 37) % 150))).toISOString().slice(0, 10),
      `2025551${String(n % 83).padStart(3, '0')}`,
      ['614', '512', '801'][n % 3]!,
    ]);
    const read = await history(reports);
    const instants = instantsOf(read, { warmUpDays: 30 });
    const make = () =>
      makeLabelReport({
        history: read,
        name: 'made',
        walked: walkHistory(read, labelRules(read, { holdDaysMax: 45 }), instants),
        ranges: walkRanges(read, labelRules(read, { holdDaysMax: 45 })[0]!, instants),
        instants,
        splitAt: 100,
        bootstrap: { resamples: 200, seed: 3 },
      });
    const report = make();
    expect(make()).toEqual(report);
    expect(report.periods.map(({ name, instants: weeks }) => [name, weeks])).toEqual([
      ['all', instants.length],
      ['first part', instants.filter((day) => day < 100).length],
      ['last part', instants.filter((day) => day >= 100).length],
    ]);
    for (const { periods, series } of report.rules) {
      const { value, interval } = periods[0]!.recall;
      expect(value).toBeCloseTo(series.reduce((sum, { recall }) => sum + recall, 0) / series.length, 5);
      expect(interval![0]).toBeLessThanOrEqual(value);
      expect(interval![1]).toBeGreaterThanOrEqual(value);
      expect(periods[2]!.recall.interval).toBe(report.periods[2]!.instants < 8 ? null : expect.anything());
    }
  });
});
