import { ServiceError } from '../../runtime/errors.ts';
import { queryRows, type Pool, type Queryable } from '../../runtime/postgres.ts';
import {
  beginRotation,
  endRotation,
  openVault,
  type MasterKeySettings,
  type SealedName,
  type Vault,
} from '../../runtime/secrets/vault.ts';
import { sql } from '../../sql/sql.ts';
import { voiceprintKeyPurpose } from '../audio/voices/voiceprint-store.ts';
import { documentKeyPurpose } from '../branding/document-store.ts';
import { signingKeyPurpose } from '../caches/signing/signing-keys.ts';
import { contactPurpose, digestContact } from '../labels/number-dispute.ts';
import { webhookSecretPurpose } from '../webhooks/endpoint.ts';

interface StoredKey {
  readonly kind: SealedName['kind'];
  readonly rowId: number;
  readonly boundTo: string;
  readonly wrapped: Buffer;
  readonly masterKeyId: string;
  readonly sealedContact: Buffer | null;
}

/** Keys that are wrapped and stored at a time. */
const keysAtATime = 500;

interface RotateOptions {
  readonly db: Pool;
  readonly settings: MasterKeySettings;
  readonly signal: AbortSignal;
  /** Called with the keys wrapped so far. */
  readonly onProgress?: (keys: number) => void;
}

/**
 * Wraps the keys of all sealed contents by the present master key. With a key in the state directory it first makes a new one,
 * unless a rotation was interrupted, and puts the one before aside at the end. An interrupted rotation is continued by the next
 * call; until its end every content can be read with the two master keys. Returns the number of keys that were wrapped.
 * @throws ServiceError `usage_invalid` if a process holds the present key in memory, `document_sealed` if a content is sealed
 * under neither master key, `interrupted`
 */
export async function rotateMasterKey({ db, settings, signal, onProgress }: RotateOptions): Promise<number> {
  const isInFile = settings.letterMasterKey === undefined;
  if (isInFile) {
    await refuseWhileHeld(db);
    await beginRotation(settings.stateDir);
  }
  const vault = await openVault(settings);
  let keys = 0;
  for (;;) {
    signal.throwIfAborted();
    const stored = await queryRows<StoredKey>(db, sql('access/list_keys_to_rewrap'), [vault.masterKeyId, keysAtATime]);
    if (stored.length === 0) break;
    await storeRewrapped(db, vault, stored);
    keys += stored.length;
    onProgress?.(keys);
  }
  if (isInFile) await endRotation(settings.stateDir);
  return keys;
}

async function refuseWhileHeld(db: Queryable): Promise<void> {
  const processes = await queryRows<{ name: string }>(db, sql('access/list_other_processes'));
  if (processes.length === 0) return;
  throw new ServiceError('usage_invalid', {
    operation: 'rotate master key',
    problem: `Processes are running that hold the present key: ${processes.map(({ name }) => name).join(', ')}.`,
    hint: 'Stop them, run this command, and start them again.',
  });
}

async function storeRewrapped(db: Queryable, vault: Vault, stored: readonly StoredKey[]): Promise<void> {
  const rewrapped = stored.map((key) => rewrap(vault, key));
  await db.query(sql('access/store_rewrapped_keys'), [
    vault.masterKeyId,
    stored.map(({ kind }) => kind),
    stored.map(({ rowId }) => rowId),
    stored.map(({ wrapped }) => wrapped),
    rewrapped.map(({ wrapped }) => wrapped),
    rewrapped.map(({ contactDigest }) => contactDigest),
  ]);
}

/** The digest of a contact is keyed by the master key, so it is made again too. */
function rewrap(vault: Vault, key: StoredKey): { wrapped: Buffer; contactDigest: Buffer | null } {
  const of = { kind: key.kind, id: key.boundTo };
  const purpose = purposeOf(key);
  const { wrapped } = vault.rewrapKey(key, purpose, of);
  if (key.sealedContact === null) return { wrapped, contactDigest: null };
  const contact = vault.unwrapKey(key, purpose, of).open(key.sealedContact, contactPurpose, of).toString('utf8');
  return { wrapped, contactDigest: digestContact(vault, contact) };
}

function purposeOf({ kind, boundTo }: StoredKey): string {
  switch (kind) {
    case 'contact':
      return contactPurpose;
    case 'document':
      return documentKeyPurpose(boundTo);
    case 'voiceprint':
      return voiceprintKeyPurpose(boundTo);
    case 'signing key':
      return signingKeyPurpose(boundTo);
    case 'webhook secret':
      return webhookSecretPurpose(boundTo);
  }
}
