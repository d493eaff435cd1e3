import type { BatchState, ListedBatch } from '../../answers/batch-answers.ts';
import type { Json } from '../../answers/json.ts';
import { Empty, Field, Name, Page, Pager, Read, State, Table, When } from '../shell/components.ts';
import { BatchBar } from './batch-progress.ts';
import { useReading } from '../shell/reading.ts';
import { goTo, Link, usePlace, withQuery } from '../shell/router.ts';
import { asWords, formatCount } from '../shell/text.ts';
import { modeTitles } from './verification-page.ts';
import { html, type VNode } from '../shell/view.ts';

const batchStates = Object.keys({ open: 0, queued: 0, performing: 0, done: 0, cancelled: 0 } satisfies Record<
  BatchState,
  0
>);

/** Batches of all clients, the newest first. */
export default function BatchesPage(): VNode {
  const place = usePlace();
  const [before, state] = [place.query.get('before'), place.query.get('state') ?? ''];
  const query = new URLSearchParams({ ...(state === '' ? {} : { state }), ...(before === null ? {} : { before }) });
  const reading = useReading<{ batches: ListedBatch[]; next: string | null }>(`/api/batches?${query.toString()}`);
  const choose = ({ currentTarget }: { currentTarget: HTMLSelectElement }) =>
    goTo(withQuery(place, { state: currentTarget.value, before: null }), { replace: true });
  return html`<${Page} title="Batches" lead="Recordings that were submitted together, the newest first." actions=${html`<button type="button" onClick=${reading.readAgain}>Read again</button>`}>
    <form class="section filters" aria-label="Filters" onSubmit=${(event: Event) => event.preventDefault()}>
      <${Field} label="State">${(ids: object) => html`<select value=${state} onChange=${choose} ...${ids}><option value="">all</option>${batchStates.map((each) => html`<option value=${each} selected=${each === state}>${asWords(each)}</option>`)}</select>`}</${Field}>
    </form>
    <${Read} reading=${reading} what="the batches" show=${({
      batches,
      next,
    }: {
      batches: Json<ListedBatch>[];
      next: string | null;
    }) => html`
      ${
        batches.length === 0
          ? html`<${Empty} title=${state === '' ? 'No batch was submitted yet.' : 'No batch is in this state.'}>${state === '' ? html`Submit recordings with <code>caller-trust verify FOLDER</code>, through the drop folder, or one under AI Voice Detection.` : 'Choose another state.'}</${Empty}>`
          : html`<div class="batch-table"><${Table} caption="Batches" rows=${batches} keyOf=${({ id }: Json<ListedBatch>) => id} columns=${[
              { title: 'Submitted', show: ({ requestedAt }: Json<ListedBatch>) => html`<${When} at=${requestedAt} />` },
              {
                title: 'Batch',
                show: ({ id, name }: Json<ListedBatch>) =>
                  html`<${Link} href=${`/batches/${id}`}><${Name} text=${name} /></${Link}>`,
              },
              { title: 'State', show: ({ state: each }: Json<ListedBatch>) => html`<${State} name=${each} />` },
              { title: 'Progress', show: (batch: Json<ListedBatch>) => html`<${ListedProgress} batch=${batch} />` },
              { title: 'Model', show: ({ requestedModel }: Json<ListedBatch>) => requestedModel },
              { title: 'Mode', show: ({ mode }: Json<ListedBatch>) => modeTitles[mode] },
              { title: 'Client', show: ({ owner }: Json<ListedBatch>) => html`<${Name} text=${owner} />` },
              { title: 'Ended', show: ({ endedAt }: Json<ListedBatch>) => html`<${When} at=${endedAt} />` },
            ]} /></div>`
      }
      <${Pager} next=${next} isFirst=${before === null} onFirst=${() => goTo(withQuery(place, { before: null }))} onNext=${(to: string) => goTo(withQuery(place, { before: to }))} />`} />
  </${Page}>`;
}

function ListedProgress({ batch: { items, open } }: { batch: Json<ListedBatch> }): VNode {
  return html`<div class="listed-progress"><${BatchBar} parts=${[
    { name: 'ended', items: items - open },
    { name: 'queued', items: open },
  ]} items=${items} /><span>${open === 0 ? `${formatCount(items)} ${items === 1 ? 'recording' : 'recordings'}` : `${formatCount(items - open)} of ${formatCount(items)}`}</span></div>`;
}
