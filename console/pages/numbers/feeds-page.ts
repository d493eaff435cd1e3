import type { FeedArrivals, FeedLoad, FeedLoads, SubmittedFeed } from '../../answers/number-answers.ts';
import type { Json } from '../../answers/json.ts';
import { ChoiceFilter, Filters, Paging, queryOf } from '../shell/list-filters.ts';
import {
  Empty,
  Name,
  Notice,
  Page,
  Read,
  Section,
  State,
  Table,
  type Columns,
  When,
  ActionButton,
  DialogButton,
  Field,
  ChoiceField,
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
  return html`<${Page} title="Feeds" lead="Files that bring facts about numbers. A load that differs from those before it is held until an operator decides." actions=${mayDo('operator') ? html`<${DialogButton} label="Load a file" kind="primary" title="Load a file">${(close: () => void) => html`<${UploadForm} onLeave=${close} />`}</${DialogButton}>` : null}>
    <${Read} reading=${arrivals} what="when feeds came" show=${({ arrivals: all }: Json<FeedArrivals>) => html`<${Arrivals} arrivals=${all} />`} />
    <${Section} title="Loads">
      <${Filters}><${ChoiceFilter} name="state" label="State" choices=${states} /></${Filters}>
      <${Read} reading=${loads} what="loads" show=${(page: Json<FeedLoads>) => html`<${Loads} page=${page} />`} />
    </${Section}>
  </${Page}>`;
}

const arrivalColumns: Columns<Json<FeedArrivals['arrivals'][number]>> = [
  ['Feed', (arrival) => html`<${Name} text=${nameOfFeed(arrival)} />`],
  ['Last load', ({ lastAt }) => (lastAt === null ? 'never' : html`<${When} at=${lastAt} />`)],
  ['Rows', ({ rows }) => formatCount(rows), 'number'],
  [
    'Expected every',
    ({ expectedHours }) => (expectedHours === null ? 'not known yet' : `${formatCount(expectedHours)} hours`),
  ],
  ['State', (arrival) => html`<${State} name=${arrival.late ? 'late' : 'in_time'} />`],
];

function Arrivals({ arrivals }: { arrivals: readonly Json<FeedArrivals['arrivals'][number]>[] }): VNode | null {
  if (arrivals.length === 0) return null;
  const late = arrivals.filter((arrival) => arrival.late);
  return html`<${Section} title="Last arrivals">
    ${late.length === 0 ? null : html`<${Notice} kind="bad"><p><strong>Stopped coming:</strong> ${late.map(nameOfFeed).join(', ')}. Nights run on with what came before.</p></${Notice}>`}
    <${Table} caption="When each feed came last" rows=${arrivals} keyOf=${nameOfFeed} columns=${arrivalColumns} />
  </${Section}>`;
}

function nameOfFeed({ feed, source }: Pick<Json<FeedArrivals['arrivals'][number]>, 'feed' | 'source'>): string {
  return source === '' ? feed : `${feed}/${source}`;
}

const loadColumns: Columns<Json<FeedLoad>> = [
  ['Load', ({ loadId }) => html`<${Link} href=${`/feeds/${loadId}`}>Load ${loadId}</${Link}>`],
  ['Feed', (load) => html`<${Name} text=${nameOfFeed(load)} />`],
  ['State', ({ state }) => html`<${State} name=${state} />`],
  ['Held by', ({ gates }) => gates.map(({ gate }) => gate.replaceAll('_', ' ')).join(', ') || '–'],
  ['Given', ({ rowsGiven }) => formatCount(rowsGiven), 'number'],
  ['Rejected', ({ rowsRejected }) => formatCount(rowsRejected), 'number'],
  ['Submitted', ({ requestedAt }) => html`<${When} at=${requestedAt} />`],
  ['By', ({ submittedBy }) => html`<${Name} text=${submittedBy} />`],
  ['File', ({ fileName }) => visible(fileName)],
];

function Loads({ page: { loads, next } }: { page: Json<FeedLoads> }): VNode {
  if (loads.length === 0)
    return html`<${Empty} title="There is no such load.">Files come from the command line, the drop folder, or the button above.</${Empty}>`;
  return html`<${Table} box="wide-list" caption="Loads of feeds" rows=${loads} keyOf=${({ loadId }: Json<FeedLoad>) => loadId} columns=${loadColumns} /><${Paging} next=${next} cursor="before" />` as VNode;
}

const feeds = ['complaints', 'reputation', 'directory'];

/** Submits a file for a feed and shows its load. */
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
    <${ChoiceField} label="Feed" value=${feed} choices=${feeds.map((name) => [name, name])} onChoose=${setFeed} />
    <${Field} label="Source" hint="Which provider it is from, if there are several.">${(ids: object) => html`<input type="text" maxlength="40" autocomplete="off" value=${source} onInput=${({ target }: Event) => setSource((target as HTMLInputElement).value)} ...${ids} />`}</${Field}>
    <${Field} label="File">${(ids: object) => html`<input type="file" onChange=${({ target }: Event) => setFile((target as HTMLInputElement).files?.[0] ?? null)} ...${ids} />`}</${Field}>
    <div class="actions"><button type="button" onClick=${onLeave}>Cancel</button><${ActionButton} kind="primary" busyText="Sending …" disabled=${file === null} act=${load}>Load the file</${ActionButton}></div>` as VNode;
}
