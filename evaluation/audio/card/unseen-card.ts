import { formatTable, percent } from './card-table.ts';
import type { UnseenEvaluation, UnseenFigures } from '../unseen-evaluation.ts';

const titles = { synthesis: 'Synthesis', replay: 'Replay (simulated)' } as const;

/** What a score is worth on what was never heard: the head of a card, as parts of Markdown. */
export function renderUnseen(unseen: UnseenEvaluation, voiceActivity: string): string[] {
  const rows = (['synthesis', 'replay'] as const).flatMap((score) =>
    Object.entries(unseen[score]).map(([length, figures]) => headOf(titles[score], length, figures)),
  );
  return [
    '## What a score is worth on what was never heard',
    formatTable(
      [
        'score',
        'length',
        'genuine',
        'attacks',
        'EER %',
        'Cllr',
        'min Cllr',
        'genuine called attacks %',
        'attacks found %',
        'undecided: genuine, attacks %',
      ],
      rows,
    ),
    methodOf(unseen),
    ...worthOf(unseen),
    ...renderLines(unseen),
    '### By family that was left out',
    formatTable(
      ['length', 'family', 'recordings', 'EER %', 'found %', 'undecided %', 'called authentic %'],
      Object.entries(unseen.synthesis).flatMap(([length, { families }]) =>
        Object.entries(families).map(([name, { recordings, equalError, ...decided }]) => [
          length,
          name,
          recordings,
          percent(equalError),
          ...decisionCells(decided),
        ]),
      ),
    ),
    '### By source that was left out',
    formatTable(
      ['score', 'length', 'source', 'genuine', 'called attacks %', 'undecided %', 'called authentic %'],
      (['synthesis', 'replay'] as const).flatMap((score) =>
        Object.entries(unseen[score]).flatMap(([length, { sources }]) =>
          Object.entries(sources).map(([name, { recordings, ...decided }]) => [
            titles[score],
            length,
            name,
            recordings,
            ...decisionCells(decided),
          ]),
        ),
      ),
    ),
    '### By codec',
    formatTable(
      ['score', 'length', 'codec', 'genuine', 'called attacks %', 'attacks', 'found %'],
      (['synthesis', 'replay'] as const).flatMap((score) =>
        Object.entries(unseen[score]).flatMap(([length, { codecs }]) =>
          Object.entries(codecs).map(([name, { genuine, attacks }]) => [
            titles[score],
            length,
            name,
            genuine.recordings,
            shareCell(genuine.attack),
            attacks.recordings,
            shareCell(attacks.attack),
          ]),
        ),
      ),
    ),
    '### Refused without a score',
    formatTable(
      ['length', 'label', 'recordings', `without a score %, ${voiceActivity}`],
      Object.entries(unseen.refused[voiceActivity] ?? {})
        .sort(([a], [b]) => Number.parseInt(a) - Number.parseInt(b))
        .flatMap(([length, labels]) =>
          Object.entries(labels).map(([label, { recordings, share }]) => [length, label, recordings, percent(share)]),
        ),
    ),
    'Held-out clips of one speaker and condition, joined to that length. No score is not a pass.',
    ...renderShipped(unseen),
  ];
}

function headOf(title: string, length: string, figures: UnseenFigures): (string | number)[] {
  const { equalError, genuineDecisions, attackDecisions } = figures;
  const range =
    equalError.interval === null
      ? ''
      : ` (${percent(equalError.interval.low)} to ${percent(equalError.interval.high)})`;
  return [
    title,
    length,
    figures.genuine,
    figures.attacks,
    `${percent(equalError.rate)}${range}`,
    figures.likelihoodRatioCost.toFixed(3),
    figures.minimumLikelihoodRatioCost.toFixed(3),
    percent(genuineDecisions.attack),
    percent(attackDecisions.attack),
    `${percent(genuineDecisions.undecided)}, ${percent(attackDecisions.undecided)}`,
  ];
}

function methodOf({
  conditioned,
  isExact,
  parts,
  resamples,
  seed,
  shrinkage,
  threshold,
  weightsOf,
}: UnseenEvaluation): string {
  const refits = isExact
    ? 'The model is such a regression, so these are its figures.'
    : `Of the recipe of ${weightsOf} only its regressions (${parts.join(', ')}) are in them: networks and mixtures could not be trained again for each pair. The shipped weights are measured below where they can be.`;
  return [
    'Synthesis: each family of synthesizers and each source of genuine recordings was left out in turn, and regressions were fitted on the clips of the corpus without both.',
    refits,
    `Calibration and thresholds were fitted on the other families and sources, with ${shrinkage} of the slope that those gave. Families weigh the same, and so do sources. The EER is the mean over families.`,
    `Replay: the shipped weights on held-out speakers, calibrated without the source; the same lines for both lengths. It is simulated. Intervals hold 95 % of ${resamples} resamples over speakers and families (seed ${seed}). Recordings of 10 s are joined clips.`,
    ...(conditioned === undefined
      ? []
      : [`Calibration and threshold of synthesis are those fitted at ${conditioned.join(', ')}, at every length.`]),
    ...(threshold === undefined
      ? []
      : [
          `The threshold of synthesis, ${threshold.attackBelow}, is not of the folds: it is the one of the next table, and the decisions above and below are by it.`,
        ]),
  ].join(' ');
}

/** In a few words: is it better than the first version, and why does it never say authentic? */
function worthOf({ synthesis, replay, baseline, acceptanceKnownMax }: UnseenEvaluation): string[] {
  const all = [
    ...Object.entries(synthesis).map((each) => ['synthesis', ...each] as const),
    ...Object.entries(replay).map((each) => ['replay', ...each] as const),
  ];
  const better = all.map(([score, length, { difference }]) => {
    if (difference === null || baseline === null) return null;
    const { rate, interval } = difference;
    const isBetter = interval !== null && interval.high < 0;
    const range = interval === null ? '' : ` (${percent(interval.low)} to ${percent(interval.high)})`;
    return `${score}, ${length}: ${percent(rate)} points${range}, ${isBetter ? 'better' : 'not better beyond chance'}`;
  });
  const said = all.map(([score, length, { acceptance }]) => {
    const { genuine, worstFamily, upperEnd, isStated } = acceptance;
    return `${score}, ${length}: ${percent(genuine)} % of genuine recordings would reach it, and ${percent(worstFamily)} % of the family that does best (up to ${percent(upperEnd)} %), so it is ${isStated ? 'stated' : 'not stated'}`;
  });
  return [
    ...(baseline === null
      ? []
      : [`EER against ${baseline}, on the same draws. ${better.filter((each) => each !== null).join('; ')}.`]),
    `A score counts as authentic only where at most ${percent(acceptanceKnownMax)} % of each family that was left out would reach it, at the upper end of the interval. ${said.join('; ')}. A manifest without \`conditions\` states none.`,
  ];
}

/** Genuine recordings that are called synthesized over each line, where the threshold was chosen by lines. */
function renderLines({ threshold }: UnseenEvaluation): string[] {
  if (threshold === undefined) return [];
  const { attackBelow, tunedOn, judgedOn, falseAlarm, found } = threshold;
  const families = Object.entries(found).sort(([, a], [, b]) => b - a);
  const some = families.filter(([, share]) => share > 0).map(([family, share]) => `${family} ${percent(share)} %`);
  const none = families.filter(([, share]) => share === 0).map(([family]) => family);
  return [
    '### By the codec of a line',
    formatTable(
      ['line', 'genuine', 'called synthesized %'],
      Object.entries(falseAlarm).map(([line, share]) => [line, judgedOn, percent(share)]),
    ),
    `Recordings of 4 to 10 s from public repositories, without room or noise, on which nothing was trained (\`training/line_codecs.py\`). ${attackBelow} is the 5 % quantile of the recordings of ${tunedOn} people over the worst of these lines; the table is of ${judgedOn} other people. Found of one recording of each system, all lines together: ${some.join(', ')}; none of ${none.join(', ')}.`,
  ];
}

function renderShipped({ shipped }: UnseenEvaluation): string[] {
  if (shipped === undefined) return [];
  return [
    '### The shipped weights on held-out recordings',
    formatTable(
      ['length', 'made by', 'recordings', 'mean synthesis score', 'called attacks %'],
      Object.entries(shipped).flatMap(([length, makers]) =>
        Object.entries(makers).map(([name, { recordings, meanScore, attack }]) => [
          length,
          name,
          recordings,
          meanScore.toFixed(2),
          percent(attack),
        ]),
      ),
    ),
    'With the calibration of the manifest. Training knew other recordings of some of these synthesizers; the tables of the development set say which it did not.',
  ];
}

function decisionCells(decided: {
  readonly attack: number | null;
  readonly undecided: number | null;
  readonly authentic: number | null;
}): string[] {
  return [decided.attack, decided.undecided, decided.authentic].map(shareCell);
}

function shareCell(share: number | null): string {
  return share === null ? '-' : percent(share);
}
