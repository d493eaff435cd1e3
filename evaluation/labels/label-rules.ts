import {
  addUpReports,
  complaintRule,
  countDays,
  reachesLevel,
  type NumberReports,
} from '../../pipelines/labels/complaint-rule.ts';
import type { ReportHistory } from './report-history.ts';

/** A number of a history: its digits and the positions of its reports. */
export interface WalkedNumber extends NumberReports {
  phone: number;
}

/** A rule that marks numbers by their reports before a day. */
export interface Predictor {
  readonly name: string;
  readonly description: string;
  /**
   * Sets `marks[day]` to 1 for each day, from `number.days[number.from] + 1` on, at whose start the reports of earlier days mark
   * the number. `marks` is zero at the call. Returns false if no day was marked.
   */
  mark(number: WalkedNumber, marks: Uint8Array): boolean;
}

/** The service's rule, the previous one, and baselines. */
export function labelRules(history: ReportHistory, { holdDaysMax }: { holdDaysMax: number }): readonly Predictor[] {
  return [
    complaints2(history, holdDaysMax),
    complaints1(),
    reportsInDays(3, 7),
    decayingVotes(10, 120),
    reportsInDays(1, 90),
  ];
}

function complaints2({ reportsOfDay }: ReportHistory, holdDaysMax: number): Predictor {
  const counted = countDays(
    Array.from(reportsOfDay, (reports) => reports > 0),
    holdDaysMax,
  );
  const sums = { points: 0, independentReports: 0, days: 0, states: 0 };
  const view: NumberReports = { days: new Int32Array(), states: new Uint16Array(), from: 0, end: 0 };
  return {
    name: complaintRule.version,
    description: `at least ${complaintRule.independentReportsMin} reports that differ in state or day, and ${complaintRule.pointsMin} points (docs/scoring.md)`,
    mark(number, marks) {
      if (number.end - number.from < complaintRule.independentReportsMin) return false;
      Object.assign(view, { days: number.days, states: number.states, from: number.from });
      return markDays(number, marks, (day, end) => {
        view.end = end;
        addUpReports(view, (reported) => counted[day]! - counted[reported + 1]!, sums);
        return reachesLevel(sums);
      });
    },
  };
}

/** The rule before complaints/2, kept for comparison. A history has no day of violation: the day of report is used instead. */
function complaints1(): Predictor {
  const rule = { windowDays: 365, halfLifeDays: 30, independentReportsMin: 3, scoreMin: 1.5 };
  const weights = halvings(rule.windowDays, rule.halfLifeDays);
  return {
    name: 'complaints/1',
    description:
      'at least 3 reports that differ in state or day, and a sum of weights of half-life 30 days of at least 1.5',
    mark(number, marks) {
      const { days, states, from } = number;
      if (number.end - from < rule.independentReportsMin) return false;
      return markDays(number, marks, (day, end) => {
        let [reports, score] = [0, 0];
        for (let at = end - 1; at >= from && day - days[at]! < rule.windowDays; at--) {
          if (at + 1 < end && days[at] === days[at + 1] && states[at] === states[at + 1]) continue;
          reports++;
          score += weights[day - days[at]!]!;
        }
        return reports >= rule.independentReportsMin && score >= rule.scoreMin - 1e-9;
      });
    },
  };
}

/** Baselines: every report is a vote whose weight halves with each half-life. */
function decayingVotes(votes: number, halfLifeDays: number): Predictor {
  const weights = halvings(3650, halfLifeDays);
  return {
    name: `${votes} votes, half-life ${halfLifeDays} days`,
    description: `reports, each a vote that weighs half as much after ${halfLifeDays} days, add up to ${votes}`,
    mark(number, marks) {
      if (number.end - number.from < votes) return false;
      return markDays(number, marks, (day, end) => {
        let score = 0;
        for (let at = end - 1; at >= number.from; at--) score += weights[day - number.days[at]!]!;
        return score >= votes;
      });
    },
  };
}

/** Baselines: a number of reports in the preceding days. */
function reportsInDays(reports: number, days: number): Predictor {
  return {
    name: reports === 1 ? `any report in ${days} days` : `${reports} reports in ${days} days`,
    description: `at least ${reports} ${reports === 1 ? 'report' : 'reports'} in the ${days} days before`,
    mark(number, marks) {
      const { from, end } = number;
      for (let at = from + reports - 1; at < end; at++) {
        const [earliest, latest] = [number.days[at - reports + 1]!, number.days[at]!];
        if (latest - earliest < days) marks.fill(1, latest + 1, earliest + days + 1);
      }
      return end - from >= reports;
    },
  };
}

/** Calls a rule for each day after the first report; `end` is the exclusive end of the reports before the day. */
function markDays(
  { days, from, end }: WalkedNumber,
  marks: Uint8Array,
  isLabelled: (day: number, end: number) => boolean,
): boolean {
  let any = false;
  let before = from;
  for (let day = days[from]! + 1; day < marks.length; day++) {
    while (before < end && days[before]! < day) before++;
    if (!isLabelled(day, before)) continue;
    marks[day] = 1;
    any = true;
  }
  return any;
}

function halvings(days: number, halfLife: number): Float64Array {
  return Float64Array.from({ length: days + 1 }, (_, age) => 0.5 ** (age / halfLife));
}
