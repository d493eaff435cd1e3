import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import type { Figure } from '../../evaluation/labels/figure.ts';
import { drawLabelReport } from '../../evaluation/labels/label-picture.ts';
import {
  instantsOf,
  makeLabelReport,
  type LabelReport,
  type PeriodFigures,
  type RuleReport,
} from '../../evaluation/labels/label-report.ts';
import { labelRules } from '../../evaluation/labels/label-rules.ts';
import { readReportHistory, type ReportHistory } from '../../evaluation/labels/report-history.ts';
import type { RangeFigures, RangePoint } from '../../evaluation/labels/range-report.ts';
import { blockSizes, walkRanges } from '../../evaluation/labels/range-walk.ts';
import {
  cardNames,
  renderScoringCard,
  readScoringCard,
  storeLabelReport,
} from '../../evaluation/labels/scoring-card.ts';
import { walkHistory } from '../../evaluation/labels/walk.ts';
import { numbersInService, rangeRule } from '../../pipelines/labels/range-scoring.ts';
import { scoringDefaults } from '../../pipelines/labels/scoring.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { interruption, runCommand, type Outcome } from '../command.ts';
import { parseCount } from '../options.ts';
import { startProgress } from '../progress.ts';
import { formatCount, formatTable, type TableColumn } from '../table.ts';

interface EvaluateLabelsOptions {
  readonly name?: string;
  readonly from?: string;
  readonly until?: string;
  readonly split?: string;
  readonly warmUp: number;
  readonly resamples: number;
  readonly seed: number;
  readonly report?: string;
  readonly picture?: string;
  readonly scoringCard?: string;
  readonly scoringCardFrom?: string;
}

/** `evaluate labels`: measures the rules on complaints against later reports. It needs no database. */
export function addEvaluateLabelsCommand(evaluate: Command): void {
  evaluate
    .command('labels')
    .description('measure the rules that label numbers: walk reports forward, and ask what is reported next')
    .argument('[files...]', 'complaint files of the FTC, or tables of day, phone and area code; gzipped or not')
    .option('--name <text>', 'what the history is called in the report (default: the name of the first file)')
    .option(
      '--from <YYYY-MM-DD>',
      'first instant; every seventh day follows (default: the first Monday after the warm-up)',
    )
    .option('--until <YYYY-MM-DD>', 'last instant (default: the last that has a week after it)')
    .option(
      '--split <YYYY-MM-DD>',
      'give figures of the instants before this day and of the others, besides those of all',
    )
    .option('--warm-up <days>', 'days of reports before the first instant', parseCount, 90)
    .option('--resamples <count>', 'resamples for the intervals', parseCount, 1000)
    .option('--seed <number>', 'seed of the resamples', parseCount, 1)
    .option('--report <file>', 'write the report as JSON')
    .option('--picture <file>', 'write the figures of each week as an SVG picture')
    .option('--scoring-card <directory>', `write ${cardNames.report}, ${cardNames.picture} and ${cardNames.card}`)
    .option(
      '--scoring-card-from <directory>',
      `write ${cardNames.picture} and ${cardNames.card} again from ${cardNames.report}; measures nothing`,
    )
    .addHelpText(
      'after',
      '\nExample:\n  caller-trust evaluate labels reports-2020.tsv.gz --split 2020-09-07 --picture labels.svg',
    )
    .action((files: string[], _options: object, command: Command) =>
      runCommand(command, () => evaluateLabels(files, command.optsWithGlobals<EvaluateLabelsOptions>())),
    ); // the parent command `evaluate` parses the options that both have
}

async function evaluateLabels(files: readonly string[], options: EvaluateLabelsOptions): Promise<Outcome> {
  if (options.scoringCardFrom !== undefined)
    return writeCardFiles(options.scoringCardFrom, await readScoringCard(options.scoringCardFrom));
  if (files.length === 0)
    throw new ServiceError('usage_invalid', {
      operation: 'evaluate labels',
      problem: 'Give files of reports, or --scoring-card-from.',
    });
  const report = await measure(files, options);
  if (options.report !== undefined) await writeFile(options.report, storeLabelReport(report));
  if (options.picture !== undefined) await writeFile(options.picture, drawLabelReport(report));
  if (options.scoringCard !== undefined) {
    await writeFile(join(options.scoringCard, cardNames.report), storeLabelReport(report));
    await writeCardFiles(options.scoringCard, report);
  }
  return { json: report, text: formatLabelReport(report) };
}

async function measure(
  files: readonly string[],
  { name, from, until, split, warmUp, resamples, seed }: EvaluateLabelsOptions,
): Promise<LabelReport> {
  const progress = startProgress();
  try {
    const history = await readReportHistory(files, {
      signal: interruption.signal,
      onProgress: (rows) => progress.show(`${formatCount(rows)} rows`),
    });
    const instants = instantsOf(history, {
      warmUpDays: warmUp,
      from: dayOf(history, from),
      until: dayOf(history, until),
    });
    if (instants.length === 0)
      throw new ServiceError('usage_invalid', {
        operation: 'evaluate labels',
        problem: 'The history has no instant with the warm-up before it and a week after it.',
        hint: 'Give more days of reports, or a shorter --warm-up.',
      });
    progress.show('walking');
    const rules = labelRules(history, { holdDaysMax: scoringDefaults.labelHoldDaysMax });
    const [walked, ranges] = [walkHistory(history, rules, instants), walkRanges(history, rules[0]!, instants)];
    return makeLabelReport({
      history,
      name: name ?? basename(files[0]!),
      walked,
      ranges,
      instants,
      splitAt: dayOf(history, split),
      bootstrap: { resamples, seed },
    });
  } finally {
    progress.end();
  }
}

function dayOf({ firstDay }: ReportHistory, date: string | undefined): number | undefined {
  if (date === undefined) return undefined;
  const day = /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(date) / 86_400_000 : NaN;
  if (Number.isNaN(day))
    throw new ServiceError('usage_invalid', {
      operation: 'evaluate labels',
      object: date,
      problem: 'A date is written YYYY-MM-DD.',
    });
  return day - firstDay;
}

async function writeCardFiles(directory: string, report: LabelReport): Promise<Outcome> {
  const files = { [cardNames.picture]: drawLabelReport(report), [cardNames.card]: renderScoringCard(report) };
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  const written = Object.keys(files).map((name) => join(directory, name));
  return { json: { written }, text: written.map((path) => `written: ${path}`).join('\n') };
}

interface PeriodRow {
  readonly period: string;
  readonly rule: RuleReport;
  readonly figures: PeriodFigures;
}

const share = (figure: Figure | null) =>
  figure === null
    ? undefined
    : `${figure.value.toFixed(3)}${figure.interval === null ? '' : ` (${figure.interval.map((end) => end.toFixed(3)).join('-')})`}`;

const columns: readonly TableColumn<PeriodRow>[] = [
  { title: 'instants', value: ({ period }) => period },
  { title: 'rule', value: ({ rule }) => rule.name },
  { title: 'labels', value: ({ figures }) => Math.round(figures.labels.value) },
  { title: 'recall of reports', value: ({ figures }) => share(figures.recall) },
  { title: 'again in 7 days', value: ({ figures }) => share(figures.againInWeek) },
  { title: 'again in 28 days', value: ({ figures }) => share(figures.againInMonth) },
  {
    title: 'lasts, days',
    value: ({ rule }) =>
      rule.lastsDays === null ? undefined : `${rule.lastsDays.median} (90 %: ${rule.lastsDays.ninetieth})`,
  },
  { title: 'flips', value: ({ rule }) => rule.flips.toFixed(3) },
];

const weekColumns: readonly TableColumn<RuleReport['series'][number] & { readonly rule: string }>[] = [
  { title: 'instant', value: ({ date }) => date },
  { title: 'rule', value: ({ rule }) => rule },
  { title: 'labels', value: ({ labels }) => labels },
  { title: 'recall of reports', value: ({ recall }) => recall.toFixed(4) },
  { title: 'again in 7 days', value: ({ againInWeek }) => againInWeek.toFixed(3) },
  { title: 'again in 28 days', value: ({ againInMonth }) => againInMonth?.toFixed(3) },
];

const rangeColumns: readonly TableColumn<{ readonly period: string; readonly point: RangePoint }>[] = [
  { title: 'instants', value: ({ period }) => period },
  { title: 'numbers in a range', value: ({ point }) => point.size },
  { title: 'at most', value: ({ point }) => point.rangesMax },
  { title: 'ranges', value: ({ point }) => Math.round(point.listed.value) },
  { title: 'numbers', value: ({ point }) => Math.round(point.listed.value * point.size) },
  { title: 'of those in service', value: ({ point }) => `${(point.covered * 100).toFixed(2)} %` },
  { title: 'recall of reports', value: ({ point }) => share(point.recall) },
  { title: 'with labels', value: ({ point }) => share(point.recallWithLabels) },
];

const riskColumns: readonly TableColumn<{ readonly period: string; readonly risk: RangeFigures['risks'][number] }>[] = [
  { title: 'instants', value: ({ period }) => period },
  { title: 'risk', value: ({ risk }) => risk.risk },
  { title: 'ranges', value: ({ risk }) => Math.round(risk.ranges.value) },
  { title: 'lift', value: ({ risk }) => risk.lift.toFixed(1) },
];

/** The report for people. */
function formatLabelReport({ history, periods, bootstrap, rules, ranges }: LabelReport): string {
  const rows = periods.flatMap(({ name, from, until, instants }, at) =>
    rules.map((rule): PeriodRow => ({
      period: `${name}: ${from} to ${until}, ${instants}`,
      rule,
      figures: rule.periods[at]!,
    })),
  );
  const weeks = rules[0]!.series.flatMap(({ date }, at) =>
    rules.map((rule) => ({ ...rule.series[at]!, date, rule: rule.name })),
  );
  return [
    `${history.name}: ${formatCount(history.rows)} rows from ${history.from} to ${history.until}, ${formatCount(history.rowsLeftOut)} without a number that can be dialled, ${formatCount(history.numbers)} numbers, ${history.daysWithoutReports} days without reports.`,
    `Intervals: ${bootstrap.resamples} resamples over blocks of ${bootstrap.blockInstants} weeks, seed ${bootstrap.seed}. Lasts: days from the last report to the end of the label. Flips: labels that begin within 28 days after the one before.`,
    '',
    formatTable(rows, columns),
    '',
    formatTable(weeks, weekColumns),
    '',
    `Ranges at risk by ${rangeRule.version}, which lists ${formatCount(rangeRule.rangesMax)} of ${formatCount(blockSizes[0])} numbers at most, of ${formatCount(numbersInService.numbers)} numbers in service in ${numbersInService.country}; labels are those of ${rules[0]!.name}.`,
    '',
    formatTable(
      ranges.flatMap(({ curve }, at) => curve.map((point) => ({ period: periods[at]!.name, point }))),
      rangeColumns,
    ),
    '',
    formatTable(
      ranges.flatMap(({ risks }, at) => risks.map((risk) => ({ period: periods[at]!.name, risk }))),
      riskColumns,
    ),
  ].join('\n');
}
