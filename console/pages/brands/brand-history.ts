import type { BrandingEvent, ShownBrand, BrandingEventPage } from '../../answers/brand-answers.ts';
import type { Json } from '../../answers/json.ts';
import { Paging } from '../shell/list-filters.ts';
import { Empty, Name, Read, Section, State, Table, type Columns, When } from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { Link, usePlace } from '../shell/router.ts';
import { asWords } from '../shell/text.ts';
import { html, useEffect, useRef, type VNode } from '../shell/view.ts';

const pageEvents = 20;

const columns: Columns<Json<BrandingEvent>> = [
  ['When', ({ at }) => html`<${When} at=${at} />`],
  [
    'What',
    ({ subject, letterId, phone }) =>
      letterId !== null
        ? html`<${Link} href=${`/letters/${letterId}`}>letter ${letterId}</${Link}>`
        : phone !== null
          ? `number ${phone}`
          : subject,
  ],
  ['Action', ({ action }) => asWords(action)],
  [
    'Became',
    ({ before: from, after }) =>
      html`${from === null || from === after ? null : html`<span class="soft">${asWords(from)} → </span>`}<${State} name=${after} />`,
  ],
  ['Who', ({ actor }) => html`<${Name} text=${actor} />`],
  ['Why', ({ reason }) => html`<${Name} text=${reason} />`],
  [
    'Request',
    ({ operationId }) =>
      operationId === null ? '–' : html`<${Link} href=${`/operations/${operationId}`}>${operationId}</${Link}>`,
  ],
];

/** The audit trail of a brand, its letters and its numbers, newest first. It is reloaded when the brand has changed. */
export function BrandHistory({ brand }: { brand: Json<ShownBrand> }): VNode {
  const place = usePlace();
  const before = place.query.get('before');
  const reading = useReading<BrandingEventPage>(
    `/api/brands/${brand.handle}/history?limit=${pageEvents}${before === null ? '' : `&before=${encodeURIComponent(before)}`}`,
  );
  const changeKey = changeKeyOf(brand);
  const known = useRef(changeKey);
  useEffect(() => {
    if (known.current !== changeKey) reading.readAgain();
    known.current = changeKey;
  }, [changeKey]);
  return html`<${Section} title="History"><${Read} reading=${reading} what="the history" show=${({
    events,
    next,
  }: Json<BrandingEventPage>) => html`
    <${Table} box="wide-list" caption="History of the brand" rows=${events} keyOf=${({ eventId }: Json<BrandingEvent>) => eventId} columns=${columns}
      empty=${html`<${Empty} title="Nothing happened before that.">Go to the start of the list.</${Empty}>`} />
    <${Paging} next=${next} cursor="before" label="Pages of the history" stays=${true} />`} /></${Section}>`;
}

/** Changes with every effective action on the brand. */
function changeKeyOf({ changedAt, letters, numbers }: Json<ShownBrand>): string {
  return [
    changedAt,
    ...letters.map(({ letterId, state }) => `${letterId} ${state}`),
    ...Object.entries(numbers).flat(),
  ].join();
}
