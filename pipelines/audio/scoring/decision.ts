import type { ModelManifest } from '../models/manifest.ts';
import {
  SCORE_NAMES,
  type DecisionLabel,
  type ScoreName,
  type Scores,
  type VerificationDecision,
} from '../verification.ts';
import type { Logits } from './logits.ts';

/** Probabilities from logits, by the calibration of the model (Platt 1999): 1 / (1 + exp(-(slope * logit + intercept))). */
export function calibrate(logits: Logits, calibration: ModelManifest['calibration']): Scores {
  return scoresBy((name) => {
    const [logit, platt] = [logits[name], calibration[name]];
    return logit === undefined || platt === undefined
      ? null
      : 1 / (1 + Math.exp(-(platt.slope * logit + platt.intercept)));
  });
}

/** The lower score of several channels: a call is as authentic as its less authentic side. Null where no channel has the score. */
export function lowestScores(channels: readonly Scores[]): Scores {
  return scoresBy((name) => {
    const given = channels.flatMap((scores) => scores[name] ?? []);
    return given.length === 0 ? null : Math.min(...given);
  });
}

/** What scores say against the thresholds of the model: a score below its own is not authentic. */
export function decide(scores: Scores, given: ModelManifest['thresholds']): VerificationDecision {
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
