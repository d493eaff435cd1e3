import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { ServiceError } from './errors.ts';
import { readOrMakeSecret } from './stored-secret.ts';

const cipher = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** What a thing is called in an error when it cannot be opened: `{ kind: 'document', id: '7' }`. Never part of what is sealed. */
export interface SealedThing {
  readonly kind: 'document' | 'voiceprint' | 'contact';
  readonly id: string;
}

/** A key as it is stored: wrapped by the master key of this id. */
export interface WrappedKey {
  readonly wrapped: Buffer;
  readonly masterKeyId: string;
}

/**
 * Wraps the keys of things that are kept sealed: each thing has a random key of its own (AES-256-GCM, NIST SP 800-38D), which
 * is stored wrapped by the master key. A thing is deleted by destroying its key and its sealed bytes in one statement. The
 * master key is never in the database.
 *
 * A purpose is authenticated with what is sealed: bytes that were sealed for one cannot be opened for another.
 */
export class Vault {
  private readonly masterKey: Buffer;
  private readonly masterKeyId: string;

  constructor(masterKey: Buffer) {
    this.masterKey = masterKey;
    this.masterKeyId = createHmac('sha256', masterKey).update('id').digest('hex').slice(0, 16);
  }

  /** A new key, and the form in which it is stored. */
  makeKey(purpose: string): WrappedKey & { readonly key: SealingKey } {
    const key = randomBytes(keyBytes);
    return { key: new SealingKey(key), wrapped: seal(this.masterKey, key, purpose), masterKeyId: this.masterKeyId };
  }

  /** A keyed digest of a text, by which alike texts are counted that are stored sealed. 32 bytes. */
  digest(text: string, purpose: string): Buffer {
    return createHmac('sha256', this.masterKey).update(`${purpose}\0${text}`).digest();
  }

  /** @throws ServiceError `document_sealed` if it was wrapped by another master key, or for another purpose */
  unwrapKey({ wrapped, masterKeyId }: WrappedKey, purpose: string, of: SealedThing): SealingKey {
    if (masterKeyId !== this.masterKeyId) throw notOpened(of, 'It was sealed under another master key.');
    return new SealingKey(unseal(this.masterKey, wrapped, { purpose, of }));
  }
}

/** The key of one thing, unwrapped. */
export class SealingKey {
  private readonly key: Buffer;

  constructor(key: Buffer) {
    this.key = key;
  }

  seal(plain: Uint8Array, purpose: string): Buffer {
    return seal(this.key, plain, purpose);
  }

  /** @throws ServiceError `document_sealed` if the bytes were changed, or sealed under another key or for another purpose */
  open(bytes: Buffer, purpose: string, of: SealedThing): Buffer {
    return unseal(this.key, bytes, { purpose, of });
  }
}

/**
 * The vault under LETTER_MASTER_KEY, else under a key in the state directory, made at the first call.
 * @throws ServiceError `setting_invalid` if the stored key is none.
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

function unseal(key: Buffer, bytes: Buffer, { purpose, of }: { purpose: string; of: SealedThing }): Buffer {
  try {
    const decryption = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
    decryption.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(bytes.length - tagBytes));
    return Buffer.concat([decryption.update(bytes.subarray(nonceBytes, bytes.length - tagBytes)), decryption.final()]);
  } catch (cause) {
    throw notOpened(of, 'Its stored bytes do not fit its key.', cause);
  }
}

function notOpened({ kind, id }: SealedThing, problem: string, cause?: unknown): ServiceError {
  return new ServiceError('document_sealed', {
    operation: `open ${kind}`,
    object: id,
    problem,
    hint: 'Give every process the same LETTER_MASTER_KEY, the one that it was stored under.',
    cause,
  });
}
