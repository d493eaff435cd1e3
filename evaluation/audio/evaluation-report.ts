import type { AudioReason } from '../../pipelines/audio/reasons.ts';
import { SCORE_NAMES, type VerificationState, type ScoreName } from '../../pipelines/audio/verification.ts';
import {
  bootstrapDefaults,
  bootstrapIntervals,
  type BootstrapSettings,
  type Interval,
  type WeightedFigure,
} from './statistics/bootstrap.ts';
import {
  calibrationTable,
  likelihoodRatioCost,
  likelihoodRatioOf,
  minimumLikelihoodRatioCost,
  type CalibrationBin,
} from './statistics/calibration.ts';
import {
  actualCost,
  asvspoof5Costs,
  minimumCost,
  minimumTandemCost,
  type CostModel,
} from './statistics/detection-cost.ts';
import {
  equalErrorRate,
  errorCurve,
  rankTrials,
  ratesAt,
  type ErrorCurve,
  type Trial,
} from './statistics/error-curve.ts';
import {
  groupTrials,
  speakerVerificationRates,
  trialsOf,
  type EvaluatedSet,
  type Grouping,
  type ModelOutcomes,
} from './evaluated-set.ts';
import { TRIAL_LABELS, type TrialLabel } from './index-file.ts';
import { nuisanceScores } from './nuisance-baseline.ts';

/** A rate with its interval over speakers and synthesizers. Rates are between 0 and 1. */
export interface RateFigure {
  readonly rate: number;
  readonly interval: Interval | null;
}

/** Error of one kind of attack against bonafide recordings. */
export interface GroupFigures {
  readonly by: Grouping;
  readonly name: string;
  readonly bonafide: number;
  readonly attacks: number;
  readonly equalError: RateFigure;
  readonly minimumCost: number;
}

/** The figures of a score of a model in a channel. */
export interface ScoreFigures {
  readonly score: ScoreName;
  readonly bonafide: number;
  readonly attacks: number;
  readonly speakers: number;
  readonly synthesizers: number;
  readonly equalError: RateFigure;
  readonly minimumCost: number;
  readonly actualCost: number;
  /** Null if the index has no scores of speaker verification. */
  readonly minimumTandemCost: number | null;
  readonly likelihoodRatioCost: number;
  readonly minimumLikelihoodRatioCost: number;
  readonly calibrationError: number;
  readonly calibration: readonly CalibrationBin[];
  /** The rates at the threshold of the model; null if it has none. */
  readonly atThreshold: { readonly threshold: number; readonly miss: number; readonly falseAlarm: number } | null;
  /**
   * Equal error of a classifier on nuisance features, on the same recordings; null if it cannot be fitted. Near 0.5, the set does
   * not leak its labels.
   */
  readonly nuisance: RateFigure | null;
  readonly groups: readonly GroupFigures[];
  /** Points of the error curve, as pairs of false alarm and miss. */
  readonly curve: readonly (readonly [number, number])[];
}

/** The outcomes of the recordings of a label. */
interface OutcomeCounts {
  readonly label: TrialLabel;
  readonly performed: number;
  readonly performedWithoutScore: number;
  readonly error: number;
}

/** The number of recordings without a score for a reason. */
interface ReasonCount {
  readonly state: Extract<VerificationState, 'performedWithoutScore' | 'error'>;
  readonly reason: AudioReason;
  readonly count: number;
}

/** One model on one channel of the set. */
export interface EvaluationSection {
  readonly model: string;
  readonly channel: string;
  readonly outcomes: readonly OutcomeCounts[];
  readonly reasons: readonly ReasonCount[];
  readonly scores: readonly ScoreFigures[];
}

/** Two models on the recordings that both scored. A negative difference means that the second has fewer errors. */
export interface ModelComparison {
  readonly from: string;
  readonly to: string;
  readonly channel: string;
  readonly score: ScoreName;
  readonly bonafide: number;
  readonly attacks: number;
  readonly fromRate: number;
  readonly toRate: number;
  readonly difference: number;
  readonly interval: Interval | null;
}

export const evaluationSchema = 'evaluation/1';

/** The result of an evaluation, stored next to a model, from which its card is made. */
export interface EvaluationReport {
  readonly schema: typeof evaluationSchema;
  /** `note`: a remark on the set, such as its overlap with the training data; '' for none. */
  readonly index: {
    readonly name: string;
    readonly note: string;
    readonly sha256: string;
    readonly recordings: number;
  };
  readonly evaluatedAt: string;
  readonly bootstrap: BootstrapSettings;
  readonly costs: CostModel;
  readonly models: readonly {
    readonly model: string;
    readonly manifestSha256: string;
    readonly weightsSha256: string;
  }[];
  readonly sections: readonly EvaluationSection[];
  readonly comparisons: readonly ModelComparison[];
}

/** The input of a report. */
interface ReportInput {
  readonly index: EvaluationReport['index'];
  readonly set: EvaluatedSet;
  /** Each is compared with the one before it. */
  readonly models: readonly ModelOutcomes[];
  readonly evaluatedAt: Date;
  readonly bootstrap?: BootstrapSettings;
}

/** Makes the report of an evaluation. The same outcomes give the same report. */
export function makeReport({
  index,
  set,
  models,
  evaluatedAt,
  bootstrap = bootstrapDefaults,
}: ReportInput): EvaluationReport {
  const channels = [...new Set(set.rows.map(({ channel }) => channel))].sort();
  const parts = channels.map((channel) => reportChannel({ set, models, channel, bootstrap }));
  return {
    schema: evaluationSchema,
    index,
    evaluatedAt: evaluatedAt.toISOString(),
    bootstrap,
    costs: asvspoof5Costs,
    models: models.map(({ model, manifestSha256, weightsSha256 }) => ({ model, manifestSha256, weightsSha256 })),
    sections: models.flatMap(({ model }) =>
      parts.flatMap(({ sections }) => sections.filter((section) => section.model === model)),
    ),
    comparisons: parts.flatMap(({ comparisons }) => comparisons),
  };
}

interface ChannelInput {
  readonly set: EvaluatedSet;
  readonly models: readonly ModelOutcomes[];
  readonly channel: string;
  readonly bootstrap: BootstrapSettings;
}

/** Rates whose intervals are computed later, from the same resamples. */
class PendingRates {
  readonly #figures: WeightedFigure[] = [];

  /** Adds a figure; returns the function that selects its interval. */
  add(figure: WeightedFigure): (intervals: readonly (Interval | null)[]) => Interval | null {
    const at = this.#figures.push(figure) - 1;
    return (intervals) => intervals[at]!;
  }

  resample({ rows }: EvaluatedSet, places: readonly number[], settings: BootstrapSettings): (Interval | null)[] {
    const items = places.map((place) => ({ speaker: rows[place]!.speaker, synthesizer: rows[place]!.synthesizer }));
    return bootstrapIntervals(items, this.#figures, settings);
  }
}

type Finish<Result> = (intervals: readonly (Interval | null)[]) => Result;

function reportChannel({
  set,
  models,
  channel,
  bootstrap,
}: ChannelInput): Pick<EvaluationReport, 'sections' | 'comparisons'> {
  const places = [...set.rows.keys()].filter((place) => set.rows[place]!.channel === channel);
  const asked = models.filter(({ outcomes }) => places.some((place) => outcomes[place] !== null));
  const input: PartInput = {
    set,
    places,
    placeOf: new Map(places.map((place, at) => [place, at])),
    rates: new PendingRates(),
  };
  const sections = asked.map((model) => startSection(input, model, channel));
  const comparisons = asked
    .slice(1)
    .flatMap((to, at) =>
      SCORE_NAMES.flatMap((score) => startComparison(input, { from: asked[at]!, to, score, channel })),
    );
  const intervals = input.rates.resample(set, places, bootstrap);
  return {
    sections: sections.map((finish) => finish(intervals)),
    comparisons: comparisons.map((finish) => finish(intervals)),
  };
}

interface PartInput {
  readonly set: EvaluatedSet;
  readonly places: readonly number[];
  /** The index within the channel, whose recordings are resampled. */
  readonly placeOf: ReadonlyMap<number, number>;
  readonly rates: PendingRates;
}

function startSection(input: PartInput, model: ModelOutcomes, channel: string): Finish<EvaluationSection> {
  const { set, places } = input;
  const scores = SCORE_NAMES.flatMap((score) => startScore(input, model, score));
  const ended = places.flatMap((place) => {
    const outcome = model.outcomes[place];
    return outcome === null || outcome === undefined ? [] : [{ outcome, label: set.rows[place]!.label }];
  });
  const outcomes = TRIAL_LABELS.map((label): OutcomeCounts => {
    const count = (state: VerificationState) =>
      ended.filter((each) => each.label === label && each.outcome.state === state).length;
    return {
      label,
      performed: count('performed'),
      performedWithoutScore: count('performedWithoutScore'),
      error: count('error'),
    };
  });
  const reasons = new Map<AudioReason, ReasonCount>();
  for (const { outcome } of ended) {
    if (outcome.state === 'performed') continue;
    reasons.set(outcome.reason, {
      state: outcome.state,
      reason: outcome.reason,
      count: (reasons.get(outcome.reason)?.count ?? 0) + 1,
    });
  }
  const counted = [...reasons.values()].sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1));
  return (intervals) => ({
    model: model.model,
    channel,
    outcomes,
    reasons: counted,
    scores: scores.map((finish) => finish(intervals)),
  });
}

/** Empty if the score lacks bonafide recordings or attacks. */
function startScore(input: PartInput, model: ModelOutcomes, score: ScoreName): Finish<ScoreFigures>[] {
  const { set, places } = input;
  const trials = trialsOf(set, model.outcomes, { places, score });
  const ranked = rankTrials(trials);
  const curve = errorCurve(ranked);
  if (curve === undefined) return [];
  const ratios = trials.map((trial) => ({ ...trial, score: likelihoodRatioOf(trial.score) }));
  const table = calibrationTable(trials)!; // the curve exists, so both classes do
  const verification = speakerVerificationRates(set, trials);
  const threshold = model.thresholds[score];
  const equalError = startRate(input, trials)!;
  const nuisance = startNuisance(input, trials);
  const groups = groupTrials(set, trials).flatMap(({ by, name, trials: of }) => {
    const rate = startRate(input, of);
    const groupCurve = errorCurve(rankTrials(of));
    if (rate === undefined || groupCurve === undefined) return [];
    return [
      (intervals: readonly (Interval | null)[]): GroupFigures => ({
        by,
        name,
        ...countClasses(of),
        equalError: rate(intervals),
        minimumCost: minimumCost(groupCurve),
      }),
    ];
  });
  const speakers = new Set(trials.map(({ item }) => set.rows[item]!.speaker)).size;
  const synthesizers = new Set(trials.flatMap(({ item }) => set.rows[item]!.synthesizer || [])).size;
  return [
    (intervals) => ({
      score,
      ...countClasses(trials),
      speakers,
      synthesizers,
      equalError: equalError(intervals),
      minimumCost: minimumCost(curve),
      actualCost: actualCost(errorCurve(rankTrials(ratios))!),
      minimumTandemCost: verification === undefined ? null : (minimumTandemCost(curve, verification) ?? null),
      likelihoodRatioCost: likelihoodRatioCost(ratios)!,
      minimumLikelihoodRatioCost: minimumLikelihoodRatioCost(ranked)!,
      calibrationError: table.error,
      calibration: table.bins,
      atThreshold: threshold === undefined ? null : { threshold, ...ratesAt(curve, threshold) },
      nuisance: nuisance === undefined ? null : nuisance(intervals),
      groups: groups.map((finish) => finish(intervals)),
      curve: thinCurve(curve),
    }),
  ];
}

/** The equal error of trials, whose interval follows later; undefined if a class is empty. */
function startRate({ placeOf, rates }: PartInput, trials: readonly Trial[]): Finish<RateFigure> | undefined {
  const ranked = rankTrials(trials.map((trial) => ({ ...trial, item: placeOf.get(trial.item)! })));
  const rate = equalErrorRate(ranked);
  if (rate === undefined) return undefined;
  const intervalOf = rates.add((weights) => equalErrorRate(ranked, weights));
  return (intervals) => ({ rate, interval: intervalOf(intervals) });
}

function startNuisance(input: PartInput, trials: readonly Trial[]): Finish<RateFigure> | undefined {
  const { set } = input;
  const known = trials.filter(({ item }) => set.nuisance[item] !== null);
  const scores = nuisanceScores(
    known.map(({ item, authentic }) => ({
      features: set.nuisance[item]!,
      speaker: set.rows[item]!.speaker,
      authentic,
    })),
  );
  return scores === undefined
    ? undefined
    : startRate(
        input,
        known.map((trial, at) => ({ ...trial, score: scores[at]! })),
      );
}

/** Empty if the two models have no common bonafide recording or attack. */
function startComparison(
  { set, places, placeOf, rates }: PartInput,
  {
    from,
    to,
    score,
    channel,
  }: { readonly from: ModelOutcomes; readonly to: ModelOutcomes; readonly score: ScoreName; readonly channel: string },
): Finish<ModelComparison>[] {
  const [before, after] = [from, to].map(({ outcomes }) => trialsOf(set, outcomes, { places, score })) as [
    Trial[],
    Trial[],
  ];
  const inBefore = new Set(before.map(({ item }) => item));
  const common = new Set(after.flatMap(({ item }) => (inBefore.has(item) ? [item] : [])));
  const rankCommon = (trials: readonly Trial[]) =>
    rankTrials(
      trials.filter(({ item }) => common.has(item)).map((trial) => ({ ...trial, item: placeOf.get(trial.item)! })),
    );
  const ranked = rankCommon(before);
  const rankedAfter = rankCommon(after);
  const fromRate = equalErrorRate(ranked);
  const toRate = equalErrorRate(rankedAfter);
  if (fromRate === undefined || toRate === undefined) return [];
  const intervalOf = rates.add((weights) => {
    const [rate, rateAfter] = [equalErrorRate(ranked, weights), equalErrorRate(rankedAfter, weights)];
    return rate === undefined || rateAfter === undefined ? undefined : rateAfter - rate;
  });
  const counts = countClasses(before.filter(({ item }) => common.has(item)));
  return [
    (intervals) => ({
      from: from.model,
      to: to.model,
      channel,
      score,
      ...counts,
      fromRate,
      toRate,
      difference: toRate - fromRate,
      interval: intervalOf(intervals),
    }),
  ];
}

function countClasses(trials: readonly Trial[]): { readonly bonafide: number; readonly attacks: number } {
  const bonafide = trials.filter(({ authentic }) => authentic).length;
  return { bonafide, attacks: trials.length - bonafide };
}

/** Points of a curve in a report: more than a picture can show. */
const curvePointsMax = 400;

/** The corners of a curve, without points on a straight line; of too many corners, every n-th. */
export function thinCurve({ misses, falseAlarms }: ErrorCurve): [number, number][] {
  const last = misses.length - 1;
  const corners = [...misses.keys()].filter((at) => {
    const level = misses[at - 1] === misses[at] && misses[at] === misses[at + 1];
    const upright = falseAlarms[at - 1] === falseAlarms[at] && falseAlarms[at] === falseAlarms[at + 1];
    return at === 0 || at === last || (!level && !upright);
  });
  const step = Math.ceil(corners.length / curvePointsMax);
  return corners.filter((at, place) => at === last || place % step === 0).map((at) => [falseAlarms[at]!, misses[at]!]);
}
