import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { ServiceError } from './errors.ts';
import { readOrMakeSecret } from './stored-secret.ts';

const cipher = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** The name of sealed content in errors: `{ kind: 'document', id: '7' }`. Not part of the sealed bytes. */
export interface SealedName {
  readonly kind: 'document' | 'voiceprint' | 'contact';
  readonly id: string;
}

/** A stored key, wrapped by the master key of this id. */
export interface WrappedKey {
  readonly wrapped: Buffer;
  readonly masterKeyId: string;
}

/**
 * Wraps the keys of sealed contents: each content has a random key of its own (AES-256-GCM, NIST SP 800-38D), which is stored
 * wrapped by the master key. A content is deleted by destroying its key and its sealed bytes in one statement. The master key
 * is never in the database.
 *
 * A purpose is authenticated with the bytes: those sealed for one purpose cannot be opened for another.
 */
export class Vault {
  private readonly masterKey: Buffer;
  private readonly masterKeyId: string;

  constructor(masterKey: Buffer) {
    this.masterKey = masterKey;
    this.masterKeyId = createHmac('sha256', masterKey).update('id').digest('hex').slice(0, 16);
  }

  /** A new key with its wrapped form for storage. */
  makeKey(purpose: string): WrappedKey & { readonly key: SealingKey } {
    const key = randomBytes(keyBytes);
    return { key: new SealingKey(key), wrapped: seal(this.masterKey, key, purpose), masterKeyId: this.masterKeyId };
  }

  /** A keyed digest of a text, 32 bytes, by which equal sealed texts can be counted. */
  digest(text: string, purpose: string): Buffer {
    return createHmac('sha256', this.masterKey).update(`${purpose}\0${text}`).digest();
  }

  /** @throws ServiceError `document_sealed` if it was wrapped by another master key, or for another purpose */
  unwrapKey({ wrapped, masterKeyId }: WrappedKey, purpose: string, of: SealedName): SealingKey {
    if (masterKeyId !== this.masterKeyId) throw notOpened(of, 'It was sealed under another master key.');
    return new SealingKey(unseal(this.masterKey, wrapped, { purpose, of }));
  }
}

/** The unwrapped key of a content. */
export class SealingKey {
  private readonly key: Buffer;

  constructor(key: Buffer) {
    this.key = key;
  }

  seal(plain: Uint8Array, purpose: string): Buffer {
    return seal(this.key, plain, purpose);
  }

  /** @throws ServiceError `document_sealed` if the bytes were changed, or sealed under another key or for another purpose */
  open(bytes: Buffer, purpose: string, of: SealedName): Buffer {
    return unseal(this.key, bytes, { purpose, of });
  }
}

/**
 * The vault of LETTER_MASTER_KEY, else of a key in the state directory, created by the first call.
 * @throws ServiceError `setting_invalid` if the stored key is not valid.
 */
export async function openVault({
  letterMasterKey,
  stateDir,
}: {
  letterMasterKey?: string | undefined;
  stateDir: string;
}): Promise<Vault> {
  const text = letterMasterKey ?? (await readOrMakeSecret(stateDir, 'letter-master-key'));
  if (/^[0-9a-fA-F]{64}$/.test(text)) return new Vault(Buffer.from(text, 'hex'));
  throw new ServiceError('setting_invalid', {
    operation: 'read the master key',
    problem: 'The file letter-master-key of the state directory is not 64 hex digits.',
    hint: 'Restore it from a backup: without it no stored letter and no voiceprint can be read.',
  });
}

function seal(key: Buffer, plain: Uint8Array, purpose: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const encryption = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(purpose));
  return Buffer.concat([nonce, encryption.update(plain), encryption.final(), encryption.getAuthTag()]);
}

function unseal(key: Buffer, bytes: Buffer, { purpose, of }: { purpose: string; of: SealedName }): Buffer {
  try {
    const decryption = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
    decryption.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(bytes.length - tagBytes));
    return Buffer.concat([decryption.update(bytes.subarray(nonceBytes, bytes.length - tagBytes)), decryption.final()]);
  } catch (cause) {
    throw notOpened(of, 'Its stored bytes do not match its key.', cause);
  }
}

function notOpened({ kind, id }: SealedName, problem: string, cause?: unknown): ServiceError {
  return new ServiceError('document_sealed', {
    operation: `open ${kind}`,
    object: id,
    problem,
    hint: 'Give every process the LETTER_MASTER_KEY with which it was stored.',
    cause,
  });
}
