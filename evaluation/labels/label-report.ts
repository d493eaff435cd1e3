import { askedDays, type InstantFigures, type WalkedPredictor } from './walk.ts';
import { blockInstants, figureOf, rounded, share, type Bootstrap, type Figure } from './figure.ts';
import { sumUpRanges, type RangeFigures } from './range-report.ts';
import type { RangeInstant } from './range-walk.ts';
import { dateOfDay, type ReportHistory } from './report-history.ts';

/** Means over the instants of a period. */
export interface PeriodFigures {
  /** Labelled numbers. */
  readonly labels: Figure;
  /** Share of the next week's reports that are about a labelled number. */
  readonly recall: Figure;
  /** Share of the labelled numbers that are reported within 7 days. */
  readonly againInWeek: Figure;
  /** Within 28 days, over the instants followed by 28 days; null if there are none. */
  readonly againInMonth: Figure | null;
}

/** The figures of a rule over a history. */
export interface RuleReport {
  readonly name: string;
  readonly description: string;
  readonly periods: readonly PeriodFigures[];
  /** Days from a number's last report to the end of its label; null if none has ended. */
  readonly lastsDays: { readonly median: number; readonly ninetieth: number } | null;
  /** Share of the labels that start within 28 days after the end of the number's previous label. */
  readonly flips: number;
  /** By instant. */
  readonly series: readonly {
    readonly date: string;
    readonly labels: number;
    readonly recall: number;
    readonly againInWeek: number;
    readonly againInMonth: number | null;
  }[];
}

/** The report of `evaluate labels`. */
export interface LabelReport {
  readonly history: {
    readonly name: string;
    readonly from: string;
    readonly until: string;
    readonly rows: number;
    readonly rowsLeftOut: number;
    readonly numbers: number;
    readonly daysWithoutReports: number;
  };
  /** First and last instant of each period. */
  readonly periods: readonly {
    readonly name: string;
    readonly from: string;
    readonly until: string;
    readonly instants: number;
  }[];
  readonly bootstrap: Bootstrap & { readonly blockInstants: number };
  readonly rules: readonly RuleReport[];
  /** Ranges at risk together with the labels of the service's rule, by period. */
  readonly ranges: readonly RangeFigures[];
}

/** Summarizes walks over the same instants; `splitAt` (a day of the history) divides the instants into two periods. */
export function makeLabelReport({
  history,
  name,
  walked,
  ranges,
  instants,
  splitAt,
  bootstrap,
}: {
  history: ReportHistory;
  name: string;
  walked: readonly WalkedPredictor[];
  ranges: readonly RangeInstant[];
  instants: readonly number[];
  splitAt: number | undefined;
  bootstrap: Bootstrap;
}): LabelReport {
  const parts = periodsOf(instants, splitAt);
  return {
    history: {
      name,
      from: dateOfDay(history, 0),
      until: dateOfDay(history, history.reportsOfDay.length - 1),
      rows: history.rowsGiven,
      rowsLeftOut: history.rowsLeftOut,
      numbers: history.phones.length,
      daysWithoutReports: history.reportsOfDay.filter((reports) => reports === 0).length,
    },
    periods: parts.map((part) => ({
      name: part.name,
      from: dateOfDay(history, part.days[0]!),
      until: dateOfDay(history, part.days.at(-1)!),
      instants: part.days.length,
    })),
    bootstrap: { ...bootstrap, blockInstants },
    rules: walked.map((rule) => ({
      name: rule.name,
      description: rule.description,
      periods: parts.map(({ days }) =>
        sumUp(
          rule.instants.filter(({ day }) => days.includes(day)),
          bootstrap,
        ),
      ),
      lastsDays: lastsDays(rule.endedAfter),
      flips: rule.begun === 0 ? 0 : rounded(rule.flipped / rule.begun),
      series: rule.instants.map((instant) => ({
        date: dateOfDay(history, instant.day),
        labels: instant.labels,
        recall: rounded(recallOf(instant)),
        againInWeek: rounded(share(instant.againInWeek, instant.labels)),
        againInMonth: instant.monthKnown ? rounded(share(instant.againInMonth, instant.labels)) : null,
      })),
    })),
    ranges: parts.map(({ days }) =>
      sumUpRanges(
        ranges.filter(({ day }) => days.includes(day)),
        bootstrap,
      ),
    ),
  };
}

/**
 * Every seventh day of a history at whose start labels can be judged: after `warmUpDays` of reports, and before a week of them.
 * The first is a Monday (or the first day of `from`, if that is later).
 */
export function instantsOf(
  history: ReportHistory,
  { warmUpDays, from, until }: { warmUpDays: number; from?: number | undefined; until?: number | undefined },
): number[] {
  const monday = (day: number) => (((4 - ((history.firstDay + day) % 7)) % 7) + 7) % 7; // 1970-01-01 was a Thursday
  const earliest = Math.max(warmUpDays, from ?? 0);
  const first = earliest + (from !== undefined && from >= warmUpDays ? 0 : monday(earliest));
  const last = Math.min(history.reportsOfDay.length - askedDays.week, until ?? Infinity);
  return Array.from({ length: Math.max(0, Math.floor((last - first) / 7) + 1) }, (_, week) => first + 7 * week);
}

function periodsOf(
  instants: readonly number[],
  splitAt: number | undefined,
): { name: string; days: readonly number[] }[] {
  const all = { name: 'all', days: instants };
  if (splitAt === undefined) return [all];
  const parts = [
    { name: 'first part', days: instants.filter((day) => day < splitAt) },
    { name: 'last part', days: instants.filter((day) => day >= splitAt) },
  ];
  return [all, ...parts.filter(({ days }) => days.length > 0)];
}

function sumUp(instants: readonly InstantFigures[], bootstrap: Bootstrap): PeriodFigures {
  const figure = (of: readonly InstantFigures[], value: (instant: InstantFigures) => number) =>
    figureOf(of.map(value), bootstrap);
  const withMonth = instants.filter(({ monthKnown }) => monthKnown);
  return {
    labels: figure(instants, ({ labels }) => labels),
    recall: figure(instants, recallOf),
    againInWeek: figure(instants, ({ againInWeek, labels }) => share(againInWeek, labels)),
    againInMonth:
      withMonth.length === 0 ? null : figure(withMonth, ({ againInMonth, labels }) => share(againInMonth, labels)),
  };
}

function lastsDays(endedAfter: Uint32Array): RuleReport['lastsDays'] {
  const ended = endedAfter.reduce((sum, labels) => sum + labels, 0);
  if (ended === 0) return null;
  const reached = (part: number) => {
    let sum = 0;
    return endedAfter.findIndex((labels) => (sum += labels) >= ended * part);
  };
  return { median: reached(0.5), ninetieth: reached(0.9) };
}

const recallOf = ({ caught, reports }: InstantFigures) => share(caught, reports);
