import { readFile, readdir } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkVersion, collectGarbage, listVersions } from '../../../../pipelines/caches/store/artefact-check.ts';
import { ArtefactDirectory } from '../../../../pipelines/caches/store/artefact-directory.ts';
import { makeManifest, type Manifest } from '../../../../pipelines/caches/manifest.ts';
import { listPublications } from '../../../../pipelines/caches/publications.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { outcomes, runWholeNight, useStore } from '../../../support/night.ts';
import { manyNumbers, putBranded, putNumbers } from '../../../support/numbers.ts';

const { db, url } = await useTestDatabase();
const store = await useStore();
const night = (options: Partial<Parameters<typeof runWholeNight>[0]> = {}) =>
  runWholeNight({ db, url, store, ...options });

async function manifest(cache: string, country = ''): Promise<Manifest> {
  const publication = (await listPublications(db)).find((entry) => entry.cache === cache && entry.country === country);
  if (publication?.published == null) throw new Error(`${cache}/${country} was never published`);
  return makeManifest({ ...publication, published: publication.published });
}

async function lines(cache: string, country = ''): Promise<string[]> {
  const { file } = await manifest(cache, country);
  const plain = gunzipSync(await readFile(store.path({ cache, country, sha256: file.sha256 }))).toString();
  return plain === '' ? [] : plain.replace(/\n$/, '').split('\n');
}

beforeEach(async () => {
  await db.query('TRUNCATE phone_number, branded_number, publication, artefact_version, build, night_run CASCADE');
});

describe('a night', () => {
  it('writes the columns of each cache in order, ascending by phone, absent values empty', async () => {
    await putNumbers(db, [
      { phone: '+12025550103', level: 'FRAUD', category: 7 },
      {
        phone: '+12025550101',
        name: 'Zoë & Söhne',
        description: 'Bakery',
        detail: 'since 1901',
        image: 'https://example.com/z.png',
      },
      { phone: '+12025550102', level: 'SPAM' },
      { phone: '+4930123456', country: 'DE', level: 'SPAM', category: 6 },
      { phone: '+80012345678', country: null, level: 'SPAM', category: 1 },
    ]);
    await putBranded(db, '+12025550102', 'Bank');
    expect(outcomes(await night())).toEqual({
      branded_phones: 'published',
      'phones/DE': 'published',
      'phones/US': 'published',
      spam_ranges: 'published',
      spammer_phones: 'published',
    });
    expect(await lines('phones', 'US')).toEqual([
      '+12025550101\tNEUTRAL\t\tZoë & Söhne\tBakery\tsince 1901\thttps://example.com/z.png',
      '+12025550102\tSPAM\t\tBank\t\t\t',
      '+12025550103\tFRAUD\t7\t\t\t\t',
    ]);
    expect(await lines('phones', 'DE')).toEqual(['+4930123456\tSPAM\t6\t\t\t\t']);
    expect(await lines('spammer_phones')).toEqual([
      '+12025550102\tSPAM\t',
      '+12025550103\tFRAUD\t7',
      '+4930123456\tSPAM\t6',
      '+80012345678\tSPAM\t1',
    ]);
    expect(await lines('branded_phones')).toEqual(['+12025550102\tBank']);
  });

  it('states the counts, digests and sizes of the file in its manifest', async () => {
    await putNumbers(db, manyNumbers(50));
    await night();
    const { file, ...facts } = await manifest('phones', 'US');
    expect(facts).toMatchObject({
      cache: 'phones',
      country: 'US',
      version: 1,
      rows: 50,
      levels: { NEUTRAL: 45, SPAM: 5 },
      previous: null,
      deltas: [],
      status: 'fresh',
      stale: null,
    });
    const [checked] = await Promise.all(
      (await listVersions(db)).filter(({ cache }) => cache === 'phones').map((version) => checkVersion(store, version)),
    );
    expect(checked).toMatchObject({ verdict: 'ok', file: { sha256: file.sha256, plainSha256: file.plainSha256 } });
  });

  it('publishes valid empty files for the caches that are not split by country', async () => {
    await night();
    expect(await lines('spammer_phones')).toEqual([]);
    expect(await manifest('spammer_phones')).toMatchObject({ rows: 0, version: 1 });
    expect((await manifest('branded_phones')).file.plainBytes).toBe(0);
  });

  it('publishes nothing new when no row changed, and the same bytes from a heap in another order', async () => {
    await putNumbers(db, manyNumbers(3000));
    await night();
    const first = await manifest('phones', 'US');
    await db.query("UPDATE phone_number SET feed_load_id = 1 WHERE phone LIKE '%7'"); // moves rows, changes none that is published
    expect(outcomes(await night())).toMatchObject({ 'phones/US': 'unchanged' });
    const second = await manifest('phones', 'US');
    expect({ ...second, confirmedAsOf: '' }).toEqual({ ...first, confirmedAsOf: '' });
    expect(second.confirmedAsOf > first.confirmedAsOf).toBe(true);
  });

  it('gives byte-identical files from two databases with the same rows', async () => {
    const limits = { segmentRowsMax: 300 };
    await putNumbers(db, manyNumbers(5000));
    await night({ limits });
    const first = await manifest('phones', 'US');
    expect(first.index.segments).toBeGreaterThan(10);
    await db.query('TRUNCATE phone_number, publication, artefact_version, build, night_run CASCADE');
    await putNumbers(db, manyNumbers(5000).toReversed());
    await db.query('ANALYZE phone_number');
    await night({ limits });
    expect(await manifest('phones', 'US')).toMatchObject({ file: first.file, index: first.index });
  });

  it('raises the version by one and names the version before when rows change', async () => {
    await putNumbers(db, manyNumbers(10));
    await night();
    const first = await manifest('phones', 'US');
    await putNumbers(db, [{ phone: '+12025550003', name: 'New name' }]);
    expect(outcomes(await night())).toEqual({
      branded_phones: 'unchanged',
      'phones/US': 'published',
      spam_ranges: 'unchanged',
      spammer_phones: 'unchanged',
    });
    expect(await manifest('phones', 'US')).toMatchObject({
      version: 2,
      previous: { version: 1, plainSha256: first.file.plainSha256 },
    });
  });

  it('keeps the old file of a country that would lose more than 20 % of its rows, with the reason, until an operator accepts', async () => {
    await putNumbers(db, [...manyNumbers(10), { phone: '+4930123456', country: 'DE' }]);
    await night();
    await db.query("DELETE FROM phone_number WHERE phone IN ('+12025550001', '+12025550002')");
    expect(outcomes(await night())).toMatchObject({ 'phones/US': 'published' }); // exactly 20 %
    await db.query("DELETE FROM phone_number WHERE phone IN ('+12025550003', '+12025550004') OR country = 'DE'");
    const report = await night();
    expect(outcomes(report)).toMatchObject({
      'phones/US': 'failed',
      'phones/DE': 'failed',
      spammer_phones: 'unchanged',
    });
    expect(report.outcome).toBe('partial');
    expect(await manifest('phones', 'US')).toMatchObject({
      version: 2,
      rows: 8,
      status: 'stale',
      stale: { code: 'artefact_shrunk' },
    });
    expect(outcomes(await night({ acceptShrink: true }))).toMatchObject({
      'phones/US': 'published',
      'phones/DE': 'published',
    });
    expect(await manifest('phones', 'US')).toMatchObject({ version: 3, rows: 6, status: 'fresh' });
    expect(await manifest('phones', 'DE')).toMatchObject({ version: 2, rows: 0 });
  });

  it('builds only what it was asked for', async () => {
    await putNumbers(db, [...manyNumbers(3), { phone: '+4930123456', country: 'DE' }]);
    expect(outcomes(await night({ only: 'phones/DE' }))).toEqual({ 'phones/DE': 'published' });
    expect(outcomes(await night({ only: 'phones' }))).toEqual({ 'phones/DE': 'unchanged', 'phones/US': 'published' });
    expect(outcomes(await night({ only: 'branded_phones' }))).toEqual({ branded_phones: 'published' });
  });

  it('shows a brand from its first instant until just before its last', async () => {
    const until = new Date('2026-01-02T01:00:00Z');
    await putNumbers(db, [{ phone: '+12025550101', name: 'Directory', detail: 'from the directory' }]);
    await putBranded(db, '+12025550101', 'Brand', until);
    await night({ evaluatedAt: new Date(until.getTime() - 1) });
    expect(await lines('phones', 'US')).toEqual(['+12025550101\tNEUTRAL\t\tBrand\t\t\t']);
    expect(await lines('branded_phones')).toHaveLength(1);
    await night({ evaluatedAt: until, acceptShrink: true });
    expect(await lines('phones', 'US')).toEqual(['+12025550101\tNEUTRAL\t\tDirectory\t\tfrom the directory\t']);
    expect(await lines('branded_phones')).toEqual([]);
  });

  it('is requested and prepared while garbage is collected, and records its builds afterwards', async () => {
    for (const name of ['One', 'Two']) {
      await putNumbers(db, [{ phone: '+12025550101', name }]);
      await night();
    }
    const order: string[] = [];
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const slow = new ArtefactDirectory(store.directory);
    const removing = new Promise<void>((begun) => {
      slow.remove = async (name) => {
        begun();
        await released;
        await store.remove(name);
        order.push('removed');
      };
    });
    const collecting = collectGarbage({ db, store: slow, versionsKept: 1, dryRun: false });
    await removing;
    const prepare = async () => {
      order.push('prepared');
      setTimeout(release, 300);
    };
    await night({ prepare });
    order.push('built');
    await collecting;
    expect([...new Set(order)]).toEqual(['prepared', 'removed', 'built']);
    expect(order.at(-1)).toBe('built');
  });

  it('leaves no unfinished file behind, and garbage collection keeps exactly the newest versions', async () => {
    for (let name = 0; name < 4; name++) {
      await putNumbers(db, [{ phone: '+12025550101', name: `Name ${name}` }]);
      await night();
    }
    expect(await readdir(`${store.directory}/unfinished`)).toEqual([]);
    const before = await store.list();
    const dry = await collectGarbage({ db, store, versionsKept: 2, dryRun: true });
    expect(await store.list()).toHaveLength(before.length);
    const { files } = await collectGarbage({ db, store, versionsKept: 2, dryRun: false });
    expect(files).toEqual(dry.files);
    const kept = (await listVersions(db)).filter(({ cache, version }) => cache !== 'phones' || version >= 3);
    for (const version of kept) expect(await checkVersion(store, version)).toMatchObject({ verdict: 'ok' });
    expect(await collectGarbage({ db, store, versionsKept: 2, dryRun: false })).toMatchObject({ files: [], bytes: 0 });
  });
});

describe('artefacts verify', () => {
  it('finds a flipped byte, a cut file and a missing file', async () => {
    const { writeFile, rm, truncate } = await import('node:fs/promises');
    await putNumbers(db, manyNumbers(100));
    await night();
    const [version] = (await listVersions(db)).filter(({ cache }) => cache === 'phones');
    const path = store.path({ cache: 'phones', country: 'US', sha256: version!.file.sha256 });
    const whole = await readFile(path);
    const flipped = Buffer.from(whole);
    flipped[whole.length - 6]! ^= 1;
    await writeFile(path, flipped);
    expect((await checkVersion(store, version!)).verdict).toBe('damaged');
    await truncate(path, whole.length - 1);
    expect((await checkVersion(store, version!)).verdict).toBe('damaged');
    flipped.set(whole);
    flipped[4]! ^= 1; // the time in the header: the text is the same, the file is not
    await writeFile(path, flipped);
    expect(await checkVersion(store, version!)).toMatchObject({
      verdict: 'different',
      detail: 'sha256 not as published',
    });
    await rm(path);
    expect((await checkVersion(store, version!)).verdict).toBe('missing');
  });
});

describe('a night that cannot do what it was asked for', () => {
  it('fails with a reason when no number has the country', async () => {
    await expect(night({ only: 'phones/ZZ' })).rejects.toMatchObject({ code: 'night_empty' });
  });

  it('names the file system, not the database, when the file cannot be written', async () => {
    await putNumbers(db, manyNumbers(10));
    const unwritable = new ArtefactDirectory(import.meta.filename); // a file, where a directory should be
    const report = await night({ only: 'phones/US', store: unwritable });
    expect(report.artefacts[0]!.failure).toMatchObject({
      code: 'artefact_not_stored',
      reason: expect.stringMatching(/EEXIST|ENOTDIR/) as string,
    });
  });
});
