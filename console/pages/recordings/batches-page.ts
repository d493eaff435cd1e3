import type { BatchState, ListedBatch, ListedBatchPage } from '../../answers/batch-answers.ts';
import type { Json } from '../../answers/json.ts';
import { Empty, Name, Page, Read, State, Table, type Columns, When } from '../shell/components.ts';
import { BatchBar } from './batch-progress.ts';
import { ChoiceFilter, Paging, queryOf } from '../shell/list-filters.ts';
import { useReading } from '../shell/reading.ts';
import { Link, usePlace } from '../shell/router.ts';
import { formatCount } from '../shell/text.ts';
import { modeTitles } from './verification-page.ts';
import { html, type VNode } from '../shell/view.ts';

const batchStates = Object.keys({ open: 0, queued: 0, performing: 0, done: 0, cancelled: 0 } satisfies Record<
  BatchState,
  0
>);

const columns: Columns<Json<ListedBatch>> = [
  ['Submitted', ({ requestedAt }) => html`<${When} at=${requestedAt} />`],
  ['Batch', ({ id, name }) => html`<${Link} href=${`/batches/${id}`}><${Name} text=${name} /></${Link}>`],
  ['State', ({ state: each }) => html`<${State} name=${each} />`],
  ['Progress', (batch) => html`<${ListedProgress} batch=${batch} />`],
  ['Model', ({ requestedModel }) => requestedModel],
  ['Mode', ({ mode }) => modeTitles[mode]],
  ['Client', ({ owner }) => html`<${Name} text=${owner} />`],
  ['Ended', ({ endedAt }) => html`<${When} at=${endedAt} />`],
];

/** Batches of all clients, the newest first. */
export default function BatchesPage(): VNode {
  const place = usePlace();
  const isFiltered = place.query.has('state');
  const reading = useReading<ListedBatchPage>(`/api/batches${queryOf(place.query, ['state', 'before'])}`);
  return html`<${Page} title="Batches" lead="Recordings that were submitted together, the newest first." actions=${html`<button type="button" onClick=${reading.readAgain}>Read again</button>`}>
    <form class="section filters" aria-label="Filters" onSubmit=${(event: Event) => event.preventDefault()}>
      <${ChoiceFilter} name="state" label="State" choices=${batchStates} />
    </form>
    <${Read} reading=${reading} what="the batches" show=${({ batches, next }: Json<ListedBatchPage>) => html`
      <${Table} box="batch-table" caption="Batches" rows=${batches} keyOf=${({ id }: Json<ListedBatch>) => id} columns=${columns}
        empty=${html`<${Empty} title=${isFiltered ? 'No batch is in this state.' : 'No batch was submitted yet.'}>${isFiltered ? 'Choose another state.' : html`Submit recordings with <code>caller-trust verify FOLDER</code>, through the drop folder, or one under AI Voice Detection.`}</${Empty}>`} />
      <${Paging} next=${next} cursor="before" isAlwaysShown />`} />
  </${Page}>`;
}

function ListedProgress({ batch: { items, open } }: { batch: Json<ListedBatch> }): VNode {
  return html`<div class="listed-progress"><${BatchBar} parts=${[
    { name: 'ended', items: items - open },
    { name: 'queued', items: open },
  ]} items=${items} /><span>${open === 0 ? `${formatCount(items)} ${items === 1 ? 'recording' : 'recordings'}` : `${formatCount(items - open)} of ${formatCount(items)}`}</span></div>`;
}
