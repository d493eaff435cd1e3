import type { ModelManifest } from '../../../pipelines/audio/models/manifest.ts';
import type {
  EvaluationReport,
  EvaluationSection,
  GroupFigures,
  ModelComparison,
  RateFigure,
  ScoreFigures,
} from '../evaluation-report.ts';
import { groupClassMin } from '../evaluated-set.ts';
import { formatTable, percent } from './card-table.ts';
import type { TrainingData } from './training-data.ts';
import { renderUnseen } from './unseen-card.ts';
import type { UnseenEvaluation } from '../unseen-evaluation.ts';

/** The input of a card. */
interface CardInput {
  readonly manifest: ModelManifest;
  /** Of this model alone. */
  readonly report: EvaluationReport;
  /** The text of about.md: the design of the model and its sources; '' for none. */
  readonly about: string;
  readonly data: TrainingData | undefined;
  /** Figures on what was left out. */
  readonly unseen?: UnseenEvaluation | undefined;
}

const simulated =
  'Replay is simulated (rooms, loudspeaker and microphone are models); no real re-recordings were to be had.';

/**
 * The part of a report about a model: its sections, and its comparison with another model.
 * @throws RangeError if the report is not of this model
 */
export function reportOf(report: EvaluationReport, model: string): EvaluationReport {
  const comparisons = report.comparisons.filter(({ to }) => to === model);
  const named = new Set([model, ...comparisons.map(({ from }) => from)]);
  const models = report.models.filter((each) => named.has(each.model));
  if (!models.some((each) => each.model === model)) throw new RangeError(`The report is not of ${model}.`);
  return { ...report, models, sections: report.sections.filter((section) => section.model === model), comparisons };
}

/** The card of a model in Markdown. Every figure in it comes from the report or the manifest. */
export function renderCard(input: CardInput): string {
  const { manifest, report, about, unseen } = input;
  const parts = [
    `# ${manifest.model}`,
    'Made by `npm run evaluate` from [evaluation.json](evaluation.json), [manifest.json](manifest.json) and [about.md](about.md). Change those, not this page. [How the figures are made](../../docs/evaluation.md).',
    ...(unseen === undefined ? [] : renderUnseen(unseen, manifest.voiceActivity)),
    about.trim(),
    '## The model',
    facts(manifest),
    '## Error rates on the development set',
    ...renderErrors(report),
    ...renderDifference(report.comparisons),
    ...report.sections.flatMap((section) =>
      section.scores.flatMap((figures) => renderGroups(section, figures, input.data)),
    ),
    '## Recordings without a score',
    ...report.sections.map(renderOutcomes),
    '## Calibration',
    ...renderCalibration(report),
    '## Data',
    renderData(input.data),
    '## What it must not be used for',
    limits(manifest),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function facts({
  parameters,
  bytes,
  input,
  output,
  voiceActivity,
  minimumVoiceSeconds,
  calibration,
  thresholds,
  conditions,
  sha256,
  training,
}: ModelManifest): string {
  const recipe = typeof training?.['recipe'] === 'string' ? training['recipe'] : 'not stated';
  return formatTable(
    ['', ''],
    [
      [
        'weights',
        `${parameters.toLocaleString('en-US')} parameters, ${bytes.toLocaleString('en-US')} bytes, SHA-256 \`${sha256}\``,
      ],
      [
        'input',
        `${input.kind} at ${input.sampleRate} Hz, windows of ${input.windowSeconds} s each ${input.hopSeconds} s; recordings from ${input.sampleRateMin} Hz on`,
      ],
      ['voice', `detector ${voiceActivity}; at least ${minimumVoiceSeconds} s of voice in a window`],
      [
        'scores',
        output.layout
          .map(
            (score) =>
              `${score}: threshold ${thresholds[score]}, calibration slope ${calibration[score]?.slope}, intercept ${calibration[score]?.intercept}`,
          )
          .join('; '),
      ],
      ...Object.entries(conditions ?? {}).flatMap(([score, all]) =>
        all.map((each) => [
          `${score}, from ${each.voiceSecondsFrom} s of voice`,
          `calibration slope ${each.calibration.slope}, intercept ${each.calibration.intercept}; an attack below ${each.attackBelow} (${percent(each.falseAlarm)} % of genuine recordings); ${each.authenticFrom === null ? 'no score is enough for authentic' : `authentic from ${each.authenticFrom} on (${percent(each.falseAcceptance!)} % of attacks left out)`}`,
        ]),
      ),
      ['training', recipe],
    ],
  );
}

function renderErrors(report: EvaluationReport): string[] {
  const { index, bootstrap, costs, evaluatedAt, sections } = report;
  const rows = sections.flatMap(({ channel, scores }) =>
    scores.map((figures) => [
      channel,
      figures.score,
      figures.bonafide,
      figures.attacks,
      figures.speakers,
      figures.synthesizers,
      rate(figures.equalError),
      figures.nuisance === null ? 'not defined' : rate(figures.nuisance),
      cost(figures.minimumCost),
      cost(figures.actualCost),
      figures.minimumTandemCost === null ? 'not defined' : cost(figures.minimumTandemCost),
      cost(figures.likelihoodRatioCost),
      cost(figures.minimumLikelihoodRatioCost),
    ]),
  );
  return [
    `Measured on ${index.name}: ${index.recordings} recordings, index SHA-256 \`${index.sha256}\`, on ${evaluatedAt.slice(0, 10)}.${index.note === '' ? '' : ` ${index.note}`}`,
    rows.length === 0
      ? 'No score could be measured on this set.'
      : formatTable(
          [
            'channel',
            'score',
            'bonafide',
            'attacks',
            'speakers',
            'synthesizers',
            'EER %',
            'nuisance EER %',
            'min DCF',
            'DCF',
            'min t-DCF',
            'Cllr',
            'min Cllr',
          ],
          rows,
        ),
    [
      `Intervals hold 95 % of ${bootstrap.resamples} resamples over speakers and synthesizers, not clips (seed ${bootstrap.seed}). The nuisance EER is that of a classifier which sees level, duration, noise floor, bandwidth and silence only:`,
      'near 50, the set does not give its labels away; far below 50, the EER beside it says less about the voice.',
      `DCF has the costs of ASVspoof 5 (miss ${costs.missCost}, false alarm ${costs.falseAlarmCost}, attack prior ${costs.attackPrior}). min t-DCF needs scores of speaker verification. Cllr is in bits.`,
      ...(rows.some(([, score]) => score === 'replay') ? [simulated] : []),
    ].join(' '),
    '![Detection error tradeoff](det.svg)',
  ];
}

function renderDifference(comparisons: readonly ModelComparison[]): string[] {
  if (comparisons.length === 0) return [];
  const rows = comparisons.map(({ from, channel, score, fromRate, toRate, difference, interval }) => [
    from,
    channel,
    score,
    percent(fromRate),
    percent(toRate),
    percent(difference),
    interval === null ? 'none' : `${percent(interval.low)} to ${percent(interval.high)}`,
  ]);
  const reading = comparisons.map(
    ({ from, channel, score, difference, interval }) =>
      `${score} (${channel}): ${verdict(from, difference, interval)}.`,
  );
  return [
    '### Against the version before',
    formatTable(['before', 'channel', 'score', 'EER % before', 'EER % now', 'difference', '95 %'], rows),
    `Both on the recordings that both scored, with the same resamples. ${reading.join(' ')}${comparisons.some(({ score }) => score === 'replay') ? ` ${simulated}` : ''}`,
  ];
}

function verdict(from: string, difference: number, interval: ModelComparison['interval']): string {
  const points = `${percent(Math.abs(difference))} points`;
  if (interval !== null && interval.high < 0) return `better than ${from} by ${points}`;
  if (interval !== null && interval.low > 0) return `worse than ${from} by ${points}`;
  return `${difference <= 0 ? 'lower' : 'higher'} than ${from} by ${points}, which this set cannot tell from chance`;
}

const groupTitles: Readonly<Record<GroupFigures['by'], string>> = {
  attack: 'kind of attack',
  codec: 'codec',
  synthesizer: 'synthesizer',
  base: 'what was replayed',
  set: 'part of the set',
  noise: 'signal over noise',
};

/** Groups by part. Synthesizers that the training data held out are marked. */
function renderGroups(
  { channel }: EvaluationSection,
  { score, groups }: ScoreFigures,
  data: TrainingData | undefined,
): string[] {
  if (groups.length === 0) return [];
  const nameOf = ({ by, name }: GroupFigures) =>
    by === 'synthesizer' && data?.heldOutSynthesizers.includes(name) === true ? `${name} (held out)` : name;
  const rows = groups.map((group) => [
    groupTitles[group.by],
    nameOf(group),
    group.bonafide,
    group.attacks,
    rate(group.equalError),
    cost(group.minimumCost),
  ]);
  return [
    `### ${channel}, ${score}, by part`,
    formatTable(['by', 'part', 'bonafide', 'attacks', 'EER %', 'min DCF'], rows),
    `Parts with fewer than ${groupClassMin} recordings of a class are left out.${score === 'replay' ? ` ${simulated}` : ''}`,
  ];
}

function renderOutcomes({ channel, outcomes, reasons }: EvaluationSection): string {
  const rows = outcomes.filter(
    ({ performed, performedWithoutScore, error }) => performed + performedWithoutScore + error > 0,
  );
  const counts = formatTable(
    [channel, 'scored', 'abstained', 'errors'],
    rows.map(({ label, performed, performedWithoutScore, error }) => [label, performed, performedWithoutScore, error]),
  );
  const why =
    reasons.length === 0 ? '' : `\n\nReasons: ${reasons.map(({ reason, count }) => `${reason} ${count}`).join(', ')}.`;
  return `${counts}${why}\n\nThe error rates are of scored recordings only.${rows.some(({ label }) => label === 'replay') ? ` ${simulated}` : ''}`;
}

function renderCalibration({ sections }: EvaluationReport): string[] {
  const intro =
    'How often a recording of such a score is authentic, where as many are authentic as not. A score is calibrated where both columns agree.';
  const tables = sections.flatMap(({ channel, scores }) =>
    scores.map(({ score, calibration, calibrationError, atThreshold }) => {
      const rows = calibration.map(({ from, to, bonafide, attacks, meanScore, authenticShare }) => [
        `${from.toFixed(1)} to ${to.toFixed(1)}`,
        bonafide,
        attacks,
        meanScore === null ? '' : meanScore.toFixed(2),
        authenticShare === null ? '' : authenticShare.toFixed(2),
      ]);
      const threshold =
        atThreshold === null
          ? ''
          : ` At the threshold ${atThreshold.threshold}: ${percent(atThreshold.miss)} % of authentic recordings refused, ${percent(atThreshold.falseAlarm)} % of attacks accepted.`;
      const replay = score === 'replay' ? ` ${simulated}` : '';
      return `${channel}, ${score}: mean difference ${calibrationError.toFixed(3)}.${threshold}${replay}\n\n${formatTable(['score', 'bonafide', 'attacks', 'mean score', 'authentic share'], rows)}`;
    }),
  );
  return [intro, ...tables];
}

function renderData(data: TrainingData | undefined): string {
  if (data === undefined) return 'The training data are not stated here.';
  const rows = Object.entries(data.licences).map(([source, licences]) => [source, licences.join('; ')]);
  return [
    `Trained on ${data.name} (${data.licence}). [data-manifest.json](../../training/data-manifest.json) counts each part.`,
    formatTable(['source', 'licence'], rows),
    ...(data.generated === null ? [] : [`Generated for it: ${data.generated}.`]),
    ...(data.copies.length === 0 ? [] : [`Vocoder copies of its human speech: ${data.copies.join(', ')}.`]),
    `Held out by speaker and by synthesizer: ${data.heldOutSpeakers.length} speakers; ${data.heldOutSynthesizers.join(', ') || 'no synthesizer'}.`,
    simulated,
  ].join('\n\n');
}

function limits({ model, input }: ModelManifest): string {
  const channel = model.startsWith('phone/') ? 'telephone audio' : 'wide-band recordings';
  return [
    `- As the only ground for a decision about a person: of the recordings it takes for attacks, many are not, and how many depends on how rare attacks are.`,
    `- As proof in a dispute. A score is a probability under the conditions above, not evidence of who spoke or how.`,
    `- On synthesizers, languages or channels unlike those above: the tables by part show how far apart they are.`,
    `- On anything but ${channel} of ${input.sampleRateMin} Hz and more with speech of one person in a channel.`,
    `- To say who speaks. That is what voiceprints are for.`,
  ].join('\n');
}

function rate({ rate: share, interval }: RateFigure): string {
  return interval === null
    ? `${percent(share)} (no interval)`
    : `${percent(share)} (${percent(interval.low)} to ${percent(interval.high)})`;
}

function cost(value: number): string {
  return value.toFixed(3);
}
