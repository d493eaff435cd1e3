import { numbersInService, rangeRule } from '../../pipelines/labels/range-scoring.ts';
import type { Predictor, WalkedNumber } from './label-rules.ts';
import type { ReportHistory } from './report-history.ts';
import { askedDays } from './walk.ts';

/** A range that the rule finds at risk. */
interface RangeAtRisk {
  /** Its place in `Blocks`. */
  readonly block: number;
  readonly country: string;
  readonly numbersReported: number;
  readonly score: number;
  /** Rank by score within its country, from 1. The rule lists those up to `rangesMax`. */
  readonly place: number;
}

/** The numbers of a history by common prefix. */
interface Blocks {
  /** Numbers in a block: a power of ten. */
  readonly size: number;
  /** The common prefixes of the blocks. */
  readonly prefixes: Float64Array;
  /** Block of each number of the history. */
  readonly blockOf: Uint32Array;
}

/**
 * Reports caught by ranges of one size at an instant, by rank: `caught[n]` are those about numbers of range n, `caught[0]` those
 * about others.
 */
export interface SizeFigures {
  readonly caught: Uint32Array;
  /** Of these, reports about numbers that have no label. */
  readonly caughtUnlabelled: Uint32Array;
}

/** The reports of the 7 days after an instant that ranges at risk caught, in the country of `numbersInService`. */
export interface RangeInstant {
  readonly day: number;
  readonly reports: number;
  /** Reports about labelled numbers. */
  labelled: number;
  /** By size, as `blockSizes` has them. */
  readonly sizes: readonly SizeFigures[];
  /** By risk of the rule, over the ranges that it lists. */
  readonly risks: readonly { ranges: number; caught: number }[];
}

/** Compared sizes of ranges: the rule's, and a smaller one. */
export const blockSizes = [1000, 100] as const;

const billion = 1e9;

/** Numbers of a history in blocks of a size. */
export function blocksOf(history: Pick<ReportHistory, 'phones'>, size: number): Blocks {
  const numberOf = new Map<number, number>();
  const blockOf = Uint32Array.from(history.phones, (phone) => {
    const prefix = Math.floor(phone / size);
    let block = numberOf.get(prefix);
    if (block === undefined) numberOf.set(prefix, (block = numberOf.size));
    return block;
  });
  return { size, prefixes: Float64Array.from(numberOf.keys()), blockOf };
}

/**
 * The ranges at risk at the start of a day by the reports of earlier days: the rule of sql/labels/score_ranges.sql on whole
 * days, without clearings. Includes ranges beyond `rangesMax`, so that other limits can be compared.
 */
export function rangesAtRisk(history: ReportHistory, { prefixes, blockOf }: Blocks, day: number): RangeAtRisk[] {
  const { windowDays, halfLifeDays, numbersReportedMin, scoreMin } = rangeRule;
  const weights = Float64Array.from({ length: windowDays }, (_, age) =>
    Math.round(0.5 ** (age / halfLifeDays) * billion),
  ); // whole: sums are exact
  const [numbers, sums, countries] = [
    new Uint32Array(prefixes.length),
    new Float64Array(prefixes.length),
    new Array<string>(prefixes.length),
  ];
  for (let number = 0; number < blockOf.length; number++) {
    const reportedOn = lastReportBefore(history, number, day);
    if (reportedOn === undefined || day - reportedOn >= windowDays) continue;
    const block = blockOf[number]!;
    numbers[block]!++;
    sums[block]! += weights[day - reportedOn]!;
    const country = history.countries[history.countryOf[number]!]!;
    if (countries[block] === undefined || country < countries[block]) countries[block] = country;
  }
  const places = new Map<string, number>();
  return Array.from(numbers.keys())
    .filter((block) => numbers[block]! >= numbersReportedMin && sums[block]! >= scoreMin * billion)
    .sort((a, b) => sums[b]! - sums[a]! || comparePrefixes(prefixes[a]!, prefixes[b]!))
    .map((block) => {
      const country = countries[block]!;
      const place = (places.get(country) ?? 0) + 1;
      places.set(country, place);
      return { block, country, numbersReported: numbers[block]!, score: sums[block]! / billion, place };
    });
}

/**
 * The reports of the week after each instant that ranges at risk, and labels by `labels`, catch: also those about numbers never
 * reported before.
 */
export function walkRanges(history: ReportHistory, labels: Predictor, instants: readonly number[]): RangeInstant[] {
  const blocks = blockSizes.map((size) => blocksOf(history, size));
  const walked = instants.map((day) => startInstant(history, blocks, day));
  const marks = new Uint8Array(history.reportsOfDay.length + 1);
  const number: WalkedNumber = { phone: 0, days: history.days, states: history.states, from: 0, end: 0 };
  for (let at = 0; at < history.phones.length; at++) {
    number.phone = history.phones[at]!;
    number.from = history.firstReport[at]!;
    number.end = history.firstReport[at + 1]!;
    const marked = labels.mark(number, marks);
    for (const walk of walked)
      tally(
        walk,
        number,
        marks[walk.figures.day] === 1,
        blocks.map(({ blockOf }) => blockOf[at]!),
      );
    if (marked) marks.fill(0);
  }
  return walked.map(({ figures }) => figures);
}

/** An instant, with the rank and risk of each block (1 is the lowest risk). */
interface WalkedInstant {
  readonly figures: RangeInstant;
  readonly places: readonly Uint32Array[];
  readonly riskOf: Uint8Array;
}

function startInstant(history: ReportHistory, blocks: readonly Blocks[], day: number): WalkedInstant {
  const found = blocks.map((each) =>
    rangesAtRisk(history, each, day).filter(({ country }) => country === numbersInService.country),
  );
  const risks = rangeRule.risks.map(() => ({ ranges: 0, caught: 0 }));
  const riskOf = new Uint8Array(blocks[0]!.prefixes.length);
  for (const { block, score, place } of found[0]!) {
    if (place > rangeRule.rangesMax) continue;
    riskOf[block] = rangeRule.risks.filter(({ scoreMin }) => score >= scoreMin).length;
    risks[riskOf[block]! - 1]!.ranges++;
  }
  const places = blocks.map(({ prefixes }, at) => {
    const placeOf = new Uint32Array(prefixes.length);
    for (const { block, place } of found[at]!) placeOf[block] = place;
    return placeOf;
  });
  const sizes = found.map(({ length }) => ({
    caught: new Uint32Array(length + 1),
    caughtUnlabelled: new Uint32Array(length + 1),
  }));
  const reports = history.reportsOfDay.subarray(day, day + askedDays.week).reduce((sum, each) => sum + each, 0);
  return { figures: { day, reports, labelled: 0, sizes, risks }, places, riskOf };
}

function tally(
  { figures, places, riskOf }: WalkedInstant,
  { days, from, end }: WalkedNumber,
  isLabelled: boolean,
  blocks: readonly number[],
): void {
  let reports = 0;
  for (let at = end - 1; at >= from && days[at]! >= figures.day; at--)
    if (days[at]! < figures.day + askedDays.week) reports++;
  if (reports === 0) return;
  if (isLabelled) figures.labelled += reports;
  const risk = riskOf[blocks[0]!]!;
  if (risk > 0) figures.risks[risk - 1]!.caught += reports;
  figures.sizes.forEach(({ caught, caughtUnlabelled }, size) => {
    const place = places[size]![blocks[size]!]!;
    caught[place]! += reports;
    if (!isLabelled) caughtUnlabelled[place]! += reports;
  });
}

function lastReportBefore({ firstReport, days }: ReportHistory, number: number, day: number): number | undefined {
  for (let at = firstReport[number + 1]! - 1; at >= firstReport[number]!; at--) if (days[at]! < day) return days[at]!;
  return undefined;
}

/** The order of texts in the database. */
const comparePrefixes = (a: number, b: number) => (String(a) < String(b) ? -1 : 1);
