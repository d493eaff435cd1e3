import type { Json } from '../../answers/json.ts';
import type { AuditEvents } from '../../answers/session-answers.ts';
import { Empty, Name, Page, Read, Table, type Columns, When } from '../shell/components.ts';
import { Paging } from '../shell/list-filters.ts';
import { useReading } from '../shell/reading.ts';
import { usePlace } from '../shell/router.ts';
import { html, type VNode } from '../shell/view.ts';

const pageEvents = 100;

const columns: Columns<Json<AuditEvents['events'][number]>> = [
  ['When', ({ at }) => html`<${When} at=${at} />`],
  ['Who', ({ actor }) => html`<${Name} text=${actor} />`],
  ['What', ({ what }) => what],
  ['To what', ({ object }) => html`<${Name} text=${object} />`],
  ['From', ({ address }) => address],
];

/** The audit trail of the console, newest first. */
export default function AuditPage(): VNode {
  const place = usePlace();
  const before = place.query.get('before');
  const reading = useReading<AuditEvents>(
    `/api/events?limit=${pageEvents}${before === null ? '' : `&before=${encodeURIComponent(before)}`}`,
  );
  return html`<${Page} title="Audit trail" lead="What was done in the console. Decisions on brands and letters, and what was done to voiceprints, are in their own histories as well.">
    <${Read} reading=${reading} what="the trail" show=${({ events }: Json<AuditEvents>) => html`
      <${Table} caption="Events of the console" rows=${events} keyOf=${({ eventId }: Json<AuditEvents['events'][number]>) => eventId} columns=${columns}
        empty=${html`<${Empty} title="Nothing was done before that.">Go to the start of the list.</${Empty}>`} />
      <${Paging} next=${events.length === pageEvents ? String(events.at(-1)!.eventId) : null} cursor="before" isAlwaysShown />`} />
  </${Page}>`;
}
