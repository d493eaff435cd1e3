import type { DetectionFacts } from '../../answers/detection-answers.ts';
import type { Json } from '../../answers/json.ts';
import type {
  DecisionLabel,
  ListedVerification,
  VerificationState,
  ListedVerificationPage,
} from '../../answers/verification-answers.ts';
import { Empty, Name, Page, Read, State, Table, type Columns, When } from '../shell/components.ts';
import { Paging, TextFilter, ChoiceFilter, queryOf } from '../shell/list-filters.ts';
import { useReading } from '../shell/reading.ts';
import { mayDo } from '../shell/request.ts';
import { goTo, Link, usePlace } from '../shell/router.ts';
import { ScoreMeter } from './score-meter.ts';
import { modeTitles } from './verification-page.ts';
import { html, type VNode } from '../shell/view.ts';

const states: readonly VerificationState[] = ['queued', 'performing', 'performed', 'performedWithoutScore', 'error'];
const labels: readonly DecisionLabel[] = [
  'authentic',
  'undecided',
  'synthesized',
  'replayed',
  'synthesizedAndReplayed',
];
const filterNames = ['state', 'model', 'mode', 'label', 'batch', 'from', 'to'] as const;

/** Verifications of all clients, the newest first. */
export default function VerificationsPage(): VNode {
  const place = usePlace();
  const reading = useReading<ListedVerificationPage>(
    `/api/verifications${queryOf(place.query, [...filterNames, 'before'])}`,
  );
  const isFiltered = filterNames.some((name) => place.query.has(name));
  return html`<${Page} title="Verifications" lead="Recordings that were verified, the newest first. Scores run from 0 to 1; higher is authentic, and the mark is the threshold." actions=${mayDo('reviewer') ? html`<${Link} class="button" href="/detect">Verify a recording</${Link}>` : null}>
    <${Filters} />
    <${Read} reading=${reading} what="the verifications" show=${({
      verifications,
      next,
    }: Json<ListedVerificationPage>) => html`
      <${Table} box="verification-table" caption="Verifications" rows=${verifications} keyOf=${({ id }: Json<ListedVerification>) => id} columns=${columns}
        empty=${html`<${NothingFound} isFiltered=${isFiltered} />`} />
      <${Paging} next=${next} cursor="before" isAlwaysShown />`} />
  </${Page}>`;
}

function NothingFound({ isFiltered }: { isFiltered: boolean }): VNode {
  return isFiltered
    ? html`<${Empty} title="No verification matches.">Remove a filter, or choose another date.</${Empty}>`
    : html`<${Empty} title="No recording was submitted yet.">Submit one under AI Voice Detection, with <code>caller-trust verify</code>, or through the drop folder.</${Empty}>`;
}

/** Minimum window width, in pixels, for filters above the list. */
const wideMin = 830;

function Filters(): VNode {
  const place = usePlace();
  const facts = useReading<DetectionFacts>('/api/detection');
  const models = new Set(facts.value?.models.map(({ model }) => model));
  const chosen = place.query.get('model');
  if (chosen !== null) models.add(chosen);
  const isFiltered = filterNames.some((name) => place.query.has(name));
  return html`<details class="section" open=${isFiltered || innerWidth >= wideMin}><summary>Filters</summary><form class="filters" aria-label="Filters" onSubmit=${(event: Event) => event.preventDefault()}>
    <${ChoiceFilter} name="state" label="State" choices=${states} />
    <${ChoiceFilter} name="label" label="Decision" choices=${labels} />
    <${ChoiceFilter} name="model" label="Model" choices=${[...models]} textOf=${String} />
    <${ChoiceFilter} name="mode" label="Mode" choices=${Object.keys(modeTitles)} textOf=${(mode: keyof typeof modeTitles) => modeTitles[mode]} />
    <${TextFilter} name="from" label="From (UTC)" type="date" />
    <${TextFilter} name="to" label="To and with (UTC)" type="date" />
    <${TextFilter} name="batch" label="Id of the batch" />
    <div class="field"><button type="button" disabled=${!isFiltered} onClick=${() => goTo(place.path, { replace: true })}>Clear the filters</button><p class="hint"></p></div>
  </form></details>`;
}

const columns: Columns<Json<ListedVerification>> = [
  ['Submitted', ({ times }) => html`<${When} at=${times.requested} />`],
  ['Recording', ({ id, source }) => html`<${Link} href=${`/verifications/${id}`}><${Name} text=${source} /></${Link}>`],
  ['Outcome', (each) => html`<${Outcome} verification=${each} />`],
  [
    'Model and mode',
    ({ model, requestedModel, mode }) =>
      html`<span class="model-name">${model ?? requestedModel}</span>, ${modeTitles[mode]}`,
  ],
  ['Scores, higher is authentic', (each) => html`<${RowScores} verification=${each} />`],
];

function Outcome({ verification: { state, decision, why } }: { verification: Json<ListedVerification> }): VNode {
  return html`<div class="outcome"><${State} name=${decision?.label ?? state} />${decision === null && why !== null ? html`<span class="reason">${why.meaning}</span>` : null}</div>`;
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
