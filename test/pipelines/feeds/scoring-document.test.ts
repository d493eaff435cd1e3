import { afterEach, describe, expect, it } from 'vitest';
import { labelRules } from '../../../evaluation/labels/label-rules.ts';
import type { ReportHistory } from '../../../evaluation/labels/report-history.ts';
import { complaintRule } from '../../../pipelines/labels/complaint-rule.ts';
import { scoreComplaints } from '../../../pipelines/labels/scoring.ts';
import { readProjectFile, tableRows } from '../../conventions/source-tree.ts';
import { useTestDatabase } from '../../support/database.ts';
import { useFeedLoader } from '../../support/feeds.ts';

const { db } = await useTestDatabase();
const { load } = await useFeedLoader(db);
const text = readProjectFile('docs/scoring.md');

/** The rows of the table under a heading, without its titles. */
function rowsUnder(heading: string): string[][] {
  const from = text.indexOf(`## ${heading}`);
  return tableRows(text.slice(from, text.indexOf('\n## ', from + 1))).slice(1);
}

afterEach(() => db.query('TRUNCATE phone_number, feed_load, complaint_day, complaint_score RESTART IDENTITY CASCADE'));

const header = 'Company_Phone_Number,Created_Date,Violation_Date,Consumer_State,Subject,Recorded_Message_Or_Robocall\n';
const months: Readonly<Record<string, string>> = { May: '05', June: '06', July: '07' };
const someStates = ['Iowa', 'Ohio', 'Utah', 'Texas', 'Maine', 'Idaho'];

/** The complaints that an example's words name. */
function complaintsOf(words: string): string {
  return words
    .split(', and ')
    .flatMap((part) => {
      const [, dates = '', states = ''] = /^(.*) from (.*)$/.exec(part)!;
      const named = states === 'six states' ? someStates : someStates.filter((state) => states.includes(state));
      const times = states.includes('four times') ? 4 : 1;
      const month = (at: number) => months[/(May|June|July)/.exec(dates.slice(at))![1]!]!;
      const days = [...dates.matchAll(/\d+/g)].map(
        (match) => `2026-${month(match.index)}-${match[0].padStart(2, '0')}`,
      );
      return days.flatMap((day) =>
        named.flatMap((state) =>
          Array.from({ length: times }, (_, n) => `2025550143,${day} 10:00:0${n},,${state},Other,Y\n`),
        ),
      );
    })
    .join('');
}

/** A feed that speaks on every day from May to the day before the evaluation. */
const otherComplaints = Array.from(
  { length: 80 },
  (_, n) => `2025550199,${new Date(Date.UTC(2026, 6, 19 - n)).toISOString().slice(0, 10)} 09:00:00,,Ohio,Other,Y\n`,
).join('');

describe('the examples of docs/scoring.md', () => {
  it('are worked out as the rule does', async () => {
    const examples = rowsUnder('Examples');
    expect(examples.length).toBeGreaterThan(7);
    for (const [words, independent, sum, result] of examples) {
      await load('complaints', header + complaintsOf(words!) + otherComplaints);
      await scoreComplaints(db, new Date('2026-07-20T01:00:00Z'));
      const {
        rows: [row],
      } = await db.query(
        "SELECT level, category, score, independent_reports FROM complaint_score WHERE phone = '+12025550143'",
      );
      const points = sum!.includes('=') ? Number(sum!.split('=')[1]) : Number(sum);
      const worked = sum!
        .split('=')[0]!
        .split('+')
        .reduce((total, term) => total + term.split('x').reduce((product, factor) => product * Number(factor), 1), 0);
      expect([words, worked, row]).toEqual([
        words,
        points,
        {
          level: result!.split(/[ :]/)[0],
          category: result === 'SPAM 10' ? 10 : null,
          score: points,
          independent_reports: Number(independent),
        },
      ]);
      await db.query('TRUNCATE phone_number, feed_load, complaint_day, complaint_score RESTART IDENTITY CASCADE');
    }
  });

  it('are below the points that the rule has', () => {
    const table = rowsUnder('The rule').map(([ages, day, further]) => [
      Number(ages!.split(' to ')[1]),
      Number(day),
      Number(further),
    ]);
    expect(table).toEqual(
      complaintRule.pointsByAge.map(({ ageDaysMax, day, furtherState }) => [ageDaysMax, day, furtherState]),
    );
  });
});

/** A complaint of a campaign: the day of report, the day that the complainant gives for the call, and the state. */
interface Complaint {
  readonly day: number;
  readonly calledOn: number;
  readonly state: number;
}

const every = (days: number, times: number, state: (at: number) => number = () => 1): Complaint[] =>
  Array.from({ length: times }, (_, n) => ({ day: n * days, calledOn: n * days, state: state(n) }));

const campaigns: Readonly<Record<string, readonly Complaint[]>> = {
  'one complainant, ten times in one sitting, each about another day': Array.from({ length: 10 }, (_, n) => ({
    day: 9,
    calledOn: 9 - n,
    state: 1,
  })),
  'ten complainants of one state on one day': Array.from({ length: 10 }, () => ({ day: 0, calledOn: 0, state: 1 })),
  'one complainant, once a day for ten days': every(1, 10),
  'one complainant, once a week for ten weeks': every(7, 10),
  'one complainant, every second week, ten times': every(14, 10),
  'one complainant, once a month, ten times': every(30, 10),
  'two states, once each on one day': every(0, 2, (n) => n + 1),
  'two states in turn, once a month, ten times': every(30, 10, (n) => (n % 2) + 1),
  'three states, once each on one day': every(0, 3, (n) => n + 1),
  'fifty states, once each on one day': every(0, 50, (n) => n + 1),
  'ten states, one a month': every(30, 10, (n) => n + 1),
};

/** What a campaign reaches under a rule: words of the table. */
function played(rule: string, complaints: readonly Complaint[]): string {
  const reports = complaints
    .map(({ day, calledOn, state }) => ({ day: rule === 'complaints/1' ? calledOn : day, state }))
    .sort((a, b) => a.day - b.day || a.state - b.state);
  const days = 500;
  const history: ReportHistory = {
    phones: Float64Array.of(12025550143),
    countries: ['US'],
    countryOf: Uint16Array.of(0),
    firstReport: Uint32Array.of(0, reports.length),
    days: Int32Array.from(reports, ({ day }) => day),
    states: Uint16Array.from(reports, ({ state }) => state),
    reportsOfDay: new Uint32Array(days).fill(1),
    firstDay: 0,
    rowsGiven: 0,
    rowsLeftOut: 0,
  };
  const marks = new Uint8Array(days + 1);
  labelRules(history, { holdDaysMax: 45 })
    .find(({ name }) => name === rule)!
    .mark({ phone: 0, days: history.days, states: history.states, from: 0, end: reports.length }, marks);
  const first = marks.indexOf(1);
  return first === -1
    ? 'never'
    : `labelled after ${reports.filter(({ day }) => day < first).length}, for ${marks.reduce((sum, mark) => sum + mark, 0)} days`;
}

describe('the campaigns of docs/scoring.md', () => {
  it('reach what the document says', () => {
    const rows = Object.entries(campaigns).map(([name, complaints]) => [
      name,
      played('complaints/1', complaints),
      played('complaints/2', complaints),
    ]);
    expect(rowsUnder('What a campaign against an honest number needs')).toEqual(rows);
  });
});
