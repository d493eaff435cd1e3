import type { BrandingEvent, ShownBrand } from '../../answers/brand-answers.ts';
import type { Json, Listed } from '../../answers/json.ts';
import { Paging } from '../shell/brand-filters.ts';
import { Empty, Name, Read, Section, State, Table, When } from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { Link, usePlace } from '../shell/router.ts';
import { asWords } from '../shell/text.ts';
import { html, useEffect, useRef, type VNode } from '../shell/view.ts';

const pageEvents = 20;

/** The audit trail of a brand, its letters and its numbers, newest first. It is reloaded when the brand has changed. */
export function BrandHistory({ brand }: { brand: Json<ShownBrand> }): VNode {
  const place = usePlace();
  const before = place.query.get('before');
  const reading = useReading<Listed & { events: BrandingEvent[] }>(
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
  }: Listed & { events: Json<BrandingEvent>[] }) => html`
    ${
      events.length === 0
        ? html`<${Empty} title="Nothing happened before that.">Go to the start of the list.</${Empty}>`
        : html`<div class="wide-list"><${Table} caption="History of the brand" rows=${events} keyOf=${({ eventId }: Json<BrandingEvent>) => eventId} columns=${[
            { title: 'When', show: ({ at }: Json<BrandingEvent>) => html`<${When} at=${at} />` },
            {
              title: 'What',
              show: ({ subject, letterId, phone }: Json<BrandingEvent>) =>
                letterId !== null
                  ? html`<${Link} href=${`/letters/${letterId}`}>letter ${letterId}</${Link}>`
                  : phone !== null
                    ? `number ${phone}`
                    : subject,
            },
            { title: 'Action', show: ({ action }: Json<BrandingEvent>) => asWords(action) },
            {
              title: 'Became',
              show: ({ before: from, after }: Json<BrandingEvent>) =>
                html`${from === null || from === after ? null : html`<span class="soft">${asWords(from)} → </span>`}<${State} name=${after} />`,
            },
            { title: 'Who', show: ({ actor }: Json<BrandingEvent>) => html`<${Name} text=${actor} />` },
            { title: 'Why', show: ({ reason }: Json<BrandingEvent>) => html`<${Name} text=${reason} />` },
            {
              title: 'Request',
              show: ({ operationId }: Json<BrandingEvent>) =>
                operationId === null
                  ? '–'
                  : html`<${Link} href=${`/operations/${operationId}`}>${operationId}</${Link}>`,
            },
          ]} /></div>`
    }
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
