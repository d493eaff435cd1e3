import { ratesAt, type ErrorCurve } from './error-curve.ts';

/** Costs of errors, and the prior of an attack. */
export interface CostModel {
  readonly missCost: number;
  readonly falseAlarmCost: number;
  readonly attackPrior: number;
}

/**
 * The costs of ASVspoof 5 (Wang et al., "ASVspoof 5: crowdsourced speech data, deepfakes, and adversarial attacks at scale",
 * 2024, track 1): refusing an authentic recording costs 1, accepting an attack 10, and one recording in twenty is an attack.
 */
export const asvspoof5Costs: CostModel = { missCost: 1, falseAlarmCost: 10, attackPrior: 0.05 };

/** The cost of a miss relative to a false alarm, priors included: 1.9 with the costs of ASVspoof 5. */
function missWeight({ missCost, falseAlarmCost, attackPrior }: CostModel): number {
  return (missCost * (1 - attackPrior)) / (falseAlarmCost * attackPrior);
}

/** The cost of a pair of rates, where the cheaper of accepting and refusing everything costs 1. */
function normalizedCost(
  { miss, falseAlarm }: { readonly miss: number; readonly falseAlarm: number },
  costs: CostModel,
): number {
  const weight = missWeight(costs);
  return (weight * miss + falseAlarm) / Math.min(weight, 1);
}

/** The normalised detection cost at the best threshold. At most 1. */
export function minimumCost({ misses, falseAlarms }: ErrorCurve, costs: CostModel = asvspoof5Costs): number {
  return misses.reduce(
    (best, miss, at) => Math.min(best, normalizedCost({ miss, falseAlarm: falseAlarms[at]! }, costs)),
    Infinity,
  );
}

/**
 * The normalised detection cost at the threshold that the costs imply for calibrated scores (Bayes decision). The difference to
 * the minimum is the calibration loss. The curve is of log-likelihood ratios.
 */
export function actualCost(curve: ErrorCurve, costs: CostModel = asvspoof5Costs): number {
  return normalizedCost(ratesAt(curve, -Math.log(missWeight(costs))), costs);
}

/** Priors and costs of the tandem with speaker verification (ASVspoof 2019 and 2021). */
export const tandemCosts = {
  targetPrior: 0.9405,
  nontargetPrior: 0.0095,
  attackPrior: 0.05,
  missCost: 1,
  falseAlarmCost: 10,
} as const;

/** Error rates of the speaker verification that accompanies the detector, at its own threshold. */
export interface SpeakerVerificationRates {
  readonly missRate: number;
  readonly falseAlarmRate: number;
  /** Share of the attacks that it accepts as the speaker. */
  readonly attackAcceptance: number;
}

/**
 * The normalised minimum tandem detection cost (Kinnunen et al., "Tandem assessment of spoofing countermeasures and
 * automatic speaker verification", 2020). Undefined if speaker verification alone makes the detector useless.
 */
export function minimumTandemCost(
  { misses, falseAlarms }: ErrorCurve,
  rates: SpeakerVerificationRates,
): number | undefined {
  const { targetPrior, nontargetPrior, attackPrior, missCost, falseAlarmCost } = tandemCosts;
  const standing = targetPrior * missCost * rates.missRate + nontargetPrior * falseAlarmCost * rates.falseAlarmRate;
  const ofMisses = targetPrior * missCost - standing;
  const ofFalseAlarms = attackPrior * falseAlarmCost * rates.attackAcceptance;
  if (ofMisses <= 0 || ofFalseAlarms <= 0) return undefined;
  const best = misses.reduce(
    (least, miss, at) => Math.min(least, standing + ofMisses * miss + ofFalseAlarms * falseAlarms[at]!),
    Infinity,
  );
  return best / (standing + Math.min(ofMisses, ofFalseAlarms));
}

/** The threshold of speaker verification with equal error rates of target and nontarget trials, as nearly as the trials allow. */
export function equalErrorThreshold({ thresholds, misses, falseAlarms }: ErrorCurve): number {
  return thresholds[misses.findIndex((miss, at) => miss >= falseAlarms[at]!)]!;
}
