import { Seeded } from '../../pipelines/seeded.ts';
import { askedDays, type InstantFigures, type WalkedPredictor } from './walk.ts';
import { dateOfDay, type ReportHistory } from './report-history.ts';

/** A figure with the interval that holds 95 % of resamples over blocks of weeks; null where there are too few weeks for one. */
export interface Figure {
  readonly value: number;
  readonly interval: readonly [low: number, high: number] | null;
}

/** Means over the instants of a time. */
export interface PeriodFigures {
  /** Labelled numbers. */
  readonly labels: Figure;
  /** Share of the next week's reports that are about a labelled number. */
  readonly recall: Figure;
  /** Share of labelled numbers that are reported within 7 days. */
  readonly againInWeek: Figure;
  /** Within 28 days, over the instants that have them; null if none has. */
  readonly againInMonth: Figure | null;
}

/** One rule over a history. */
export interface RuleReport {
  readonly name: string;
  readonly description: string;
  readonly periods: readonly PeriodFigures[];
  /** Days from a number's last report to the end of its label; null if none has ended. */
  readonly lastsDays: { readonly median: number; readonly ninetieth: number } | null;
  /** Share of the labels that begin within 28 days after the number's label before has ended. */
  readonly flips: number;
  /** By instant. */
  readonly series: readonly { readonly date: string; readonly labels: number; readonly recall: number; readonly againInWeek: number; readonly againInMonth: number | null }[];
}

/** What `evaluate labels` measures. */
export interface LabelReport {
  readonly history: { readonly name: string; readonly from: string; readonly until: string; readonly rows: number; readonly rowsLeftOut: number; readonly numbers: number; readonly daysWithoutReports: number };
  /** First and last instant of each period that figures are given for. */
  readonly periods: readonly { readonly name: string; readonly from: string; readonly until: string; readonly instants: number }[];
  readonly bootstrap: { readonly resamples: number; readonly seed: number; readonly blockInstants: number };
  readonly rules: readonly RuleReport[];
}

/** Neighbouring weeks share most labels: they are drawn in blocks of as many. */
const blockInstants = 4;
const tail = 0.025;

/** Sums up a walk; `splitAt` (a day of the history) parts the instants in those before it and the others. */
export function makeLabelReport({ history, name, walked, instants, splitAt, bootstrap }: {
  history: ReportHistory;
  name: string;
  walked: readonly WalkedPredictor[];
  instants: readonly number[];
  splitAt: number | undefined;
  bootstrap: { readonly resamples: number; readonly seed: number };
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
    periods: parts.map((part) => ({ name: part.name, from: dateOfDay(history, part.days[0]!), until: dateOfDay(history, part.days.at(-1)!), instants: part.days.length })),
    bootstrap: { ...bootstrap, blockInstants },
    rules: walked.map((rule) => ({
      name: rule.name,
      description: rule.description,
      periods: parts.map(({ days }) => sumUp(rule.instants.filter(({ day }) => days.includes(day)), bootstrap)),
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
  };
}

/**
 * Every seventh day of a history at whose start labels can be judged: `warmUpDays` of reports before, a week after. They begin on a Monday (or on
 * the first day of `from`, as long as it is later).
 */
export function instantsOf(history: ReportHistory, { warmUpDays, from, until }: { warmUpDays: number; from?: number | undefined; until?: number | undefined }): number[] {
  const monday = (day: number) => (((4 - ((history.firstDay + day) % 7)) % 7) + 7) % 7; // 1970-01-01 was a Thursday
  const earliest = Math.max(warmUpDays, from ?? 0);
  const first = earliest + (from !== undefined && from >= warmUpDays ? 0 : monday(earliest));
  const last = Math.min(history.reportsOfDay.length - askedDays.week, until ?? Infinity);
  return Array.from({ length: Math.max(0, Math.floor((last - first) / 7) + 1) }, (_, week) => first + 7 * week);
}

function periodsOf(instants: readonly number[], splitAt: number | undefined): { name: string; days: readonly number[] }[] {
  const all = { name: 'all', days: instants };
  if (splitAt === undefined) return [all];
  const parts = [{ name: 'first part', days: instants.filter((day) => day < splitAt) }, { name: 'last part', days: instants.filter((day) => day >= splitAt) }];
  return [all, ...parts.filter(({ days }) => days.length > 0)];
}

function sumUp(instants: readonly InstantFigures[], bootstrap: { readonly resamples: number; readonly seed: number }): PeriodFigures {
  const figure = (of: readonly InstantFigures[], value: (instant: InstantFigures) => number): Figure => {
    const values = of.map(value);
    return { value: rounded(mean(values)), interval: blockInterval(values, bootstrap) };
  };
  const withMonth = instants.filter(({ monthKnown }) => monthKnown);
  return {
    labels: figure(instants, ({ labels }) => labels),
    recall: figure(instants, recallOf),
    againInWeek: figure(instants, ({ againInWeek, labels }) => share(againInWeek, labels)),
    againInMonth: withMonth.length === 0 ? null : figure(withMonth, ({ againInMonth, labels }) => share(againInMonth, labels)),
  };
}

/** Percentiles of the mean over resamples of blocks of neighbouring instants (moving blocks: Kuensch 1989). */
function blockInterval(values: readonly number[], { resamples, seed }: { readonly resamples: number; readonly seed: number }): [number, number] | null {
  if (values.length < 2 * blockInstants) return null;
  const random = new Seeded(seed);
  const means = Array.from({ length: resamples }, () => {
    const drawn: number[] = [];
    while (drawn.length < values.length) {
      const start = random.below(values.length - blockInstants + 1);
      drawn.push(...values.slice(start, start + Math.min(blockInstants, values.length - drawn.length)));
    }
    return mean(drawn);
  }).sort((a, b) => a - b);
  return [rounded(means[Math.floor(tail * (resamples - 1))]!), rounded(means[Math.ceil((1 - tail) * (resamples - 1))]!)];
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
const share = (part: number, whole: number) => (whole === 0 ? 0 : part / whole);
const mean = (values: readonly number[]) => (values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length);

/** Six significant digits, so that a stored report is the same on every machine. */
function rounded(value: number): number {
  return Number(value.toPrecision(6));
}
