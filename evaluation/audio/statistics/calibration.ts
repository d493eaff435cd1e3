import type { RankedTrials, Trial } from './error-curve.ts';

/**
 * Scores are probabilities at this prior of an attack. It turns them into log-likelihood ratios, which hold at any prior.
 */
const scorePrior = 0.5;

/** Scores are limited to this distance from 0 and 1: otherwise one wrong score of 0 or 1 makes every mean infinite. */
export const scoreMargin = 1e-6;

/** The log-likelihood ratio (natural logarithm) of authentic against attack that a score states. */
export function likelihoodRatioOf(score: number): number {
  return logit(Math.min(1 - scoreMargin, Math.max(scoreMargin, score))) - logit(scorePrior);
}

/**
 * The cost of log-likelihood ratios in bits (Brümmer and du Preez, "Application-independent evaluation of speaker
 * detection", 2006): 0 is perfect, 1 is the cost without information, and a higher cost is worse than that.
 * Undefined if a class is empty.
 */
export function likelihoodRatioCost(trials: readonly Trial[]): number | undefined {
  const authentic = trials.filter((trial) => trial.authentic);
  const others = trials.filter((trial) => !trial.authentic);
  if (authentic.length === 0 || others.length === 0) return undefined;
  return (meanBits(authentic.map(({ score }) => -score)) + meanBits(others.map(({ score }) => score))) / 2;
}

/**
 * The cost with the best calibration of the same ranking: the ratios of the pool-adjacent-violators algorithm. The difference
 * to the cost is the calibration loss. Undefined if a class is empty.
 */
export function minimumLikelihoodRatioCost(ranked: RankedTrials): number | undefined {
  const authentics = ranked.authentic.reduce((sum, each) => sum + each, 0);
  const others = ranked.authentic.length - authentics;
  if (authentics === 0 || others === 0) return undefined;
  let ofAuthentic = 0;
  let ofOthers = 0;
  for (const { authentic, total } of poolAdjacentViolators(ranked)) {
    const ratio = Math.log(authentic) - Math.log(total - authentic) - Math.log(authentics / others);
    if (authentic > 0) ofAuthentic += authentic * bits(-ratio);
    if (authentic < total) ofOthers += (total - authentic) * bits(ratio);
  }
  return (ofAuthentic / authentics + ofOthers / others) / 2;
}

/** Adjacent trials in the order of scores that share one share of authentic trials. */
interface PooledBlock {
  readonly authentic: number;
  readonly total: number;
}

/** The blocks of rising shares with the best fit (isotonic regression). Trials of equal score are in one block. */
export function poolAdjacentViolators({ scores, authentic }: RankedTrials): PooledBlock[] {
  const blocks: PooledBlock[] = [];
  for (let at = 0; at < scores.length;) {
    const from = at;
    let count = 0;
    for (; at < scores.length && scores[at] === scores[from]; at++) count += authentic[at]!;
    let block: PooledBlock = { authentic: count, total: at - from };
    for (
      let last = blocks.at(-1);
      last !== undefined && last.authentic * block.total >= block.authentic * last.total;
      last = blocks.at(-1)
    ) {
      blocks.pop();
      block = { authentic: last.authentic + block.authentic, total: last.total + block.total };
    }
    blocks.push(block);
  }
  return blocks;
}

/** Bins of a calibration table. */
const calibrationBins = 10;

/** One row of a calibration table: scores from `from` to below `to`. */
export interface CalibrationBin {
  readonly from: number;
  readonly to: number;
  readonly bonafide: number;
  readonly attacks: number;
  /** Mean score and share of authentic trials, both with equal weight of the classes; null for an empty bin. */
  readonly meanScore: number | null;
  readonly authenticShare: number | null;
}

/** A calibration table with the mean difference of shares and scores over the trials (0 is perfect). Undefined if a class is empty. */
export function calibrationTable(
  trials: readonly Trial[],
): { readonly bins: CalibrationBin[]; readonly error: number } | undefined {
  const authentics = trials.filter(({ authentic }) => authentic).length;
  const others = trials.length - authentics;
  if (authentics === 0 || others === 0) return undefined;
  const weightOf = ({ authentic }: Trial) => scorePrior / (authentic ? authentics : others);
  let error = 0;
  const bins = Array.from({ length: calibrationBins }, (_none, at): CalibrationBin => {
    const inside = trials.filter(
      ({ score }) => Math.min(calibrationBins - 1, Math.floor(score * calibrationBins)) === at,
    );
    const weight = inside.reduce((sum, trial) => sum + weightOf(trial), 0);
    const authentic = inside.filter((trial) => trial.authentic);
    const facts = {
      from: at / calibrationBins,
      to: (at + 1) / calibrationBins,
      bonafide: authentic.length,
      attacks: inside.length - authentic.length,
    };
    if (weight === 0) return { ...facts, meanScore: null, authenticShare: null };
    const meanScore = inside.reduce((sum, trial) => sum + weightOf(trial) * trial.score, 0) / weight;
    const authenticShare = authentic.reduce((sum, trial) => sum + weightOf(trial), 0) / weight;
    error += weight * Math.abs(meanScore - authenticShare);
    return { ...facts, meanScore, authenticShare };
  });
  return { bins, error };
}

function logit(probability: number): number {
  return Math.log(probability / (1 - probability));
}

/** log2(1 + e^x), also for large x. */
function bits(exponent: number): number {
  return (Math.max(exponent, 0) + Math.log1p(Math.exp(-Math.abs(exponent)))) / Math.LN2;
}

function meanBits(exponents: readonly number[]): number {
  return exponents.reduce((sum, exponent) => sum + bits(exponent), 0) / exponents.length;
}
