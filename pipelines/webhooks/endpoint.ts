import { randomBytes, randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import { ServiceError } from '../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../runtime/postgres.ts';
import type { SealedName, Vault } from '../../runtime/secrets/vault.ts';
import { sql } from '../../sql/sql.ts';
import { isEventFilter } from './event-types.ts';
import { formatSecret } from './message.ts';
import { addressRules } from './public-address.ts';
import type { SendLimits } from './send-message.ts';

/** An endpoint as listed for operators. */
export interface Endpoint {
  readonly endpointId: number;
  readonly name: string;
  readonly url: string;
  /** Handle of the brand whose events alone it gets; null for all events. */
  readonly brand: string | null;
  /** Types and groups of types; empty for all. */
  readonly eventTypes: readonly string[];
  readonly state: 'enabled' | 'disabled';
  readonly createdAt: Date;
  readonly createdBy: string;
  readonly disabledAt: Date | null;
  /** `delivery` if it was disabled because it failed. */
  readonly disabledBy: string | null;
  readonly disabledReason: string | null;
  /** Since when every attempt has failed. */
  readonly failingSince: Date | null;
  readonly lastAttemptAt: Date | null;
  readonly lastSuccessAt: Date | null;
  /** Deliveries that are pending, and that failed permanently. */
  readonly pending: number;
  readonly failed: number;
  /** The live secrets, the newest first, without their values. */
  readonly secrets: readonly { readonly createdAt: string; readonly endsAt: string | null }[];
}

/** A new endpoint. */
interface NewEndpoint {
  readonly name: string;
  readonly url: string;
  readonly brand: string | null;
  readonly eventTypes: readonly string[];
  readonly actor: string;
  readonly limits: SendLimits;
}

interface EndpointChange {
  readonly db: Pool;
  readonly vault: Vault;
}

const urlLengthMax = 2048;
/** Standard Webhooks asks for 24 to 64. */
const secretBytes = 32;

/** The actor of a disabled endpoint that failed for too long, or that asked for no more. */
export const deliveryActor = 'delivery';

/**
 * Adds an endpoint, and returns its secret, which is shown once.
 * @throws ServiceError `webhook_invalid`, `webhook_exists`, `brand_unknown`
 */
export async function addEndpoint(
  { db, vault }: EndpointChange,
  { name, url, brand, eventTypes, actor, limits }: NewEndpoint,
): Promise<{ endpoint: Endpoint; secret: string }> {
  checkName(name);
  checkUrl(url, limits);
  checkEventTypes(eventTypes);
  const secret = await inTransaction(db, async (client) => {
    if (brand !== null && (await queryRow(client, sql('webhooks/find_brand'), [brand])) === undefined)
      throw new ServiceError('brand_unknown', { operation: 'add endpoint', object: brand });
    const row = await queryRow<{ endpointId: number }>(client, sql('webhooks/insert_endpoint'), [
      name,
      url,
      brand,
      [...new Set(eventTypes)],
      actor,
    ]);
    if (row === undefined)
      throw new ServiceError('webhook_exists', {
        operation: 'add endpoint',
        object: name,
        hint: 'Give another name, or remove the endpoint first.',
      });
    return storeNewSecret(client, vault, row.endpointId);
  });
  return { endpoint: await readEndpoint(db, name), secret };
}

/** All endpoints, by name. */
export function listEndpoints(db: Queryable): Promise<Endpoint[]> {
  return queryRows<Endpoint>(db, sql('webhooks/list_endpoints'), [null]);
}

/** @throws ServiceError `webhook_unknown` */
export async function readEndpoint(db: Queryable, name: string): Promise<Endpoint> {
  const row = await queryRow<Endpoint>(db, sql('webhooks/list_endpoints'), [name]);
  if (row === undefined) throw endpointUnknown('read endpoint', name);
  return row;
}

/**
 * Gives an endpoint a new secret, which is shown once. The present one stays live for `overlapSeconds`, and deliveries are signed
 * with both; one before that ends now, so that two are live at most.
 * @throws ServiceError `webhook_unknown`
 */
export function rotateSecret(
  { db, vault }: EndpointChange,
  { name, overlapSeconds }: { name: string; overlapSeconds: number },
): Promise<string> {
  return inTransaction(db, async (client) => {
    const { endpointId } = await lockEndpoint(client, 'rotate secret', name);
    await client.query(sql('webhooks/end_secrets'), [endpointId, overlapSeconds]);
    return storeNewSecret(client, vault, endpointId);
  });
}

/**
 * Disables an endpoint: nothing is sent to it, and what is pending fails. Inside a transaction.
 * @throws ServiceError `webhook_unknown`, `reason_required`
 */
export async function disableEndpoint(
  client: Queryable,
  { name, actor, reason }: { name: string; actor: string; reason: string },
): Promise<void> {
  if (reason.trim() === '') throw new ServiceError('reason_required', { operation: 'disable endpoint', object: name });
  const { endpointId } = await lockEndpoint(client, 'disable endpoint', name);
  await client.query(sql('webhooks/disable_endpoint'), [endpointId, actor, reason.trim()]);
}

/**
 * Enables an endpoint again, for what happens from now on; what it has missed can be replayed. Inside a transaction.
 * @throws ServiceError `webhook_unknown`
 */
export async function enableEndpoint(client: Queryable, name: string): Promise<void> {
  const { endpointId } = await lockEndpoint(client, 'enable endpoint', name);
  await client.query(sql('webhooks/enable_endpoint'), [endpointId]);
}

/**
 * Removes an endpoint with its secrets and the record of its deliveries.
 * @throws ServiceError `webhook_unknown`
 */
export async function removeEndpoint(db: Queryable, name: string): Promise<void> {
  if ((await queryRow(db, sql('webhooks/delete_endpoint'), [name])) === undefined)
    throw endpointUnknown('remove endpoint', name);
}

/** @throws ServiceError `webhook_unknown` */
export async function lockEndpoint(
  client: Queryable,
  operation: string,
  name: string,
): Promise<{ endpointId: number; state: Endpoint['state'] }> {
  const row = await queryRow<{ endpointId: number; state: Endpoint['state'] }>(client, sql('webhooks/lock_endpoint'), [
    name,
  ]);
  if (row === undefined) throw endpointUnknown(operation, name);
  return row;
}

function endpointUnknown(operation: string, name: string): ServiceError {
  return new ServiceError('webhook_unknown', {
    operation,
    object: name,
    hint: '`caller-trust webhooks list` shows the endpoints.',
  });
}

/** Binds the key that seals a secret to it. */
export const webhookSecretPurpose = (publicId: string) => `webhook secret ${publicId}`;

async function storeNewSecret(client: Queryable, vault: Vault, endpointId: number): Promise<string> {
  const bytes = randomBytes(secretBytes);
  const publicId = randomUUID();
  const purpose = webhookSecretPurpose(publicId);
  const { key, wrapped, masterKeyId } = vault.makeKey(purpose);
  await client.query(sql('webhooks/insert_secret'), [
    endpointId,
    publicId,
    key.seal(bytes, purpose),
    wrapped,
    masterKeyId,
  ]);
  return formatSecret(bytes);
}

interface SecretRow {
  readonly publicId: string;
  readonly sealedSecret: Buffer;
  readonly wrappedKey: Buffer;
  readonly masterKeyId: string;
}

/**
 * The live secrets of an endpoint, one or two, the newest first.
 * @throws ServiceError `document_sealed` if the master key does not open one
 */
export async function openSecrets(db: Queryable, vault: Vault, endpointId: number): Promise<Buffer[]> {
  const rows = await queryRows<SecretRow>(db, sql('webhooks/list_live_secrets'), [endpointId]);
  return rows.map(({ publicId, sealedSecret, wrappedKey, masterKeyId }) => {
    const of: SealedName = { kind: 'webhook secret', id: publicId };
    const purpose = webhookSecretPurpose(publicId);
    return vault.unwrapKey({ wrapped: wrappedKey, masterKeyId }, purpose, of).open(sealedSecret, purpose, of);
  });
}

function checkName(name: string): void {
  if (/^[a-z0-9](-?[a-z0-9]){0,62}$/.test(name)) return;
  throw invalid(`${name} is not a name.`, 'Give lower-case letters, digits and single hyphens, 63 at most.');
}

/** Also refuses an address inside a private network; a name is checked when it is connected to. */
function checkUrl(text: string, { webhookNetworksAllowed }: NewEndpoint['limits']): void {
  const url = text.length <= urlLengthMax && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw invalid(
      'The address is not a URL of https.',
      `For example https://example.com/hooks, ${urlLengthMax} characters at most.`,
    );
  if (url.username !== '' || url.password !== '' || url.hash !== '')
    throw invalid(
      'The address has a login or a fragment, which are not sent.',
      'Leave them out: receivers know who sent a delivery by its signature.',
    );
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const { allows, names } = addressRules(webhookNetworksAllowed);
  if (isIP(host) !== 0 && !allows(host))
    throw invalid(
      'The address is inside a private network.',
      'Give a public one, or name its network in WEBHOOK_NETWORKS_ALLOWED.',
    );
  const mayLackTls = isIP(host) === 0 ? webhookNetworksAllowed !== undefined : names(host);
  if (url.protocol === 'http:' && !mayLackTls)
    throw invalid(
      'The address has no TLS, which only one in a private network does without.',
      'Give one of https, or name its network in WEBHOOK_NETWORKS_ALLOWED.',
    );
}

function checkEventTypes(types: readonly string[]): void {
  const wrong = types.filter((type) => !isEventFilter(type));
  if (wrong.length === 0) return;
  throw invalid(
    `No event has the type ${wrong.join(', ')}.`,
    'docs/webhooks.md lists the types; letter.* means all of letters.',
  );
}

function invalid(problem: string, hint: string): ServiceError {
  return new ServiceError('webhook_invalid', { operation: 'add endpoint', problem, hint });
}
