import { fitLogisticRegression } from './statistics/logistic-regression.ts';
import type { NuisanceFeatures } from './nuisance-features.ts';

/** A recording for the baseline. */
export interface NuisanceTrial {
  readonly features: NuisanceFeatures;
  readonly speaker: string;
  readonly authentic: boolean;
}

/** Folds of the cross-validation. */
const nuisanceFolds = 5;

/**
 * Scores of a classifier on features of the channel only: level, duration, noise floor, bandwidth and silence at both ends, and
 * their squares. Each recording is scored by a classifier that was fitted without its speaker. If these scores separate attacks
 * from authentic recordings, a detector can ignore the voice, and its figures on the set mean less.
 * Undefined if a classifier lacks a class.
 */
export function nuisanceScores(trials: readonly NuisanceTrial[]): number[] | undefined {
  const folds = foldsOf(trials);
  const inputs = trials.map(({ features }) => inputOf(features));
  const scores = new Array<number>(trials.length).fill(0);
  for (const fold of new Set(folds)) {
    const fitted = [...trials.keys()].filter((at) => folds[at] !== fold);
    const labels = fitted.map((at) => trials[at]!.authentic);
    if (!labels.includes(true) || !labels.includes(false)) return undefined;
    const classify = fitLogisticRegression({ rows: fitted.map((at) => inputs[at]!), labels });
    for (const at of trials.keys()) if (folds[at] === fold) scores[at] = classify(inputs[at]!);
  }
  return scores;
}

/**
 * The fold of each trial. All trials of a speaker are in one fold; the largest speakers are assigned first, each to the fold with
 * fewest of its class.
 */
function foldsOf(trials: readonly NuisanceTrial[]): number[] {
  const speakers = new Map<string, { authentic: number; attacks: number }>();
  for (const { speaker, authentic } of trials) {
    const counts = speakers.get(speaker) ?? { authentic: 0, attacks: 0 };
    counts[authentic ? 'authentic' : 'attacks']++;
    speakers.set(speaker, counts);
  }
  const folds = Array.from({ length: nuisanceFolds }, () => ({ authentic: 0, attacks: 0 }));
  const foldOf = new Map<string, number>();
  const bySize = [...speakers].sort(
    ([nameA, a], [nameB, b]) => b.authentic + b.attacks - a.authentic - a.attacks || (nameA < nameB ? -1 : 1),
  );
  for (const [speaker, counts] of bySize) {
    const main = counts.authentic >= counts.attacks ? 'authentic' : 'attacks';
    const fold = folds.reduce((least, each, at) => (each[main] < folds[least]![main] ? at : least), 0);
    folds[fold]!.authentic += counts.authentic;
    folds[fold]!.attacks += counts.attacks;
    foldOf.set(speaker, fold);
  }
  return trials.map(({ speaker }) => foldOf.get(speaker)!);
}

function inputOf({
  levelDbfs,
  durationSeconds,
  noiseFloorDbfs,
  bandwidthHz,
  leadingSilenceSeconds,
  trailingSilenceSeconds,
}: NuisanceFeatures): number[] {
  const values = [
    levelDbfs,
    Math.log(durationSeconds + 0.1),
    noiseFloorDbfs,
    bandwidthHz / 1000,
    Math.log(leadingSilenceSeconds + 0.02),
    Math.log(trailingSilenceSeconds + 0.02),
  ];
  const centred = values.map((value, at) => value - centres[at]!);
  return [...centred, ...centred.map((value) => value * value)];
}

/** Typical values, which are subtracted before squaring. */
const centres = [-22, Math.log(3), -55, 4, Math.log(0.1), Math.log(0.1)];
