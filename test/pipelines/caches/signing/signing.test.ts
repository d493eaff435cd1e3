import { describe, expect, it } from 'vitest';
import {
  initTrust,
  makeRootKeys,
  readTrustStatus,
  requireThreshold,
  rootKeysMax,
  rotateTrust,
} from '../../../../pipelines/caches/signing/ceremony.ts';
import { readPresentSet, refreshSignatures } from '../../../../pipelines/caches/signing/sign-publications.ts';
import { parseMetadata, requireSigned, type Role, type Signed } from '../../../../format/trust/metadata.ts';
import { signMetadata } from '../../../../pipelines/caches/signing/signed-metadata.ts';
import { nextRoot } from '../../../../format/trust/trusted-set.ts';
import { sha256Of } from '../../../../runtime/digest.ts';
import { isServiceError } from '../../../../runtime/errors.ts';
import { inTransaction } from '../../../../runtime/postgres.ts';
import { Vault } from '../../../../runtime/secrets/vault.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { buildNight, publishBuilt, runWholeNight, useStore } from '../../../support/night.ts';
import { putNumbers } from '../../../support/numbers.ts';
import { publishNight } from '../../../../pipelines/caches/night/night-publishing.ts';
import { loadConfig } from '../../../../runtime/config.ts';

const { db, url } = await useTestDatabase();
const store = await useStore();
const vault = new Vault(Buffer.alloc(32, 1));
const now = () => new Date();
const hours = (count: number) => new Date(Date.now() + count * 3_600_000);
const [rootKeys, newKeys] = [makeRootKeys(3), makeRootKeys(2)];

async function present<R extends Role>(role: R): Promise<Signed<R>> {
  return parseMetadata(role, (await readPresentSet(db))[role]!).signed;
}

/** The two newest roots. */
async function roots(): Promise<Buffer[]> {
  const { rows } = await db.query<{ body: Buffer }>(
    "SELECT body FROM trust_document WHERE name IN ('4.root.json', '5.root.json') ORDER BY name",
  );
  return rows.map(({ body }) => body);
}

async function versions(): Promise<Record<string, number>> {
  const { roles } = await readTrustStatus({ db, vault, now: now() });
  return Object.fromEntries(roles.map(({ role, version }) => [role, version]));
}

async function publishWithVault() {
  const attempt = await buildNight({ db, url, store });
  return publishNight({ db, ...attempt, limits: loadConfig({}), vault });
}

await putNumbers(db, [{ phone: '+12025550100', level: 'SPAM', category: 6 }]);
await runWholeNight({ db, url, store });

describe('a service that does not sign', () => {
  it('publishes without a key, and says so', async () => {
    expect(await readTrustStatus({ db, vault, now: now() })).toMatchObject({ signs: false, root: null });
    expect(await inTransaction(db, (client) => refreshSignatures(client, { vault, now: now() }))).toBeUndefined();
    await expect(rotateTrust({ db, vault, now: now() }, { presentKeys: rootKeys, online: true })).rejects.toMatchObject(
      { code: 'usage_invalid' },
    );
  });

  it.each([
    { threshold: 0, keys: 1 },
    { threshold: 2, keys: 1 },
    { threshold: 1, keys: rootKeysMax + 1 },
  ])('makes no root of threshold $threshold and $keys keys', (wanted) => {
    expect(() => requireThreshold(wanted)).toThrow(/threshold from 1/);
  });

  it('makes one of as many keys as a root has at most', () => {
    expect(() => requireThreshold({ threshold: rootKeysMax, keys: rootKeysMax })).not.toThrow();
  });
});

describe('trust init', () => {
  it('signs what is published, with online keys that only the master key opens', async () => {
    const made = await initTrust({ db, vault, now: now() }, { rootKeys, threshold: 2 });
    expect(made).toMatchObject({ version: 1, sha256: sha256Of(made.bytes) });
    const root = await present('root');
    for (const role of ['root', 'targets', 'snapshot', 'timestamp'] as const)
      await requireSigned(parseMetadata(role, (await readPresentSet(db))[role]!), root);
    const { targets } = await present('targets');
    expect(Object.keys(targets).sort()).toEqual(
      expect.arrayContaining(['phones/US/index.tsv', 'phones/US/manifest.json', 'phones/US/rows.tsv.gz']),
    );
    expect(targets['phones/US/rows.tsv.gz']!.custom).toMatchObject({ version: 1, rows: 1 });
    const other = await readTrustStatus({ db, vault: new Vault(Buffer.alloc(32, 2)), now: now() });
    expect(other.problem).toContain('another master key');
  });

  it('is refused a second time', async () => {
    await expect(initTrust({ db, vault, now: now() }, { rootKeys, threshold: 2 })).rejects.toMatchObject({
      code: 'usage_invalid',
    });
  });
});

describe('a night', () => {
  it('signs the manifests that it publishes, in its own transaction', async () => {
    const before = await versions();
    await putNumbers(db, [{ phone: '+12025550101', level: 'FRAUD', category: 7 }]);
    await publishWithVault();
    const after = await versions();
    expect(after['root']).toBe(1);
    for (const role of ['targets', 'snapshot', 'timestamp']) expect(after[role]).toBeGreaterThan(before[role]!);
    const { targets } = await present('targets');
    expect(targets['phones/US/rows.tsv.gz']!.custom).toMatchObject({ version: 2, rows: 2 });
    const { rows } = await db.query<{ body: Buffer }>('SELECT body FROM trust_document WHERE sha256 = $1', [
      targets['phones/US/manifest.json']!.hashes.sha256,
    ]);
    expect(JSON.parse(rows[0]!.body.toString())).toMatchObject({ version: 2, rows: 2 });
  });

  it('publishes nothing when it cannot sign, so that clients keep a set that fits together', async () => {
    const before = await readPresentSet(db);
    await putNumbers(db, [{ phone: '+12025550102', level: 'FRAUD', category: 7 }]);
    const attempt = await buildNight({ db, url, store });
    await expect(publishBuilt(db, attempt)).rejects.toMatchObject({ code: 'trust_key_missing' });
    expect(await readPresentSet(db)).toEqual(before);
    const { rows } = await db.query("SELECT version FROM publication WHERE cache = 'phones' AND country = 'US'");
    expect(rows).toEqual([{ version: 2 }]);
    await publishNight({ db, ...attempt, limits: loadConfig({}), vault });
    expect((await present('targets')).targets['phones/US/rows.tsv.gz']!.custom).toMatchObject({ version: 3 });
  });
});

describe('the renewal of signatures', () => {
  const refresh = (at: Date) => inTransaction(db, (client) => refreshSignatures(client, { vault, now: at }));

  it('does nothing before half a day, and then renews the timestamp alone', async () => {
    const before = await versions();
    expect(await refresh(hours(11.9))).toBe(false);
    expect(await refresh(hours(12.1))).toBe(true);
    const after = await versions();
    expect(after).toMatchObject({ targets: before['targets'], snapshot: before['snapshot'] });
    expect(after['timestamp']).toBeGreaterThan(before['timestamp']!);
  });

  it('renews the snapshot and the targets when half of their time is over', async () => {
    const before = await versions();
    expect(await refresh(hours(8 * 24))).toBe(true);
    const middle = await versions();
    expect(middle['targets']).toBe(before['targets']);
    expect(middle['snapshot']).toBeGreaterThan(before['snapshot']!);
    expect(await refresh(hours(16 * 24))).toBe(true);
    expect((await versions())['targets']).toBeGreaterThan(before['targets']!);
  });

  it('signs what was published without a signature, as by an older worker', async () => {
    await db.query(
      "UPDATE publication SET status = 'stale', stale_code = 'x', stale_reason = 'y', stale_since = now() WHERE cache = 'phones' AND country = 'US'",
    );
    const before = (await present('targets')).targets['phones/US/manifest.json'];
    expect(await refresh(hours(16 * 24))).toBe(true);
    expect((await present('targets')).targets['phones/US/manifest.json']).not.toEqual(before);
  });
});

describe('trust rotate', () => {
  it('is refused with fewer keys of the root than its threshold, or with strangers', async () => {
    for (const presentKeys of [[rootKeys[0]!], [rootKeys[0]!, rootKeys[0]!], makeRootKeys(2)])
      await expect(rotateTrust({ db, vault, now: now() }, { presentKeys, online: true })).rejects.toMatchObject({
        code: 'usage_invalid',
      });
    expect((await versions())['root']).toBe(1);
  });

  it('gives other online keys with a lost master key, under a root that clients can follow', async () => {
    const first = (await readPresentSet(db)).root!;
    const newVault = new Vault(Buffer.alloc(32, 3));
    await expect(
      rotateTrust({ db, vault: newVault, now: now() }, { presentKeys: rootKeys.slice(1), online: false }),
    ).rejects.toMatchObject({ code: 'trust_key_missing' });
    await rotateTrust({ db, vault: newVault, now: now() }, { presentKeys: rootKeys.slice(1), online: true });
    const second = (await readPresentSet(db)).root!;
    expect((await nextRoot(parseMetadata('root', first).signed, second)).signed.version).toBe(2);
    await requireSigned(parseMetadata('timestamp', (await readPresentSet(db)).timestamp!), await present('root'));
    await expect(
      requireSigned(parseMetadata('root', second), {
        ...parseMetadata('root', second).signed,
        roles: { ...parseMetadata('root', second).signed.roles, root: { keyids: [], threshold: 1 } },
      }),
    ).rejects.toThrow(/0 valid signatures/);
    expect((await readTrustStatus({ db, vault: newVault, now: now() })).problem).toBeNull();
    await rotateTrust({ db, vault, now: now() }, { presentKeys: rootKeys, online: true });
  });

  it('replaces the keys of the root', async () => {
    const before = (await readPresentSet(db)).root!;
    const keys = newKeys;
    await rotateTrust(
      { db, vault, now: now() },
      { presentKeys: rootKeys, online: false, newRoot: { keys, threshold: 2 } },
    );
    const after = (await readPresentSet(db)).root!;
    expect((await nextRoot(parseMetadata('root', before).signed, after)).signed.roles.root.threshold).toBe(2);
    const attempt = rotateTrust({ db, vault, now: now() }, { presentKeys: rootKeys, online: false });
    expect(await attempt.catch((error: unknown) => isServiceError(error, 'usage_invalid'))).toBe(true);
    const next = await rotateTrust({ db, vault, now: now() }, { presentKeys: keys, online: false });
    expect(next.version).toBe(5);
  });

  it('continues from roots that were made after the backup of a restored database, and from no others', async () => {
    const [fourth, fifth] = await roots();
    await db.query("DELETE FROM trust_document WHERE name = '5.root.json'");
    const rotate = (madeSince: Buffer[]) =>
      rotateTrust({ db, vault, now: now() }, { presentKeys: newKeys, online: true, madeSince });
    await expect(rotate([fourth!])).rejects.toMatchObject({ code: 'trust_older' });
    const forged = signMetadata({ ...parseMetadata('root', fifth!).signed }, makeRootKeys(2));
    await expect(rotate([forged])).rejects.toMatchObject({ code: 'trust_invalid' });
    const made = await rotate([fifth!]);
    expect(made.version).toBe(6);
    expect((await nextRoot(parseMetadata('root', fifth!).signed, made.bytes)).signed.version).toBe(6);
  });
});
