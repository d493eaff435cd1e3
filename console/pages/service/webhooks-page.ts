import type { Json } from '../../answers/json.ts';
import type {
  ReplayedWebhooks,
  ShownDelivery,
  ShownEndpoint,
  WebhookDeliveries,
  WebhookEndpoints,
} from '../../answers/webhook-answers.ts';
import {
  ActionButton,
  DialogButton,
  Empty,
  Field,
  Name,
  Notice,
  Page,
  Read,
  Section,
  State,
  Table,
  When,
  type Columns,
} from '../shell/components.ts';
import { ChoiceFilter, Filters, Paging, queryOf } from '../shell/list-filters.ts';
import { useReading } from '../shell/reading.ts';
import { ReasonButton } from '../shell/reason-dialog.ts';
import { mayDo, sendJson } from '../shell/request.ts';
import { Link, usePlace } from '../shell/router.ts';
import { formatCount } from '../shell/text.ts';
import { html, useState, type VNode } from '../shell/view.ts';

type Endpoint = Json<ShownEndpoint>;
type Delivery = Json<ShownDelivery>;

/** Endpoints of webhooks, and the last deliveries to them. */
export default function WebhooksPage(): VNode {
  const { query } = usePlace();
  const endpoints = useReading<WebhookEndpoints>('/api/webhooks');
  const deliveries = useReading<WebhookDeliveries>(
    `/api/webhooks/deliveries${queryOf(query, ['endpoint', 'state', 'before'])}`,
  );
  const readAgain = () => {
    endpoints.readAgain();
    deliveries.readAgain();
  };
  const names = endpoints.value?.endpoints.map(({ name }) => name) ?? [];
  return html`<${Page} title="Webhooks" lead="Endpoints that are notified of changes. A delivery that fails is tried again for a day, and can be replayed under the same id."
    actions=${html`<button type="button" onClick=${readAgain}>Read again</button>`}>
    <${Read} reading=${endpoints} what="the endpoints" show=${({ endpoints: all }: Json<WebhookEndpoints>) => html`<${Endpoints} endpoints=${all} onChanged=${readAgain} />`} />
    <${Section} title="Deliveries">
      <${Filters}>
        <${ChoiceFilter} name="endpoint" label="Endpoint" choices=${names} textOf=${(name: string) => name} />
        <${ChoiceFilter} name="state" label="State" choices=${['pending', 'delivered', 'failed']} />
      </${Filters}>
      <${Read} reading=${deliveries} what="the deliveries" show=${(page: Json<WebhookDeliveries>) => html`<${Deliveries} page=${page} onChanged=${readAgain} />`} />
    </${Section}>
  </${Page}>`;
}

const endpointColumns = (onChanged: () => void): Columns<Endpoint> => [
  ['Endpoint', ({ name }) => html`<${Link} href=${`/webhooks?endpoint=${name}`}>${name}</${Link}>`],
  ['Host', ({ origin }) => html`<${Name} text=${origin} />`],
  ['Events', ({ eventTypes }) => (eventTypes.length === 0 ? 'all' : eventTypes.join(', '))],
  ['Brand', ({ brand }) => (brand === null ? 'all' : html`<${Link} href=${`/brands/${brand}`}>${brand}</${Link}>`)],
  ['State', ({ state }) => html`<${State} name=${state} />`],
  ['Pending', ({ pending }) => formatCount(pending), 'number'],
  ['Failed', ({ failed }) => formatCount(failed), 'number'],
  ['Last success', ({ lastSuccessAt }) => html`<${When} at=${lastSuccessAt} />`],
  mayDo('operator') && [
    'Change',
    (endpoint) => html`<${EndpointActions} endpoint=${endpoint} onChanged=${onChanged} />`,
  ],
];

function Endpoints({ endpoints, onChanged }: { endpoints: readonly Endpoint[]; onChanged: () => void }): VNode {
  return html`<${Section} title="Endpoints">
    ${endpoints.filter(({ state }) => state !== 'enabled').map((endpoint) => html`<${EndpointNotice} key=${endpoint.name} endpoint=${endpoint} />`)}
    <${Table} caption="Endpoints of webhooks" rows=${endpoints} keyOf=${({ name }: Endpoint) => name} columns=${endpointColumns(onChanged)}
      empty=${html`<${Empty} title="There are no endpoints.">An operator adds one on the command line, which shows its secret once: <code>caller-trust webhooks add</code>.</${Empty}>`} />
  </${Section}>`;
}

function EndpointNotice({
  endpoint: { name, state, failingSince, disabledAt, disabledBy, disabledReason },
}: {
  endpoint: Endpoint;
}): VNode {
  if (state === 'failing')
    return html`<${Notice} kind="warn"><p><strong>${name} fails.</strong> First failed attempt: <${When} at=${failingSince} />.</p></${Notice}>`;
  const by = disabledBy === 'delivery' ? 'because it failed' : `by ${disabledBy}`;
  return html`<${Notice} kind=${disabledBy === 'delivery' ? 'bad' : 'info'}><p><strong>${name} was disabled ${by}</strong> <${When} at=${disabledAt} />. <${Name} text=${disabledReason} /> Enable it and replay what it has missed.</p></${Notice}>`;
}

function EndpointActions({
  endpoint: { name, state },
  onChanged,
}: {
  endpoint: Endpoint;
  onChanged: () => void;
}): VNode {
  const change = async (path: 'enable' | 'disable', body: object) => {
    await sendJson('POST', `/api/webhooks/${name}/${path}`, body);
    onChanged();
  };
  if (state === 'disabled') return html`<${ActionButton} act=${() => change('enable', {})}>Enable</${ActionButton}>`;
  return html`<span class="actions">
    <${DialogButton} label="Replay" title=${`Replay to ${name}`}>${(close: () => void) => html`<${ReplayForm} name=${name} onLeave=${close} onReplayed=${onChanged} />`}</${DialogButton}>
    <${ReasonButton} label="Disable" title=${`Disable ${name}`} confirm="Disable" isDanger act=${(reason: string) => change('disable', { reason })}>
      <p>Nothing is sent to it until it is enabled again. What is pending fails, and can be replayed then.</p>
    </${ReasonButton}>
  </span>`;
}

/** Replays everything since an instant. */
function ReplayForm({
  name,
  onLeave,
  onReplayed,
}: {
  name: string;
  onLeave: () => void;
  onReplayed: () => void;
}): VNode {
  const [since, setSince] = useState('');
  const [isAll, setAll] = useState(false);
  const [replayed, setReplayed] = useState<number | null>(null);
  const replay = async () => {
    const body = { since: `${since}:00Z`, undelivered: !isAll };
    const { deliveries } = await sendJson<ReplayedWebhooks>('POST', `/api/webhooks/${name}/replay`, body);
    setReplayed(deliveries);
    onReplayed();
  };
  if (replayed !== null)
    return html`<p role="status">Deliveries that are due now: ${formatCount(replayed)}.</p><div class="actions"><button type="button" onClick=${onLeave}>Close</button></div>` as VNode;
  return html`
    <p>What has happened since then is sent again under the same ids, also what the endpoint never got.</p>
    <${Field} label="Since" hint="In UTC.">${(ids: object) => html`<input type="datetime-local" value=${since} onInput=${({ target }: Event) => setSince((target as HTMLInputElement).value)} ...${ids} />`}</${Field}>
    <label><input type="checkbox" checked=${isAll} onChange=${({ target }: Event) => setAll((target as HTMLInputElement).checked)} /> Also what was delivered</label>
    <div class="actions"><button type="button" onClick=${onLeave}>Cancel</button><${ActionButton} kind="primary" disabled=${since === ''} act=${replay}>Replay</${ActionButton}></div>` as VNode;
}

const deliveryColumns = (onChanged: () => void): Columns<Delivery> => [
  [
    'Event',
    ({ type, subject }) =>
      html`<code>${type}</code> ${subject === null ? null : html`<${Link} href=${subject.href}>${subject.text}</${Link}>`}`,
  ],
  ['Endpoint', ({ endpoint }) => endpoint],
  ['Happened', ({ occurredAt }) => html`<${When} at=${occurredAt} />`],
  ['State', ({ state }) => html`<${State} name=${state} />`],
  ['Answer', ({ answerStatus, failureText }) => html`${answerStatus ?? ''} ${failureText ?? ''}`],
  ['Attempts', ({ attempts }) => formatCount(attempts), 'number'],
  ['Last', ({ lastAttemptAt }) => html`<${When} at=${lastAttemptAt} />`],
  ['Next', ({ nextAttemptAt }) => html`<${When} at=${nextAttemptAt} />`],
  mayDo('operator') && [
    'Change',
    (delivery) => html`<${DeliveryAction} delivery=${delivery} onChanged=${onChanged} />`,
  ],
];

function Deliveries({
  page: { deliveries, next },
  onChanged,
}: {
  page: Json<WebhookDeliveries>;
  onChanged: () => void;
}): VNode {
  return html`<${Table} box="wide-list" caption="Deliveries of webhooks" rows=${deliveries} keyOf=${({ deliveryId }: Delivery) => deliveryId} columns=${deliveryColumns(onChanged)}
      empty=${html`<${Empty} title="There is no such delivery." />`} />
    <${Paging} next=${next} cursor="before" />` as VNode;
}

function DeliveryAction({ delivery, onChanged }: { delivery: Delivery; onChanged: () => void }): VNode {
  const { deliveryId, endpoint, state } = delivery;
  const replay = async () => {
    await sendJson('POST', `/api/webhooks/${endpoint}/deliveries/${deliveryId}/replay`);
    onChanged();
  };
  return html`<${ActionButton} act=${replay}>${state === 'pending' ? 'Send now' : 'Replay'}</${ActionButton}>`;
}
