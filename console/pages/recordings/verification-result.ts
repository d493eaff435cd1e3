import type { Json } from '../../answers/json.ts';
import type { LiveVerification, ScoreName } from '../../answers/verification-answers.ts';
import { Notice, State } from '../shell/components.ts';
import { Link } from '../shell/router.ts';
import { ScoreMeter } from './score-meter.ts';
import {
  adviseOn,
  adviseOnReason,
  decisionSentences,
  describeWaiting,
  explainErrors,
  explainUnseen,
  explainScore,
  explainTelephone,
  notMeant,
  scoreMeanings,
} from './score-words.ts';
import { html, type VNode } from '../shell/view.ts';

const scoreNames: readonly ScoreName[] = ['synthesis', 'replay'];

/** The notice that no worker is connected. */
export function NoWorkerNotice(): VNode {
  return html`<${Notice} kind="warn"><p><strong>No worker runs.</strong> Submitted recordings are kept and wait. Start one on the machine of the service: <code>caller-trust start</code>, or the process <code>worker</code> alone.</p></${Notice}>`;
}

/** The state, then the outcome of a verification, in words. */
export function VerificationResult({
  live: { verification, workerConnected },
  voiceSecondsMin = null,
  isBrief = false,
}: {
  live: Json<LiveVerification>;
  voiceSecondsMin?: number | null;
  /** Without {@link ResultMeaning}, which the page then shows elsewhere. */
  isBrief?: boolean;
}): VNode {
  const { state, decision, scores, why, reasonDetail } = verification;
  if (state === 'queued' || state === 'performing')
    return html`<div class="verdict-box">
    <p class="verdict"><${State} name=${state} /> ${describeWaiting(state)}</p>
    ${workerConnected === false ? html`<${NoWorkerNotice} />` : null}
  </div>`;
  if (decision === null || scores === null)
    return html`<div class="verdict-box">
    <p class="verdict"><${State} name=${state} /> <strong>${why?.meaning ?? 'There is no score.'}</strong></p>
    ${reasonDetail ? html`<p>${reasonDetail}</p>` : null}
    <p>${why === null ? null : adviseOnReason(why, voiceSecondsMin)} <code>${why?.reason}</code></p>
  </div>`;
  return html`<div class="verdict-box">
    <p class="verdict"><${State} name=${decision.label} /> <strong>${decisionSentences[decision.label]}</strong></p>
    <p>${adviseOn(decision.label)}</p>
    <div class="score-meters">${scoreNames.map((name) => html`<${ScoreMeter} name=${name} score=${scores[name]} threshold=${decision.thresholds[name]} />`)}</div>
    <p class="hint">Higher is authentic. Each score is a probability between 0 and 1: ${scoreMeanings.synthesis}, ${scoreMeanings.replay}.</p>
    ${isBrief ? null : html`<${ResultMeaning} verification=${verification} />`}
  </div>`;
}

/** The meaning of the scores, their error rates, and what they do not mean. */
export function ResultMeaning({
  verification: { scores, decision, figures, model, channelScores, notes },
}: {
  verification: Json<LiveVerification['verification']>;
}): VNode {
  const given = scoreNames.filter((name) => scores?.[name] != null);
  return html`<div class="meaning">
    <div><h3>What it means</h3>
      ${given.map((name) => html`<p>${explainScore(name, scores![name]!, { threshold: decision!.thresholds[name], authenticFrom: decision!.authenticFrom?.[name], falseAcceptance: decision!.falseAcceptance?.[name] })}</p>`)}
      ${notes.includes('telephone_band') ? html`<p>${explainTelephone(model)}</p>` : null}
      ${channelScores.length > 1 ? html`<p>The channels were scored apart; the lowest score of the ${channelScores.length} counts.</p>` : null}
    </div>
    <div><h3>How often it errs</h3>
      ${figures === null ? html`<p>No error rates were measured for ${model}: it has no card here. Measure it on recordings of your own with <code>caller-trust evaluate</code>.</p>` : [...(given.includes('synthesis') ? figures.unseen.map((each) => html`<p>${explainUnseen(each)}</p>`) : []), ...figures.scores.filter(({ score }) => given.includes(score)).map((each) => html`<p>${explainErrors(each)}</p>`)]}
      <p><${Link} href="/models">The models and their cards</${Link}></p>
    </div>
    <div><h3>What it does not mean</h3><ul>${notMeant.map((sentence) => html`<li>${sentence}</li>`)}</ul></div>
  </div>`;
}
