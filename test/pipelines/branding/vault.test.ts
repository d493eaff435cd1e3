import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { destroyDocument, openVault, Vault } from '../../../pipelines/branding/vault.ts';
import { useTestDatabase } from '../../support/database.ts';

const { db } = await useTestDatabase();
const directory = await mkdtemp(join(tmpdir(), 'vault-'));
afterAll(() => rm(directory, { recursive: true }));

const vault = new Vault(Buffer.alloc(32, 1));

async function stored(content: Buffer): Promise<number> {
  return (await vault.store(db, { kind: 'letter', content })).documentId;
}

describe('the vault', () => {
  it.each([0, 1, 65_536, 3 * 1024 * 1024])('gives %i bytes back as they were', async (size) => {
    const content = randomBytes(size);
    expect((await vault.open(db, await stored(content))).equals(content)).toBe(true);
  });

  it('seals the same bytes differently each time', async () => {
    const content = Buffer.from('the same letter');
    const ids = [await stored(content), await stored(content)];
    const { rows } = await db.query('SELECT sealed_content, wrapped_key FROM document WHERE document_id = ANY ($1) ORDER BY document_id', [ids]);
    expect(rows[0].sealed_content.equals(rows[1].sealed_content)).toBe(false);
    expect(rows[0].wrapped_key.equals(rows[1].wrapped_key)).toBe(false);
  });

  it('cannot open a document under another master key, and says so', async () => {
    const id = await stored(Buffer.from('x'));
    await expect(new Vault(Buffer.alloc(32, 2)).open(db, id)).rejects.toMatchObject({ code: 'document_sealed', problem: 'It was sealed under another master key.' });
  });

  it.each(['sealed_content', 'wrapped_key'])('notices a single flipped bit of %s', async (column) => {
    const id = await stored(Buffer.from('a letter of some length'));
    await db.query(`UPDATE document SET ${column} = set_byte(${column}, 20, get_byte(${column}, 20) # 1) WHERE document_id = $1`, [id]);
    await expect(vault.open(db, id)).rejects.toMatchObject({ code: 'document_sealed', problem: 'Its stored bytes do not fit its key.' });
  });

  it('notices sealed bytes of another document', async () => {
    const [a, b] = [await stored(Buffer.from('letter a')), await stored(Buffer.from('letter b'))];
    await db.query('UPDATE document SET sealed_content = o.sealed_content, wrapped_key = o.wrapped_key FROM document AS o WHERE document.document_id = $1 AND o.document_id = $2', [a, b]);
    await expect(vault.open(db, a)).rejects.toMatchObject({ code: 'document_sealed' });
  });

  it('has no reading until one is stored', async () => {
    const id = await stored(Buffer.from('x'));
    expect(await vault.openReading(db, id)).toBe(null);
    await vault.storeReading(db, id, { fields: ['é'] });
    expect(await vault.openReading(db, id)).toEqual({ fields: ['é'] });
  });

  it('destroys a document once', async () => {
    const id = await stored(Buffer.from('x'));
    expect([await destroyDocument(db, id, 'asked'), await destroyDocument(db, id, 'asked')]).toEqual([true, false]);
    await expect(vault.openReading(db, id)).rejects.toMatchObject({ code: 'document_destroyed' });
  });
});

describe('the master key', () => {
  it('is made once, for its owner alone, and is the same for processes that start together', async () => {
    const vaults = await Promise.all(Array.from({ length: 8 }, () => openVault({ stateDir: directory })));
    const { documentId } = await vaults[0]!.store(db, { kind: 'numbers', content: Buffer.from('1') });
    for (const one of vaults) expect((await one.open(db, documentId)).toString()).toBe('1');
    expect((await stat(join(directory, 'letter-master-key'))).mode & 0o777).toBe(0o600);
  });

  it('of the settings goes before the stored one', async () => {
    const { documentId } = await (await openVault({ letterMasterKey: 'ab'.repeat(32), stateDir: directory })).store(db, { kind: 'letter', content: Buffer.from('1') });
    await expect((await openVault({ stateDir: directory })).open(db, documentId)).rejects.toMatchObject({ code: 'document_sealed' });
  });

  it('that was cut short is refused', async () => {
    const path = join(directory, 'letter-master-key');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.slice(0, 63));
    await expect(openVault({ stateDir: directory })).rejects.toMatchObject({ code: 'setting_invalid' });
  });
});
