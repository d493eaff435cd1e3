import type { DetectionFacts } from '../../answers/detection-answers.ts';
import type { Json } from '../../answers/json.ts';
import type { DecisionLabel, ListedVerification, VerificationState } from '../../answers/verification-answers.ts';
import { Empty, Field, Name, Page, Pager, Read, State, Table, When } from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { mayDo } from '../shell/request.ts';
import { goTo, Link, usePlace, withQuery } from '../shell/router.ts';
import { ScoreMeter } from './score-meter.ts';
import { asWords } from '../shell/text.ts';
import { modeTitles } from './verification-page.ts';
import { html, type VNode } from '../shell/view.ts';

const states: readonly VerificationState[] = ['queued', 'performing', 'performed', 'performedWithoutScore', 'error'];
const labels: readonly DecisionLabel[] = ['authentic', 'synthesized', 'replayed', 'synthesizedAndReplayed'];
const filterNames = ['state', 'model', 'mode', 'label', 'batch', 'from', 'to'] as const;

/** Verifications of all clients, the newest first. */
export default function VerificationsPage(): VNode {
  const place = usePlace();
  const before = place.query.get('before');
  const query = new URLSearchParams(
    [...place.query].filter(([name]) => name === 'before' || filterNames.some((each) => each === name)),
  );
  const reading = useReading<{ verifications: ListedVerification[]; next: string | null }>(
    `/api/verifications?${query.toString()}`,
  );
  const isFiltered = filterNames.some((name) => place.query.has(name));
  return html`<${Page} title="Verifications" lead="Recordings that were verified, the newest first. Scores run from 0 to 1; higher is authentic, and the mark is the threshold." actions=${mayDo('reviewer') ? html`<${Link} class="button" href="/detect">Verify a recording</${Link}>` : null}>
    <${Filters} />
    <${Read} reading=${reading} what="the verifications" show=${({
      verifications,
      next,
    }: {
      verifications: Json<ListedVerification>[];
      next: string | null;
    }) => html`
      ${verifications.length === 0 ? html`<${NothingFound} isFiltered=${isFiltered} />` : html`<${VerificationTable} verifications=${verifications} />`}
      <${Pager} next=${next} isFirst=${before === null} onFirst=${() => goTo(withQuery(place, { before: null }))} onNext=${(to: string) => goTo(withQuery(place, { before: to }))} />`} />
  </${Page}>`;
}

function NothingFound({ isFiltered }: { isFiltered: boolean }): VNode {
  return isFiltered
    ? html`<${Empty} title="No verification fits.">Take a filter away, or choose another date.</${Empty}>`
    : html`<${Empty} title="No recording was submitted yet.">Submit one under AI Voice Detection, with <code>caller-trust verify</code>, or through the drop folder.</${Empty}>`;
}

/** Minimum window width, in pixels, for filters above the list. */
const wideMin = 830;

function Filters(): VNode {
  const place = usePlace();
  const facts = useReading<DetectionFacts>('/api/detection');
  const value = (name: string) => place.query.get(name) ?? '';
  const set =
    (name: string) =>
    ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLSelectElement }) =>
      goTo(withQuery(place, { [name]: currentTarget.value.trim(), before: null }), { replace: true });
  const choice = (label: string, name: string, options: readonly (readonly [string, string])[]) =>
    html`<${Field} label=${label}>${(ids: object) => html`<select value=${value(name)} onChange=${set(name)} ...${ids}><option value="">all</option>${options.map(([key, text]) => html`<option value=${key} selected=${key === value(name)}>${text}</option>`)}</select>`}</${Field}>`;
  const models = (facts.value?.models ?? []).map(({ model }) => [model, model] as const);
  const known =
    models.some(([model]) => model === value('model')) || value('model') === ''
      ? models
      : [...models, [value('model'), value('model')] as const];
  const isFiltered = filterNames.some((name) => place.query.has(name));
  return html`<details class="section" open=${isFiltered || innerWidth >= wideMin}><summary>Filters</summary><form class="filters" aria-label="Filters" onSubmit=${(event: Event) => event.preventDefault()}>
    ${choice(
      'State',
      'state',
      states.map((state) => [state, asWords(state)] as const),
    )}
    ${choice(
      'Decision',
      'label',
      labels.map((label) => [label, asWords(label)] as const),
    )}
    ${choice('Model', 'model', known)}
    ${choice('Mode', 'mode', Object.entries(modeTitles))}
    <${Field} label="From (UTC)">${(ids: object) => html`<input type="date" value=${value('from')} onChange=${set('from')} ...${ids} />`}</${Field}>
    <${Field} label="To and with (UTC)">${(ids: object) => html`<input type="date" value=${value('to')} onChange=${set('to')} ...${ids} />`}</${Field}>
    <${Field} label="Id of the batch">${(ids: object) => html`<input value=${value('batch')} spellcheck=${false} onChange=${set('batch')} ...${ids} />`}</${Field}>
    <div class="field"><button type="button" disabled=${!isFiltered} onClick=${() => goTo(place.path, { replace: true })}>Clear the filters</button><p class="hint"></p></div>
  </form></details>`;
}

function VerificationTable({ verifications }: { verifications: readonly Json<ListedVerification>[] }): VNode {
  return html`<div class="verification-table"><${Table} caption="Verifications" rows=${verifications} keyOf=${({ id }: Json<ListedVerification>) => id} columns=${[
    { title: 'Submitted', show: ({ times }: Json<ListedVerification>) => html`<${When} at=${times.requested} />` },
    {
      title: 'Recording',
      show: ({ id, source }: Json<ListedVerification>) =>
        html`<${Link} href=${`/verifications/${id}`}><${Name} text=${source} /></${Link}>`,
    },
    { title: 'Outcome', show: (each: Json<ListedVerification>) => html`<${Outcome} verification=${each} />` },
    {
      title: 'Model and mode',
      show: ({ model, requestedModel, mode }: Json<ListedVerification>) =>
        html`<span class="model-name">${model ?? requestedModel}</span><br />${modeTitles[mode]}`,
    },
    {
      title: 'Scores, higher is authentic',
      show: (each: Json<ListedVerification>) => html`<${RowScores} verification=${each} />`,
    },
  ]} /></div>`;
}

function Outcome({ verification: { state, decision, why } }: { verification: Json<ListedVerification> }): VNode {
  return html`<div class="outcome"><${State} name=${state} />${decision !== null ? html`<${State} name=${decision.label} />` : why !== null ? html`<span class="reason">${why.meaning}</span>` : null}</div>`;
}

function RowScores({
  verification: { scores, decision, identity },
}: {
  verification: Json<ListedVerification>;
}): VNode {
  if (scores === null && identity === null) return html`<span class="hint">no score</span>`;
  return html`<div class="row-scores">
    ${scores === null ? null : html`<${ScoreMeter} name="synthesis" score=${scores.synthesis} threshold=${decision?.thresholds.synthesis ?? null} isBrief /><${ScoreMeter} name="replay" score=${scores.replay} threshold=${decision?.thresholds.replay ?? null} isBrief />`}
    ${identity === null ? null : html`<${ScoreMeter} name="identity" score=${identity.score} threshold=${identity.threshold} isBrief />`}
  </div>`;
}
