import type { Json } from '../../answers/json.ts';
import type { VoiceVerificationResult } from '../../answers/voice-answers.ts';
import { State } from '../shell/components.ts';
import { asWords, formatScore, formatSeconds } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

/** One score of a comparison. */
interface Meter {
  readonly name: string;
  /** The event whose probability the score is. */
  readonly meaning: string;
  readonly score: number | null;
  readonly threshold: number | null;
  /** A second threshold, below the first: scores between the two are undecided. */
  readonly lower?: number;
  readonly above: string;
  /** True where a score above the threshold decides nothing by itself. */
  readonly isOpenAbove?: boolean;
  readonly below: string;
  /** Why there is no score. */
  readonly reason: string | null;
}

/** Identity, synthesis and replay with their thresholds, the result, and the advice. */
export function ComparisonScores({ result }: { result: Json<VoiceVerificationResult> }): VNode {
  const { identity, identityThreshold, mismatchThreshold, identityReason, scores, thresholds, authenticityReason } =
    result;
  const isOpen = result.label !== 'match'; // which is said of authentic recordings alone
  const meters: Meter[] = [
    {
      name: 'Identity',
      meaning: 'that the enrolled person speaks',
      score: identity,
      threshold: identityThreshold,
      lower: mismatchThreshold,
      above: 'like the enrolled voice',
      below: 'another voice',
      reason: identityReason,
    },
    {
      name: 'Synthesis',
      meaning: 'that the voice is not synthesized',
      score: scores?.synthesis ?? null,
      threshold: thresholds?.synthesis ?? null,
      above: isOpen ? 'not found synthesized' : 'not synthesized',
      isOpenAbove: isOpen,
      below: 'looks synthesized',
      reason: authenticityReason,
    },
    {
      name: 'Replay',
      meaning: 'that the recording is not played back',
      score: scores?.replay ?? null,
      threshold: thresholds?.replay ?? null,
      above: isOpen ? 'not found played back' : 'not played back',
      isOpenAbove: isOpen,
      below: 'looks played back',
      reason: authenticityReason,
    },
  ];
  return html`<div class="comparison" role="status">
    <p class="comparison-label"><strong>Result: <${State} name=${result.label} /></strong></p>
    <p>${result.advice}</p>
    <ul class="meters">${meters.map((meter) => html`<li key=${meter.name}><${ScoreMeter} meter=${meter} /></li>`)}</ul>
    <p class="hint">${result.voiceSeconds === null ? 'No voice of the recording' : `${formatSeconds(result.voiceSeconds)} of voice`} against ${formatSeconds(result.enrolledSeconds)} of the enrolment: identity is calibrated for both.</p>
    <p class="hint">Each score is a probability; higher is authentic. The mark is the threshold. Models: ${[result.voiceModel, result.model].filter(Boolean).join(', ')}. Stored as comparison <code>${result.verificationId}</code>; the recording is not kept.</p>
  </div>`;
}

function ScoreMeter({
  meter: { name, meaning, score, threshold, lower, above, isOpenAbove = false, below, reason },
}: {
  meter: Meter;
}): VNode {
  const isAbove = score !== null && threshold !== null && score >= threshold;
  const isBetween = score !== null && lower !== undefined && !isAbove && score >= lower;
  const tone = isAbove && !isOpenAbove ? 'good' : isAbove || isBetween ? 'warn' : 'bad';
  return html`<div class="meter">
    <p class="meter-head"><strong>${name}</strong> <span>${score === null ? 'no score' : html`${formatScore(score)} <span class=${`state ${tone}`}>${isAbove ? above : isBetween ? 'neither like it nor unlike it' : below}</span>`}</span></p>
    <div class="meter-bar" aria-hidden="true">
      ${score === null ? null : html`<span class=${`meter-fill ${tone}`} style=${{ width: `${100 * score}%` }}></span>`}
      ${threshold === null ? null : html`<span class="meter-threshold" style=${{ left: `${100 * threshold}%` }}></span>`}
    </div>
    <p class="hint">${score === null ? whyNone(reason) : `Probability ${meaning}; ${lower === undefined || lower === threshold ? `threshold ${formatScore(threshold)}` : `a match from ${formatScore(threshold)} on, another voice below ${formatScore(lower)}`}.`}</p>
  </div>`;
}

function whyNone(reason: string | null): string {
  return reason === null ? 'The model has no such score.' : `Reason: ${asWords(reason)}.`;
}

/** The meaning of results, and advice for scores that disagree. */
export function ResultMeanings(): VNode {
  return html`<details class="meanings"><summary>When the scores disagree</summary>
    <p>A copied voice is made to sound like the person: a high identity together with a low synthesis score is the picture of an attack, and not half a success. Read the three together.</p>
    <dl class="facts">
      <div><dt><${State} name="match" /></dt><dd>Identity is at its threshold or above, and the recording looks authentic. Take it as one proof among others.</dd></div>
      <div><dt><${State} name="copySuspected" /></dt><dd>The voice is alike, but looks synthesized or played back. Do not accept it: ask for a proof that a recording cannot give, such as a call back.</dd></div>
      <div><dt><${State} name="mismatch" /></dt><dd>Another voice, however authentic. Do not accept it; if the person insists, ask for another recording or another proof.</dd></div>
      <div><dt><${State} name="undecided" /></dt><dd>The voice is neither like enough nor unlike enough for its seconds, or one of the answers is missing. Ask for another recording with more voice and less noise, or for another proof.</dd></div>
    </dl>
  </details>`;
}
