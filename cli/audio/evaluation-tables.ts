import type {
  EvaluationReport,
  EvaluationSection,
  GroupFigures,
  ModelComparison,
  RateFigure,
  ScoreFigures,
} from '../../evaluation/audio/evaluation-report.ts';
import { formatTable, type TableColumn } from '../table.ts';

/** A rate in percent with one decimal. */
const percent = (rate: number) => (rate * 100).toFixed(1);

/** An interval in percent, or undefined for none. */
const percentInterval = ({ interval }: Pick<RateFigure, 'interval'>) =>
  interval === null ? undefined : `${percent(interval.low)} to ${percent(interval.high)}`;

const bits = (cost: number) => cost.toFixed(3);

interface ScoreRow extends ScoreFigures {
  readonly section: EvaluationSection;
}

const scoreColumns: readonly TableColumn<ScoreRow>[] = [
  { title: 'model', value: ({ section }) => section.model },
  { title: 'channel', value: ({ section }) => section.channel },
  { title: 'score', value: ({ score }) => score },
  { title: 'bonafide', value: ({ bonafide }) => bonafide },
  { title: 'attacks', value: ({ attacks }) => attacks },
  { title: 'EER %', value: ({ equalError }) => percent(equalError.rate) },
  { title: '95 %', value: ({ equalError }) => percentInterval(equalError) },
  { title: 'nuisance EER %', value: ({ nuisance }) => (nuisance === null ? undefined : percent(nuisance.rate)) },
  { title: 'min DCF', value: ({ minimumCost }) => bits(minimumCost) },
  { title: 'DCF', value: ({ actualCost }) => bits(actualCost) },
  {
    title: 'min t-DCF',
    value: ({ minimumTandemCost }) => (minimumTandemCost === null ? undefined : bits(minimumTandemCost)),
  },
  { title: 'Cllr', value: ({ likelihoodRatioCost }) => bits(likelihoodRatioCost) },
  { title: 'min Cllr', value: ({ minimumLikelihoodRatioCost }) => bits(minimumLikelihoodRatioCost) },
  { title: 'calibration error', value: ({ calibrationError }) => bits(calibrationError) },
];

const groupColumns: readonly TableColumn<GroupFigures>[] = [
  { title: 'by', value: ({ by }) => by },
  { title: 'name', value: ({ name }) => name },
  { title: 'bonafide', value: ({ bonafide }) => bonafide },
  { title: 'attacks', value: ({ attacks }) => attacks },
  { title: 'EER %', value: ({ equalError }) => percent(equalError.rate) },
  { title: '95 %', value: ({ equalError }) => percentInterval(equalError) },
  { title: 'min DCF', value: ({ minimumCost }) => bits(minimumCost) },
];

const outcomeColumns: readonly TableColumn<
  EvaluationSection['outcomes'][number] & { readonly section: EvaluationSection }
>[] = [
  { title: 'model', value: ({ section }) => section.model },
  { title: 'channel', value: ({ section }) => section.channel },
  { title: 'label', value: ({ label }) => label },
  { title: 'scored', value: ({ performed }) => performed },
  { title: 'abstained', value: ({ performedWithoutScore }) => performedWithoutScore },
  { title: 'errors', value: ({ error }) => error },
];

const comparisonColumns: readonly TableColumn<ModelComparison>[] = [
  { title: 'from', value: ({ from }) => from },
  { title: 'to', value: ({ to }) => to },
  { title: 'channel', value: ({ channel }) => channel },
  { title: 'score', value: ({ score }) => score },
  { title: 'EER % from', value: ({ fromRate }) => percent(fromRate) },
  { title: 'to', value: ({ toRate }) => percent(toRate) },
  { title: 'difference', value: ({ difference }) => percent(difference) },
  { title: '95 %', value: percentInterval },
];

/** The report of an evaluation for people. */
export function formatReport(report: EvaluationReport): string {
  const { index, bootstrap, sections, comparisons, costs } = report;
  const scores = sections.flatMap((section) => section.scores.map((figures): ScoreRow => ({ ...figures, section })));
  const parts = [
    `${index.name}: ${index.recordings} recordings. Intervals: ${bootstrap.resamples} resamples over speakers and synthesizers, seed ${bootstrap.seed}.${index.note === '' ? '' : `\n${index.note}`}`,
    scores.length === 0 ? 'No score has both bonafide recordings and attacks.' : formatTable(scores, scoreColumns),
    notes(scores, costs),
    formatTable(
      sections.flatMap((section) => section.outcomes.map((counts) => ({ ...counts, section }))),
      outcomeColumns,
    ),
    ...sections
      .filter(({ reasons }) => reasons.length > 0)
      .map(
        ({ model, channel, reasons }) =>
          `${model}, ${channel}, without a score: ${reasons.map(({ reason, count }) => `${reason} ${count}`).join(', ')}`,
      ),
    ...(comparisons.length === 0
      ? []
      : [
          `Differences, each model on the recordings that both scored; below 0 the second errs less:\n${formatTable(comparisons, comparisonColumns)}`,
        ]),
    ...scores
      .filter(({ groups }) => groups.length > 0)
      .map(
        ({ section, score, groups }) =>
          `${section.model}, ${section.channel}, ${score}:\n${formatTable(groups, groupColumns)}`,
      ),
  ];
  return parts.join('\n\n');
}

function notes(
  scores: readonly ScoreRow[],
  { missCost, falseAlarmCost, attackPrior }: EvaluationReport['costs'],
): string {
  return [
    'EER: equal error rate, interpolated. Nuisance EER: of a classifier that sees level, duration, noise floor, bandwidth and silence only;',
    'near 50 the set does not leak, far below it the EER in the same row is worth less.',
    `DCF: costs of ASVspoof 5 (miss ${missCost}, false alarm ${falseAlarmCost}, attack prior ${attackPrior}), normalised. Cllr in bits.`,
    scores.some(({ minimumTandemCost }) => minimumTandemCost !== null)
      ? 'min t-DCF: with the speaker verification whose scores the index has.'
      : 'min t-DCF is not defined here: the index has no scores of speaker verification (asv_score, asv_trial).',
  ].join('\n');
}
