import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readLetterTrust, revocationBytesMax } from '../../../pipelines/branding/letter-trust.ts';
import { revokeSigners, sampleTrustRootPem } from '../../../samples/letters/sample-keys.ts';

const directory = await mkdtemp(join(tmpdir(), 'caller-trust-letter-trust-'));
afterAll(() => rm(directory, { recursive: true }));

const list = Buffer.from(revokeSigners([], new Date('2026-05-01T00:00:00Z')));
const answer = Buffer.of(0x30, 0x03, 0x0a, 0x01, 0x00);
const pem = `-----BEGIN X509 CRL-----\n${list.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END X509 CRL-----\n`;
const none = { crls: [], ocsps: [] };

async function folder(name: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const path = join(directory, name);
  await mkdir(path);
  for (const [file, content] of Object.entries(files)) await writeFile(join(path, file), content);
  return path;
}
const revocationData = async (letterRevocationData: string, letterRevocation: 'check' | 'off' = 'check') =>
  (await readLetterTrust({ letterRevocation, letterRevocationData })).revocationData;

describe('LETTER_REVOCATION_DATA', () => {
  it('is a list or an answer, or a folder of them, whose files are told apart by their bytes', async () => {
    const path = await folder('all', { 'a.crl': list, 'b.pem': pem, 'c.bin': answer, '.d.tmp': 'not yet' });
    const text = list.toString('base64');
    expect(await revocationData(path)).toEqual({ crls: [text, text], ocsps: [answer.toString('base64')] });
    expect(await revocationData(join(path, 'a.crl'))).toEqual({ ...none, crls: [text] });
    await rm(join(path, 'a.crl'));
    expect(await revocationData(path)).toMatchObject({ crls: [text] });
  });

  it('is not read where revocation is off', async () => {
    expect(await revocationData('/nowhere', 'off')).toBe(undefined);
  });

  it('fails where it is absent, holds something else, or is too large', async () => {
    const [other, large] = [
      await folder('other', { 'roots.pem': sampleTrustRootPem() }),
      await folder('large', { 'a.crl': Buffer.concat([list, Buffer.alloc(revocationBytesMax)]) }),
    ];
    for (const path of [join(directory, 'absent'), other, large])
      await expect(revocationData(path)).rejects.toMatchObject({ code: 'setting_invalid' });
  });
});
