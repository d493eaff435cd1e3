import type { AudioReason } from '../../pipelines/audio/reasons.ts';
import { type ScoreName, type Scores } from '../../pipelines/audio/verification.ts';
import { equalErrorThreshold, type SpeakerVerificationRates } from './statistics/detection-cost.ts';
import { errorCurve, rankTrials, ratesAt, type Trial } from './statistics/error-curve.ts';
import type { IndexRow } from './index-file.ts';
import type { NuisanceFeatures } from './nuisance-features.ts';

/** The outcome of a recording with a model. */
export type ItemOutcome =
  | { readonly state: 'performed'; readonly scores: Scores }
  | { readonly state: 'performedWithoutScore' | 'error'; readonly reason: AudioReason };

/** A test set with the measured features of its recordings, in the order of its index. */
export interface EvaluatedSet {
  readonly rows: readonly IndexRow[];
  /** Null if the recording could not be read. */
  readonly nuisance: readonly (NuisanceFeatures | null)[];
}

/** A model and its outcomes, in the order of the index; null for recordings that it does not take. */
export interface ModelOutcomes {
  readonly model: string;
  readonly manifestSha256: string;
  readonly weightsSha256: string;
  readonly thresholds: Partial<Record<ScoreName, number>>;
  readonly outcomes: readonly (ItemOutcome | null)[];
}

/** The label of the attacks that a score detects. */
export const attackOf = { synthesis: 'synthetic', replay: 'replay' } as const satisfies Record<
  ScoreName,
  IndexRow['label']
>;

/**
 * The trials of a score among the given recordings of a set: bonafide ones and the attacks that it detects, without those that have
 * no score.
 */
export function trialsOf(
  { rows }: EvaluatedSet,
  outcomes: ModelOutcomes['outcomes'],
  { places, score }: { readonly places: readonly number[]; readonly score: ScoreName },
): Trial[] {
  return places.flatMap((item) => {
    const row = rows[item]!;
    const outcome = outcomes[item];
    const value = outcome?.state === 'performed' ? outcome.scores[score] : null;
    const authentic = row.label === 'bonafide';
    return value === null || (!authentic && row.label !== attackOf[score]) ? [] : [{ item, score: value, authentic }];
  });
}

/** The properties by which trials are grouped. */
const GROUPINGS = ['attack', 'synthesizer', 'base', 'codec', 'noise', 'set'] as const;

export type Grouping = (typeof GROUPINGS)[number];

/**
 * A part of a set: the attacks of one kind, with bonafide recordings. If there are enough bonafide recordings of the same codec,
 * set or noise, with those only; for a synthesizer with all, since a live voice has none.
 */
interface TrialGroup {
  readonly by: Grouping;
  readonly name: string;
  readonly trials: readonly Trial[];
}

/** Edges of the groups by noise, in dB of signal over noise. */
const noiseEdges = [15, 25] as const;

const nameOf: Record<Grouping, (row: IndexRow) => string> = {
  attack: ({ attack }) => attack,
  codec: ({ codec }) => codec,
  synthesizer: ({ synthesizer, label }) => (label === 'synthetic' ? synthesizer : ''),
  base: ({ baseLabel, label }) => (label === 'replay' && baseLabel !== '' ? `replay of ${baseLabel}` : ''),
  set: ({ set }) => set,
  noise: ({ snrDb }) =>
    snrDb === null
      ? ''
      : snrDb < noiseEdges[0]
        ? `under ${noiseEdges[0]} dB`
        : snrDb < noiseEdges[1]
          ? `${noiseEdges[0]} to ${noiseEdges[1]} dB`
          : `${noiseEdges[1]} dB and over`,
};

/** Least recordings of each class in a group: with fewer, one recording changes its error rate by more than a fifth. */
export const groupClassMin = 5;

/**
 * The groups of trials, by name within each grouping, without groups that are too small and without groupings of a single
 * codec, set or noise.
 */
export function groupTrials({ rows }: EvaluatedSet, trials: readonly Trial[]): TrialGroup[] {
  return GROUPINGS.flatMap((by) => {
    const nameAt = ({ item }: Trial) => nameOf[by](rows[item]!);
    const names = [...new Set(trials.filter(({ authentic }) => !authentic).map(nameAt))]
      .filter((name) => name !== '')
      .sort();
    if (names.length === 0 || (names.length === 1 && (by === 'codec' || by === 'set' || by === 'noise'))) return [];
    const groups = names.map((name) => {
      const same = trials.filter((trial) => nameAt(trial) === name);
      const attacks = same.filter(({ authentic }) => !authentic);
      const bonafide = same.filter(({ authentic }) => authentic);
      const against = bonafide.length >= groupClassMin ? bonafide : trials.filter(({ authentic }) => authentic);
      return { by, name, trials: [...against, ...attacks], sizes: [against.length, attacks.length] };
    });
    return groups.filter(({ sizes }) => Math.min(...sizes) >= groupClassMin);
  });
}

/**
 * Error rates of speaker verification at its equal error threshold; undefined if the index lacks its scores for targets, nontargets
 * or these attacks.
 */
export function speakerVerificationRates(
  { rows }: EvaluatedSet,
  trials: readonly Trial[],
): SpeakerVerificationRates | undefined {
  const of = trials
    .map(({ item, authentic }) => ({ row: rows[item]!, item, authentic }))
    .filter(({ row }) => row.asvScore !== null);
  const claims = of
    .filter(({ row, authentic }) => authentic && row.asvTrial !== '')
    .map(({ row, item }) => ({ item, score: row.asvScore!, authentic: row.asvTrial === 'target' }));
  const attacks = of.filter(({ authentic }) => !authentic);
  const curve = errorCurve(rankTrials(claims));
  if (curve === undefined || attacks.length === 0) return undefined;
  const threshold = equalErrorThreshold(curve);
  const { miss, falseAlarm } = ratesAt(curve, threshold);
  return {
    missRate: miss,
    falseAlarmRate: falseAlarm,
    attackAcceptance: attacks.filter(({ row }) => row.asvScore! >= threshold).length / attacks.length,
  };
}
