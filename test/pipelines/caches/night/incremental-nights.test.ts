import { readFile, truncate } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkVersion, listVersions } from '../../../../pipelines/caches/store/artefact-check.ts';
import { listPublications } from '../../../../pipelines/caches/publications.ts';
import type { NightReport, ReportedArtefact } from '../../../../pipelines/caches/night/night-report.ts';
import { applyDelta } from '../../../../format/artefact/delta-lines.ts';
import { readIndex } from '../../../../pipelines/caches/build/plan/basis.ts';
import { connect, queryRows } from '../../../../runtime/postgres.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { runWholeNight, useStore } from '../../../support/night.ts';
import { manyNumbers, putBranded, putNumbers } from '../../../support/numbers.ts';
import { Seeded } from '../../../../runtime/seeded.ts';
import { sql } from '../../../../sql/sql.ts';

const { db, url } = await useTestDatabase();
const store = await useStore();
const settings = { SEGMENT_ROWS_MAX: '40' };
const night = (options: Partial<Parameters<typeof runWholeNight>[0]> = {}) =>
  runWholeNight({ db, url, store, settings, ...options });

beforeEach(async () => {
  await db.query(
    'TRUNCATE phone_number, branded_number, change_mark, artefact_delta, publication, artefact_version, build, night_run CASCADE',
  );
});

/** Builds that read many ranges of keys, three at a time. */
const divided = { settings: { ...settings, BUILD_STREAMS: '3' }, rangeBytes: 1500 };

/** 500 numbers in each of four area codes; marks distinguish these, since they name 7 digits. */
const numbersOfFourAreas = () =>
  [12_025_550_000, 12_035_550_000, 12_045_550_000, 12_055_550_000].flatMap((first) => manyNumbers(500, first));

function of(report: NightReport, name: string): ReportedArtefact {
  const found = report.artefacts.find(
    ({ cache, country }) => (country === '' ? cache : `${cache}/${country}`) === name,
  );
  if (found === undefined) throw new Error(`${name} is not in the report`);
  return found;
}

async function fileOf(cache: string, country: string): Promise<{ sha256: string; plain: string }> {
  const published = (await listPublications(db)).find(
    (entry) => entry.cache === cache && entry.country === country,
  )!.published!;
  return {
    sha256: published.file.sha256,
    plain: gunzipSync(await readFile(store.path({ cache, country, sha256: published.file.sha256 }))).toString(),
  };
}

/** Builds everything again from all rows, and compares the bytes with the published ones. */
async function expectSameAsFullBuild(): Promise<void> {
  const report = await night({ fullBuild: true });
  expect(
    report.artefacts.map(({ cache, country, outcome, build, segmentsDiffering }) => ({
      cache,
      country,
      outcome,
      build,
      segmentsDiffering: segmentsDiffering ?? 0,
    })),
  ).toEqual(
    report.artefacts.map(({ cache, country }) => ({
      cache,
      country,
      outcome: 'unchanged',
      build: 'full',
      segmentsDiffering: 0,
    })),
  );
  const builds = await queryRows<{ built: string; published: string; name: string }>(
    db,
    `SELECT b.cache || b.country AS name, b.file_sha256 || b.index_sha256 AS built, v.file_sha256 || v.index_sha256 AS published
     FROM build AS b JOIN publication AS p USING (cache, country) JOIN artefact_version AS v USING (cache, country, version) WHERE b.run_id = $1`,
    [report.night.runId],
  );
  expect(builds.map(({ name, built }) => ({ name, bytes: built }))).toEqual(
    builds.map(({ name, published }) => ({ name, bytes: published })),
  );
}

describe('an incremental night', () => {
  it('reads only changed numbers, and gives the bytes of a full build', async () => {
    await putNumbers(db, numbersOfFourAreas());
    expect(of(await night(), 'phones/US')).toMatchObject({ outcome: 'published', build: 'full', rowsRead: 2000 });
    await putNumbers(db, [{ phone: '+12035550003', name: 'New name' }]);
    expect(of(await night(), 'phones/US')).toMatchObject({
      outcome: 'published',
      build: 'incremental',
      version: 2,
      rows: 2000,
      rowsRead: 1,
    });
    expect((await fileOf('phones', 'US')).plain).toContain('+12035550003\tNEUTRAL\t\tNew name\t');
    await expectSameAsFullBuild();
  });

  it('reads nothing and keeps the file where nothing changed, and reports that for each artefact', async () => {
    await putNumbers(db, manyNumbers(300));
    await night();
    const report = await night();
    expect(report.artefacts.map(({ outcome, build, rowsRead }) => ({ outcome, build, rowsRead }))).toEqual(
      report.artefacts.map(() => ({ outcome: 'unchanged', build: 'keep', rowsRead: 0 })),
    );
    expect((await listPublications(db)).every(({ status }) => status === 'fresh')).toBe(true);
  });

  const changes: [string, string, (string | RegExp)[]][] = [
    ['an INSERT', "INSERT INTO phone_number (phone, country) VALUES ('+12025559999', 'US')", ['phones/US']],
    ['an UPDATE', "UPDATE phone_number SET display_name = 'Other' WHERE phone = '+12025550001'", ['phones/US']],
    [
      'an UPDATE of the reputation',
      "UPDATE phone_number SET reputation_level = 'FRAUD', reputation_category = 7 WHERE phone = '+12025550001'",
      ['phones/US', 'spammer_phones'],
    ],
    [
      'an UPDATE that takes the reputation away',
      "UPDATE phone_number SET reputation_level = 'NEUTRAL', reputation_category = NULL WHERE phone = '+12025550000'",
      ['phones/US', 'spammer_phones'],
    ],
    [
      'an UPDATE of the country',
      "UPDATE phone_number SET country = 'CA' WHERE phone = '+12025550001'",
      ['phones/CA', 'phones/US'],
    ],
    [
      'an UPDATE of the phone',
      "UPDATE phone_number SET phone = '+12035550001' WHERE phone = '+12025550000'",
      ['phones/US', 'spammer_phones'],
    ],
    ['a DELETE', "DELETE FROM phone_number WHERE phone = '+12025550001'", ['phones/US']],
    ['a DELETE of a spammer', "DELETE FROM phone_number WHERE phone = '+12025550000'", ['phones/US', 'spammer_phones']],
    [
      'a brand that begins',
      "INSERT INTO branded_number (phone, brand_handle, display_name, live_from) VALUES ('+12025550007', 'b', 'Bank', '2000-01-01')",
      ['branded_phones', 'phones/US'],
    ],
    [
      'a new name of a brand',
      "UPDATE branded_number SET display_name = 'Other' WHERE phone = '+12025550005'",
      ['branded_phones', 'phones/US'],
    ],
    [
      'a brand that is taken away',
      "DELETE FROM branded_number WHERE phone = '+12025550005'",
      ['branded_phones', 'phones/US'],
    ],
    ['a TRUNCATE of the brands', 'TRUNCATE branded_number', ['branded_phones', 'phones/US']],
    ['a TRUNCATE of the numbers', 'TRUNCATE phone_number', ['phones/US', 'spammer_phones']],
    [
      'an UPDATE in a session that replays',
      "SET session_replication_role = replica; UPDATE phone_number SET display_name = 'Other' WHERE phone = '+12025550001'; SET session_replication_role = origin",
      ['phones/US'],
    ],
  ];
  it.each(changes)('publishes what %s changes, and nothing else', async (_name, statement, published) => {
    await putNumbers(db, [...manyNumbers(300), { phone: '+4930123456', country: 'DE' }]);
    await putBranded(db, '+12025550005', 'Bank');
    await night();
    await db.query(statement);
    const report = await night({ acceptShrink: true });
    const outcomes = report.artefacts.map(
      ({ cache, country, outcome }) => `${country === '' ? cache : `${cache}/${country}`} ${outcome}`,
    );
    const all = ['branded_phones', 'phones/CA', 'phones/DE', 'phones/US', 'spam_ranges', 'spammer_phones'].filter(
      (name) => name !== 'phones/CA' || published.includes(name),
    );
    // A TRUNCATE takes every country's rows.
    const expected = statement.startsWith('TRUNCATE phone_number') ? [...published, 'phones/DE'] : published;
    expect(outcomes).toEqual(all.map((name) => `${name} ${expected.includes(name) ? 'published' : 'unchanged'}`));
    await expectSameAsFullBuild();
  });

  it('sees brands that begin or end between two nights, also backwards, though nobody writes', async () => {
    await putNumbers(db, manyNumbers(200));
    await db.query(
      `INSERT INTO branded_number (phone, brand_handle, display_name, live_from, live_until)
       VALUES ('+12025550001', 'a', 'Begins', '2026-01-02T12:00:00Z', NULL), ('+12025550002', 'a', 'Ends', '2026-01-01T00:00:00Z', '2026-01-02T12:00:00Z')`,
    );
    await night({ evaluatedAt: new Date('2026-01-02T01:00:00Z') });
    expect((await fileOf('branded_phones', '')).plain).toBe('+12025550002\tEnds\n');
    for (const [evaluatedAt, plain] of [
      ['2026-01-02T12:00:00Z', '+12025550001\tBegins\n'],
      ['2026-01-02T01:00:00Z', '+12025550002\tEnds\n'],
    ] as const) {
      const report = await night({ evaluatedAt: new Date(evaluatedAt) });
      expect(of(report, 'branded_phones')).toMatchObject({ outcome: 'published' });
      expect(of(report, 'phones/US')).toMatchObject({ outcome: 'published' });
      expect((await fileOf('branded_phones', '')).plain).toBe(plain);
    }
  });

  it.each([
    [
      'more than half of the rows changed',
      "UPDATE phone_number SET display_name = 'Other' WHERE phone < '+12055550000'",
      {},
    ],
    [
      'the rows of a segment are fewer by a setting',
      "UPDATE phone_number SET display_name = 'Other' WHERE phone = '+12025550001'",
      { SEGMENT_ROWS_MAX: '30' },
    ],
    [
      'the compression is another one',
      "UPDATE phone_number SET display_name = 'Other' WHERE phone = '+12025550001'",
      { BUILD_PROFILE: 'fast' },
    ],
    [
      'full builds are due every night',
      "UPDATE phone_number SET display_name = 'Other' WHERE phone = '+12025550001'",
      { FULL_BUILD_DAYS: '0' },
    ],
  ])('reads all rows when %s', async (_name, statement, changed) => {
    await putNumbers(db, numbersOfFourAreas());
    await night();
    await db.query(statement);
    expect(of(await night({ settings: { ...settings, ...changed } }), 'phones/US')).toMatchObject({
      outcome: 'published',
      build: 'full',
      rowsRead: 2000,
    });
  });

  it('builds in full again after FULL_BUILD_DAYS, and not before', async () => {
    await putNumbers(db, manyNumbers(100));
    await night({ only: 'phones/US', evaluatedAt: new Date() });
    await db.query("UPDATE publication SET full_as_of = now() - interval '6 days'");
    expect(of(await night({ only: 'phones/US' }), 'phones/US').build).toBe('keep');
    await db.query("UPDATE publication SET full_as_of = now() - interval '7 days'");
    expect(of(await night({ only: 'phones/US' }), 'phones/US').build).toBe('full');
    expect(of(await night({ only: 'phones/US' }), 'phones/US').build).toBe('keep');
  });

  it('finds with a full build what changed without a mark, reports the number of segments, and publishes the full one', async () => {
    await putNumbers(db, manyNumbers(500));
    await night();
    await db.query(
      "ALTER TABLE phone_number DISABLE TRIGGER USER; UPDATE phone_number SET display_name = 'Unmarked' WHERE phone = '+12025550001'; ALTER TABLE phone_number ENABLE TRIGGER USER",
    );
    await db.query(
      'ALTER TABLE phone_number ENABLE ALWAYS TRIGGER phone_number_mark_insert, ENABLE ALWAYS TRIGGER phone_number_mark_update, ENABLE ALWAYS TRIGGER phone_number_mark_delete, ENABLE ALWAYS TRIGGER phone_number_mark_truncate',
    );
    expect(of(await night(), 'phones/US')).toMatchObject({ outcome: 'unchanged', build: 'keep' });
    expect(of(await night({ fullBuild: true }), 'phones/US')).toMatchObject({
      outcome: 'published',
      build: 'full',
      segmentsDiffering: 1,
    });
    expect((await fileOf('phones', 'US')).plain).toContain('Unmarked');
    await expectSameAsFullBuild();
  });

  it.each(['file', 'index'] as const)('reads all rows when the %s of the basis is damaged', async (what) => {
    await putNumbers(db, numbersOfFourAreas());
    await night({ only: 'phones/US' });
    const [row] = await queryRows<{ file: string; index: string }>(
      db,
      'SELECT file_sha256 AS file, index_sha256 AS index FROM artefact_version',
    );
    await truncate(
      what === 'file'
        ? store.path({ cache: 'phones', country: 'US', sha256: row!.file })
        : store.path({ cache: 'phones', country: 'US', sha256: row!.index, kind: 'index' }),
      60,
    );
    await putNumbers(db, [{ phone: '+12025550003', name: 'New name' }]);
    expect(of(await night({ only: 'phones/US' }), 'phones/US')).toMatchObject({
      outcome: 'published',
      version: 2,
      rowsRead: 2000,
    });
    await putNumbers(db, [{ phone: '+12025550003', name: 'Newer name' }]);
    expect(of(await night({ only: 'phones/US' }), 'phones/US')).toMatchObject({
      outcome: 'published',
      version: 3,
      build: 'incremental',
    });
  });

  it('loses nothing of a night that failed or was kept back: its marks count from the version that is published', async () => {
    await putNumbers(db, manyNumbers(500));
    await night({ only: 'phones/US' });
    await db.query("DELETE FROM phone_number WHERE phone >= '+12025550300'");
    expect(of(await night({ only: 'phones/US' }), 'phones/US')).toMatchObject({
      outcome: 'failed',
      failure: { code: 'artefact_shrunk' },
    });
    await putNumbers(db, [{ phone: '+12025550001', name: 'Later' }]);
    expect(of(await night({ only: 'phones/US', acceptShrink: true }), 'phones/US')).toMatchObject({
      outcome: 'published',
      rows: 300,
    });
    expect((await fileOf('phones', 'US')).plain.match(/\n/g)).toHaveLength(300);
  });

  it('keeps a mark until every artefact was built after it, and no longer', async () => {
    await putNumbers(db, manyNumbers(50));
    await night();
    await putNumbers(db, [{ phone: '+12025550001', name: 'Other' }]);
    const marks = async () =>
      (await queryRows<{ marks: number }>(db, 'SELECT count(*)::integer AS marks FROM change_mark'))[0]!.marks;
    expect(await marks()).toBeGreaterThan(0);
    await night({ only: 'phones/US' });
    expect(await marks()).toBeGreaterThan(0); // the other caches have not seen it
    // A night sees what had begun before it; transactions of other tests in the same server can keep a mark for some nights more.
    const marksAfterNight = () => night().then(marks);
    await marksAfterNight();
    await expect.poll(marksAfterNight, { timeout: 30_000 }).toBe(0);
  });

  it('sees the new name of a brand in the country that another transaction moved its number to meanwhile', async () => {
    await putNumbers(db, [...manyNumbers(50), { phone: '+14165550000', country: 'CA' }]);
    await putBranded(db, '+12025550001', 'Old name');
    await night();
    const [mover, renamer] = [
      await connect({ url, applicationName: 'mover' }),
      await connect({ url, applicationName: 'renamer' }),
    ];
    for (const client of [mover, renamer]) await client.query('BEGIN');
    await mover.query("UPDATE phone_number SET country = 'CA' WHERE phone = '+12025550001'");
    await renamer.query("UPDATE branded_number SET display_name = 'New name' WHERE phone = '+12025550001'");
    await mover.query('COMMIT');
    await night();
    await renamer.query('COMMIT');
    await night();
    expect((await fileOf('phones', 'CA')).plain).toContain('+12025550001\tNEUTRAL\t\tNew name\t');
    for (const client of [mover, renamer]) await client.end();
    await expectSameAsFullBuild();
  });

  it('is not misled by marks that were restored from another cluster, and sweeps them', async () => {
    await putNumbers(db, numbersOfFourAreas());
    await night({ only: 'phones/US' });
    await db.query(
      "INSERT INTO change_mark (changed_by, cache, country, prefix) VALUES ('99999999999', 'phones', 'US', '+')",
    );
    expect(of(await night({ only: 'phones/US' }), 'phones/US').build).toBe('keep');
    expect(await queryRows(db, "SELECT FROM change_mark WHERE changed_by = '99999999999'")).toEqual([]);
  });

  it.each(['index', 'delta'] as const)('is reported by the check of versions when its %s is damaged', async (kind) => {
    await putNumbers(db, manyNumbers(50));
    await night({ only: 'phones/US' });
    await putNumbers(db, [{ phone: '+12025550001', name: 'Other' }]);
    await night({ only: 'phones/US' });
    const [current] = await listVersions(db);
    expect(await checkVersion(store, current!)).toMatchObject({ verdict: 'ok' });
    expect(current!.deltas.map(({ from }) => from)).toEqual([1]);
    const sha256 = kind === 'index' ? current!.indexSha256! : current!.deltas[0]!.sha256;
    await truncate(store.path({ cache: 'phones', country: 'US', sha256, kind }), 5);
    expect(await checkVersion(store, current!)).toMatchObject({
      verdict: 'damaged',
      detail: kind === 'index' ? 'segment index' : 'delta from version 1',
    });
  });

  it('counts each marked brand once, up to the most keys that are listed', async () => {
    const { rows } = await db.query<{ basis: string }>('SELECT pg_current_snapshot()::text AS basis');
    await putNumbers(db, [{ phone: '+12025550001' }, { phone: '+12025550002' }]);
    await db.query('TRUNCATE change_mark');
    for (const phone of ['+12025550001', '+12025550002']) await putBranded(db, phone, 'Northwind Dental');
    const listed = async (atMost: number) => {
      const values = [rows[0]!.basis, new Date(), new Date(), atMost];
      return queryRows<{ cache: string; list: string[] | null }>(db, sql('nights/list_changed_prefixes'), values);
    };
    const marked = ['+12025550001', '+12025550002'];
    expect((await listed(2)).map(({ cache, list }) => [cache, list?.toSorted()]).sort()).toEqual([
      ['branded_phones', marked],
      ['phones', marked],
    ]);
    expect((await listed(1)).map(({ list }) => list)).toEqual([null, null]);
  });

  it('is not published unless as many rows of changed keys were read as SQL counted', async () => {
    await putNumbers(db, manyNumbers(50));
    await night({ only: 'phones/US' });
    await putNumbers(db, [{ phone: '+12025550001', name: 'Other' }]);
    // The plan names a key out of order, which is outside the range of the read, but not of the count.
    await db.query(`
      CREATE FUNCTION add_key() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        NEW.plan = jsonb_insert(NEW.plan, '{changes,patches,0,keys,0}', '"+12025550002"');
        RETURN NEW;
      END $$;
      CREATE TRIGGER add_key BEFORE INSERT ON build FOR EACH ROW EXECUTE FUNCTION add_key()`);
    const { outcome, failure } = of(await night({ only: 'phones/US' }), 'phones/US');
    await db.query('DROP TRIGGER add_key ON build; DROP FUNCTION add_key');
    expect([outcome, failure?.code]).toEqual(['failed', 'rows_differ']);
    expect(failure?.reason).toContain('SQL counted 2 rows of changed keys, 0 were read.');
    expect(of(await night({ only: 'phones/US' }), 'phones/US')).toMatchObject({ outcome: 'published', rowsRead: 1 });
  });

  it('reads the segments that changed by more than a quarter, and ranges that a large statement marked', async () => {
    await putNumbers(db, numbersOfFourAreas());
    await night();
    const name = async (condition: string) => {
      await db.query(`UPDATE phone_number SET display_name = 'New' WHERE ${condition}`);
      const { build, rowsRead } = of(await night({ only: 'phones/US' }), 'phones/US');
      return { build, rowsRead };
    };
    const [two, three] = ['+12035550030', '+12035550032'].map((last) => `phone BETWEEN '+12035550030' AND '${last}'`);
    expect(await name(`${two} OR phone = '+12035550031'`)).toEqual({ build: 'incremental', rowsRead: 2 }); // of 10
    expect(await name(three!)).toEqual({ build: 'incremental', rowsRead: 10 });
    await db.query("INSERT INTO change_mark (cache, country, prefix) VALUES ('phones', 'US', '+1203555')");
    expect(await name("phone = '+12045550000'")).toEqual({ build: 'incremental', rowsRead: 501 });
    await expectSameAsFullBuild();
  });

  it.each([
    ['the keys', 64, 64, 12],
    ['the ranges of 7 digits', 65, 65, 8],
    ['the ranges of 7 digits', 10_000, 10_000, 8],
    ['ranges of 5 digits', 10_001, 10_001, 6],
  ])(
    'has %s marked by a statement that changes %d rows in %d ranges, of 64 keys at most',
    async (_what, rows, ranges, characters) => {
      const client = await db.connect();
      try {
        await client.query('BEGIN');
        expect((await client.query('SELECT marked_keys_max() AS keys')).rows).toEqual([{ keys: 65_536 }]);
        await client.query(
          "CREATE OR REPLACE FUNCTION marked_keys_max() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 64'",
        );
        await client.query('DELETE FROM change_mark');
        await client.query(
          `INSERT INTO phone_number (phone, country)
         SELECT '+1' || 2000000000 + i % $2::bigint * 10000 + i / $2::bigint, 'US' FROM generate_series(1, $1::bigint) AS i`,
          [rows, ranges],
        );
        const marked = async () =>
          (await client.query('SELECT DISTINCT length(prefix) AS characters FROM change_mark')).rows;
        expect(await marked()).toEqual([{ characters }]);
        await client.query('DELETE FROM change_mark');
        await client.query("UPDATE phone_number SET display_name = 'Other' WHERE phone > '+1'");
        expect(await marked()).toEqual([{ characters }]);
        await client.query('DELETE FROM change_mark');
        await client.query('DELETE FROM phone_number');
        expect(await marked()).toEqual([{ characters }]);
      } finally {
        await client.query('ROLLBACK');
        client.release();
      }
    },
  );

  it('takes changes that were made under another cluster of databases for unknown, and reads all rows', async () => {
    await putNumbers(db, manyNumbers(500));
    await night({ only: 'phones/US' });
    await db.query("UPDATE publication SET basis_cluster = 'restored elsewhere'");
    expect(of(await night({ only: 'phones/US' }), 'phones/US')).toMatchObject({ outcome: 'unchanged', build: 'full' });
  });

  it('reads all rows in ranges, several at a time, and gives the bytes and deltas of one that reads them at once', async () => {
    await putNumbers(db, numbersOfFourAreas());
    await putBranded(db, '+12045550007', 'Bank');
    await night(divided); // divided by a sample of the phones
    await expectSameAsFullBuild();
    await putBranded(db, '+12055550009', 'Shop');
    await db.query("UPDATE phone_number SET display_name = 'New' WHERE phone LIKE '%3'");
    await db.query("DELETE FROM phone_number WHERE phone >= '+12035550100' AND phone < '+12035550200'");
    await putNumbers(db, manyNumbers(90, 12_045_551_000));
    const before = await filesOf();
    expect(of(await night({ ...divided, fullBuild: true }), 'phones/US')).toMatchObject({
      outcome: 'published',
      build: 'full',
      rows: 1990,
      rowsRead: 1990,
    });
    await expectDeltasLeadOn(before);
    await expectSameAsFullBuild();
    expect((await fileOf('phones', 'US')).plain).toMatch(
      /\+12045550007\t\w+\t\d*\tBank\t[^]*\+12055550009\t\w+\t\d*\tShop\t/,
    );
  });

  it('reads all rows at once where so few are left that ranges were divided within a segment', async () => {
    await putNumbers(db, numbersOfFourAreas());
    await night(divided);
    await db.query("DELETE FROM phone_number WHERE phone NOT LIKE '%99'");
    const before = await filesOf();
    expect(of(await night({ ...divided, acceptShrink: true, fullBuild: true }), 'phones/US')).toMatchObject({
      outcome: 'published',
      rows: 20,
    });
    await expectDeltasLeadOn(before);
    await expectSameAsFullBuild();
  });

  it('gives the index of what it built: offsets, lengths and counts of each segment', async () => {
    await putNumbers(db, numbersOfFourAreas());
    await night({ only: 'phones/US' });
    await putNumbers(db, [{ phone: '+12025550003', name: 'New name' }, { phone: '+13035550000' }]);
    await night({ only: 'phones/US' });
    const [row] = await queryRows<{ file: string; index: string; bytes: number }>(
      db,
      'SELECT file_sha256 AS file, index_sha256 AS index, file_bytes AS bytes FROM artefact_version WHERE version = 2',
    );
    const segments = await readIndex(store, { cache: 'phones', country: 'US' }, row!.index);
    expect(segments.reduce((sum, { rows }) => sum + rows, 0)).toBe(2001);
    expect(segments.at(-1)!.offset + segments.at(-1)!.bytes).toBe(row!.bytes - 10); // the final block and the trailer
    expect(Math.max(...segments.map(({ rows }) => rows))).toBeLessThanOrEqual(40);
  });
});

describe('nights over a random history', () => {
  it('give the bytes of a full build each time, whatever changed before', { timeout: 240_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), async (seed) => {
        await db.query(
          'TRUNCATE phone_number, branded_number, change_mark, artefact_delta, publication, artefact_version, build, night_run CASCADE',
        );
        const choose = new Seeded(seed);
        const phone = () =>
          `+1${2 + choose.below(3)}0${choose.below(3)}555${String(choose.below(400)).padStart(4, '0')}`;
        await putNumbers(db, [
          ...new Map(
            Array.from({ length: 600 }, () => phone()).map((one) => [one, { phone: one, name: 'A' }]),
          ).values(),
        ]);
        await night();
        for (let day = 0; day < 4; day++) {
          for (let change = choose.below(6); change >= 0; change--) await changeSomething(choose.below(5), phone());
          const before = await filesOf();
          await night({ ...divided, acceptShrink: true, fullBuild: choose.chance(0.3) });
          await expectDeltasLeadOn(before);
          await expectSameAsFullBuild();
        }
      }),
      { seed: 4, numRuns: 4 },
    );
  });
});

/** The text of each published artefact, with its version. */
async function filesOf(): Promise<Map<string, { version: number; plain: Buffer }>> {
  const files = new Map<string, { version: number; plain: Buffer }>();
  for (const { cache, country, published } of await listPublications(db)) {
    if (published === null) continue;
    const { version, file } = published;
    const plain = gunzipSync(await readFile(store.path({ cache, country, sha256: file.sha256 })));
    files.set(`${cache}/${country}`, { version, plain });
  }
  return files;
}

/** Applies the deltas from the files before to each of them. */
async function expectDeltasLeadOn(before: Map<string, { version: number; plain: Buffer }>): Promise<void> {
  const after = await filesOf();
  for (const { cache, country, published } of await listPublications(db)) {
    const old = before.get(`${cache}/${country}`);
    if (published === null || old === undefined || old.version === published.version) continue;
    const delta = published.deltas.find(({ from }) => from === old.version)!;
    const text = gunzipSync(await readFile(store.path({ cache, country, sha256: delta.sha256, kind: 'delta' })));
    const made: Uint8Array[] = [];
    for await (const rows of applyDelta([old.plain], [text])) made.push(rows);
    expect(Buffer.concat(made).toString()).toBe(after.get(`${cache}/${country}`)!.plain.toString());
    expect(text.toString().split('\n').length - 1).toBe(delta.added + delta.changed + delta.removed);
  }
}

async function changeSomething(kind: number, phone: string): Promise<void> {
  if (kind === 0)
    await db.query('DELETE FROM phone_number WHERE phone >= $1 AND phone < $2', [phone, `${phone.slice(0, -2)}:`]);
  else if (kind === 1) await putNumbers(db, [{ phone, level: 'SPAM', category: 6 }]);
  else if (kind === 2)
    await db.query(
      "INSERT INTO branded_number (phone, brand_handle, display_name, live_from) VALUES ($1, 'b', 'Bank', '2000-01-01') ON CONFLICT (phone) DO UPDATE SET display_name = 'Bank 2'",
      [phone],
    );
  else if (kind === 3)
    await db.query(
      "UPDATE phone_number SET country = CASE country WHEN 'US' THEN 'CA' ELSE 'US' END WHERE phone >= $1 AND phone < $2",
      [phone, `${phone.slice(0, -1)}:`],
    );
  else await putNumbers(db, manyNumbers(60, Number(phone.slice(1))));
}
