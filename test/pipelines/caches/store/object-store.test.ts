import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, utimes, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ArtefactStore } from '../../../../pipelines/caches/store/artefact-store.ts';
import { formatStoredName, type StoredName } from '../../../../pipelines/caches/store/stored-name.ts';
import { checkVersion, type ListedVersion } from '../../../../pipelines/caches/store/artefact-check.ts';
import { PreviousRows } from '../../../../pipelines/caches/artefact/previous-rows.ts';
import { openArtefactStore, readStoreUrl } from '../../../../pipelines/caches/store/open-artefact-store.ts';
import { elementOf, elementsOf } from '../../../../pipelines/caches/store/object-store-answer.ts';
import { readWhole } from '../../../../pipelines/caches/store/stored-file.ts';
import { loadConfig } from '../../../../runtime/config.ts';
import { useObjectStore, type Fault } from '../../../support/object-store.ts';
import { useFolder } from '../../../support/recording-batch.ts';

const MiB = 1024 * 1024;
const partBytes = 5 * MiB;
const server = await useObjectStore();
const copies = await useFolder('copies');

async function openStore(
  settings: Record<string, string> = {},
  limits: { attemptSecondsMax?: number } = {},
): Promise<ArtefactStore> {
  const directory = await mkdtemp(join(copies, 'of-a-store-'));
  const config = loadConfig({ ...server.settings, ARTEFACT_DIR: directory, ...settings });
  return openArtefactStore(config, { partBytes, ...limits });
}

/** Bytes with the name that they are stored under. */
function content(bytes: number): { bytes: Buffer; name: StoredName } {
  const random = randomBytes(bytes);
  return {
    bytes: random,
    name: { cache: 'phones', country: 'US', sha256: createHash('sha256').update(random).digest('hex') },
  };
}

async function keep(
  store: ArtefactStore,
  { bytes, name }: { bytes: Buffer; name: StoredName },
  owner = 'build-1-1',
): Promise<void> {
  const file = await store.start(owner);
  await file.handle.writeFile(bytes);
  try {
    await file.keep(name);
  } catch (error) {
    await file.discard();
    throw error;
  }
}

/** Puts bytes into the bucket under a name that is not their digest. */
async function putWrong({ bytes, name }: { bytes: Buffer; name: StoredName }): Promise<void> {
  const elsewhere = await openStore();
  const copy = join(elsewhere.directory, formatStoredName(name));
  await mkdir(dirname(copy), { recursive: true });
  await writeFile(copy, bytes);
  await elsewhere.restore(name);
}

async function readStored(store: ArtefactStore, name: StoredName): Promise<Buffer> {
  const file = await store.openToServe(name);
  const chunks: Buffer[] = [];
  for await (const chunk of readWhole(file)) chunks.push(chunk);
  await file.close();
  return Buffer.concat(chunks);
}

/** Faults for the first requests that a test makes, in order; those after them pass. */
function failFirst(matching: RegExp, ...faults: Fault[]): void {
  server.fault = ({ method, url }) => (matching.test(`${method} ${url}`) ? (faults.shift() ?? 'pass') : 'pass');
}

/** A port on which nobody listens. */
async function closedPort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  listener.close();
  return port;
}

const store = await openStore();
beforeEach(() => {
  server.fault = () => 'pass';
  server.requests.length = 0;
});

describe('an artefact in an object store', () => {
  it.each([
    ['without bytes', 0, 0],
    ['of one byte', 1, 0],
    ['as large as a part', partBytes, 0],
    ['of one byte more than a part', partBytes + 1, 2],
    ['of several parts', 2 * partBytes + 12_345, 3],
  ])('%s is read as it was written', async (_what, bytes, parts) => {
    const made = content(bytes);
    await keep(store, made);
    expect((await readStored(store, made.name)).equals(made.bytes)).toBe(true);
    expect(server.requests.filter((request) => request.includes('partNumber='))).toHaveLength(parts);
    expect(await store.list()).toContainEqual({ ...made.name, kind: 'artefact', bytes });
  });

  it('is uploaded once, however often a night builds the same rows', async () => {
    const made = content(1000);
    await keep(store, made);
    server.requests.length = 0;
    await keep(store, made);
    expect(server.requests.filter((request) => request.startsWith('PUT'))).toEqual([]);
  });

  it('is read by spans', async () => {
    const made = content(300_000);
    await keep(store, made);
    const file = await store.openToServe(made.name);
    const reader = file.readSpan({ start: 100, length: 200_000 });
    const parts: Buffer[] = [];
    for (let left = 200_000; left > 0;) {
      const buffer = Buffer.alloc(7000);
      const bytes = await reader.read(buffer);
      parts.push(buffer.subarray(0, bytes));
      left -= bytes;
    }
    expect(Buffer.concat(parts).equals(made.bytes.subarray(100, 200_100))).toBe(true);
    expect(await reader.read(Buffer.alloc(10))).toBe(0);
  });

  it('is fetched for a build on a machine that has no copy, once', async () => {
    const made = content(2 * MiB);
    await keep(store, made);
    const elsewhere = await openStore();
    for (const _time of [1, 2]) {
      const handle = await elsewhere.open(made.name);
      expect((await handle.readFile()).equals(made.bytes)).toBe(true);
      await handle.close();
    }
    expect(server.requests.filter((request) => request.startsWith('GET'))).toHaveLength(1);
    expect(await readdir(join(elsewhere.directory, 'fetching'))).toEqual([]);
  });

  it('that is not what its name says is not taken for it', async () => {
    const made = content(5000);
    const wrong = { bytes: made.bytes, name: { ...made.name, sha256: 'a'.repeat(64) } };
    await putWrong(wrong);
    const elsewhere = await openStore();
    await expect(elsewhere.open(wrong.name)).rejects.toMatchObject({ code: 'artefact_damaged' });
    expect(await readdir(join(elsewhere.directory, 'fetching'))).toEqual([]);
    await expect(elsewhere.open({ ...made.name, sha256: 'b'.repeat(64) })).rejects.toMatchObject({ code: 'ENOENT' });
    await store.remove(wrong.name);
  });

  it('is fetched after what a killed process has left of a fetch was removed', async () => {
    const made = content(10);
    await keep(store, made);
    const elsewhere = await openStore();
    const fetching = join(elsewhere.directory, 'fetching');
    await mkdir(fetching);
    for (const [file, minutes] of [
      ['old', 61],
      ['young', 59],
    ] as const) {
      await writeFile(join(fetching, file), 'x');
      const at = new Date(Date.now() - minutes * 60_000);
      await utimes(join(fetching, file), at, at);
    }
    await (await elsewhere.open(made.name)).close();
    expect(await readdir(fetching)).toEqual(['young']);
  });

  it('leaves copies of the newest two on the machine that built it', async () => {
    const own = await openStore();
    const made = [content(10), content(11), content(12)];
    for (const each of made) await keep(own, each);
    const copies = (await readdir(join(own.directory, 'phones/US'))).sort();
    expect(copies).toEqual(
      made
        .slice(1)
        .map(({ name }) => `${name.sha256}.tsv.gz`)
        .sort(),
    );
    for (const { name, bytes } of made) expect((await readStored(own, name)).equals(bytes)).toBe(true);
  });

  it('is kept while builds of other artefacts keep files and remove their old copies', async () => {
    const own = await openStore();
    await Promise.all(
      ['CA', 'DE', 'FR', 'GB', 'JP', 'US'].map(async (country) => {
        for (let version = 0; version < 6; version++) {
          const { bytes, name } = content(10);
          await keep(own, { bytes, name: { ...name, country } }, `build-${country}`);
        }
        expect(await readdir(join(own.directory, 'phones', country))).toHaveLength(2);
      }),
    );
  });

  it.each(['is missing', 'has another size'])(
    'is stored again from the copy of this machine where its object %s',
    async (damage) => {
      const made = content(1000);
      await keep(store, made);
      const elsewhere = await openStore();
      await elsewhere.remove(made.name);
      if (damage !== 'is missing') await putWrong({ bytes: made.bytes.subarray(1), name: made.name });
      await store.restore(made.name);
      expect((await readStored(store, made.name)).equals(made.bytes)).toBe(true);
    },
  );

  it('is not stored again where its object has the right size', async () => {
    const made = content(1000);
    await keep(store, made);
    server.requests.length = 0;
    await store.restore(made.name);
    expect(server.requests.map((request) => request.split(' ')[0])).toEqual(['HEAD']);
  });

  it('cannot be stored again by a machine without a copy', async () => {
    await expect((await openStore()).restore(content(10).name)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('is gone after it was removed', async () => {
    const made = content(10);
    await keep(store, made);
    await store.remove(made.name);
    expect((await store.list()).some(({ sha256 }) => sha256 === made.name.sha256)).toBe(false);
    await expect(store.openToServe(made.name)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('has an address that is good without a key, until it is changed', async () => {
    const made = content(1000);
    await keep(store, made);
    const file = await store.openToServe(made.name);
    const url = await file.signUrl!({
      seconds: 60,
      contentType: 'application/gzip',
      contentDisposition: 'attachment; filename="phones-US-v1.tsv.gz"',
    });
    const response = await fetch(url, { headers: { range: 'bytes=10-19' } });
    expect(response.status).toBe(206);
    expect(Buffer.from(await response.arrayBuffer()).equals(made.bytes.subarray(10, 20))).toBe(true);
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="phones-US-v1.tsv.gz"');
    expect((await fetch(url.replace(made.name.sha256, 'c'.repeat(64)))).status).toBe(403);
  });
});

describe('an object store that fails', async () => {
  const store = await openStore({}, { attemptSecondsMax: 2 });

  it.each<[string, RegExp, Fault[]]>([
    ['is busy', /^PUT/, [{ status: 503 }, { status: 500 }]],
    ['says nothing', /^PUT/, ['silent']],
    ['is busy when the parts are joined', /^POST .*uploadId/, [{ status: 503 }]],
    ['stalls in a list', /list-type/, [{ stallAfter: 100 }]],
    ['cuts an answer', /^GET/, [{ cutAfter: 1000 }, { cutAfter: 70_000 }]],
  ])('and %s is asked again', async (_what, matching, faults) => {
    const made = content(partBytes + 100);
    failFirst(matching, ...faults);
    await keep(store, made);
    expect((await readStored(store, made.name)).equals(made.bytes)).toBe(true);
    expect(await store.list()).toContainEqual({ ...made.name, kind: 'artefact', bytes: made.bytes.length });
  });

  it('and cuts each answer is read on as long as bytes come, and given up when none do', async () => {
    const made = content(2_000_000);
    await keep(store, made);
    server.fault = ({ method }) => (method === 'GET' ? { cutAfter: 150_000 } : 'pass');
    expect((await readStored(store, made.name)).equals(made.bytes)).toBe(true);
    expect(server.requests.filter((request) => request.startsWith('GET')).length).toBeGreaterThan(8);
    server.fault = ({ method }) => (method === 'GET' ? { cutAfter: 0 } : 'pass');
    await expect(readStored(store, made.name)).rejects.toMatchObject({ code: 'storage_unavailable' });
  });

  it('and is silent is given up when the time of the operation is over, or at once by the signal', async () => {
    const made = content(1000);
    await keep(store, made);
    server.requests.length = 0;
    server.fault = () => 'silent';
    const config = loadConfig({ ...server.settings, ARTEFACT_DIR: join(copies, 'of-a-silent-store') });
    const hasty = openArtefactStore(config, { attemptSecondsMax: 0.2, secondsMax: 0.5 });
    await expect(hasty.open(made.name)).rejects.toMatchObject({ code: 'storage_unavailable' });
    expect(server.requests.length).toBeLessThanOrEqual(3);
    const stop = new AbortController();
    const patient = openArtefactStore(config, { signal: stop.signal });
    const opening = expect(patient.open({ ...made.name, kind: 'index' })).rejects.toThrow('asked to end');
    stop.abort(new Error('asked to end'));
    await opening;
  });

  it('and is away says nothing of a file: neither a check nor a build takes it for lost', async () => {
    const made = content(1000);
    await keep(store, made);
    const version = {
      cache: 'phones',
      country: 'US',
      version: 1,
      current: true,
      rows: 1,
      publishedAt: new Date(),
      levels: {},
      categoriesVersion: 1,
      file: { bytes: 1000, sha256: made.name.sha256, plainBytes: 0, plainSha256: '' },
      index: {
        sha256: made.name.sha256,
        bytes: 1,
        segments: 0,
        blockBytesMax: 0,
        directory: { offset: 0, bytes: 0, sha256: '' },
      },
      filter: null,
      deltas: [],
    } satisfies ListedVersion;
    const elsewhere = await openStore();
    server.fault = () => ({ status: 503 });
    await expect(checkVersion(elsewhere, version)).rejects.toMatchObject({ code: 'storage_unavailable' });
    const opening = PreviousRows.open(elsewhere, { cache: 'phones', country: 'US' }, version, () => {});
    await expect(opening).rejects.toMatchObject({ code: 'storage_unavailable' });
    server.fault = () => 'pass';
    expect(await checkVersion(elsewhere, version)).toMatchObject({ verdict: 'damaged' });
    await store.remove(made.name);
    expect(await checkVersion(elsewhere, version)).toMatchObject({ verdict: 'missing' });
  });

  it('permanently leaves nothing behind but an aborted upload, and shows no secret', async () => {
    const made = content(2 * partBytes);
    server.fault = ({ url }) => (url?.includes('partNumber=2') === true ? { status: 503 } : 'pass');
    const error = await keep(store, made).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: 'storage_unavailable', problem: 'It answered 503 SlowDown.' });
    expect(server.requests.some((request) => /^DELETE .*uploadId=/.test(request))).toBe(true);
    expect((await store.list()).some(({ sha256 }) => sha256 === made.name.sha256)).toBe(false);
    expect(await store.listUnfinished()).toEqual([]);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('S3RVER');
  });

  it('and joins the parts, but whose answer to that is lost, has stored the file', async () => {
    const made = content(partBytes + 100);
    failFirst(/^POST .*uploadId=/, { cutAfter: 1 });
    await keep(store, made);
    expect((await readStored(store, made.name)).equals(made.bytes)).toBe(true);
    expect(server.requests.filter((request) => request.startsWith('DELETE'))).toEqual([]);
  });

  it('because the key is wrong is not asked again', async () => {
    const stranger = await openStore({ ARTEFACT_STORE_SECRET_ACCESS_KEY: 'wrong-secret' });
    const error = await keep(stranger, content(10)).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: 'storage_unavailable' });
    expect(server.requests).toHaveLength(1);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain('wrong-secret');
  });

  it('because nothing listens is reported by the code of the network', async () => {
    const nowhere = await openStore({ ARTEFACT_STORE_ENDPOINT: `http://127.0.0.1:${await closedPort()}` });
    await expect(nowhere.list()).rejects.toMatchObject({
      code: 'storage_unavailable',
      problem: expect.stringContaining('ECONNREFUSED') as string,
    });
  });
});

describe('the settings of an object store', () => {
  it.each([
    ['s3://bucket', { bucket: 'bucket', prefix: '' }],
    ['s3://bucket/', { bucket: 'bucket', prefix: '' }],
    ['s3://bucket/a/b', { bucket: 'bucket', prefix: 'a/b/' }],
  ])('%s names a bucket and a prefix', (url, expected) => {
    expect(loadConfig({ ARTEFACT_STORE_URL: url }).artefactStoreUrl).toBe(url);
    expect(readStoreUrl(url)).toEqual(expected);
  });

  it.each(['bucket', 's3://', 's3://B', 's3://key:secret@bucket', 's3://bucket/a?b', 's3://bucket/../x'])(
    '%s is refused',
    (url) => {
      expect(() => loadConfig({ ARTEFACT_STORE_URL: url })).toThrow(
        expect.objectContaining({ code: 'setting_invalid' }) as Error,
      );
    },
  );

  it('need credentials', () => {
    expect(() => openArtefactStore(loadConfig({ ARTEFACT_STORE_URL: 's3://bucket' }))).toThrow(
      expect.objectContaining({ code: 'setting_invalid' }) as Error,
    );
  });
});

it('reads the fields of an answer', () => {
  const answer =
    '<List><IsTruncated>true</IsTruncated><Contents><Key>a&amp;b&#x41;&#66;</Key><Size>3</Size></Contents><Contents><Key>c</Key></Contents></List>';
  expect(elementsOf(answer, 'Contents').map((content) => elementOf(content, 'Key'))).toEqual(['a&bAB', 'c']);
  expect(elementOf(answer, 'IsTruncated')).toBe('true');
  expect(elementOf(answer, 'Nothing')).toBeUndefined();
});
