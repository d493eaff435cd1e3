import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { readOrMakeSecret, readSecret } from './stored-secret.ts';
import { createWholeFile, writeWholeFile } from '../files/whole-file.ts';

const cipher = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** The name of sealed content in errors: `{ kind: 'document', id: '7' }`. Not part of the sealed bytes. */
export interface SealedName {
  readonly kind: 'document' | 'voiceprint' | 'contact' | 'signing key' | 'webhook secret';
  readonly id: string;
}

/** A stored key, wrapped by the master key of this id. */
interface WrappedKey {
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
  readonly masterKeyId: string;
  private readonly masterKey: Buffer;
  /** The master key, and the one before while keys are being rotated, by their ids. */
  private readonly masterKeys: ReadonlyMap<string, Buffer>;

  constructor(masterKey: Buffer, previous?: Buffer) {
    this.masterKey = masterKey;
    this.masterKeyId = idOf(masterKey);
    this.masterKeys = new Map(
      [masterKey, ...(previous === undefined ? [] : [previous])].map((key) => [idOf(key), key]),
    );
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
    return new SealingKey(this.unwrap({ wrapped, masterKeyId }, purpose, of));
  }

  /** The same key, wrapped by the present master key. @throws as {@link unwrapKey} */
  rewrapKey(stored: WrappedKey, purpose: string, of: SealedName): WrappedKey {
    const wrapped = seal(this.masterKey, this.unwrap(stored, purpose, of), purpose);
    return { wrapped, masterKeyId: this.masterKeyId };
  }

  private unwrap({ wrapped, masterKeyId }: WrappedKey, purpose: string, of: SealedName): Buffer {
    const masterKey = this.masterKeys.get(masterKeyId);
    if (masterKey === undefined) throw notOpened(of, 'It was sealed under another master key.');
    return unseal(masterKey, wrapped, { purpose, of });
  }
}

function idOf(masterKey: Buffer): string {
  return createHmac('sha256', masterKey).update('id').digest('hex').slice(0, 16);
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

/** See the settings of the same names. */
export type MasterKeySettings = Pick<Config, 'stateDir'> &
  Partial<Pick<Config, 'letterMasterKey' | 'letterMasterKeyPrevious'>>;

/** Files of the state directory; the second one only while keys are being rotated. */
const keyFile = 'letter-master-key';
const previousKeyFile = 'letter-master-key-previous';

/**
 * The vault of LETTER_MASTER_KEY, else of a key in the state directory, created by the first call; with the key before
 * (LETTER_MASTER_KEY_PREVIOUS, or else a file next to it) if there is one.
 * @throws ServiceError `setting_invalid` if a stored key is not valid.
 */
export async function openVault({
  letterMasterKey,
  letterMasterKeyPrevious,
  stateDir,
}: MasterKeySettings): Promise<Vault> {
  if (letterMasterKey !== undefined)
    return new Vault(parseKey(letterMasterKey), parsePrevious(letterMasterKeyPrevious));
  const stored = parseKey(await readOrMakeSecret(stateDir, keyFile));
  return new Vault(stored, parsePrevious(await readSecret(stateDir, previousKeyFile)));
}

/**
 * Puts a new master key into the state directory and keeps the previous one next to it. Continues where it was interrupted; does
 * nothing if a rotation has not ended.
 */
export async function beginRotation(stateDir: string): Promise<void> {
  const present = await readOrMakeSecret(stateDir, keyFile);
  parseKey(present);
  const named = { durable: true, mode: 0o600 };
  await createWholeFile(join(stateDir, previousKeyFile), `${present}\n`, named);
  if ((await readSecret(stateDir, previousKeyFile)) !== present) return;
  await writeWholeFile(join(stateDir, keyFile), `${randomBytes(keyBytes).toString('hex')}\n`, named);
}

/**
 * Ends a rotation. The master key before is kept under its id, `letter-master-key-<id>`, which no process reads: backups of the
 * database from before need it.
 */
export async function endRotation(stateDir: string): Promise<void> {
  const previous = await readSecret(stateDir, previousKeyFile);
  if (previous === undefined) return;
  await rename(join(stateDir, previousKeyFile), join(stateDir, `${keyFile}-${idOf(parseKey(previous))}`));
}

function parsePrevious(text: string | undefined): Buffer | undefined {
  return text === undefined ? undefined : parseKey(text);
}

function parseKey(text: string): Buffer {
  if (/^[0-9a-fA-F]{64}$/.test(text)) return Buffer.from(text, 'hex');
  throw new ServiceError('setting_invalid', {
    operation: 'read the master key',
    problem: 'The file letter-master-key of the state directory, or the previous one next to it, is not 64 hex digits.',
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
