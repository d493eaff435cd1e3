import type { ReportHistory } from './report-history.ts';
import type { Predictor, WalkedNumber } from './label-rules.ts';

/** Days after an instant in which a labelled number may be reported again. */
export const askedDays = { week: 7, month: 28 } as const;

/** The marks of a predictor at the start of a day, and the reports that followed. */
export interface InstantFigures {
  readonly day: number;
  /** Numbers marked. */
  labels: number;
  /** Those that were reported within 7 days. */
  againInWeek: number;
  /** Within 28 days. */
  againInMonth: number;
  /** Reports of the 7 days about a marked number. */
  caught: number;
  /** All reports of the 7 days. */
  readonly reports: number;
  /** False if the history ends before the 28 days do. */
  readonly monthKnown: boolean;
}

/** The results of a predictor over a history. */
export interface WalkedPredictor {
  readonly name: string;
  readonly description: string;
  readonly instants: readonly InstantFigures[];
  /**
   * Days from the last report to the end of a mark, by length: `endedAfter[n]` marks ended n days after the number's last report
   * until then.
   */
  readonly endedAfter: Uint32Array;
  /** Marks that began, of all days. */
  readonly begun: number;
  /** Marks that began within 28 days after an earlier mark of the same number ended. */
  readonly flipped: number;
}

/**
 * Evaluates predictors on a history, number by number: their marks at the start of every day by the reports of earlier days,
 * and, at each of `instants` (days of the history), the reports that follow. One pass over the reports for all predictors;
 * needs a byte a day in addition to the history.
 */
export function walkHistory(
  history: ReportHistory,
  predictors: readonly Predictor[],
  instants: readonly number[],
): WalkedPredictor[] {
  const lastDay = history.reportsOfDay.length - 1;
  const walks = predictors.map((predictor) => new PredictorWalk(predictor, history, instants));
  const marks = new Uint8Array(lastDay + 2);
  const number: WalkedNumber = { phone: 0, days: history.days, states: history.states, from: 0, end: 0 };
  for (let at = 0; at < history.phones.length; at++) {
    number.phone = history.phones[at]!;
    number.from = history.firstReport[at]!;
    number.end = history.firstReport[at + 1]!;
    for (const walk of walks) walk.take(number, marks);
  }
  return walks.map((walk) => walk.finish());
}

/** Reports from `day` on, up to the end of the history. */
function reportsAfter({ reportsOfDay }: ReportHistory, day: number, days: number): number {
  return reportsOfDay.subarray(day, day + days).reduce((sum, reports) => sum + reports, 0);
}

class PredictorWalk {
  private readonly predictor: Predictor;
  private readonly instants: InstantFigures[];
  private readonly endedAfter: Uint32Array;
  private begun = 0;
  private flipped = 0;

  constructor(predictor: Predictor, history: ReportHistory, instants: readonly number[]) {
    this.predictor = predictor;
    this.endedAfter = new Uint32Array(history.reportsOfDay.length + 1);
    this.instants = instants.map((day) => ({
      day,
      labels: 0,
      againInWeek: 0,
      againInMonth: 0,
      caught: 0,
      reports: reportsAfter(history, day, askedDays.week),
      monthKnown: day + askedDays.month <= history.reportsOfDay.length,
    }));
  }

  take(number: WalkedNumber, marks: Uint8Array): void {
    const first = number.days[number.from]! + 1;
    if (!this.predictor.mark(number, marks)) return;
    for (const instant of this.instants) if (marks[instant.day] === 1) lookAhead(number, instant);
    this.follow(number, marks, first);
    marks.fill(0, first);
  }

  finish(): WalkedPredictor {
    const {
      predictor: { name, description },
      instants,
      endedAfter,
      begun,
      flipped,
    } = this;
    return { name, description, instants, endedAfter, begun, flipped };
  }

  /** How marks begin and end. */
  private follow({ days, from, end }: WalkedNumber, marks: Uint8Array, first: number): void {
    let before = from;
    let ended = -Infinity;
    for (let day = first; day < marks.length; day++) {
      if (marks[day] === marks[day - 1]) continue;
      if (marks[day] === 1) {
        this.begun++;
        if (day - ended <= askedDays.month) this.flipped++;
      } else {
        while (before + 1 < end && days[before + 1]! < day) before++;
        this.endedAfter[day - days[before]!]!++;
        ended = day;
      }
    }
  }
}

function lookAhead({ days, from, end }: WalkedNumber, instant: InstantFigures): void {
  const { day } = instant;
  instant.labels++;
  let next = from;
  while (next < end && days[next]! < day) next++;
  if (next === end) return;
  if (days[next]! < day + askedDays.month) instant.againInMonth++;
  if (days[next]! < day + askedDays.week) instant.againInWeek++;
  for (; next < end && days[next]! < day + askedDays.week; next++) instant.caught++;
}
