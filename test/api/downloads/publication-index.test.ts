import { mkdir, mkdtemp, readFile, readdir, readlink, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { PublicationIndex } from '../../../api/downloads/publication-index.ts';
import { ArtefactDirectory } from '../../../pipelines/caches/store/artefact-directory.ts';
import { createLog } from '../../../runtime/log.ts';
import { useTestDatabase } from '../../support/database.ts';
import { noise, publish, type TestArtefact } from '../support/artefacts.ts';

const { db } = await useTestDatabase();
const directory = await mkdtemp(join(tmpdir(), 'caller-trust-index-'));
afterAll(() => rm(directory, { recursive: true, force: true }));
const store = new ArtefactDirectory(directory);
const log = createLog({ level: 'silent', process: 'test' });
const us = { cache: 'phones', country: 'US' } as const;

it('refuses to answer before the first look', () => {
  const index = new PublicationIndex({ store, log });
  expect(() => index.find(us)).toThrow(expect.objectContaining({ code: 'not_ready' }));
});

it('keeps everything that did not change, and opens the file of a confirmed version again', async () => {
  const index = new PublicationIndex({ store, log });
  await publish(db, store, us);
  await publish(db, store, { cache: 'phones', country: 'FR' });
  await index.refresh(db);
  const [before, france] = [index.find(us), index.find({ cache: 'phones', country: 'FR' })];
  const { manifests } = index.snapshot;
  await index.refresh(db);
  expect(index.find(us)).toBe(before);
  expect(index.snapshot.manifests).toBe(manifests);
  await db.query("UPDATE publication SET confirmed_as_of = now() + interval '1 second' WHERE country = 'US'");
  await index.refresh(db);
  expect([before.file.closed, index.find(us).file.closed]).toEqual([true, false]);
  expect(index.find(us).representation).toBe(before.representation);
  expect(index.find(us).manifestDocument.etag).not.toBe(before.manifestDocument.etag);
  expect(index.find({ cache: 'phones', country: 'FR' })).toBe(france);
  expect(index.snapshot.manifests).not.toBe(manifests);
  index.close();
  expect(index.find(us).file.closed).toBe(true);
});

it('serves a damaged file no more once a night has stored it again, and keeps the open one while it is missing', async () => {
  const index = new PublicationIndex({ store, log });
  await publish(db, store, us);
  await index.refresh(db);
  const { file, publication } = index.find(us);
  const path = store.path({ ...us, sha256: publication.published.file.sha256 });
  const good = await readFile(path);
  await writeFile(path, Buffer.alloc(good.length));
  const firstByte = async () => {
    const buffer = Buffer.alloc(1);
    await index.find(us).file.stored.readSpan({ start: 0, length: 1 }).read(buffer);
    return buffer[0];
  };
  expect(await firstByte()).toBe(0);
  await writeFile(`${path}.new`, good);
  await rename(`${path}.new`, path);
  await db.query("UPDATE publication SET confirmed_as_of = now() + interval '2 seconds' WHERE country = 'US'");
  await index.refresh(db);
  expect(await firstByte()).toBe(0x1f);
  expect(file.closed).toBe(true);
  await rm(path);
  await db.query("UPDATE publication SET confirmed_as_of = now() + interval '3 seconds' WHERE country = 'US'");
  await index.refresh(db);
  expect(await firstByte()).toBe(0x1f);
  index.close();
});

it('closes the file of a replaced version when its last reader has let go, and not before', async () => {
  const index = new PublicationIndex({ store, log });
  await publish(db, store, us);
  await index.refresh(db);
  const { file } = index.find(us);
  const [first, second] = [file.hold(), file.hold()];
  await publish(db, store, us);
  await index.refresh(db);
  first();
  first();
  expect([file.readers, file.closed]).toEqual([1, false]);
  expect(await file.stored.readSpan({ start: 0, length: 4 }).read(Buffer.alloc(4))).toBe(4);
  second();
  expect(file.closed).toBe(true);
  expect(index.find(us).file.closed).toBe(false);
  index.close();
});

it('leaks no descriptor over many versions, good and damaged', async () => {
  const openFiles = async () => {
    const links = await Promise.all(
      (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    );
    return links.filter((path) => path.startsWith(directory)).length;
  };
  const index = new PublicationIndex({ store, log });
  for (let turn = 0; turn < 20; turn++) {
    const published = await publish(db, store, { ...us, keepFile: turn % 3 !== 1 });
    if (turn % 5 === 2)
      await db.query(
        `UPDATE artefact_version SET facts = jsonb_set(facts, '{file,bytes}', to_jsonb((facts #>> '{file,bytes}')::bigint + 1)) WHERE cache = $1 AND country = $2 AND version = $3`,
        [us.cache, us.country, published.version],
      );
    await index.refresh(db);
  }
  expect(await openFiles()).toBe(index.snapshot.artefacts.size);
  index.close();
  await expect.poll(openFiles, { timeout: 60_000 }).toBe(0);
});

it('never sends a date of the future', async () => {
  const index = new PublicationIndex({ store, log, now: () => Date.parse('2026-01-01T00:00:00Z') });
  await publish(db, store, { ...us, publishedAt: new Date('2026-01-01T00:10:00Z') });
  await index.refresh(db);
  expect(index.find(us).representation.versionHeaders['Last-Modified']).toBe('Thu, 01 Jan 2026 00:00:00 GMT');
  index.close();
});

it('forgets an artefact that is not published any more', async () => {
  const index = new PublicationIndex({ store, log });
  await index.refresh(db);
  const { file } = index.find(us);
  await db.query("DELETE FROM publication WHERE country = 'US'");
  await index.refresh(db);
  expect(() => index.find(us)).toThrow(expect.objectContaining({ code: 'artefact_not_found' }));
  expect(file.closed).toBe(true);
  index.close();
});

it('withholds what was removed, unless it is open and intact, and serves it again when it is back', async () => {
  let clock = Date.now();
  const index = new PublicationIndex({ store, log, now: () => clock });
  const [good, bad] = [
    await publish(db, store, { cache: 'phones', country: 'DE' }),
    await publish(db, store, { cache: 'phones', country: 'IT' }),
  ];
  const path = (artefact: TestArtefact) => store.path({ ...artefact, sha256: artefact.sha256 });
  const look = async (milliseconds = 0) => {
    clock += milliseconds;
    await index.checkFiles(new AbortController().signal);
    await index.refresh(db);
  };
  const served = (artefact: TestArtefact) => index.snapshot.artefacts.has(`phones/${artefact.country}`);
  await index.refresh(db);
  await look();
  expect([served(good), served(bad), index.fileChecks.lost]).toEqual([true, true, 0]);

  await writeFile(path(bad), Buffer.alloc(bad.gzip.length)); // the open file has these bytes too
  await look(31_000);
  expect([served(good), served(bad)]).toEqual([true, true]); // it was read once
  await Promise.all([rm(path(good)), rm(path(bad))]);
  await look();
  expect(served(bad)).toBe(true); // the store is asked twice a minute
  await look(31_000);
  expect([served(good), served(bad), index.fileChecks.lost]).toEqual([true, false, 1]);
  expect(() => index.find({ cache: 'phones', country: 'IT' })).toThrow(expect.objectContaining({ code: 'not_ready' }));

  await writeFile(path(bad), Buffer.alloc(bad.gzip.length));
  await look(31_000);
  expect(served(bad)).toBe(false);
  await writeFile(path(bad), bad.gzip);
  await look(31_000);
  expect([served(good), served(bad), index.fileChecks.lost]).toEqual([true, true, 0]);
  index.close();
});

it('reads the other files where one cannot be read', async () => {
  const index = new PublicationIndex({ store, log });
  const [unreadable, damaged] = [
    await publish(db, store, { cache: 'phones', country: 'AT' }),
    await publish(db, store, { cache: 'phones', country: 'SE' }),
  ];
  const path = (artefact: TestArtefact) => store.path({ ...artefact, sha256: artefact.sha256 });
  await rm(path(unreadable));
  await mkdir(path(unreadable)); // it is there, and every read fails with EISDIR
  await writeFile(path(damaged), Buffer.alloc(damaged.gzip.length));
  await index.refresh(db);
  await expect(index.checkFiles(new AbortController().signal)).rejects.toMatchObject({ code: 'EISDIR' });
  await index.refresh(db);
  expect(index.snapshot.unavailable).toContain('phones/SE');
  index.close();
  await db.query("DELETE FROM publication WHERE country = 'AT'");
});

it('finds a damaged file within the time of one check, and ends the check when it is aborted', async () => {
  const index = new PublicationIndex({ store, log });
  const published = await publish(db, store, { cache: 'phones', country: 'ES', gzip: noise(3_000_000) });
  await index.refresh(db);
  const stopping = new AbortController();
  const check = index.checkFiles(stopping.signal);
  stopping.abort();
  await expect(check).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  const bytes = Buffer.from(published.gzip);
  bytes[2_999_999]! ^= 1;
  await writeFile(store.path({ ...published, sha256: published.sha256 }), bytes);
  await index.checkFiles(new AbortController().signal);
  await index.refresh(db);
  expect(index.snapshot.unavailable).toContain('phones/ES');
  index.close();
});
