import { ChoiceFilter, Filters, Paging, queryOf } from '../shell/brand-filters.ts';
import { Empty, Name, Notice, Page, Read, Section, State, Table, When } from '../shell/components.ts';
import type { ShownArrival, ShownArrivals, ShownLoad, ShownLoads } from './feed-types.ts';
import { FeedUpload } from './feed-upload.ts';
import { useReading } from '../shell/reading.ts';
import { mayDo } from '../shell/request.ts';
import { Link, usePlace } from '../shell/router.ts';
import { formatCount, visible } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

const states = ['queued', 'running', 'held', 'done', 'failed', 'discarded'];

/** When feeds came last, and their loads, newest first. */
export default function FeedsPage(): VNode {
  const place = usePlace();
  const arrivals = useReading<ShownArrivals>('/api/feeds');
  const loads = useReading<ShownLoads>(`/api/feeds/loads${queryOf(place.query, ['state', 'before'])}`);
  return html`<${Page} title="Feeds" lead="Files that bring facts about numbers. A load that differs from those before it is held until an operator decides." actions=${mayDo('operator') ? html`<${FeedUpload} />` : null}>
    <${Read} reading=${arrivals} what="when feeds came" show=${({ arrivals: all }: ShownArrivals) => html`<${Arrivals} arrivals=${all} />`} />
    <${Section} title="Loads">
      <${Filters}><${ChoiceFilter} name="state" label="State" choices=${states} /></${Filters}>
      <${Read} reading=${loads} what="loads" show=${(page: ShownLoads) => html`<${Loads} page=${page} />`} />
    </${Section}>
  </${Page}>`;
}

function Arrivals({ arrivals }: { arrivals: readonly ShownArrival[] }): VNode | null {
  if (arrivals.length === 0) return null;
  const late = arrivals.filter((arrival) => arrival.late);
  return html`<${Section} title="When they came last">
    ${late.length === 0 ? null : html`<${Notice} kind="bad"><p><strong>Stopped coming:</strong> ${late.map(nameOfFeed).join(', ')}. Nights run on with what came before.</p></${Notice}>`}
    <${Table} caption="When each feed came last" rows=${arrivals} keyOf=${nameOfFeed} columns=${[
      { title: 'Feed', show: (arrival: ShownArrival) => html`<${Name} text=${nameOfFeed(arrival)} />` },
      {
        title: 'Last load',
        show: ({ lastAt }: ShownArrival) => (lastAt === null ? 'never' : html`<${When} at=${lastAt} />`),
      },
      { title: 'Rows', isNumber: true, show: ({ rows }: ShownArrival) => formatCount(rows) },
      {
        title: 'Expected every',
        show: ({ expectedHours }: ShownArrival) =>
          expectedHours === null ? 'not known yet' : `${formatCount(expectedHours)} hours`,
      },
      { title: 'State', show: (arrival: ShownArrival) => html`<${State} name=${arrival.late ? 'late' : 'in_time'} />` },
    ]} />
  </${Section}>`;
}

function nameOfFeed({ feed, source }: Pick<ShownArrival, 'feed' | 'source'>): string {
  return source === '' ? feed : `${feed}/${source}`;
}

function Loads({ page: { loads, next } }: { page: ShownLoads }): VNode {
  if (loads.length === 0)
    return html`<${Empty} title="There is no such load.">A file comes by the command line, the drop folder, or the button above.</${Empty}>`;
  return html`<div class="wide-list"><${Table} caption="Loads of feeds" rows=${loads} keyOf=${({ loadId }: ShownLoad) => loadId} columns=${[
    {
      title: 'Load',
      show: ({ loadId }: ShownLoad) => html`<${Link} href=${`/feeds/${loadId}`}>Load ${loadId}</${Link}>`,
    },
    { title: 'Feed', show: (load: ShownLoad) => html`<${Name} text=${nameOfFeed(load)} />` },
    { title: 'State', show: ({ state }: ShownLoad) => html`<${State} name=${state} />` },
    {
      title: 'Held by',
      show: ({ gates }: ShownLoad) => gates.map(({ gate }) => gate.replaceAll('_', ' ')).join(', ') || '–',
    },
    { title: 'Given', isNumber: true, show: ({ rowsGiven }: ShownLoad) => formatCount(rowsGiven) },
    { title: 'Rejected', isNumber: true, show: ({ rowsRejected }: ShownLoad) => formatCount(rowsRejected) },
    { title: 'Submitted', show: ({ requestedAt }: ShownLoad) => html`<${When} at=${requestedAt} />` },
    { title: 'By', show: ({ submittedBy }: ShownLoad) => html`<${Name} text=${submittedBy} />` },
    { title: 'File', show: ({ fileName }: ShownLoad) => visible(fileName) },
  ]} /></div><${Paging} next=${next} cursor="before" />` as VNode;
}
