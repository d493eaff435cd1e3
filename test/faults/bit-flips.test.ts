import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { PublicationIndex } from '../../api/downloads/publication-index.ts';
import { checkVersion, listVersions } from '../../pipelines/caches/store/artefact-check.ts';
import type { ArtefactStore } from '../../pipelines/caches/store/artefact-store.ts';
import { ObjectStore } from '../../pipelines/caches/store/object-store.ts';
import { openArtefactStore } from '../../pipelines/caches/store/open-artefact-store.ts';
import { readWhole } from '../../pipelines/caches/store/stored-file.ts';
import { formatStoredName, type StoredName } from '../../pipelines/caches/store/stored-name.ts';
import { loadConfig } from '../../runtime/config.ts';
import { Seeded } from '../../runtime/seeded.ts';
import { useTestApi, until } from '../api/support/running-api.ts';
import { runCli } from '../support/cli.ts';
import { useTestDatabase } from '../support/database.ts';
import { runWholeNight, silentLog, outcomes } from '../support/night.ts';
import { manyNumbers, putNumbers } from '../support/numbers.ts';
import { inPortions, seed, sizes } from '../support/run-size.ts';
import { objectStoreKey, useObjectStore } from '../support/object-store.ts';

const scratch = await mkdtemp(join(tmpdir(), 'caller-trust-flips-'));
afterAll(() => rm(scratch, { recursive: true, force: true }));
const objects = await useObjectStore();
const us = { cache: 'phones', country: 'US' } as const;
const only = 'phones/US';

const places = [
  { place: 'a directory', settings: { ARTEFACT_DIR: join(scratch, 'store') }, serving: {} },
  {
    place: 'a bucket',
    settings: { ...objects.settings, ARTEFACT_DIR: join(scratch, 'copies') },
    serving: { ARTEFACT_DIR: join(scratch, 'copies of the api') },
  },
];
const databases = await Promise.all(places.map(() => useTestDatabase()));
const apis = await Promise.all(
  places.map(({ settings, serving }, at) => useTestApi(databases[at]!, { ...settings, ...serving })),
);

async function bytesOf(store: ArtefactStore, name: StoredName): Promise<Buffer> {
  const stored = await store.openToServe(name);
  const chunks: Buffer[] = [];
  for await (const chunk of readWhole(stored)) chunks.push(chunk);
  await stored.close();
  return Buffer.concat(chunks);
}

/** Turns one bit of a stored file over, in place. */
async function flip(store: ArtefactStore, name: StoredName, bit: number): Promise<void> {
  const bytes = await bytesOf(store, name);
  const at = bit % (bytes.length * 8);
  bytes[at >> 3]! ^= 1 << (at & 7);
  if (!store.path(name).startsWith('s3://')) return writeFile(store.path(name), bytes);
  const bucket = new ObjectStore({
    endpoint: objects.endpoint,
    region: 'us-east-1',
    bucket: objects.bucket,
    credentials: { ...objectStoreKey, sessionToken: undefined },
    attemptSecondsMax: 10,
    secondsMax: 5,
    partBytes: 8 * 1024 * 1024,
  });
  const path = join(scratch, 'flipped');
  await writeFile(path, bytes);
  const handle = await open(path, 'r');
  await bucket.upload(`nights/${formatStoredName(name)}`, { handle, size: bytes.length });
  await handle.close();
}

describe.each(places)('a bit turned over in $place', ({ place, settings, serving }) => {
  const at = places.findIndex((each) => each.settings === settings);
  const { db, url } = databases[at]!;
  const api = apis[at]!;
  const store = openArtefactStore(loadConfig(settings));
  const servingStore = openArtefactStore(loadConfig({ ...settings, ...serving }));
  const night = (limits: { readonly segmentRowsMax?: number } = {}) => runWholeNight({ db, url, store, only, limits });
  const current = async () => (await listVersions(db)).find(({ cache, current: is }) => cache === 'phones' && is)!;
  const verify = (...words: string[]) =>
    runCli(
      { DATABASE_URL: url, STATE_DIR: join(scratch, `state-${at}`), ...settings },
      'artefacts',
      'verify',
      '--json',
      ...words,
    );
  const status = async (path: string) => (await api.get(path)).status;

  const choose = new Seeded(seed);
  const random = () => choose.below(0x7fff_ffff);

  it(
    'is found by the next check, withdrawn by `artefacts verify`, and repaired by the next night',
    async () => {
      await putNumbers(db, manyNumbers(300));
      for (let version = 1; version <= 4; version++) {
        await putNumbers(db, [{ phone: `+1202999000${version}`, name: `New ${version}` }]);
        expect(outcomes(await night())).toEqual({ 'phones/US': 'published' });
      }
      let names = 0;
      const publishUntilDeltas = async (count: number) => {
        for (let now = await current(); ; now = await current()) {
          if (now.deltas.length >= count) return now;
          await putNumbers(db, [{ phone: '+12029990001', name: `Renamed ${names++}` }]);
          expect(outcomes(await night())).toEqual({ 'phones/US': 'published' });
        }
      };
      const flipOne = async (round: number) => {
        const { version, file, index, deltas } = await publishUntilDeltas(3);
        const kinds: StoredName[] = [
          { ...us, sha256: file.sha256 },
          { ...us, sha256: index.sha256, kind: 'index' },
          { ...us, sha256: deltas[round % 3]!.sha256, kind: 'delta' },
        ];
        const name = kinds[round % 3]!;
        await flip(store, name, random());

        // A service that starts now finds it by itself.
        const started = new PublicationIndex({ store: servingStore, log: silentLog });
        await started.refresh(db);
        await started.checkFiles(new AbortController().signal);
        expect(started.fileChecks.lost).toBe(1);
        started.close();

        expect(JSON.parse((await verify('--dry-run')).stdout)).toContainEqual(
          expect.objectContaining({ damaged: [name] }),
        );
        expect(await bytesOf(store, name)).toBeDefined();
        const verified = await verify();
        expect(verified.code).toBe(1);
        expect(JSON.parse(verified.stdout)).toContainEqual(expect.objectContaining({ damaged: [name] }));
        await expect(bytesOf(store, name)).rejects.toMatchObject({ code: 'ENOENT' });

        expect(outcomes(await night())).toEqual({ 'phones/US': 'unchanged' });
        const after = await current();
        expect(await checkVersion(store, after)).toMatchObject({ version, verdict: 'ok', damaged: [] });
        expect(after.deltas.length).toBe(deltas.length - (name.kind === 'delta' ? 1 : 0)); // clients of that version take the whole file
      };
      const size = sizes.flips / places.length;
      await inPortions(`bits turned over in ${place}`, { size, portion: size }, async () => {
        for (let round = 0; round < size; round++) await flipOne(round);
        return { repaired: size };
      });
    },
    60_000 + sizes.flips * 10_000,
  );

  it('is repaired by the next night without `artefacts verify` too', async () => {
    for (const kind of ['artefact', 'delta'] as const) {
      const { file, deltas } = await current();
      const name = kind === 'artefact' ? { ...us, sha256: file.sha256 } : { ...us, sha256: deltas[1]!.sha256, kind };
      if (store.path(name).startsWith('s3://'))
        await store.remove(name); // a damaged object of the right size is not read
      else await flip(store, name, random());
      expect(outcomes(await night())).toEqual({ 'phones/US': 'unchanged' });
      expect(await checkVersion(store, await current())).toMatchObject({ verdict: 'ok', detail: '' });
    }
  });

  it('in a file whose rows are unchanged and whose bytes do not come back is repaired within its version', async () => {
    const { file, version } = await current();
    await store.remove({ ...us, sha256: file.sha256 });
    const limits = { segmentRowsMax: 100 };
    expect(outcomes(await night(limits))).toEqual({ 'phones/US': 'unchanged' });
    const repaired = await current();
    expect(await checkVersion(store, repaired)).toMatchObject({ version, verdict: 'ok' });
    expect(repaired.file).toMatchObject({ plainSha256: file.plainSha256 });
    expect(repaired.file.sha256).not.toBe(file.sha256);
  });

  it('is withheld by the API: 503 for the artefact and its index, 410 for a delta, and again 200 for the first two after the next night', async () => {
    await putNumbers(db, [{ phone: '+12029990010', name: 'For a delta' }]);
    await night();
    const { file, index, deltas, version } = await current();
    const from = deltas[0]!.from;
    const paths = {
      artefact: '/v1/caches/phones?country=US',
      delta: `/v1/caches/phones/delta?from=${from}&country=US`,
      index: '/v1/caches/phones/index?country=US',
    };
    const statuses = async () => [await status(paths.artefact), await status(paths.delta), await status(paths.index)];
    await until(async () => (await api.get(paths.artefact)).headers.get('x-cache-version') === String(version));
    expect(await statuses()).toEqual([200, 200, 200]);
    const names: StoredName[] = [
      { ...us, sha256: deltas[0]!.sha256, kind: 'delta' },
      { ...us, sha256: index.sha256, kind: 'index' },
      { ...us, sha256: file.sha256 },
    ];
    for (const [damaged, name] of names.entries()) {
      await flip(store, name, random());
      // As a night that confirms the version: the files are read again.
      await db.query('UPDATE publication SET confirmed_as_of = now() + make_interval(secs => $1)', [damaged]);
      const expected = [
        [200, 410, 200],
        [200, 410, 503],
        [503, 503, 503],
      ][damaged];
      await until(async () => JSON.stringify(await statuses()) === JSON.stringify(expected));
      expect(await (await fetch(`${api.api.metricsUrl}/metrics`)).text()).toContain(
        `caller_trust_artefact_files_damaged ${damaged + 1}\n`,
      );
    }
    const ready = (await (await fetch(`${api.url}/readyz`)).json()) as { status: string; publications: object };
    expect(ready).toMatchObject({ status: 'degraded', publications: { unavailable: ['phones/US'] } });
    const manifest = async () => (await api.get('/v1/caches/phones/manifest?country=US')).status;
    expect(await manifest()).toBe(503);

    await db.query("UPDATE publication SET confirmed_as_of = now() - interval '1 minute'");
    expect((await verify()).code).toBe(1);
    expect(outcomes(await night())).toEqual({ 'phones/US': 'unchanged' });
    await until(async () => JSON.stringify(await statuses()) === '[200,410,200]'); // a lost delta is not made again
    expect(await manifest()).toBe(200);
  });
});
