import type { FeedArrivals, FeedLoad, FeedLoads, SubmittedFeed } from '../../answers/feed-answers.ts';
import type { Json } from '../../answers/json.ts';
import { ChoiceFilter, Filters, Paging, queryOf } from '../shell/brand-filters.ts';
import {
  Empty,
  Name,
  Notice,
  Page,
  Read,
  Section,
  State,
  Table,
  When,
  ActionButton,
  Dialog,
  Field,
} from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { mayDo, sendForm } from '../shell/request.ts';
import { Link, usePlace, goTo } from '../shell/router.ts';
import { formatCount, visible } from '../shell/text.ts';
import { html, type VNode, useState } from '../shell/view.ts';

const states = ['queued', 'running', 'held', 'done', 'failed', 'discarded'];

/** The last arrivals of feeds, and their loads, newest first. */
export default function FeedsPage(): VNode {
  const place = usePlace();
  const arrivals = useReading<FeedArrivals>('/api/feeds');
  const loads = useReading<FeedLoads>(`/api/feeds/loads${queryOf(place.query, ['state', 'before'])}`);
  return html`<${Page} title="Feeds" lead="Files that bring facts about numbers. A load that differs from those before it is held until an operator decides." actions=${mayDo('operator') ? html`<${FeedUpload} />` : null}>
    <${Read} reading=${arrivals} what="when feeds came" show=${({ arrivals: all }: Json<FeedArrivals>) => html`<${Arrivals} arrivals=${all} />`} />
    <${Section} title="Loads">
      <${Filters}><${ChoiceFilter} name="state" label="State" choices=${states} /></${Filters}>
      <${Read} reading=${loads} what="loads" show=${(page: Json<FeedLoads>) => html`<${Loads} page=${page} />`} />
    </${Section}>
  </${Page}>`;
}

function Arrivals({ arrivals }: { arrivals: readonly Json<FeedArrivals['arrivals'][number]>[] }): VNode | null {
  if (arrivals.length === 0) return null;
  const late = arrivals.filter((arrival) => arrival.late);
  return html`<${Section} title="When they came last">
    ${late.length === 0 ? null : html`<${Notice} kind="bad"><p><strong>Stopped coming:</strong> ${late.map(nameOfFeed).join(', ')}. Nights run on with what came before.</p></${Notice}>`}
    <${Table} caption="When each feed came last" rows=${arrivals} keyOf=${nameOfFeed} columns=${[
      {
        title: 'Feed',
        show: (arrival: Json<FeedArrivals['arrivals'][number]>) => html`<${Name} text=${nameOfFeed(arrival)} />`,
      },
      {
        title: 'Last load',
        show: ({ lastAt }: Json<FeedArrivals['arrivals'][number]>) =>
          lastAt === null ? 'never' : html`<${When} at=${lastAt} />`,
      },
      { title: 'Rows', isNumber: true, show: ({ rows }: Json<FeedArrivals['arrivals'][number]>) => formatCount(rows) },
      {
        title: 'Expected every',
        show: ({ expectedHours }: Json<FeedArrivals['arrivals'][number]>) =>
          expectedHours === null ? 'not known yet' : `${formatCount(expectedHours)} hours`,
      },
      {
        title: 'State',
        show: (arrival: Json<FeedArrivals['arrivals'][number]>) =>
          html`<${State} name=${arrival.late ? 'late' : 'in_time'} />`,
      },
    ]} />
  </${Section}>`;
}

function nameOfFeed({ feed, source }: Pick<Json<FeedArrivals['arrivals'][number]>, 'feed' | 'source'>): string {
  return source === '' ? feed : `${feed}/${source}`;
}

function Loads({ page: { loads, next } }: { page: Json<FeedLoads> }): VNode {
  if (loads.length === 0)
    return html`<${Empty} title="There is no such load.">A file comes by the command line, the drop folder, or the button above.</${Empty}>`;
  return html`<div class="wide-list"><${Table} caption="Loads of feeds" rows=${loads} keyOf=${({ loadId }: Json<FeedLoad>) => loadId} columns=${[
    {
      title: 'Load',
      show: ({ loadId }: Json<FeedLoad>) => html`<${Link} href=${`/feeds/${loadId}`}>Load ${loadId}</${Link}>`,
    },
    { title: 'Feed', show: (load: Json<FeedLoad>) => html`<${Name} text=${nameOfFeed(load)} />` },
    { title: 'State', show: ({ state }: Json<FeedLoad>) => html`<${State} name=${state} />` },
    {
      title: 'Held by',
      show: ({ gates }: Json<FeedLoad>) => gates.map(({ gate }) => gate.replaceAll('_', ' ')).join(', ') || '–',
    },
    { title: 'Given', isNumber: true, show: ({ rowsGiven }: Json<FeedLoad>) => formatCount(rowsGiven) },
    { title: 'Rejected', isNumber: true, show: ({ rowsRejected }: Json<FeedLoad>) => formatCount(rowsRejected) },
    { title: 'Submitted', show: ({ requestedAt }: Json<FeedLoad>) => html`<${When} at=${requestedAt} />` },
    { title: 'By', show: ({ submittedBy }: Json<FeedLoad>) => html`<${Name} text=${submittedBy} />` },
    { title: 'File', show: ({ fileName }: Json<FeedLoad>) => visible(fileName) },
  ]} /></div><${Paging} next=${next} cursor="before" />` as VNode;
}

const feeds = ['complaints', 'reputation', 'directory'];

/** A button with a dialog that submits a file for a feed and shows its load. */
function FeedUpload(): VNode {
  const [isOpen, setOpen] = useState(false);
  return html`<span>
    <button type="button" class="primary" onClick=${() => setOpen(true)}>Load a file</button>
    <${Dialog} title="Load a file" isOpen=${isOpen} onClose=${() => setOpen(false)}><${UploadForm} onLeave=${() => setOpen(false)} /></${Dialog}>
  </span>`;
}

function UploadForm({ onLeave }: { onLeave: () => void }): VNode {
  const [feed, setFeed] = useState(feeds[0]!);
  const [source, setSource] = useState('');
  const [file, setFile] = useState<File | null>(null);
  const load = async () => {
    const form = new FormData();
    form.set('feed', feed);
    form.set('options', JSON.stringify(source.trim() === '' ? {} : { source: source.trim() }));
    form.set('file', file!);
    const { loadId } = await sendForm<SubmittedFeed>('/api/feeds/loads', form);
    goTo(`/feeds/${loadId}`);
  };
  return html`
    <p>CSV or TSV, plain or gzipped. Files in other shapes need the options of the command line.</p>
    <${Field} label="Feed">${(ids: object) => html`<select value=${feed} onChange=${({ target }: Event) => setFeed((target as HTMLSelectElement).value)} ...${ids}>${feeds.map((name) => html`<option value=${name}>${name}</option>`)}</select>`}</${Field}>
    <${Field} label="Source" hint="Which provider it is from, if there are several.">${(ids: object) => html`<input type="text" maxlength="40" autocomplete="off" value=${source} onInput=${({ target }: Event) => setSource((target as HTMLInputElement).value)} ...${ids} />`}</${Field}>
    <${Field} label="File">${(ids: object) => html`<input type="file" onChange=${({ target }: Event) => setFile((target as HTMLInputElement).files?.[0] ?? null)} ...${ids} />`}</${Field}>
    <div class="actions"><button type="button" onClick=${onLeave}>Cancel</button><${ActionButton} kind="primary" busyText="Sending …" disabled=${file === null} act=${load}>Load the file</${ActionButton}></div>` as VNode;
}
