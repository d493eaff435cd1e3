import type { Json } from '../../answers/json.ts';
import type { ModelFigures, ScoreFigures } from '../../answers/model-figures.ts';
import type { DecisionLabel, ReasonFacts, ScoreName, VerificationState } from '../../answers/verification-answers.ts';

/** Display names of the scores. */
export const scoreTitles: Readonly<Record<ScoreName | 'identity', string>> = {
  synthesis: 'Synthesis',
  replay: 'Replay',
  identity: 'Identity',
};

/** The event whose probability each score is. */
export const scoreMeanings: Readonly<Record<ScoreName | 'identity', string>> = {
  synthesis: 'probability that the voice is not synthesized',
  replay: 'probability that the recording is not replayed',
  identity: 'probability that the voice is the enrolled person’s',
};

/** The position of a score relative to its threshold. */
export function sideOfThreshold(score: number | null, threshold: number | null): 'below' | 'above' | 'unknown' {
  if (score === null || threshold === null) return 'unknown';
  return score < threshold ? 'below' : 'above';
}

/** The same in words, with its meaning. */
export function describeStanding(name: ScoreName | 'identity', score: number | null, threshold: number | null): string {
  const standing = sideOfThreshold(score, threshold);
  if (score === null) return 'no score';
  if (standing === 'unknown') return 'no threshold';
  const at = `threshold ${threshold!.toFixed(2)}`;
  if (name === 'identity') return standing === 'below' ? `below ${at}: no match` : `${at} reached: like the person’s`;
  const found = name === 'synthesis' ? 'synthesized' : 'replayed';
  return standing === 'below' ? `below ${at}: ${found}` : `not below ${at}`;
}

/** The short form, below a title that names the score. */
export function describeBriefly(name: ScoreName | 'identity', score: number | null, threshold: number | null): string {
  const standing = sideOfThreshold(score, threshold);
  if (score === null) return 'no score';
  if (standing === 'unknown') return 'no threshold';
  const found = { synthesis: 'synthesized', replay: 'replayed', identity: 'no match' }[name];
  if (standing === 'below') return `below ${threshold!.toFixed(2)}: ${found}`;
  return name === 'identity' ? `${threshold!.toFixed(2)} is reached` : `not below ${threshold!.toFixed(2)}`;
}

/** A fraction as a percentage: 19 %, under 1 %; without line breaks. */
export function percent(share: number): string {
  const rounded = Math.round(share * 100);
  if (rounded === 0 && share > 0) return 'under 1\u00A0%';
  if (rounded === 100 && share < 1) return 'over 99\u00A0%';
  return `${rounded}\u00A0%`;
}

/** What it means that speech of a telephone was detected at a higher sample rate. */
export function explainTelephone(model: string | null): string {
  const found =
    'The speech is of a telephone: there is next to nothing above 4 kHz, although the sample rate is higher.';
  return model?.startsWith('digital/') === true
    ? `${found} ${model} was asked for, and is made for wide-band speech: verify it with a model of the family phone as well.`
    : `${found} So a model of the family phone scored it.`;
}

/** The meaning of a score of a recording, in sentences. Without `authenticFrom`: a decision that was never left open. */
export function explainScore(
  name: ScoreName,
  score: number,
  {
    threshold,
    authenticFrom,
    falseAcceptance = null,
  }: {
    readonly threshold: number | null;
    readonly authenticFrom?: number | null | undefined;
    readonly falseAcceptance?: number | null | undefined;
  },
): string {
  const [is, isNot] =
    name === 'synthesis' ? ['synthesized', 'not synthesized'] : ['played back by a loudspeaker', 'not played back'];
  const odds = `The model gives ${percent(score)} that the voice is ${isNot}, and ${percent(1 - score)} that it is ${is}, as if one recording of two were an attack.`;
  if (threshold === null) return odds;
  if (score < threshold)
    return `${odds} That is below the threshold of ${threshold.toFixed(2)}, so the recording counts as ${name === 'synthesis' ? 'synthesized' : 'replayed'}.`;
  if (authenticFrom === undefined)
    return `${odds} That reaches the threshold of ${threshold.toFixed(2)}, so the recording counts as ${isNot}.`;
  if (authenticFrom === null)
    return `${odds} That is not below the threshold of ${threshold.toFixed(2)}. No score of this model is enough to call a recording ${isNot}: how many attacks of a kind never seen it would accept is not known, or too many.`;
  const attacks =
    falseAcceptance === null ? '' : ` ${percent(falseAcceptance)} of attacks of a kind never seen got as far.`;
  return score < authenticFrom
    ? `${odds} Between ${threshold.toFixed(2)} and ${authenticFrom.toFixed(2)} nothing is decided.`
    : `${odds} From ${authenticFrom.toFixed(2)} on a recording counts as ${isNot}.${attacks}`;
}

/** What the synthesis score is worth on synthesizers that the model never saw. */
export function explainUnseen({
  seconds,
  systems,
  synthetic,
  genuine,
  equalError: { rate },
  attacksMissed,
  genuineCalledAttacks,
}: Json<ModelFigures['unseen'][number]>): string {
  return `On ${synthetic} recordings of ${seconds} s by ${systems} synthesizers that the model never saw, and ${genuine} genuine ones, ${percent(attacksMissed.rate)} of the attacks were not found at this threshold, and ${percent(genuineCalledAttacks.rate)} of the genuine ones were taken for attacks; where both errors are as frequent, each is ${percent(rate)}, where chance is ${percent(0.5)}.`;
}

/** The error rates of the score, from the model's development set. */
export function explainErrors({
  score,
  equalError: { rate, interval },
  atThreshold,
  bonafide,
  attacks,
}: Json<ScoreFigures>): string {
  const what = score === 'synthesis' ? 'synthesized voices' : 'replays';
  const set = `On the ${bonafide} authentic recordings and ${attacks} ${what} of the model’s development set, which was partly in sight when it was made`;
  const range = interval === null ? '' : ` (between ${percent(interval.low)} and ${percent(interval.high)})`;
  const equal = `where both errors are as frequent, each is ${percent(rate)}${range}`;
  if (atThreshold === null) return `${set}, ${equal}.`;
  return `${set}, ${percent(atThreshold.miss)} of the authentic ones were taken for attacks at this threshold, and ${percent(atThreshold.falseAlarm)} of the attacks were let through; ${equal}.`;
}

/** A decision in one sentence. */
export const decisionSentences: Readonly<Record<DecisionLabel, string>> = {
  authentic: 'Nothing was found that speaks against the recording.',
  undecided: 'The scores do not decide it. That is not a pass.',
  synthesized: 'The voice looks made by a machine.',
  replayed: 'The recording looks played back by a loudspeaker.',
  synthesizedAndReplayed: 'The voice looks made by a machine and played back by a loudspeaker.',
};

/** Advice for a decision. */
export function adviseOn(label: DecisionLabel): string {
  if (label === 'authentic')
    return 'Take it as one sign among others: an attack that the model does not know can look authentic.';
  if (label === 'undecided')
    return 'Verify the person by another means, such as a call back. Genuine recordings and attacks both get such scores; current neural speech over the telephone can hardly be distinguished from a person.';
  return 'Do not decide about a person on this alone. Listen to it, ask for another recording, or for a proof that a recording cannot give, such as a call back.';
}

/** Advice for a recording without a score. */
export function adviseOnReason({ reason, retryHelps }: Json<ReasonFacts>, voiceSecondsMin: number | null): string {
  const voice = voiceSecondsMin === null ? 'more voice' : `at least ${voiceSecondsMin} s of voice within a few seconds`;
  if (reason === 'no_voice' || reason === 'insufficient_voice')
    return `That is not a pass. Submit a recording with ${voice}: speech of one person, not music, tones or silence. No score is made up for the rest.`;
  if (reason === 'excessive_noise')
    return 'That is not a pass. Submit a recording with less noise, or one that was made closer to the person.';
  if (reason === 'sample_rate_too_low')
    return 'Ask for a model of the family phone, or submit a recording of a higher sample rate.';
  if (reason === 'model_removed' || reason === 'model_unknown')
    return 'Ask for a model that is available; the family names its default.';
  if (reason === 'recording_deleted') return 'Hand the recording in again.';
  return retryHelps
    ? 'Try it again: the cause may lie in the service. If it stays, the log of the worker has it under the id of the verification.'
    : 'Submit another file; docs/audio-formats.md lists the supported formats.';
}

/** A pending state in words. */
export function describeWaiting(state: VerificationState): string {
  return state === 'performing' ? 'The recording is being scored.' : 'The recording waits for its turn.';
}

/** What scores never mean. */
export const notMeant: readonly string[] = [
  'It is no proof that a machine or a person spoke, and it does not say who spoke.',
  'How many of the recordings that are found synthesized or replayed really are depends on how rare attacks are among yours: where one in a thousand is an attack, most of those found are not.',
  'Synthesizers, languages and channels unlike those of the model’s card can be judged wrongly more often than its numbers say.',
];
