import type { Json } from '../../answers/json.ts';
import type { AuditEvents, IntakeRequests } from '../../answers/session-answers.ts';
import { ChoiceField, Empty, Name, Page, Read, Table, type Columns, When } from '../shell/components.ts';
import { Paging, queryOf } from '../shell/list-filters.ts';
import { useReading } from '../shell/reading.ts';
import { goTo, Link, usePlace, withQuery } from '../shell/router.ts';
import { asWords } from '../shell/text.ts';
import { html, type VNode } from '../shell/view.ts';

type AuditEvent = Json<AuditEvents['events'][number]>;
type IntakeRequest = Json<IntakeRequests['requests'][number]>;

const pageEvents = 100;

/** The audit trail of the console, or of what the intake has accepted, newest first. */
export default function AuditPage(): VNode {
  const place = usePlace();
  const of = place.query.get('of') ?? '';
  const choose = (value: string) => goTo(withQuery(place, { of: value, before: null }), { replace: true });
  return html`<${Page} title="Audit trail" lead="What was done in the console, and what remote clients sent to the intake. Decisions on brands and letters, and what was done to voiceprints, are in their own histories as well.">
    <div class="filters"><${ChoiceField} label="Trail of" value=${of} choices=${[
      ['', 'the console'],
      ['intake', 'the intake'],
    ]} onChoose=${choose} /></div>
    ${of === 'intake' ? html`<${Requests} />` : html`<${Events} />`}
  </${Page}>`;
}

const eventColumns: Columns<AuditEvent> = [
  ['When', ({ at }) => html`<${When} at=${at} />`],
  ['Who', ({ actor }) => html`<${Name} text=${actor} />`],
  ['What', ({ what }) => what],
  ['To what', ({ object }) => html`<${Name} text=${object} />`],
  ['From', ({ address }) => address],
];

function Events(): VNode {
  const before = usePlace().query.get('before');
  const reading = useReading<AuditEvents>(
    `/api/events?limit=${pageEvents}${before === null ? '' : `&before=${encodeURIComponent(before)}`}`,
  );
  return html`<${Read} reading=${reading} what="the trail" show=${({ events }: Json<AuditEvents>) => html`
    <${Table} caption="Events of the console" rows=${events} keyOf=${({ eventId }: AuditEvent) => eventId} columns=${eventColumns}
      empty=${html`<${Empty} title="Nothing was done before that.">Go to the start of the list.</${Empty}>`} />
    <${Paging} next=${events.length === pageEvents ? String(events.at(-1)!.eventId) : null} cursor="before" isAlwaysShown />`} />` as VNode;
}

/** The page of what a request has become. */
const pageOfKind: Readonly<Record<IntakeRequest['kind'], string>> = {
  batch: '/batches',
  branding: '/operations',
  load: '/feeds',
  dispute: '/disputes',
};

const requestColumns: Columns<IntakeRequest> = [
  ['When', ({ acceptedAt }) => html`<${When} at=${acceptedAt} />`],
  ['Client', ({ client }) => html`<${Name} text=${client} />`],
  ['Key', ({ keyId }) => html`<code>${keyId}</code>`],
  ['Brand', ({ brand }) => brand && html`<${Link} href=${`/brands/${brand}`}>${brand}</${Link}>`],
  ['Became', ({ kind, object }) => html`<${Link} href=${`${pageOfKind[kind]}/${object}`}>${asWords(kind)}</${Link}>`],
  ['From', ({ address }) => address],
];

function Requests(): VNode {
  const { query } = usePlace();
  const reading = useReading<IntakeRequests>(`/api/intake-requests${queryOf(query, ['before'])}`);
  return html`<${Read} reading=${reading} what="the requests" show=${({ requests, next }: Json<IntakeRequests>) => html`
    <${Table} caption="Requests to the intake" rows=${requests} keyOf=${({ requestId }: IntakeRequest) => requestId} columns=${requestColumns}
      empty=${html`<${Empty} title="The intake has accepted no request." />`} />
    <${Paging} next=${next} cursor="before" />`} />` as VNode;
}
