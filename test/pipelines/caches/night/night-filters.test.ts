import { readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { NumberFilter } from '../../../../format/artefact/number-filter.ts';
import type { FilterFile } from '../../../../pipelines/caches/artefact-facts.ts';
import { sweepUnfinishedFiles } from '../../../../pipelines/caches/artefact/night-build.ts';
import type { CacheName } from '../../../../pipelines/caches/definition.ts';
import { makeManifest } from '../../../../pipelines/caches/manifest.ts';
import { listPublications } from '../../../../pipelines/caches/publications.ts';
import { checkVersion, collectGarbage, listVersions } from '../../../../pipelines/caches/store/artefact-check.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { buildNight, outcomes, publishBuilt, runWholeNight, useStore } from '../../../support/night.ts';
import { manyNumbers, putNumbers } from '../../../support/numbers.ts';

const { db, url } = await useTestDatabase();
const store = await useStore();
const night = (options: Partial<Parameters<typeof runWholeNight>[0]> = {}) =>
  runWholeNight({ db, url, store, ...options });

beforeEach(async () => {
  await db.query(
    'TRUNCATE phone_number, branded_number, spam_range, publication, artefact_version, build, night_run CASCADE',
  );
});

const first = 12_025_550_000;
const spammers = (count: number) =>
  manyNumbers(count, first).map((number) => ({ ...number, level: 'SPAM' as const, category: 1 }));
const pathOf = (cache: CacheName, sha256: string) => store.path({ cache, country: '', sha256, kind: 'filter' });

async function publicationOf(cache: CacheName) {
  const found = (await listPublications(db)).find((each) => each.cache === cache);
  if (found?.published == null) throw new Error(`${cache} was never published`);
  return { ...found, published: found.published };
}

async function filterOf(cache: CacheName): Promise<FilterFile & { filter: NumberFilter; content: Buffer }> {
  const { filter } = (await publicationOf(cache)).published;
  if (filter === null) throw new Error(`${cache} has no filter`);
  const content = await readFile(pathOf(cache, filter.sha256));
  return { ...filter, filter: new NumberFilter(content), content };
}

async function phonesOf(cache: CacheName): Promise<string[]> {
  const { file } = (await publicationOf(cache)).published;
  const plain = gunzipSync(await readFile(store.path({ cache, country: '', sha256: file.sha256 }))).toString();
  return plain.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0]!]));
}

describe('a night', () => {
  it('publishes a filter that finds every spammer with the list, and none with other caches', async () => {
    await putNumbers(db, [...spammers(300), { phone: '+4930123456', country: 'DE', level: 'FRAUD', category: 7 }]);
    await putNumbers(db, [{ phone: '+12125550100', name: 'Innocent' }]);
    await night({ limits: { segmentRowsMax: 40 } });
    const { filter, bits, bytes, content } = await filterOf('spammer_phones');
    const phones = await phonesOf('spammer_phones');
    expect(phones).toHaveLength(301);
    expect(phones.filter((phone) => !filter.has(phone))).toEqual([]);
    expect([bits, bytes, filter.facts]).toMatchObject([8, content.length, { keys: 301, keyType: 'phone', bits: 8 }]);
    expect((await publicationOf('branded_phones')).published.filter).toBeNull();
    expect((await listPublications(db)).find(({ cache }) => cache === 'phones')?.published?.filter).toBeNull();
  });

  it('publishes the filter of ranges at risk, which is asked with a number', async () => {
    await putNumbers(db, spammers(1));
    await db.query(
      "INSERT INTO spam_range (prefix, risk, lift, numbers_reported, since, until, rule_version) VALUES ('+12025550', 'HIGH', 100, 4, current_date, current_date + 7, 'ranges/1')",
    );
    await night();
    const { filter } = await filterOf('spam_ranges');
    expect(filter.facts).toMatchObject({ keys: 1, keyType: 'prefix' });
    expect(filter.has('+12025550999')).toBe(true);
  });

  it('publishes a filter without keys where a list has no rows', async () => {
    await putNumbers(db, [{ phone: '+12125550100', name: 'Innocent' }]);
    await night();
    const { filter, bytes } = await filterOf('spammer_phones');
    expect([filter.facts.keys, bytes]).toEqual([0, 28]);
  });

  it('makes no other filter without changed rows, and a new one with changed rows', async () => {
    await putNumbers(db, spammers(100));
    await night();
    const before = await filterOf('spammer_phones');
    expect(outcomes(await night())).toMatchObject({ spammer_phones: 'unchanged' });
    expect((await filterOf('spammer_phones')).sha256).toBe(before.sha256);
    await putNumbers(db, [{ phone: '+12025559999', level: 'SPAM', category: 1 }]);
    expect(outcomes(await night())).toMatchObject({ spammer_phones: 'published' });
    const after = await filterOf('spammer_phones');
    expect(after.filter.facts.keys).toBe(101);
    expect((await phonesOf('spammer_phones')).filter((phone) => !after.filter.has(phone))).toEqual([]);
  });

  it('gives the same filter from the same rows in another database order and segments', async () => {
    await putNumbers(db, spammers(200));
    await night();
    const { sha256 } = await filterOf('spammer_phones');
    await db.query('TRUNCATE phone_number, publication, artefact_version, build, night_run CASCADE');
    await putNumbers(db, spammers(200).toReversed());
    await night({ limits: { segmentRowsMax: 16 } });
    expect((await filterOf('spammer_phones')).sha256).toBe(sha256);
  });

  it('adds the filter to a version that was published without, and changes its width by the setting', async () => {
    await putNumbers(db, spammers(100));
    await night();
    const before = await filterOf('spammer_phones');
    const { version } = (await publicationOf('spammer_phones')).published;
    await db.query(`UPDATE artefact_version SET facts = facts || '{"filter": null}'`);
    expect(makeManifest(await publicationOf('spammer_phones')).filter).toBeNull();
    expect(outcomes(await night())).toMatchObject({ spammer_phones: 'unchanged' });
    expect((await filterOf('spammer_phones')).sha256).toBe(before.sha256);
    await night({ settings: { FILTER_BITS: '16' } });
    const wide = await filterOf('spammer_phones');
    expect([wide.bits, wide.filter.facts.bits]).toEqual([16, 16]);
    expect((await publicationOf('spammer_phones')).published.version).toBe(version);
    await collectGarbage({ db, store, versionsKept: 14, dryRun: false });
    await expect(readFile(pathOf('spammer_phones', before.sha256))).rejects.toThrow('ENOENT');
    expect((await filterOf('spammer_phones')).sha256).toBe(wide.sha256);
  });

  it.each([
    ['missing', (path: string) => rm(path)],
    ['cut', (path: string) => truncate(path, 20)],
    ['damaged', (path: string) => writeFile(path, 'x')],
  ])('makes a filter again that is %s, which the check of versions reports', async (what, damage) => {
    await putNumbers(db, spammers(100));
    await night();
    const { sha256 } = await filterOf('spammer_phones');
    const versions = async () => (await listVersions(db)).find(({ cache }) => cache === 'spammer_phones')!;
    expect(await checkVersion(store, await versions())).toMatchObject({ verdict: 'ok', damaged: [] });
    await damage(pathOf('spammer_phones', sha256));
    expect(await checkVersion(store, await versions())).toMatchObject({
      verdict: 'damaged',
      detail: 'filter',
      damaged: what === 'missing' ? [] : [{ cache: 'spammer_phones', sha256, kind: 'filter' }],
    });
    await night();
    expect(await checkVersion(store, await versions())).toMatchObject({ verdict: 'ok' });
    expect((await filterOf('spammer_phones')).sha256).toBe(sha256);
  });

  it('finds one changed byte of a filter', async () => {
    await putNumbers(db, spammers(100));
    await night();
    const { sha256, content } = await filterOf('spammer_phones');
    content[40]! ^= 1;
    await writeFile(pathOf('spammer_phones', sha256), content);
    const version = (await listVersions(db)).find(({ cache }) => cache === 'spammer_phones')!;
    expect(await checkVersion(store, version)).toMatchObject({ verdict: 'damaged', detail: 'filter' });
  });

  it('offers nothing of a filter before the night is published, and leaves no unfinished file', async () => {
    await putNumbers(db, spammers(100));
    await night();
    const before = await filterOf('spammer_phones');
    await putNumbers(db, [{ phone: '+12025559999', level: 'SPAM', category: 1 }]);
    const built = await buildNight({ db, url, store });
    expect((await filterOf('spammer_phones')).sha256).toBe(before.sha256);
    await collectGarbage({ db, store, versionsKept: 1, dryRun: false }); // keeps what an open night has stored
    await publishBuilt(db, built);
    expect((await filterOf('spammer_phones')).filter.has('+12025559999')).toBe(true);
    expect(await store.listUnfinished()).toEqual([]);
  });

  it('removes the unfinished filter of a killed build', async () => {
    await (await store.start('build-999999-1.filter')).handle.close();
    expect(await sweepUnfinishedFiles(db, store)).toContain('build-999999-1.filter');
    expect(await store.listUnfinished()).toEqual([]);
  });

  it('names the filter in the manifest with what it is', async () => {
    await putNumbers(db, spammers(1000));
    await night();
    const { sha256, bytes } = await filterOf('spammer_phones');
    expect(makeManifest(await publicationOf('spammer_phones')).filter).toEqual({
      href: '/v1/caches/spammer_phones/filter',
      mediaType: 'application/octet-stream',
      bytes,
      sha256,
      keys: 1000,
      keyType: 'phone',
      fingerprintBits: 8,
      falsePositiveRate: 1 / 256,
      bitsPerKey: Math.round((100 * 8 * bytes) / 1000) / 100,
    });
    expect(makeManifest(await publicationOf('branded_phones')).filter).toBeNull();
  });
});
