import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { loadKeySecret, secretForNewKey } from '../../../pipelines/access/key-secret.ts';
import { formatKey, generateKey, hashKey, parseKey, sameHash } from '../../../pipelines/access/key-text.ts';
import { KeyTable } from '../../../pipelines/access/key-table.ts';
import { createKey, listKeys, resetKeys, revokeKey, SCOPES } from '../../../pipelines/access/keys.ts';
import { useTestDatabase } from '../../support/database.ts';
import { secret, until, useTestApi } from '../../api/support/running-api.ts';

const database = await useTestDatabase();
const { db } = database;
const { url, makeKey } = await useTestApi(database);
const statusWith = async (key: string) =>
  (await fetch(`${url}/v1/caches`, { headers: { authorization: `Bearer ${key}` } })).status;

it('makes a key of 32 random bytes and stores only its hash', async () => {
  const made = await createKey(db, { client: 'Acme', scopes: ['caches:read', 'caches:read'], secret });
  expect(made.key).toMatch(/^ct_[a-z0-9]{12}_[A-Za-z0-9_-]{43}$/);
  expect(made).toMatchObject({ client: 'Acme', scopes: ['caches:read'], expiresAt: null });
  const { rows } = await db.query<{ key_hash: Buffer; all: string }>(
    'SELECT key_hash, api_key::text AS all FROM api_key WHERE key_id = $1',
    [made.keyId],
  );
  const parts = parseKey(made.key);
  expect(rows[0]?.key_hash.equals(hashKey(parts?.random ?? Buffer.alloc(0), secret))).toBe(true);
  expect(rows[0]?.all).not.toContain(made.key.slice(-43));
});

it('gives a client two live keys and not a third, also when three are asked for at once', async () => {
  const asked = await Promise.allSettled(
    [1, 2, 3, 4, 5].map(() => createKey(db, { client: 'Two', scopes: ['caches:read'], secret })),
  );
  expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  for (const outcome of asked)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'key_limit_reached' });
  const [first] = (await listKeys(db)).filter(({ client }) => client === 'Two');
  await revokeKey(db, first?.keyId ?? '');
  await expect(createKey(db, { client: ' Two ', scopes: ['caches:read'], secret })).resolves.toBeDefined();
});

it.each([
  [{ client: ' ', scopes: ['caches:read'] }, 'usage_invalid'],
  [{ client: 'x'.repeat(201), scopes: ['caches:read'] }, 'usage_invalid'],
  [{ client: ' Console ', scopes: ['caches:read'] }, 'usage_invalid'],
  [{ client: 'a', scopes: [] }, 'usage_invalid'],
  [{ client: 'a', scopes: ['caches:write'] }, 'scope_unknown'],
  [{ client: 'a', scopes: ['caches:read'], expiresAt: new Date(Date.now() - 1000) }, 'usage_invalid'],
  [{ client: 'a', scopes: ['caches:read'], expiresAt: new Date(Number.NaN) }, 'usage_invalid'],
])('refuses %j', async (asked, code) => {
  await expect(createKey(db, { ...asked, secret })).rejects.toMatchObject({ code });
});

it('revokes a key once and for all', async () => {
  const { keyId } = await createKey(db, { client: 'Gone', scopes: [...SCOPES], secret });
  const first = await revokeKey(db, keyId);
  expect(await revokeKey(db, keyId)).toEqual(first);
  expect((await listKeys(db)).find((key) => key.keyId === keyId)).toMatchObject({
    state: 'revoked',
    revokedAt: first.revokedAt,
  });
  await expect(revokeKey(db, 'nothing')).rejects.toMatchObject({ code: 'key_unknown' });
});

it('lets a revoked key in no more', async () => {
  const { key, keyId } = await makeKey();
  expect(await statusWith(key)).toBe(200);
  await revokeKey(db, keyId);
  await until(async () => (await statusWith(key)) === 401);
});

it('lets an expired key in no more, from the very moment', async () => {
  const expiresAt = new Date(Date.now() + 5000);
  const { key } = await makeKey(['caches:read'], expiresAt);
  expect(await statusWith(key)).toBe(200);
  await sleep(expiresAt.getTime() - Date.now() + 5);
  expect(await statusWith(key)).toBe(401);
});

it('makes no key with another secret, and checks none with it', async () => {
  const other = 'o'.repeat(32);
  await makeKey();
  await expect(createKey(db, { client: 'Other', scopes: ['caches:read'], secret: other })).rejects.toMatchObject({
    code: 'key_secret_differs',
  });
  const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-elsewhere-'));
  await expect(secretForNewKey(db, { stateDir })).rejects.toMatchObject({ code: 'key_secret_differs' });
  expect(await readdir(stateDir)).toEqual([]);
  await rm(stateDir, { recursive: true });

  let given = other;
  const keys = new KeyTable({ secret: async () => given });
  const { key, keyId } = await makeKey();
  await expect(keys.refresh(db)).rejects.toMatchObject({ code: 'key_secret_differs' });
  expect(() => keys.identify(key)).toThrow(expect.objectContaining({ code: 'not_ready' }));
  given = secret;
  await keys.refresh(db);
  expect(keys.identify(key)).toMatchObject({ keyId });
});

it('starts again with another secret after a reset, which revokes every key', async () => {
  const { key } = await makeKey();
  expect(await resetKeys(db)).toBeGreaterThan(0);
  expect((await listKeys(db)).filter(({ state }) => state === 'live')).toEqual([]);
  await until(async () => (await statusWith(key)) === 401);
  const other = 'o'.repeat(32);
  await createKey(db, { client: 'After', scopes: ['caches:read'], secret: other });
  await until(async () => (await statusWith(key)) === 503); // this API has the secret of before
  await resetKeys(db);
});

it('reads what it writes, and one text only for a key', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const parts = { keyId: 'abcdefghij01', random: Buffer.from(bytes) };
      expect(parseKey(formatKey(parts))).toEqual(parts);
    }),
  );
  const key = formatKey({ ...generateKey(), random: Buffer.alloc(32) });
  expect(parseKey(key)).toBeDefined();
  expect(parseKey(`${key.slice(0, -1)}B`)).toBeUndefined(); // the same bytes, other spare bits
  for (const text of ['', 'ct_', `${key}=`, ` ${key}`, `${key}\n`, key.replace('ct_', 'CT_')])
    expect(parseKey(text)).toBeUndefined();
});

it('compares hashes of different lengths without failing', () => {
  expect(sameHash(Buffer.alloc(32), Buffer.alloc(31))).toBe(false);
  expect(sameHash(Buffer.alloc(32), Buffer.alloc(32))).toBe(true);
});

it('makes the secret once, for its owner only, also when many ask at once', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-secret-'));
  const asked = await Promise.all(Array.from({ length: 20 }, () => loadKeySecret({ stateDir })));
  expect(new Set(asked).size).toBe(1);
  expect(asked[0]).toMatch(/^[0-9a-f]{64}$/);
  const path = join(stateDir, 'api-key-secret');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await readFile(path, 'utf8')).trim()).toBe(asked[0]);
  expect(await loadKeySecret({ stateDir, apiKeySecret: 'given' })).toBe('given');
  await chmod(path, 0o600);
  await writeFile(path, 'short');
  await expect(loadKeySecret({ stateDir })).rejects.toMatchObject({ code: 'setting_invalid' });
  await rm(stateDir, { recursive: true });
});
