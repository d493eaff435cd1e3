import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  destroyDocument,
  openDocument,
  openReading,
  storeDocument,
  storeReading,
} from '../../../pipelines/branding/document-store.ts';
import { Vault } from '../../../runtime/secrets/vault.ts';
import { useTestDatabase } from '../../support/database.ts';

const { db } = await useTestDatabase();
const store = { db, vault: new Vault(Buffer.alloc(32, 1)) };

async function stored(content: Buffer): Promise<number> {
  return (await storeDocument(store, { kind: 'letter', content })).documentId;
}

describe('a document', () => {
  it.each([0, 1, 65_536, 3 * 1024 * 1024])('of %i bytes is given back as it was', async (size) => {
    const content = randomBytes(size);
    expect((await openDocument(store, await stored(content))).equals(content)).toBe(true);
  });

  it('is sealed differently each time', async () => {
    const content = Buffer.from('the same letter');
    const ids = [await stored(content), await stored(content)];
    const { rows } = await db.query(
      'SELECT sealed_content, wrapped_key FROM document WHERE document_id = ANY ($1) ORDER BY document_id',
      [ids],
    );
    expect(rows[0].sealed_content.equals(rows[1].sealed_content)).toBe(false);
    expect(rows[0].wrapped_key.equals(rows[1].wrapped_key)).toBe(false);
  });

  it('cannot be opened under another master key, and the error says so', async () => {
    const id = await stored(Buffer.from('x'));
    await expect(openDocument({ db, vault: new Vault(Buffer.alloc(32, 2)) }, id)).rejects.toMatchObject({
      code: 'document_sealed',
      problem: 'It was sealed under another master key.',
    });
  });

  it.each(['sealed_content', 'wrapped_key'])('is not opened if a single bit of its %s was flipped', async (column) => {
    const id = await stored(Buffer.from('a letter of some length'));
    await db.query(
      `UPDATE document SET ${column} = set_byte(${column}, 20, get_byte(${column}, 20) # 1) WHERE document_id = $1`,
      [id],
    );
    await expect(openDocument(store, id)).rejects.toMatchObject({
      code: 'document_sealed',
      operation: 'open document',
      object: String(id),
      problem: 'Its stored bytes do not match its key.',
    });
  });

  it('is not opened with the sealed bytes of another one', async () => {
    const [a, b] = [await stored(Buffer.from('letter a')), await stored(Buffer.from('letter b'))];
    await db.query(
      'UPDATE document SET sealed_content = o.sealed_content, wrapped_key = o.wrapped_key FROM document AS o WHERE document.document_id = $1 AND o.document_id = $2',
      [a, b],
    );
    await expect(openDocument(store, a)).rejects.toMatchObject({ code: 'document_sealed' });
  });

  it('has no reading until one is stored', async () => {
    const id = await stored(Buffer.from('x'));
    expect(await openReading(store, id)).toBe(null);
    await storeReading(store, id, { fields: ['é'] });
    expect(await openReading(store, id)).toEqual({ fields: ['é'] });
  });

  it('is destroyed once', async () => {
    const id = await stored(Buffer.from('x'));
    expect([await destroyDocument(db, id, 'asked'), await destroyDocument(db, id, 'asked')]).toEqual([true, false]);
    await expect(openReading(store, id)).rejects.toMatchObject({ code: 'document_destroyed' });
  });
});
