import { ServiceError } from '../../../runtime/errors.ts';
import { columnsPerScore, type ModelManifest, type ScoreCondition } from '../models/manifest.ts';
import {
  SCORE_NAMES,
  type ScoreName,
  type Scores,
  type UndecidedReason,
  type VerificationDecision,
} from '../verification.ts';

/** Logits by score: higher is authentic. A score that the model does not give is absent. */
export type Logits = Readonly<Partial<Record<ScoreName, number>>>;

/** Probabilities nearer to 0 or 1 than this say no more: float32 next to 1 has steps of 6e-8. */
const shareMin = 1e-7;

/** Logits beyond this say no more either, and keep means finite. */
const logitMax = 1000;

/** Columns of the graph's output for one window. */
export function outputColumns({ output }: Pick<ModelManifest, 'output'>): number {
  return output.layout.length * columnsPerScore(output.activation);
}

/**
 * The logits of one row of a graph's output, whatever activation and polarity the graph has.
 * @throws ServiceError `model_invalid` if a number of it is not finite
 */
export function readLogits(row: ArrayLike<number>, manifest: Pick<ModelManifest, 'output'>): Logits {
  const { activation, layout, polarity } = manifest.output;
  const columns = columnsPerScore(activation);
  const sign = polarity === 'higher-is-authentic' ? 1 : -1;
  return Object.fromEntries(layout.map((name, place) => [name, sign * readLogit(row, place * columns, activation)]));
}

function readLogit(row: ArrayLike<number>, at: number, activation: ModelManifest['output']['activation']): number {
  const [first, second] = [row[at]!, row[at + 1]!];
  if (!Number.isFinite(first) || (columnsPerScore(activation) === 2 && !Number.isFinite(second))) {
    throw new ServiceError('model_invalid', {
      operation: 'run model',
      problem: 'The graph answered a number that is not finite.',
    });
  }
  switch (activation) {
    case 'logit':
      return bounded(first);
    case 'probability':
      return logOfShare(first) - logOfShare(1 - first);
    case 'softmax-pair':
      return logOfShare(second) - logOfShare(first);
    case 'logit-pair':
      return bounded(second - first);
  }
}

function logOfShare(share: number): number {
  return Math.log(Math.min(1, Math.max(shareMin, share)));
}

function bounded(logit: number): number {
  return Math.min(logitMax, Math.max(-logitMax, logit));
}

/** Mean of the logits of a recording's windows; null if there is none. */
export function meanLogits(all: readonly Logits[]): Logits | null {
  if (all.length === 0) return null;
  const names = Object.keys(all[0]!) as ScoreName[];
  return Object.fromEntries(names.map((name) => [name, all.reduce((sum, each) => sum + each[name]!, 0) / all.length]));
}

/** The calibration and thresholds of a score. `authenticFrom` null: no score is known to be enough. */
type Standard = Pick<ScoreCondition, 'calibration' | 'attackBelow' | 'authenticFrom' | 'falseAcceptance'>;

type JudgedModel = Pick<ModelManifest, 'calibration' | 'thresholds' | 'conditions'>;

/**
 * The calibration and thresholds for a score of this length of voice; without conditions those of the model. Undefined for a score
 * that the model does not give.
 */
function standardOf(model: JudgedModel, name: ScoreName, voiceSeconds: number): Standard | undefined {
  const fitting = model.conditions?.[name]?.findLast(({ voiceSecondsFrom }) => voiceSeconds >= voiceSecondsFrom);
  if (fitting !== undefined) return fitting;
  const [calibration, attackBelow] = [model.calibration[name], model.thresholds[name]];
  return calibration === undefined || attackBelow === undefined
    ? undefined
    : { calibration, attackBelow, authenticFrom: null, falseAcceptance: null };
}

/** Probabilities from logits, by the calibration of the model (Platt 1999): 1 / (1 + exp(-(slope * logit + intercept))). */
export function calibrate(logits: Logits, model: JudgedModel, voiceSeconds = 0): Scores {
  return scoresBy((name) => {
    const [logit, platt] = [logits[name], standardOf(model, name, voiceSeconds)?.calibration];
    return logit === undefined || platt === undefined
      ? null
      : 1 / (1 + Math.exp(-(platt.slope * logit + platt.intercept)));
  });
}

/** The lowest score of several channels: a call is as authentic as its less authentic side. Null where no channel has the score. */
export function lowestScores(channels: readonly Scores[]): Scores {
  return scoresBy((name) => {
    const given = channels.flatMap((scores) => scores[name] ?? []);
    return given.length === 0 ? null : Math.min(...given);
  });
}

/** Scores of a channel, and the seconds of voice that they come from. */
interface ChannelEvidence {
  readonly scores: Scores;
  readonly voiceSeconds: number;
}

/** What a score says, from the worst. */
const standings = ['attack', 'undecided', 'authentic'] as const;

interface JudgedScore extends Standard {
  readonly score: number;
  readonly standing: (typeof standings)[number];
}

/** The decision on a recording by the thresholds of its model: each score is taken from the channel where it says the worst. */
export function decideByThresholds(channels: readonly ChannelEvidence[], model: JudgedModel): VerificationDecision {
  const judged = Object.fromEntries(SCORE_NAMES.map((name) => [name, worstOf(channels, model, name)])) as Record<
    ScoreName,
    JudgedScore | undefined
  >;
  const is = (name: ScoreName, standing: JudgedScore['standing']) => judged[name]?.standing === standing;
  const label = labelOf({
    isSynthesized: is('synthesis', 'attack'),
    isReplayed: is('replay', 'attack'),
    isOpen: SCORE_NAMES.some((name) => is(name, 'undecided')),
  });
  return {
    label,
    thresholds: scoresBy((name) => judged[name]?.attackBelow ?? null),
    policy: 'thresholds/2',
    reason: label === 'undecided' ? reasonOf(Object.values(judged)) : null,
    authenticFrom: scoresBy((name) => judged[name]?.authenticFrom ?? null),
    falseAcceptance: scoresBy((name) => judged[name]?.falseAcceptance ?? null),
  };
}

function worstOf(channels: readonly ChannelEvidence[], model: JudgedModel, name: ScoreName): JudgedScore | undefined {
  const judged = channels.flatMap(({ scores, voiceSeconds }): JudgedScore[] => {
    const [score, standard] = [scores[name], standardOf(model, name, voiceSeconds)];
    return score === null || standard === undefined
      ? []
      : [{ ...standard, score, standing: standingOf(score, standard) }];
  });
  const rank = ({ standing }: JudgedScore) => standings.indexOf(standing);
  return judged.sort((a, b) => rank(a) - rank(b) || a.score - b.score)[0];
}

function standingOf(score: number, { attackBelow, authenticFrom }: Standard): JudgedScore['standing'] {
  if (score < attackBelow) return 'attack';
  return authenticFrom !== null && score >= authenticFrom ? 'authentic' : 'undecided';
}

function reasonOf(judged: readonly (JudgedScore | undefined)[]): UndecidedReason {
  const open = judged.filter((each) => each?.standing === 'undecided');
  return open.some((each) => each?.authenticFrom === null) ? 'acceptance_unknown' : 'between_thresholds';
}

function labelOf(found: { readonly isSynthesized: boolean; readonly isReplayed: boolean; readonly isOpen: boolean }) {
  if (found.isSynthesized) return found.isReplayed ? 'synthesizedAndReplayed' : 'synthesized';
  if (found.isReplayed) return 'replayed';
  return found.isOpen ? 'undecided' : 'authentic';
}

function scoresBy(score: (name: ScoreName) => number | null): Scores {
  return Object.fromEntries(SCORE_NAMES.map((name) => [name, score(name)])) as Record<ScoreName, number | null>;
}
