import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { rotateMasterKey } from '../../../pipelines/sealing/master-key-rotation.ts';
import { initTrust, makeRootKeys, readTrustStatus } from '../../../pipelines/caches/signing/ceremony.ts';
import { destroyDocument, openDocument, storeDocument } from '../../../pipelines/branding/document-store.ts';
import { addEndpoint, openSecrets, readEndpoint } from '../../../pipelines/webhooks/endpoint.ts';
import { formatSecret } from '../../../pipelines/webhooks/message.ts';
import { fileDispute, openDisputeContact } from '../../../pipelines/labels/number-dispute.ts';
import { createPool } from '../../../runtime/postgres.ts';
import { openVault, Vault } from '../../../runtime/secrets/vault.ts';
import { runCli, runCliJson } from '../../support/cli.ts';
import { useTestDatabase } from '../../support/database.ts';
import { putNumbers } from '../../support/numbers.ts';
import { killProcessesAfterEach, startProcess } from '../../support/service-process.ts';

const { db, url } = await useTestDatabase();
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-rotation-'));
afterAll(() => rm(stateDir, { recursive: true }));
killProcessesAfterEach();
const env = { DATABASE_URL: url, STATE_DIR: stateDir };
const [keyPath, previousPath] = [join(stateDir, 'letter-master-key'), join(stateDir, 'letter-master-key-previous')];
const contentOf = (n: number) => Buffer.from(`letter ${n}`);

async function storeLetters(vault: Vault, numbers: readonly number[]): Promise<number[]> {
  const ids = [];
  for (const n of numbers)
    ids.push((await storeDocument({ db, vault }, { kind: 'letter', content: contentOf(n) })).documentId);
  return ids;
}

const keysUnder = async (vault: Vault) =>
  (
    await db.query<{ keys: number }>(
      'SELECT (SELECT count(*) FROM document WHERE master_key_id = $1)::int + (SELECT count(*) FROM number_dispute WHERE master_key_id = $1)::int AS keys',
      [vault.masterKeyId],
    )
  ).rows[0]!.keys;

const count = 2500;
const before = await openVault({ stateDir });
const keyBefore = await readFile(keyPath, 'utf8');
const documents = await storeLetters(
  before,
  Array.from({ length: count }, (_, n) => n),
);
await destroyDocument(db, documents[7]!, 'asked for');
await putNumbers(db, [{ phone: '+12025550100', level: 'SPAM', category: 6 }]);
const rootKeys = makeRootKeys(1);
await initTrust({ db, vault: before, now: new Date() }, { rootKeys, threshold: 1 });
const { secret } = await addEndpoint(
  { db, vault: before },
  {
    name: 'ops',
    url: 'https://hooks.example',
    brand: null,
    eventTypes: [],
    actor: 'test',
    limits: { webhookNetworksAllowed: undefined },
  },
);
const { endpointId } = await readEndpoint(db, 'ops');
const dispute = await fileDispute(
  { db, vault: before },
  {
    request: { phone: '+12025550100', reason: 'This is our switchboard.', contact: 'Someone@example.com' },
    filedBy: 'test',
  },
);

it('is refused while a process holds the key, and changes nothing', async () => {
  const worker = createPool({ url, applicationName: 'caller-trust worker', connectionsMax: 1, onIdleError: () => {} });
  await worker.query('SELECT 1');
  expect(await runCli(env, 'letter', 'rotate-key')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('caller-trust worker') as string,
  });
  await worker.end();
  expect(await readFile(keyPath, 'utf8')).toBe(keyBefore);
  expect(existsSync(previousPath)).toBe(false);
});

it('is continued after kill -9 at any moment, and every content can be read all the time', async () => {
  const counts: number[] = [];
  for (let turn = 0; turn < 4; turn++) {
    const command = startProcess('cli.js', env, { args: ['letter', 'rotate-key'] });
    let hasEnded = false;
    void command.ended.then(() => (hasEnded = true));
    while (!existsSync(previousPath) && !hasEnded) await sleep(1);
    await sleep(turn * 15);
    await command.end('SIGKILL');
    const vault = await openVault({ stateDir });
    counts.push(await keysUnder(vault));
    for (const n of [0, 1, count >> 1, count - 1])
      expect((await openDocument({ db, vault }, documents[n]!)).equals(contentOf(n))).toBe(true);
    expect(await openDisputeContact({ db, vault }, dispute.disputeId)).toBe('Someone@example.com');
    expect((await openSecrets(db, vault, endpointId)).map(formatSecret)).toEqual([secret]);
    if (!existsSync(previousPath)) break; // it had ended
  }
  expect(counts).toEqual([...counts].sort((a, b) => a - b)); // it continues where it was, with the same new key
  await runCliJson(env, 'letter', 'rotate-key');
  expect(existsSync(previousPath)).toBe(false);
  expect(await readFile(join(stateDir, `letter-master-key-${before.masterKeyId}`), 'utf8')).toBe(keyBefore); // for backups
  const after = await openVault({ stateDir });
  expect((await readTrustStatus({ db, vault: after, now: new Date() })).problem).toBeNull();
  expect((await readTrustStatus({ db, vault: before, now: new Date() })).problem).toContain('another master key');
  expect(after.masterKeyId).not.toBe(before.masterKeyId);
  expect(await keysUnder(after)).toBe(count); // all but the destroyed one, and the contact
  for (const [n, documentId] of documents.entries())
    if (n !== 7) expect((await openDocument({ db, vault: after }, documentId)).equals(contentOf(n))).toBe(true);
  await expect(openDocument({ db, vault: after }, documents[7]!)).rejects.toMatchObject({ code: 'document_destroyed' });
  await expect(openDocument({ db, vault: before }, documents[0]!)).rejects.toMatchObject({ code: 'document_sealed' });
});

it('of a key in the environment needs the one before, and counts disputes of a contact as before', async () => {
  const settings = { stateDir, letterMasterKey: 'ab'.repeat(32) };
  const signal = new AbortController().signal;
  await expect(rotateMasterKey({ db, settings, signal })).rejects.toMatchObject({ code: 'document_sealed' });
  const letterMasterKeyPrevious = (await readFile(keyPath, 'utf8')).trim();
  const stopped = new AbortController();
  await expect(
    rotateMasterKey({
      db,
      settings: { ...settings, letterMasterKeyPrevious },
      signal: stopped.signal,
      onProgress: () => stopped.abort(),
    }),
  ).rejects.toThrow('aborted');
  const vault = await openVault({ ...settings, letterMasterKeyPrevious });
  expect(await keysUnder(vault)).toBe(500);
  expect(await rotateMasterKey({ db, settings: { ...settings, letterMasterKeyPrevious }, signal })).toBe(
    count - 500 + 4, // the keys that sign, and the secret of the webhook
  );
  expect(await rotateMasterKey({ db, settings, signal })).toBe(0);
  expect((await openSecrets(db, vault, endpointId)).map(formatSecret)).toEqual([secret]);

  const { rows } = await db.query<{ contact_digest: Buffer }>('SELECT contact_digest FROM number_dispute');
  expect(rows[0]!.contact_digest.equals(vault.digest('someone@example.com', 'contact of a dispute'))).toBe(true);
});
