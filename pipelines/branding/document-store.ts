import { ServiceError } from '../../runtime/errors.ts';
import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { SealedName, SealingKey, Vault } from '../../runtime/secrets/vault.ts';
import { sha256Of } from '../../runtime/digest.ts';

/** A sealed file: a letter, or a list of numbers. */
interface StoredDocument {
  readonly documentId: number;
  readonly sha256: string;
  readonly bytes: number;
}

interface DocumentStore {
  readonly db: Queryable;
  readonly vault: Vault;
}

interface DocumentRow {
  sha256: string;
  sealedContent: Buffer | null;
  sealedReading: Buffer | null;
  wrappedKey: Buffer | null;
  masterKeyId: string;
}

/** Binds the key of a document to its content. */
export const documentKeyPurpose = (sha256: string) => `key ${sha256}`;

/** Seals and stores a file, under a key of its own. */
export async function storeDocument(
  { db, vault }: DocumentStore,
  { kind, content }: { kind: 'letter' | 'numbers'; content: Uint8Array },
): Promise<StoredDocument> {
  const sha256 = sha256Of(content);
  const { key, wrapped, masterKeyId } = vault.makeKey(documentKeyPurpose(sha256));
  const sealed = key.seal(content, `content ${sha256}`);
  const row = await queryRow<{ documentId: number }>(db, sql('branding/store_document'), [
    kind,
    sha256,
    content.length,
    sealed,
    wrapped,
    masterKeyId,
  ]);
  return { documentId: row!.documentId, sha256, bytes: content.length };
}

/** @throws ServiceError `document_destroyed`, `document_sealed` */
export async function openDocument(store: DocumentStore, documentId: number): Promise<Buffer> {
  const { key, row } = await readDocument(store, documentId);
  return key.open(row.sealedContent!, `content ${row.sha256}`, thing(documentId));
}

/** Seals the reading of a document with it, under the same key. */
export async function storeReading(store: DocumentStore, documentId: number, reading: unknown): Promise<void> {
  const { key, row } = await readDocument(store, documentId);
  const sealed = key.seal(Buffer.from(JSON.stringify(reading)), `reading ${row.sha256}`);
  await store.db.query(sql('branding/store_reading'), [documentId, sealed]);
}

/**
 * The reading of a document, or null if there is none.
 * @throws ServiceError `document_destroyed`, `document_sealed`
 */
export async function openReading(store: DocumentStore, documentId: number): Promise<unknown> {
  const { key, row } = await readDocument(store, documentId);
  if (row.sealedReading === null) return null;
  return JSON.parse(key.open(row.sealedReading, `reading ${row.sha256}`, thing(documentId)).toString('utf8'));
}

/** Destroys the key and the sealed bytes of a document, which takes no master key. False if that was done before. */
export async function destroyDocument(db: Queryable, documentId: number, why: string): Promise<boolean> {
  return (await queryRow(db, sql('branding/destroy_document'), [documentId, why])) !== undefined;
}

async function readDocument(
  { db, vault }: DocumentStore,
  documentId: number,
): Promise<{ key: SealingKey; row: DocumentRow }> {
  const row = await queryRow<DocumentRow>(db, sql('branding/read_document'), [documentId]);
  if (row === undefined || row.wrappedKey === null) {
    throw new ServiceError('document_destroyed', { operation: 'open document', object: String(documentId) });
  }
  return {
    key: vault.unwrapKey(
      { wrapped: row.wrappedKey, masterKeyId: row.masterKeyId },
      documentKeyPurpose(row.sha256),
      thing(documentId),
    ),
    row,
  };
}

function thing(documentId: number): SealedName {
  return { kind: 'document', id: String(documentId) };
}
