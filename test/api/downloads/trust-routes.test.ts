import { describe, expect, it } from 'vitest';
import { initTrust, makeRootKeys } from '../../../pipelines/caches/signing/ceremony.ts';
import { refreshSignatures } from '../../../pipelines/caches/signing/sign-publications.ts';
import { firstRoot } from '../../../format/trust/trusted-set.ts';
import { parseMetadata, type Role, type Signed } from '../../../format/trust/metadata.ts';
import { targetHref } from '../../../format/trust/targets.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import { connect, inTransaction } from '../../../runtime/postgres.ts';
import { Vault } from '../../../runtime/secrets/vault.ts';
import { useTestDatabase } from '../../support/database.ts';
import { inventedRows, PublishedHistory } from '../../support/segmented-artefacts.ts';
import { until, useTestApi } from '../support/running-api.ts';

const database = await useTestDatabase();
const { db } = database;
const { url, get, store, makeKey } = await useTestApi(database);
const vault = new Vault(Buffer.alloc(32, 7));
const history = new PublishedHistory({ db, store, artefact: { cache: 'spammer_phones', country: '' } });
const american = new PublishedHistory({ db, store, artefact: { cache: 'phones', country: 'US' } });
await history.publish(inventedRows(300));
const version = await history.publish(inventedRows(310));
await american.publish(inventedRows(20, () => 'SPAM\t1\t\t\t\t'));

const open = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${url}${path}`, { headers, method });
async function metadata<R extends Role>(role: R, name: string): Promise<Signed<R>> {
  const answer = await open(`/v1/trust/${name}`);
  return parseMetadata(role, Buffer.from(await answer.arrayBuffer())).signed;
}
async function targets() {
  const timestamp = await metadata('timestamp', 'timestamp.json');
  const snapshot = await metadata('snapshot', `${timestamp.meta['snapshot.json'].version}.snapshot.json`);
  return metadata('targets', `${snapshot.meta['targets.json'].version}.targets.json`);
}
const codeOf = async (answer: Response) => [answer.status, ((await answer.json()) as { code: string }).code];

const unsigned = await Promise.all(
  ['1.root.json', 'root.json', 'timestamp.json'].map(async (name) => codeOf(await open(`/v1/trust/${name}`))),
);

describe('a service that does not sign', () => {
  it('says that there is no signed document, and asks for no key', () => {
    expect(unsigned).toEqual(Array.from({ length: 3 }, () => [404, 'trust_document_unknown']));
  });
});

describe('signed documents', async () => {
  const made = await initTrust({ db, vault, now: new Date() }, { rootKeys: makeRootKeys(2), threshold: 1 });
  await until(async () => (await open('/v1/trust/timestamp.json')).status === 200);

  it('that expire sooner than they are usually renewed degrade readiness, by role, until they are renewed', async () => {
    type State = { status: string; endingSignatures: { role: string; expired: boolean }[] };
    const ready = async () => (await (await open('/readyz')).json()) as State;
    const resign = (at: Date) => inTransaction(db, (client) => refreshSignatures(client, { vault, now: at }));
    expect((await ready()).endingSignatures).toEqual([]);
    await db.query(
      `UPDATE trust_document SET body = convert_to(regexp_replace(convert_from(body, 'UTF8'), '"expires":"[^"]+"', '"expires":"' || $1 || '"'), 'UTF8')
       WHERE kind = 'timestamp' AND superseded_at IS NULL`,
      [`${new Date(Date.now() - 1000).toISOString().slice(0, 19)}Z`],
    );
    await db.query(
      "UPDATE trust_document SET sha256 = repeat('0', 64) WHERE kind = 'timestamp' AND superseded_at IS NULL",
    );
    await db.query('UPDATE trust_state SET revision = revision + 1');
    await until(async () => (await ready()).endingSignatures.length > 0);
    expect(await ready()).toMatchObject({ endingSignatures: [{ role: 'timestamp', expired: true }] });
    expect(['degraded', 'not_ready']).toContain((await ready()).status);
    await resign(new Date());
    await until(async () => (await ready()).endingSignatures.length === 0);
  });

  it('are served byte for byte without a key, with lengths, entity tags and lifetimes', async () => {
    const answer = await open('/v1/trust/1.root.json');
    expect(Buffer.from(await answer.arrayBuffer()).equals(made.bytes)).toBe(true);
    expect((await firstRoot(made.bytes)).signed.roles.root.threshold).toBe(1);
    expect(answer.headers.get('etag')).toBe(`"${made.sha256}"`);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await open('/v1/trust/root.json')).headers.get('etag')).toBe(`"${made.sha256}"`);
    const timestamp = await open('/v1/trust/timestamp.json', {}, 'HEAD');
    expect(timestamp.headers.get('cache-control')).toBe('public, no-cache');
    expect(Number(timestamp.headers.get('content-length'))).toBeGreaterThan(300);
    const again = await open('/v1/trust/timestamp.json', { 'If-None-Match': timestamp.headers.get('etag')! });
    expect(again.status).toBe(304);
    expect((await open('/v1/trust/timestamp.json', {}, 'POST')).status).toBe(405);
    expect((await open('/v1/trust/timestamp.json?x=1')).status).toBe(400);
  });

  it('name every file of what is published, which a key gets below its digest', async () => {
    const { targets: files } = await targets();
    expect(Object.keys(files).sort()).toEqual([
      'phones/US/index.tsv',
      'phones/US/manifest.json',
      'phones/US/rows.tsv.gz',
      'spammer_phones/delta-from-1.tsv.gz',
      'spammer_phones/filter.bin',
      'spammer_phones/index.tsv',
      'spammer_phones/manifest.json',
      'spammer_phones/rows.tsv.gz',
    ]);
    for (const [path, { length, hashes }] of Object.entries(files)) {
      const href = targetHref(path, hashes.sha256);
      const answer = await get(href);
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect([path, answer.status, bytes.length, sha256Of(bytes)]).toEqual([path, 200, length, hashes.sha256]);
      expect(answer.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
      expect((await get(href, { 'If-None-Match': answer.headers.get('etag')! })).status).toBe(304);
      expect((await get(href, {}, 'HEAD')).status).toBe(200);
      expect(await codeOf(await open(href))).toEqual([401, 'unauthenticated']);
    }
    const { key } = await makeKey(['numbers:read']);
    const [path, { hashes }] = Object.entries(files)[0]!;
    const refused = await get(targetHref(path, hashes.sha256), { authorization: `Bearer ${key}` });
    expect(await codeOf(refused)).toEqual([403, 'forbidden']);
  });

  it('are all that the API can read: its role does not see the sealed keys', async () => {
    const reader = await connect({ url: database.apiUrl, applicationName: 'test' });
    try {
      expect((await reader.query('SELECT FROM trust_document')).rowCount).toBeGreaterThan(4);
      await expect(reader.query('SELECT FROM trust_key')).rejects.toThrow('permission denied');
    } finally {
      await reader.end();
    }
  });

  it('answer a range of a file', async () => {
    const { targets: files } = await targets();
    const href = targetHref('spammer_phones/rows.tsv.gz', files['spammer_phones/rows.tsv.gz']!.hashes.sha256);
    const answer = await get(href, { Range: 'bytes=0-9' });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([
      206,
      `bytes 0-9/${version.stored.file.bytes}`,
    ]);
  });

  it.each([
    '/v1/trust/2.root.json',
    '/v1/trust/0.snapshot.json',
    '/v1/trust/targets.json',
    '/v1/trust/phones',
    `/v1/trust/targets/phones/US/${'0'.repeat(64)}.rows.tsv.gz`,
    `/v1/trust/targets/phones/${'0'.repeat(64)}.rows.tsv.gz`,
    `/v1/trust/targets/spammer_phones/${'0'.repeat(64)}.manifest.json`,
    `/v1/trust/targets/spammer_phones/${'0'.repeat(64)}.delta-from-9.tsv.gz`,
    '/v1/trust/targets/spammer_phones/rows.tsv.gz',
    '/v1/trust/targets/nothing/x',
  ])('do not have %s', async (path) => {
    expect(await codeOf(await get(path))).toEqual([404, 'trust_document_unknown']);
  });

  it('of the set before are served on, for a client that is reading it, while files are those of the present one', async () => {
    const before = await targets();
    await history.publish(inventedRows(320));
    await inTransaction(db, (client) => refreshSignatures(client, { vault, now: new Date() }));
    await until(async () => (await targets()).version > before.version);
    expect((await open(`/v1/trust/${before.version}.targets.json`)).status).toBe(200);
    const manifest = 'spammer_phones/manifest.json';
    expect((await get(targetHref(manifest, before.targets[manifest]!.hashes.sha256))).status).toBe(200);
    const rows = 'spammer_phones/rows.tsv.gz';
    expect(await codeOf(await get(targetHref(rows, before.targets[rows]!.hashes.sha256)))).toEqual([
      404,
      'trust_document_unknown',
    ]);
  });

  it('of a set that was superseded an hour ago are gone with the next signature', async () => {
    const { version: before } = await targets();
    await history.publish(inventedRows(330));
    const later = (hours: number) => new Date(Date.now() + hours * 3_600_000);
    await inTransaction(db, (client) => refreshSignatures(client, { vault, now: later(0) }));
    await inTransaction(db, (client) => refreshSignatures(client, { vault, now: later(14) }));
    await until(async () => (await open(`/v1/trust/${before}.targets.json`)).status === 404);
    expect((await targets()).version).toBeGreaterThan(before);
  });
});
