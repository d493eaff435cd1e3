import type { Json } from '../../answers/json.ts';
import type { AuditEvents } from '../../answers/session-answers.ts';
import { Empty, Name, Page, Pager, Read, Table, When } from '../shell/components.ts';
import { useReading } from '../shell/reading.ts';
import { goTo, usePlace, withQuery } from '../shell/router.ts';
import { html, type VNode } from '../shell/view.ts';

const pageEvents = 100;

/** The audit trail of the console, newest first. */
export default function AuditPage(): VNode {
  const place = usePlace();
  const before = place.query.get('before');
  const reading = useReading<{ events: AuditEvents['events'][number][] }>(
    `/api/events?limit=${pageEvents}${before === null ? '' : `&before=${encodeURIComponent(before)}`}`,
  );
  return html`<${Page} title="Audit trail" lead="What was done in the console. Decisions on brands and letters, and what was done to voiceprints, are in their own histories as well.">
    <${Read} reading=${reading} what="the trail" show=${({
      events,
    }: {
      events: Json<AuditEvents['events'][number]>[];
    }) => html`
      ${
        events.length === 0
          ? html`<${Empty} title="Nothing was done before that.">Go to the start of the list.</${Empty}>`
          : html`<${Table} caption="Events of the console" rows=${events} keyOf=${({ eventId }: Json<AuditEvents['events'][number]>) => eventId} columns=${[
              { title: 'When', show: ({ at }: Json<AuditEvents['events'][number]>) => html`<${When} at=${at} />` },
              {
                title: 'Who',
                show: ({ actor }: Json<AuditEvents['events'][number]>) => html`<${Name} text=${actor} />`,
              },
              { title: 'What', show: ({ what }: Json<AuditEvents['events'][number]>) => what },
              {
                title: 'To what',
                show: ({ object }: Json<AuditEvents['events'][number]>) => html`<${Name} text=${object} />`,
              },
              { title: 'From', show: ({ address }: Json<AuditEvents['events'][number]>) => address },
            ]} />`
      }
      <${Pager} next=${events.length === pageEvents ? String(events.at(-1)!.eventId) : null} isFirst=${before === null} onFirst=${() => goTo(withQuery(place, { before: null }))} onNext=${(next: string) => goTo(withQuery(place, { before: next }))} />`} />
  </${Page}>`;
}
