import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { ServiceError } from '../../runtime/errors.ts';
import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { readOrMakeSecret } from '../../runtime/stored-secret.ts';
import { sql } from '../../sql/sql.ts';

const cipher = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;

/** A file that the vault keeps: a letter, or a list of numbers. */
export interface StoredDocument {
  readonly documentId: number;
  readonly sha256: string;
  readonly bytes: number;
}

interface DocumentRow {
  sha256: string;
  sealed_content: Buffer | null;
  sealed_reading: Buffer | null;
  wrapped_key: Buffer | null;
  master_key_id: string;
}

/**
 * Keeps documents sealed: each under a random key of its own (AES-256-GCM, NIST SP 800-38D), which is stored wrapped by
 * the master key. A document is deleted by destroying its key and its sealed bytes in one statement. The master key is
 * never in the database.
 */
export class Vault {
  private readonly masterKey: Buffer;
  private readonly masterKeyId: string;

  constructor(masterKey: Buffer) {
    this.masterKey = masterKey;
    this.masterKeyId = createHmac('sha256', masterKey).update('id').digest('hex').slice(0, 16);
  }

  /** Seals and stores a file. */
  async store(db: Queryable, { kind, content }: { kind: 'letter' | 'numbers'; content: Uint8Array }): Promise<StoredDocument> {
    const sha256 = createHash('sha256').update(content).digest('hex');
    const key = randomBytes(keyBytes);
    const sealed = seal(key, content, `content ${sha256}`);
    const wrapped = seal(this.masterKey, key, `key ${sha256}`);
    const row = await queryRow<{ document_id: number }>(db, sql('branding/store_document'), [kind, sha256, content.length, sealed, wrapped, this.masterKeyId]);
    return { documentId: row!.document_id, sha256, bytes: content.length };
  }

  /** @throws ServiceError `document_destroyed`, `document_sealed` */
  async open(db: Queryable, documentId: number): Promise<Buffer> {
    const row = await this.read(db, documentId);
    return unseal(this.keyOf(documentId, row), row.sealed_content!, `content ${row.sha256}`, documentId);
  }

  /** Seals what was read from a document beside it, under the same key. */
  async storeReading(db: Queryable, documentId: number, reading: unknown): Promise<void> {
    const row = await this.read(db, documentId);
    const sealed = seal(this.keyOf(documentId, row), Buffer.from(JSON.stringify(reading)), `reading ${row.sha256}`);
    await db.query(sql('branding/store_reading'), [documentId, sealed]);
  }

  /**
   * What was read from a document, or null if nothing was.
   * @throws ServiceError `document_destroyed`, `document_sealed`
   */
  async openReading(db: Queryable, documentId: number): Promise<unknown> {
    const row = await this.read(db, documentId);
    if (row.sealed_reading === null) return null;
    return JSON.parse(unseal(this.keyOf(documentId, row), row.sealed_reading, `reading ${row.sha256}`, documentId).toString('utf8'));
  }

  private async read(db: Queryable, documentId: number): Promise<DocumentRow> {
    const row = await queryRow<DocumentRow & Record<string, unknown>>(db, sql('branding/read_document'), [documentId]);
    if (row === undefined || row.wrapped_key === null) {
      throw new ServiceError('document_destroyed', { operation: 'open document', object: String(documentId) });
    }
    return row;
  }

  private keyOf(documentId: number, { master_key_id, wrapped_key, sha256 }: DocumentRow): Buffer {
    if (master_key_id !== this.masterKeyId) throw sealed(documentId, 'It was sealed under another master key.');
    return unseal(this.masterKey, wrapped_key!, `key ${sha256}`, documentId);
  }
}

/** Destroys the key and the sealed bytes of a document, which takes no master key. False if that was done before. */
export async function destroyDocument(db: Queryable, documentId: number, why: string): Promise<boolean> {
  return (await queryRow(db, sql('branding/destroy_document'), [documentId, why])) !== undefined;
}

/**
 * The vault under LETTER_MASTER_KEY, else under a key in the state directory, made at the first call.
 * @throws ServiceError `setting_invalid` if the stored key is none.
 */
export async function openVault({ letterMasterKey, stateDir }: { letterMasterKey?: string | undefined; stateDir: string }): Promise<Vault> {
  const text = letterMasterKey ?? (await readOrMakeSecret(stateDir, 'letter-master-key'));
  if (/^[0-9a-fA-F]{64}$/.test(text)) return new Vault(Buffer.from(text, 'hex'));
  throw new ServiceError('setting_invalid', {
    operation: 'read the master key of letters',
    problem: 'The file letter-master-key of the state directory is not 64 hex digits.',
    hint: 'Restore it from a backup: without it no stored letter can be read.',
  });
}

function seal(key: Buffer, plain: Uint8Array, purpose: string): Buffer {
  const nonce = randomBytes(nonceBytes);
  const encryption = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(purpose));
  return Buffer.concat([nonce, encryption.update(plain), encryption.final(), encryption.getAuthTag()]);
}

function unseal(key: Buffer, bytes: Buffer, purpose: string, documentId: number): Buffer {
  try {
    const decryption = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
    decryption.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(bytes.length - tagBytes));
    return Buffer.concat([decryption.update(bytes.subarray(nonceBytes, bytes.length - tagBytes)), decryption.final()]);
  } catch (cause) {
    throw sealed(documentId, 'Its stored bytes do not fit its key.', cause);
  }
}

function sealed(documentId: number, problem: string, cause?: unknown): ServiceError {
  return new ServiceError('document_sealed', {
    operation: 'open document',
    object: String(documentId),
    problem,
    hint: 'Give every process the same LETTER_MASTER_KEY, the one that it was stored under.',
    cause,
  });
}
