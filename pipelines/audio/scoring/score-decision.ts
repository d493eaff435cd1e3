import { ServiceError } from '../../../runtime/errors.ts';
import { columnsPerScore, scoresIn, type ModelManifest } from '../models/manifest.ts';
import {
  SCORE_NAMES,
  type DecisionLabel,
  type ScoreName,
  type Scores,
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
  const { activation, polarity } = manifest.output;
  const columns = columnsPerScore(activation);
  const sign = polarity === 'higher-is-authentic' ? 1 : -1;
  return Object.fromEntries(
    scoresIn(manifest).map((name, place) => [name, sign * readLogit(row, place * columns, activation)]),
  );
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

/** Probabilities from logits, by the calibration of the model (Platt 1999): 1 / (1 + exp(-(slope * logit + intercept))). */
export function calibrate(logits: Logits, calibration: ModelManifest['calibration']): Scores {
  return scoresBy((name) => {
    const [logit, platt] = [logits[name], calibration[name]];
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

/** The decision by the thresholds of the model: a score below its threshold is not authentic. */
export function decideByThresholds(scores: Scores, given: ModelManifest['thresholds']): VerificationDecision {
  const thresholds = scoresBy((name) => given[name] ?? null);
  const isBelow = (name: ScoreName) =>
    scores[name] !== null && thresholds[name] !== null && scores[name] < thresholds[name];
  return { label: labelOf(isBelow('synthesis'), isBelow('replay')), thresholds, policy: 'thresholds/1' };
}

function labelOf(isSynthesized: boolean, isReplayed: boolean): DecisionLabel {
  if (isSynthesized) return isReplayed ? 'synthesizedAndReplayed' : 'synthesized';
  return isReplayed ? 'replayed' : 'authentic';
}

function scoresBy(score: (name: ScoreName) => number | null): Scores {
  return Object.fromEntries(SCORE_NAMES.map((name) => [name, score(name)])) as Record<ScoreName, number | null>;
}
