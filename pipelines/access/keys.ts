import { ServiceError } from '../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { cleanText } from '../phone/text-cleaning.ts';
import { recordKeySecret, requireKeySecret } from './key-secret.ts';
import { formatKey, generateKey, hashKey } from './key-text.ts';

/**
 * The closed list of scopes: what a key may read, `verifications:stream` for sending audio to the console, and what it may send to
 * the intake.
 */
export const SCOPES = [
  'caches:read',
  'numbers:read',
  'branding:read',
  'verifications:read',
  'verifications:stream',
  'batches:write',
  'branding:write',
  'feeds:write',
  'numbers:dispute',
] as const;

export type Scope = (typeof SCOPES)[number];

/** Scopes that a key of a single brand may have. */
const brandScopes: readonly Scope[] = ['numbers:read', 'branding:read', 'branding:write', 'numbers:dispute'];

/** Live keys that a client may have: two, so that a new one can be tried before the old one is revoked. */
const liveKeysMax = 2;

const clientLengthMax = 200;

/** The client of submissions by the console. It has no keys, so that no program can act as the console. */
export const consoleClient = 'console';

/** A new key. `key` is shown once and cannot be read again. */
interface CreatedKey {
  readonly keyId: string;
  readonly key: string;
  readonly client: string;
  readonly scopes: readonly Scope[];
  readonly brand: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

/** A key as listed for operators. */
interface ListedKey {
  readonly keyId: string;
  readonly client: string;
  readonly scopes: readonly string[];
  readonly brand: string | null;
  readonly state: 'live' | 'expired' | 'revoked';
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** The key to create; `secret` is that of {@link loadKeySecret}. */
interface NewKey {
  readonly client: string;
  readonly scopes: readonly string[];
  readonly expiresAt?: Date | null;
  /** Handle of the client's brand to which the key is bound. */
  readonly brand?: string | null;
  readonly secret: string;
}

/**
 * Creates a key and stores its hash.
 * @throws ServiceError `usage_invalid` for a blank client or the {@link consoleClient}, no scope or an expiry that has passed,
 * `scope_unknown`,
 * `key_limit_reached` if the client has two live keys, `brand_unknown` if it has no such brand, `key_secret_differs`.
 */
export async function createKey(
  db: Pool,
  { client, scopes, expiresAt = null, brand = null, secret }: NewKey,
): Promise<CreatedKey> {
  const name = checkClient(client);
  const checkedScopes = checkScopes(scopes);
  if (brand !== null) checkBrandScopes(checkedScopes);
  checkExpiry(expiresAt);
  const parts = generateKey();
  const createdAt = await inTransaction(db, async (transaction) => {
    await transaction.query(sql('access/lock_client_keys'), [name]);
    await recordKeySecret(transaction, secret);
    await requireKeySecret(transaction, secret);
    await refuseThirdKey(transaction, name);
    const row = await queryRow<{ createdAt: Date }>(transaction, sql('access/insert_key'), [
      parts.keyId,
      name,
      hashKey(parts.random, secret),
      checkedScopes,
      expiresAt,
      brand,
    ]);
    if (row === undefined)
      throw new ServiceError('brand_unknown', {
        operation: 'create key',
        problem: 'The client has no brand of this handle.',
        hint: '`caller-trust brand list --owner` lists its brands.',
      });
    return row.createdAt;
  });
  return {
    keyId: parts.keyId,
    key: formatKey(parts),
    client: name,
    scopes: checkedScopes,
    brand,
    createdAt,
    expiresAt,
  };
}

/** All keys, also expired and revoked ones, by client and age. */
export function listKeys(db: Queryable): Promise<ListedKey[]> {
  return queryRows<ListedKey>(db, sql('access/list_keys'));
}

/**
 * Revokes a key. Doing it again changes nothing.
 * @throws ServiceError `key_unknown`
 */
export async function revokeKey(
  db: Queryable,
  keyId: string,
): Promise<{ keyId: string; client: string; revokedAt: Date }> {
  const row = await queryRow<{ keyId: string; client: string; revokedAt: Date }>(db, sql('access/revoke_key'), [keyId]);
  if (row === undefined)
    throw new ServiceError('key_unknown', { operation: 'revoke key', hint: '`caller-trust keys list` shows the ids.' });
  return row;
}

/** Revokes every key, so that keys can be made with another secret. Returns the number of keys that were live. */
export async function resetKeys(db: Queryable): Promise<number> {
  const row = await queryRow<{ keys: number }>(db, sql('access/reset_keys'), ['api-key-secret']);
  return row!.keys;
}

function checkClient(client: string): string {
  const name = cleanText(client) ?? '';
  if (name === '' || name.length > clientLengthMax) {
    throw new ServiceError('usage_invalid', {
      operation: 'create key',
      problem: `The client needs a name of 1 to ${clientLengthMax} characters.`,
    });
  }
  if (name.toLowerCase() === consoleClient) {
    throw new ServiceError('usage_invalid', {
      operation: 'create key',
      problem: `The name ${consoleClient} is that of the console itself.`,
      hint: 'Give the client another name.',
    });
  }
  return name;
}

function checkScopes(scopes: readonly string[]): Scope[] {
  if (scopes.length === 0)
    throw new ServiceError('usage_invalid', {
      operation: 'create key',
      problem: 'A key needs a scope.',
      hint: `The scopes are ${SCOPES.join(', ')}.`,
    });
  return [...new Set(scopes)].map((given) => {
    const known = SCOPES.find((scope) => scope === given);
    if (known === undefined)
      throw new ServiceError('scope_unknown', {
        operation: 'create key',
        object: given,
        hint: `The scopes are ${SCOPES.join(', ')}.`,
      });
    return known;
  });
}

function checkBrandScopes(scopes: readonly Scope[]): void {
  const other = scopes.find((scope) => !brandScopes.includes(scope));
  if (other === undefined) return;
  throw new ServiceError('usage_invalid', {
    operation: 'create key',
    problem: `A key that is bound to a brand cannot have the scope ${other}.`,
    hint: `Its scopes are of ${brandScopes.join(', ')}.`,
  });
}

function checkExpiry(expiresAt: Date | null): void {
  if (expiresAt !== null && !(expiresAt.getTime() > Date.now())) {
    throw new ServiceError('usage_invalid', {
      operation: 'create key',
      problem: 'The expiry is not a time in the future.',
    });
  }
}

async function refuseThirdKey(db: Queryable, client: string): Promise<void> {
  const row = await queryRow<{ live: number }>(db, sql('access/count_live_keys'), [client]);
  if ((row?.live ?? 0) >= liveKeysMax) {
    throw new ServiceError('key_limit_reached', {
      operation: 'create key',
      object: client,
      hint: 'Revoke one with `caller-trust keys revoke`.',
    });
  }
}
