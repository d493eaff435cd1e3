import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openVault, Vault, type SealedName } from '../../../runtime/secrets/vault.ts';

const directory = await mkdtemp(join(tmpdir(), 'vault-'));
afterAll(() => rm(directory, { recursive: true }));

const vault = new Vault(Buffer.alloc(32, 1));
const thing: SealedName = { kind: 'voiceprint', id: 'seven' };

describe('the key of a thing', () => {
  it.each([0, 1, 65_536])('opens %i bytes that it sealed, also after it was stored wrapped', (size) => {
    const plain = Buffer.alloc(size, 9);
    const { key, ...stored } = vault.makeKey('key a');
    expect(
      vault.unwrapKey(stored, 'key a', thing).open(key.seal(plain, 'content a'), 'content a', thing).equals(plain),
    ).toBe(true);
  });

  it('is another one each time, and seals the same bytes differently each time', () => {
    const [one, other] = [vault.makeKey('key a'), vault.makeKey('key a')];
    expect(one.wrapped.equals(other.wrapped)).toBe(false);
    expect(one.key.seal(Buffer.from('x'), 'a').equals(one.key.seal(Buffer.from('x'), 'a'))).toBe(false);
  });

  it('is not unwrapped for another purpose', () => {
    const stored = vault.makeKey('key a');
    expect(() => vault.unwrapKey(stored, 'key b', thing)).toThrow(
      expect.objectContaining({ code: 'document_sealed', operation: 'open voiceprint', object: 'seven' }),
    );
  });

  it('does not open bytes that were sealed for another purpose', () => {
    const { key } = vault.makeKey('key a');
    expect(() => key.open(key.seal(Buffer.from('x'), 'content a'), 'content b', thing)).toThrow(
      expect.objectContaining({ code: 'document_sealed' }),
    );
  });

  it('is not unwrapped by another master key, and the error names the reason', () => {
    const stored = vault.makeKey('key a');
    expect(() => new Vault(Buffer.alloc(32, 2)).unwrapKey(stored, 'key a', thing)).toThrow(
      expect.objectContaining({ code: 'document_sealed', problem: 'It was sealed under another master key.' }),
    );
  });

  it.each([0, 11, 12, 20, 27])('notices a flipped bit in byte %i of what it sealed', (at) => {
    const { key } = vault.makeKey('key a');
    const bytes = key.seal(Buffer.alloc(0), 'content a');
    bytes[at]! ^= 1;
    expect(() => key.open(bytes, 'content a', thing)).toThrow(
      expect.objectContaining({ code: 'document_sealed', problem: 'Its stored bytes do not match its key.' }),
    );
  });

  it.each([0, 11, 27])('notices that only %i bytes are left', (length) => {
    const { key } = vault.makeKey('key a');
    expect(() => key.open(key.seal(Buffer.alloc(0), 'content a').subarray(0, length), 'content a', thing)).toThrow(
      expect.objectContaining({ code: 'document_sealed' }),
    );
  });
});

describe('the master key', () => {
  it('is made once, for its owner alone, and is the same for processes that start together', async () => {
    const vaults = await Promise.all(Array.from({ length: 8 }, () => openVault({ stateDir: directory })));
    const { key, ...stored } = vaults[0]!.makeKey('key a');
    const sealed = key.seal(Buffer.from('1'), 'content a');
    for (const one of vaults)
      expect(one.unwrapKey(stored, 'key a', thing).open(sealed, 'content a', thing).toString()).toBe('1');
    expect((await stat(join(directory, 'letter-master-key'))).mode & 0o777).toBe(0o600);
  });

  it('of the settings goes before the stored one', async () => {
    const stored = (await openVault({ letterMasterKey: 'ab'.repeat(32), stateDir: directory })).makeKey('key a');
    const ofTheDirectory = await openVault({ stateDir: directory });
    expect(() => ofTheDirectory.unwrapKey(stored, 'key a', thing)).toThrow(
      expect.objectContaining({ code: 'document_sealed' }),
    );
  });

  it('that was cut short is refused', async () => {
    const path = join(directory, 'letter-master-key');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.slice(0, 63));
    await expect(openVault({ stateDir: directory })).rejects.toMatchObject({ code: 'setting_invalid' });
  });
});
