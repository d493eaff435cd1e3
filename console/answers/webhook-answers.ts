import { listDeliveries, type Delivery, type DeliveryState } from '../../pipelines/webhooks/delivery.ts';
import { listEndpoints, type Endpoint } from '../../pipelines/webhooks/endpoint.ts';
import { DELIVERY_FAILURES } from '../../pipelines/webhooks/send-message.ts';
import type { Queryable } from '../../runtime/postgres.ts';
import { pageOf } from '../http/paging.ts';
import type { Listed } from './json.ts';

/** An endpoint for the page. Its address is shown without path and query, which may hold a secret of the receiver. */
export interface ShownEndpoint extends Omit<Endpoint, 'endpointId' | 'url' | 'state' | 'secrets'> {
  readonly origin: string;
  /** `failing`: enabled, and the last attempt has failed. */
  readonly state: Endpoint['state'] | 'failing';
}

/** A delivery for the page. */
export interface ShownDelivery extends Omit<Delivery, 'data'> {
  /** What it is about: a page of the console with its title; null for a test. */
  readonly subject: { readonly href: string; readonly text: string } | null;
  /** Why the last attempt failed, in words. */
  readonly failureText: string | null;
}

/** All endpoints, by name. */
export interface WebhookEndpoints {
  readonly endpoints: readonly ShownEndpoint[];
}

/** A page of deliveries, newest first. */
export interface WebhookDeliveries extends Listed {
  readonly deliveries: readonly ShownDelivery[];
}

/** The number of deliveries that are due after a replay. */
export interface ReplayedWebhooks {
  readonly deliveries: number;
}

/** Lists the endpoints. */
export async function listShownEndpoints(db: Queryable): Promise<ShownEndpoint[]> {
  return (await listEndpoints(db)).map(({ endpointId: _id, url, secrets: _secrets, state, ...endpoint }) => ({
    ...endpoint,
    origin: new URL(url).origin,
    state: state === 'enabled' && endpoint.failingSince !== null ? 'failing' : state,
  }));
}

/** Lists deliveries. */
export async function listShownDeliveries(
  db: Queryable,
  { limit, ...query }: { endpoint?: string; state?: DeliveryState; before?: number; limit: number },
): Promise<WebhookDeliveries> {
  const { rows, next } = pageOf(
    await listDeliveries(db, { ...query, limit: limit + 1 }),
    limit,
    ({ deliveryId }) => deliveryId,
  );
  return {
    next,
    deliveries: rows.map(({ data, ...delivery }) => ({
      ...delivery,
      subject: subjectOf(data),
      failureText: delivery.failure === null ? null : DELIVERY_FAILURES[delivery.failure],
    })),
  };
}

function subjectOf({
  letter,
  dispute,
  load,
  feed,
  brand,
  batch,
  run,
  date,
}: Delivery['data']): ShownDelivery['subject'] {
  if (letter !== undefined) return { href: `/letters/${String(letter)}`, text: `Letter ${String(letter)}` };
  if (dispute !== undefined) return { href: `/disputes/${String(dispute)}`, text: `Dispute ${String(dispute)}` };
  if (load !== undefined) return { href: `/feeds/${String(load)}`, text: `Feed ${String(feed)}` };
  if (brand !== undefined) return { href: `/brands/${String(brand)}`, text: String(brand) };
  if (batch !== undefined) return { href: `/batches/${String(batch)}`, text: 'Batch' };
  if (run !== undefined) return { href: `/nights/${String(run)}`, text: `Night ${String(date)}` };
  return null;
}
