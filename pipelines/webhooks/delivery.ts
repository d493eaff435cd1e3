import { randomBytes } from 'node:crypto';
import { isServiceError, ServiceError } from '../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../runtime/postgres.ts';
import type { Vault } from '../../runtime/secrets/vault.ts';
import { pruneRows } from '../../sql/prune.ts';
import { sql } from '../../sql/sql.ts';
import { deliveryActor, lockEndpoint, openSecrets } from './endpoint.ts';
import { signMessage, type AnnouncedEvent } from './message.ts';
import { disableHours, failingSinceAfter, hasFailedTooLong, nextAttemptAt } from './retry-schedule.ts';
import { sendMessage, type AttemptEnd, type DeliveryFailure, type SendLimits } from './send-message.ts';

/** The states of a delivery; failed is final until it is replayed. */
export const DELIVERY_STATES = ['pending', 'delivered', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** A delivery as listed for operators. */
export interface Delivery {
  readonly deliveryId: number;
  /** Name of the endpoint. */
  readonly endpoint: string;
  readonly messageId: string;
  readonly type: string;
  readonly occurredAt: Date;
  readonly data: Readonly<Record<string, unknown>>;
  readonly state: DeliveryState;
  /** Since it was created or replayed. */
  readonly attempts: number;
  readonly replays: number;
  readonly lastAttemptAt: Date | null;
  readonly nextAttemptAt: Date | null;
  /** Status of the last answer, and why the last attempt failed. */
  readonly answerStatus: number | null;
  readonly failure: DeliveryFailure | null;
}

interface PendingDelivery extends AnnouncedEvent {
  readonly deliveryId: number;
  readonly attempts: number;
  readonly firstAttemptAt: Date | null;
  readonly nextAttemptAt: Date;
  readonly endpointId: number;
  readonly url: string;
  readonly endpointState: 'enabled' | 'disabled';
  readonly failingSince: Date | null;
  readonly endpointAttemptAt: Date | null;
}

/** Services and settings of deliveries. */
interface DeliveryServices {
  readonly db: Pool;
  readonly vault: Vault;
  readonly limits: SendLimits;
  readonly signal: AbortSignal;
}

/** The end of an attempt; `void` if the delivery was not due any more. */
type AttemptResult =
  { readonly kind: 'void' } | ({ readonly kind: DeliveryState } & Pick<AttemptEnd, 'status' | 'failure'>);

/**
 * Makes one attempt at a due delivery and records its end. A process that dies between the two leaves the delivery due, so that it is
 * sent again with the same id.
 */
export async function attemptDelivery(services: DeliveryServices, deliveryId: number): Promise<AttemptResult> {
  const delivery = await readPending(services.db, deliveryId);
  if (delivery === undefined || delivery.endpointState === 'disabled' || delivery.nextAttemptAt > new Date())
    return { kind: 'void' };
  const at = new Date();
  const end = await send(services, delivery, at);
  return recordEnd(services.db, { delivery, end, at });
}

/**
 * Records a failed attempt of a job that could not end itself.
 */
export async function failAttempt(db: Pool, deliveryId: number): Promise<void> {
  const delivery = await readPending(db, deliveryId);
  if (delivery === undefined) return;
  const end: AttemptEnd = { status: null, failure: 'not_attempted', retryAfterSeconds: null };
  await recordEnd(db, { delivery, end, at: new Date() });
}

function readPending(db: Queryable, deliveryId: number): Promise<PendingDelivery | undefined> {
  return queryRow<PendingDelivery>(db, sql('webhooks/read_delivery'), [deliveryId]);
}

async function send(
  { db, vault, limits, signal }: DeliveryServices,
  delivery: PendingDelivery,
  at: Date,
): Promise<AttemptEnd> {
  try {
    const secrets = await openSecrets(db, vault, delivery.endpointId);
    return await sendMessage({ url: delivery.url, message: signMessage(delivery, secrets, at), limits, signal });
  } catch (error) {
    if (!isServiceError(error, 'document_sealed')) throw error;
    return { status: null, failure: 'secret_sealed', retryAfterSeconds: null };
  }
}

interface EndedAttempt {
  readonly delivery: PendingDelivery;
  readonly end: AttemptEnd;
  readonly at: Date;
}

async function recordEnd(db: Pool, { delivery, end, at }: EndedAttempt): Promise<AttemptResult> {
  const { deliveryId, attempts, endpointId, failingSince, endpointAttemptAt } = delivery;
  const next = nextAfter({ delivery, end, at });
  const state = end.failure === null ? 'delivered' : next === null ? 'failed' : 'pending';
  const failing =
    end.failure === null ? null : failingSinceAfter({ failingSince, lastAttemptAt: endpointAttemptAt, at });
  return inTransaction(db, async (client) => {
    const recorded = await queryRow(client, sql('webhooks/record_attempt'), [
      deliveryId,
      attempts,
      state,
      at,
      next,
      end.status,
      end.failure,
    ]);
    if (recorded === undefined) return { kind: 'void' };
    await client.query(sql('webhooks/record_endpoint_attempt'), [endpointId, at, failing]);
    const why = reasonToDisable(end, failing, at);
    if (why !== null) await client.query(sql('webhooks/disable_endpoint'), [endpointId, deliveryActor, why]);
    return { kind: state, status: end.status, failure: end.failure };
  });
}

function nextAfter({ delivery, end, at }: EndedAttempt): Date | null {
  if (end.failure === null || end.failure === 'gone') return null;
  return nextAttemptAt({
    attempts: delivery.attempts + 1,
    firstAttemptAt: delivery.firstAttemptAt ?? at,
    at,
    retryAfterSeconds: end.retryAfterSeconds,
    random: Math.random(),
  });
}

function reasonToDisable({ failure }: AttemptEnd, failing: Date | null, at: Date): string | null {
  if (failure === 'gone') return 'It answered 410, which asks for no more deliveries.';
  if (failing === null || !hasFailedTooLong(failing, at)) return null;
  return `Every attempt has failed for ${disableHours} hours, the last one as ${failure}.`;
}

/** Deliveries of one endpoint that are sent at the same time; one that fails gets a single one. */
const deliveriesAtATime = 10;

/** The ids of due deliveries, for all endpoints or of one id. */
export async function listDueDeliveries(db: Queryable, deliveryId: number | null = null): Promise<number[]> {
  const rows = await queryRows<{ deliveryId: number }>(db, sql('webhooks/list_due_deliveries'), [
    deliveryId,
    deliveriesAtATime,
  ]);
  return rows.map((row) => row.deliveryId);
}

/** Which deliveries are listed, newest first. */
interface DeliveryQuery {
  /** Name of an endpoint. */
  readonly endpoint?: string | undefined;
  readonly state?: DeliveryState | undefined;
  /** Delivery id before which the page begins. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Deliveries, newest first. */
export function listDeliveries(db: Queryable, { endpoint, state, before, limit }: DeliveryQuery): Promise<Delivery[]> {
  return queryRows<Delivery>(db, sql('webhooks/list_deliveries'), [
    endpoint ?? null,
    state ?? null,
    before ?? null,
    limit,
  ]);
}

/**
 * Makes a delivery due again, with its id, from its first attempt.
 * @throws ServiceError `webhook_delivery_unknown`, `webhook_disabled`
 */
export async function replayDelivery(
  db: Queryable,
  { endpoint, deliveryId }: { endpoint: string; deliveryId: number },
): Promise<void> {
  const row = await queryRow<{ name: string; state: 'enabled' | 'disabled' }>(db, sql('webhooks/replay_delivery'), [
    deliveryId,
    endpoint,
  ]);
  if (row === undefined)
    throw new ServiceError('webhook_delivery_unknown', {
      operation: 'replay delivery',
      object: String(deliveryId),
      hint: '`caller-trust webhooks deliveries` shows those that are kept.',
    });
  if (row.state === 'disabled') throw endpointDisabled('replay delivery', row.name);
}

/**
 * Makes due for an endpoint what has happened since an instant: deliveries again, and those that were never made because it was
 * disabled or not there. Returns their number; those that are pending are not counted. Inside a transaction.
 * @throws ServiceError `webhook_unknown`, `webhook_disabled`
 */
export async function replaySince(
  client: Queryable,
  { endpoint, since, undelivered }: { endpoint: string; since: Date; undelivered: boolean },
): Promise<number> {
  const { endpointId, state } = await lockEndpoint(client, 'replay deliveries', endpoint);
  if (state === 'disabled') throw endpointDisabled('replay deliveries', endpoint);
  const row = await queryRow<{ deliveries: number }>(client, sql('webhooks/replay_since'), [
    endpointId,
    since,
    undelivered,
  ]);
  return row!.deliveries; // the statement returns one row
}

function endpointDisabled(operation: string, name: string): ServiceError {
  return new ServiceError('webhook_disabled', {
    operation,
    object: name,
    hint: 'Enable it first: `caller-trust webhooks enable`.',
  });
}

/**
 * Sends a test event to an endpoint from this process, whether it is enabled or not, and returns the end of the one attempt.
 * @throws ServiceError `webhook_unknown`
 */
export async function sendTest(services: DeliveryServices, name: string): Promise<AttemptEnd> {
  const { db } = services;
  const { endpointId } = await lockEndpoint(db, 'test endpoint', name);
  const row = await queryRow<{ deliveryId: number }>(db, sql('webhooks/insert_test_event'), [
    endpointId,
    `msg_${randomBytes(16).toString('hex')}`,
    JSON.stringify({ endpoint: name }),
  ]);
  const delivery = (await readPending(db, row!.deliveryId))!; // made by the statement before
  const at = new Date();
  const end = await send(services, delivery, at);
  await db.query(sql('webhooks/record_attempt'), [
    delivery.deliveryId,
    delivery.attempts,
    end.failure === null ? 'delivered' : 'failed',
    at,
    null,
    end.status,
    end.failure,
  ]);
  return end;
}

/** The state of deliveries, for metrics, the doctor and the console. */
export interface DeliveryCounts {
  /** Not delivered yet, and the age of the oldest. */
  readonly pending: number;
  readonly oldestPendingSeconds: number;
  /** Failed permanently within the last day. */
  readonly failed: number;
  /** Names of enabled endpoints whose every attempt has failed for an hour. */
  readonly failing: readonly string[];
  /** Names of endpoints that were disabled because they failed. */
  readonly givenUp: readonly string[];
  /** Endpoints that are enabled. */
  readonly enabled: number;
}

/** Counts deliveries and failing endpoints, in one statement. */
export async function countDeliveries(db: Queryable): Promise<DeliveryCounts> {
  return (await queryRow<DeliveryCounts>(db, sql('webhooks/count_deliveries')))!; // the statement returns one row
}

/** Events that one statement deletes. */
const prunedAtOnce = 5000;

/** Deletes events of more than `retentionDays` before `at`, with their deliveries. Returns their number. */
export function pruneWebhookEvents(
  db: Queryable,
  retention: { readonly retentionDays: number; readonly at: Date },
): Promise<number> {
  return pruneRows(db, sql('webhooks/prune_events'), { ...retention, atOnce: prunedAtOnce });
}
