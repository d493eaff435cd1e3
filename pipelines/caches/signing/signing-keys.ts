import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { errorMessageOf, ServiceError } from '../../../runtime/errors.ts';
import { queryRows, type Queryable } from '../../../runtime/postgres.ts';
import type { SealedName, Vault } from '../../../runtime/secrets/vault.ts';
import { sql } from '../../../sql/sql.ts';
import { describeKey } from './signed-metadata.ts';
import type { Signed } from '../../../format/trust/metadata.ts';

/** The roles whose keys the service holds; those of the root are kept by people. */
export const ONLINE_ROLES = ['targets', 'snapshot', 'timestamp'] as const;
export type OnlineRole = (typeof ONLINE_ROLES)[number];
export type OnlineKeys = Readonly<Record<OnlineRole, KeyObject>>;

interface SealedKeyRow {
  readonly keyId: string;
  readonly role: OnlineRole;
  readonly sealedKey: Buffer;
  readonly wrappedKey: Buffer;
  readonly masterKeyId: string;
}

/** Binds the key that seals a signing key to that key. */
export const signingKeyPurpose = (keyId: string) => `signing key ${keyId}`;

/** New online keys, not stored yet. */
export function makeOnlineKeys(): OnlineKeys {
  return Object.fromEntries(
    ONLINE_ROLES.map((role) => [role, generateKeyPairSync('ed25519').privateKey]),
  ) as unknown as OnlineKeys;
}

/** Replaces the online keys; they are stored sealed under the master key. */
export async function storeOnlineKeys(db: Queryable, vault: Vault, keys: OnlineKeys): Promise<void> {
  await db.query(sql('signing/delete_signing_keys'));
  for (const role of ONLINE_ROLES) {
    const { keyId } = describeKey(keys[role]);
    const { key, wrapped, masterKeyId } = vault.makeKey(signingKeyPurpose(keyId));
    const sealed = key.seal(keys[role].export({ format: 'der', type: 'pkcs8' }), signingKeyPurpose(keyId));
    await db.query(sql('signing/insert_signing_key'), [keyId, role, sealed, wrapped, masterKeyId]);
  }
}

/**
 * The online keys that a root names.
 * @throws ServiceError `trust_key_missing` if one is not stored, is not the one of the root, or the master key does not open it
 */
export async function openOnlineKeys(
  db: Queryable,
  vault: Vault | undefined,
  root: Signed<'root'>,
): Promise<OnlineKeys> {
  const rows = await queryRows<SealedKeyRow>(db, sql('signing/list_signing_keys'));
  const keys = ONLINE_ROLES.map((role): [OnlineRole, KeyObject] => {
    const row = rows.find((each) => each.role === role && root.roles[role].keyids.includes(each.keyId));
    if (row === undefined) throw keyMissing(role, 'The database does not hold the key that the root names.');
    if (vault === undefined) throw keyMissing(role, 'This process was given no master key.');
    return [role, openKey(vault, row)];
  });
  return Object.fromEntries(keys) as unknown as OnlineKeys;
}

function openKey(vault: Vault, { keyId, role, sealedKey, wrappedKey, masterKeyId }: SealedKeyRow): KeyObject {
  const of: SealedName = { kind: 'signing key', id: role };
  const purpose = signingKeyPurpose(keyId);
  try {
    const key = vault.unwrapKey({ wrapped: wrappedKey, masterKeyId }, purpose, of).open(sealedKey, purpose, of);
    return createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  } catch (cause) {
    throw keyMissing(role, errorMessageOf(cause), cause);
  }
}

function keyMissing(role: OnlineRole, why: string, cause?: unknown): ServiceError {
  return new ServiceError('trust_key_missing', {
    operation: 'sign publications',
    object: role,
    problem: `The key of the role ${role} cannot be used: ${why}`,
    hint: 'Give the process the LETTER_MASTER_KEY with which it was stored. If that is lost: caller-trust trust rotate --online.',
    cause,
  });
}
