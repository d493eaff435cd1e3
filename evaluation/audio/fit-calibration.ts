import { ServiceError } from '../../runtime/errors.ts';
import type { ModelManifest, ScoreCondition } from '../../pipelines/audio/models/manifest.ts';
import type { IndexRow } from './index-file.ts';
import { attackOf, trialsOf, type EvaluatedSet, type ModelOutcomes } from './evaluated-set.ts';
import { likelihoodRatioCost, likelihoodRatioOf, minimumLikelihoodRatioCost } from './statistics/calibration.ts';
import { equalErrorThreshold } from './statistics/detection-cost.ts';
import { equalErrorRate, errorCurve, rankTrials, type Trial } from './statistics/error-curve.ts';
import { fitLogisticRegression } from './statistics/logistic-regression.ts';
import type { ScoreName } from '../../pipelines/audio/verification.ts';

/**
 * The least that a calibration is fitted on: recordings with a score in each class, speakers of genuine ones, and synthesizers, or
 * speakers of replays. Two numbers are fitted, and with 100 of each class their error is some hundredths of a bit.
 */
export const calibrationMinimums = { recordings: 100, speakers: 5, attackGroups: 2 } as const;

/** Shares of the fitted recordings beyond the limits: of genuine ones called attacks, and of one group's attacks called authentic. */
const limitShares = { falseAlarm: 0.1, falseAcceptance: 0.1 } as const;

/** A score is called enough only where the upper end of the 95 % interval of each left-out group's acceptance is at most this. */
const acceptanceKnownMax = 0.2;

/** Folds of the recordings; each is judged by a calibration that was fitted on the others. */
const folds = 5;

/** Slope with which logits are carried through scores: those up to 600 stay numbers that differ from 0 and 1. */
const carryingSlope = 1 / 50;

type Platt = NonNullable<ModelManifest['calibration'][ScoreName]>;

/** A calibration of one score, and what it was worth on recordings that it was not fitted on. */
export interface FittedCalibration {
  readonly score: ScoreName;
  readonly calibration: Platt;
  /** Where misses and false alarms are equal on the recordings that the calibration was fitted on. */
  readonly threshold: number;
  /** The same with two limits, and what these are worth: `authenticFrom` is null where no score is known to be enough. */
  readonly condition: ScoreCondition;
  readonly bonafide: number;
  readonly attacks: number;
  readonly heldOut: {
    /** Cost of the scores in bits (Cllr): 1 is that of saying nothing. */
    readonly cllr: number;
    /** The same with the best calibration of the same ranking. */
    readonly minimumCllr: number;
    readonly equalErrorRate: number;
  };
}

/** A manifest whose scores carry the logits of its model, uncalibrated: what a calibration is fitted on. */
export function uncalibrated(manifest: ModelManifest): ModelManifest {
  const carried = { slope: carryingSlope, intercept: 0 };
  return {
    ...manifest,
    conditions: undefined,
    calibration: Object.fromEntries(manifest.output.layout.map((name) => [name, carried])),
  };
}

/**
 * Fits slope and intercept of a score by logistic regression of the class on the logit, with equal weight of both classes, and
 * judges the same on held-out speakers and synthesizers. The outcomes are of the {@link uncalibrated} manifest.
 * @throws ServiceError `index_invalid` if there is too little of a class, `model_invalid` if higher logits are not more authentic
 */
export function fitCalibration(
  set: EvaluatedSet,
  { outcomes, model }: Pick<ModelOutcomes, 'outcomes' | 'model'>,
  score: ScoreName,
): FittedCalibration {
  const places = [...set.rows.keys()];
  const attack = attackOf[score];
  const carried = trialsOf(set, outcomes, { places, score });
  const trials = carried.map((trial) => ({
    ...trial,
    score: Math.log(trial.score / (1 - trial.score)) / carryingSlope,
  }));
  requireEnough(set.rows, trials, score);
  const calibration = fitPlatt(trials, model);
  const foldOf = foldsOf(set.rows, trials);
  const attackGroupOf = ({ item }: Trial) => (attack === 'replay' ? 'replay' : groupOf(set.rows[item]!));
  const heldOut = Array.from({ length: folds }, (_none, fold) => {
    const inside = trials.filter(({ item }) => foldOf.get(item) === fold);
    if (inside.length === 0) return [];
    const outside = trials.filter(({ item }) => foldOf.get(item) !== fold);
    const fitted = fitPlatt(outside, model);
    const limits = limitsOf(calibratedAll(outside, fitted), attackGroupOf);
    return calibratedAll(inside, fitted).map((trial) => ({
      ...trial,
      isAttack: trial.score < limits.attackBelow,
      isAuthentic: trial.score >= limits.authenticFrom,
    }));
  }).flat();
  const all = calibratedAll(trials, calibration);
  const ratios = (of: readonly Trial[]) => of.map((trial) => ({ ...trial, score: likelihoodRatioOf(trial.score) }));
  return {
    score,
    calibration,
    threshold: Math.min(0.99, Math.max(0.01, equalErrorThreshold(errorCurve(rankTrials(all))!))),
    condition: conditionOf({ calibration, limits: limitsOf(all, attackGroupOf), heldOut, attackGroupOf }),
    bonafide: trials.filter(({ authentic }) => authentic).length,
    attacks: trials.filter(({ authentic }) => !authentic).length,
    heldOut: {
      cllr: likelihoodRatioCost(ratios(heldOut))!,
      minimumCllr: minimumLikelihoodRatioCost(rankTrials(trials))!,
      equalErrorRate: equalErrorRate(rankTrials(heldOut))!,
    },
  };
}

function fitPlatt(trials: readonly Trial[], model: string): Platt {
  const logOdds = fitLogisticRegression({
    rows: trials.map(({ score }) => [score]),
    labels: trials.map(({ authentic }) => authentic),
  });
  const intercept = logOdds([0]);
  const slope = logOdds([1]) - intercept;
  if (slope > 0 && slope <= 100 && Math.abs(intercept) <= 100) return { slope, intercept };
  throw new ServiceError('model_invalid', {
    operation: 'calibrate model',
    object: model,
    problem: `The fit has slope ${slope.toPrecision(3)} and intercept ${intercept.toPrecision(3)}, and a manifest takes slopes over 0 to 100 and intercepts of -100 to 100.`,
    hint: 'A slope below 0 means that its attacks score higher than genuine voices: look at output.polarity, and at the labels.',
  });
}

/** Two scores between which nothing is decided. */
interface Limits {
  readonly attackBelow: number;
  readonly authenticFrom: number;
}

type GroupOf = (trial: Trial) => string;

/** The limits beyond which the shares of {@link limitShares} lie, of genuine recordings and of the worst group of attacks. */
function limitsOf(trials: readonly Trial[], groupOfAttack: GroupOf): Limits {
  const attackBelow = quantile(
    trials.filter(({ authentic }) => authentic).map(({ score }) => score),
    limitShares.falseAlarm,
  );
  const enough = attackGroups(trials, groupOfAttack).map((group) =>
    quantile(
      group.map(({ score }) => score),
      1 - limitShares.falseAcceptance,
    ),
  );
  return { attackBelow, authenticFrom: Math.max(attackBelow, ...enough) };
}

interface DecidedTrial extends Trial {
  readonly isAttack: boolean;
  readonly isAuthentic: boolean;
}

interface ConditionFacts {
  readonly calibration: Platt;
  readonly limits: Limits;
  readonly heldOut: readonly DecidedTrial[];
  readonly attackGroupOf: GroupOf;
}

/** The limits with what they were worth on held-out recordings; the shares of these are stated, not those of the fit. */
function conditionOf({ calibration, limits, heldOut, attackGroupOf }: ConditionFacts): ScoreCondition {
  const genuine = heldOut.filter(({ authentic }) => authentic);
  const passing = attackGroups(heldOut, attackGroupOf).map((group) => ({
    share: shareOf(group, ({ isAuthentic }) => isAuthentic),
    count: group.length,
  }));
  const isKnown = passing.every(({ share, count }) => upperEnd(share, count) <= acceptanceKnownMax);
  return {
    voiceSecondsFrom: 0,
    calibration,
    attackBelow: limits.attackBelow,
    authenticFrom: isKnown ? limits.authenticFrom : null,
    falseAlarm: shareOf(genuine, ({ isAttack }) => isAttack),
    falseAcceptance: isKnown ? Math.max(...passing.map(({ share }) => share)) : null,
  };
}

/** The attacks by their group. */
function attackGroups<Each extends Trial>(trials: readonly Each[], groupOfAttack: GroupOf): Each[][] {
  const groups = new Map<string, Each[]>();
  for (const trial of trials) {
    if (trial.authentic) continue;
    const name = groupOfAttack(trial);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [trial]);
    else group.push(trial);
  }
  return [...groups.values()];
}

function shareOf<Each>(all: readonly Each[], isHit: (each: Each) => boolean): number {
  return all.filter(isHit).length / all.length;
}

/** Upper end of the 95 % interval of a share (Wilson 1927). */
function upperEnd(share: number, count: number): number {
  const z = 1.96;
  const spread = z * Math.sqrt((share * (1 - share)) / count + (z / (2 * count)) ** 2);
  return (share + z ** 2 / (2 * count) + spread) / (1 + z ** 2 / count);
}

/** The value below which a share of them lies. */
function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))]!;
}

function calibratedAll<Each extends Trial>(trials: readonly Each[], platt: Platt): Each[] {
  return trials.map((trial) => ({ ...trial, score: calibrated(trial.score, platt) }));
}

function calibrated(logit: number, { slope, intercept }: Platt): number {
  return 1 / (1 + Math.exp(-(slope * logit + intercept)));
}

/** What stays together in a fold: the recordings of a speaker, or of a synthesizer. */
function groupOf({ label, speaker, synthesizer, line }: IndexRow): string {
  if (label === 'synthetic') return `synthesizer ${synthesizer}`;
  return speaker === '' ? `line ${line}` : `speaker ${speaker}`;
}

function foldsOf(rows: readonly IndexRow[], trials: readonly Trial[]): Map<number, number> {
  const places = new Map<string, number>();
  const counts = { bonafide: 0, synthetic: 0, replay: 0 };
  const foldOf = new Map<number, number>();
  for (const { item } of trials) {
    const row = rows[item]!;
    const group = groupOf(row);
    const place = places.get(group) ?? counts[row.label]++;
    places.set(group, place);
    foldOf.set(item, place % folds);
  }
  return foldOf;
}

function requireEnough(rows: readonly IndexRow[], trials: readonly Trial[], score: ScoreName): void {
  for (const isAuthentic of [true, false]) {
    const own = trials.filter(({ authentic }) => authentic === isAuthentic);
    const groups = new Set(own.map(({ item }) => groupOf(rows[item]!))).size;
    const needed = isAuthentic ? calibrationMinimums.speakers : calibrationMinimums.attackGroups;
    if (own.length >= calibrationMinimums.recordings && groups >= needed) continue;
    const kind = isAuthentic ? 'bonafide' : attackOf[score];
    throw new ServiceError('index_invalid', {
      operation: 'calibrate model',
      problem: `A calibration of ${score} needs ${calibrationMinimums.recordings} ${kind} recordings with a score, of ${needed} ${kind === 'synthetic' ? 'synthesizers' : 'speakers'}; there are ${own.length}, of ${groups}.`,
      hint: 'Add recordings of your own calls, with more than one source; `caller-trust evaluate` says which have no score.',
    });
  }
}
