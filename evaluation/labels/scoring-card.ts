import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { complaintRule } from '../../pipelines/labels/complaint-rule.ts';
import { numbersInService, rangeRule } from '../../pipelines/labels/range-scoring.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { Figure } from './figure.ts';
import type { LabelReport, RuleReport } from './label-report.ts';
import { pointOfRule, type RangePoint } from './range-report.ts';

/** Files of a card, in one directory. */
export const cardNames = { report: 'scoring-card.json', picture: 'scoring-card.svg', card: 'scoring-card.md' } as const;

/** A report as the text that is stored. */
export function storeLabelReport(report: LabelReport): string {
  return `${JSON.stringify(report, null, 1)}\n`;
}

/**
 * The stored report of a card.
 * @throws ServiceError `usage_invalid` if it is missing, or of another rule
 */
export async function readScoringCard(directory: string): Promise<LabelReport> {
  const wrong = (problem: string) =>
    new ServiceError('usage_invalid', {
      operation: 'read scoring card',
      object: directory,
      problem,
      hint: 'Run `caller-trust evaluate labels` with --scoring-card.',
    });
  const text = await readFile(join(directory, cardNames.report), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? wrong(`There is no ${cardNames.report}.`) : error;
  });
  const report = JSON.parse(text) as LabelReport; // written by storeLabelReport
  if (!report.rules.some(({ name }) => name === complaintRule.version))
    throw wrong(`The report is not of ${complaintRule.version}.`);
  if (!report.ranges.every(({ version }) => version === rangeRule.version))
    throw wrong(`The report is not of ${rangeRule.version}.`);
  return report;
}

/** The card of the rule as Markdown: its figures, compared with the previous rule and baselines, and their limits. */
export function renderScoringCard(report: LabelReport): string {
  const { history, periods, bootstrap } = report;
  return [
    `# What ${complaintRule.version} does`,
    '',
    `Made by \`caller-trust evaluate labels\`; do not edit. The figures of every week are in [${cardNames.report}](${cardNames.report}). [scoring.md](scoring.md) has the rule.`,
    '',
    '## The history',
    '',
    `${history.name}: ${count(history.rows)} rows from ${history.from} to ${history.until}, ${count(history.rowsLeftOut)} of them without a number that can be dialled, ${count(history.numbers)} numbers. ${history.daysWithoutReports} days have no report.`,
    '',
    `Every week numbers are labelled from the reports of the days before, and asked about the days after. Means over the weeks, with 95 % of ${count(bootstrap.resamples)} resamples over blocks of ${bootstrap.blockInstants} weeks in brackets.`,
    '',
    ...periods.flatMap((period, at) => [
      `## ${title(period.name)}: ${period.instants} instants from ${period.from} to ${period.until}`,
      '',
      ...periodTable(report.rules, at),
      '',
    ]),
    ...readings(report),
    '## How labels begin and end',
    '',
    '| Rule | Days from the last report to the end of the label: median | 90 % | Labels that begin within 28 days after the one before |',
    '|---|---|---|---|',
    ...report.rules.map(
      ({ name, lastsDays, flips }) =>
        `| ${name} | ${lastsDays?.median ?? '-'} | ${lastsDays?.ninetieth ?? '-'} | ${percent(flips)} |`,
    ),
    '',
    ...rangeSection(report),
    `![Labels, recall and share reported again, week by week](${cardNames.picture})`,
    '',
    '## What the figures do not say',
    '',
    '- **No legitimate calls are known.** A number that is reported again is not proven to be a nuisance, and one that is not reported again is not proven innocent: callers leave forged numbers within days. The share reported again orders rules; it is no precision.',
    '- **Reports are unverified**, and one complainant may report one number again and again. Such numbers look well predicted. The history does not distinguish complainants.',
    '- **Most reports are about numbers that nobody reported before.** No rule on single numbers reaches them: the rule that labels every number reported in 90 days shows how little is left.',
    '- **No subjects**: categories, and so FRAUD against SPAM, are not measured.',
    "- **States are taken from the complainant's area code**, which a moved mobile phone keeps. The service counts the states that complaint files name.",
    '- **One country, one year** (United States, 2020), with the days that the source lost.',
    '- The form of the rule was compared on weeks of this history, also of its last part. Months after it judge better.',
    '',
  ].join('\n');
}

function title(period: string): string {
  return (
    { all: 'All weeks', 'first part': 'Weeks of the choice', 'last part': 'Weeks after the choice of points' }[
      period
    ] ?? period
  );
}

function periodTable(rules: readonly RuleReport[], at: number): string[] {
  const rows = rules.map(({ name, periods }) => {
    const { labels, recall, againInWeek, againInMonth } = periods[at]!;
    return `| ${name} | ${count(Math.round(labels.value))}${range(labels, (value) => count(Math.round(value)))} | ${share(recall)} | ${share(againInWeek)} | ${againInMonth === null ? '-' : share(againInMonth)} |`;
  });
  return [
    "| Rule | Labelled numbers | Share of next week's reports about a labelled number | Labelled numbers reported again in 7 days | in 28 days |",
    '|---|---|---|---|---|',
    ...rows,
  ];
}

/** The rule compared with the previous one, in words. */
function readings({ rules, periods }: LabelReport): string[] {
  const [ours, before] = [
    rules.find(({ name }) => name === complaintRule.version),
    rules.find(({ name }) => name === 'complaints/1'),
  ];
  if (ours === undefined || before === undefined) return [];
  const lines = periods.map(({ name }, at) => {
    const [now, old] = [ours.periods[at]!, before.periods[at]!];
    const part = (figure: 'labels' | 'recall' | 'againInWeek') => (now[figure].value / old[figure].value).toFixed(2);
    return `- ${title(name)}: ${part('labels')} of the labels of complaints/1, ${part('recall')} of its recall, ${part('againInWeek')} times its share reported again in 7 days.`;
  });
  return ['## Against the rule before', '', ...lines, ''];
}

/** Ranges at risk: the reports that the rule catches, alone and with labels, by risk and by the number of listed ranges. */
function rangeSection({ ranges, periods }: LabelReport): string[] {
  const { country, numbers } = numbersInService;
  const [ours, rule] = [complaintRule.version, rangeRule.version];
  const named = ranges.map((figures, at) => ({ name: title(periods[at]!.name), figures, point: pointOfRule(figures) }));
  const covers = ({ listed, covered }: RangePoint) =>
    `${count(Math.round(listed.value))} | ${(covered * 100).toFixed(2)} %`;
  const [first, ...others] = named.map(({ figures }) => figures.curve);
  return [
    '## Ranges at risk',
    '',
    `${rule} lists blocks of 1,000 numbers, at most ${count(rangeRule.rangesMax)} of a country. Shares are of the ${count(numbers)} numbers in service in ${country} ([scoring.md](scoring.md#ranges-at-risk) has the source), with its ranges alone. Reports count whether their number was reported before or not.`,
    '',
    `| Weeks | Ranges | Numbers in service covered | Share of next week's reports in a range | in a range or about a number labelled by ${ours} |`,
    '|---|---|---|---|---|',
    ...named.map(
      ({ name, point }) => `| ${name} | ${covers(point)} | ${share(point.recall)} | ${share(point.recallWithLabels)} |`,
    ),
    '',
    "The lift of a risk sets its ranges' share of the next week's reports against their share of the numbers in service.",
    '',
    `| Risk | ${named.map(({ name }) => `${name}: ranges | lift`).join(' | ')} |`,
    `|---|${'---|---|'.repeat(named.length)}`,
    ...rangeRule.risks.map(
      ({ risk }, at) =>
        `| ${risk} | ${named.map(({ figures }) => `${count(Math.round(figures.risks[at]!.ranges.value))} | ${figures.risks[at]!.lift.toFixed(0)}`).join(' | ')} |`,
    ),
    '',
    `The ranges with the greatest sums, by how many are listed at most. Each pair is the share of reports in a range, and in a range or labelled by ${ours}. Fewer are listed where no more are at risk.`,
    '',
    `| Numbers in a range | At most | ${named.map(({ name }) => `${name}: listed | covered | reports`).join(' | ')} |`,
    `|---|---|${'---|---|---|'.repeat(named.length)}`,
    ...first!.map(({ size, rangesMax }, row) => {
      const points = [first!, ...others].map((curve) => curve[row]!);
      return `| ${count(size)} | ${count(rangesMax)} | ${points.map((point) => `${covers(point)} | ${point.recall.value.toFixed(3)}, ${point.recallWithLabels.value.toFixed(3)}`).join(' | ')} |`;
    }),
    '',
  ];
}

const count = (value: number) => value.toLocaleString('en-US');
const percent = (value: number) => `${(value * 100).toFixed(1)} %`;
const share = (figure: Figure) => `${figure.value.toFixed(3)}${range(figure, (value) => value.toFixed(3))}`;
const range = ({ interval }: Figure, format: (value: number) => string) =>
  interval === null ? '' : ` (${format(interval[0])} to ${format(interval[1])})`;
