import { randomBytes } from 'node:crypto';
import { readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { manifestSchema } from '../../../api/documents/schemas.ts';
import { NumberFilter } from '../../../format/artefact/number-filter.ts';
import { parseSegmentIndex } from '../../../format/artefact/segment-index.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import { useTestDatabase } from '../../support/database.ts';
import { inventedRows, PublishedHistory } from '../../support/segmented-artefacts.ts';
import { openRaw, until, useTestApi } from '../support/running-api.ts';

const database = await useTestDatabase();
const { get, publish, store, key, url } = await useTestApi(database);
const artefact = { cache: 'phones', country: 'US' } as const;
const history = new PublishedHistory({ db: database.db, store, artefact });
const manifestPath = '/v1/caches/phones/manifest?country=US';
const deltaPath = (from: number | string) => `/v1/caches/phones/delta?from=${from}&country=US`;

async function publishNext(plain: Buffer) {
  const published = await history.publish(plain, { segmentRowsMax: 200 });
  await until(
    async () => ((await (await get(manifestPath)).json()) as { version?: number }).version === published.version,
  );
  return published;
}

const tail = '\t\t\t\t';
await publishNext(inventedRows(1000, () => `SPAM\t1${tail}`));
await publishNext(inventedRows(1000, (n) => (n % 10 === 0 ? `FRAUD\t7${tail}` : `SPAM\t1${tail}`)));
const third = await publishNext(
  inventedRows(1001, (n) => (n % 10 === 0 ? `FRAUD\t7${tail}` : n % 10 === 1 ? null : `SPAM\t1${tail}`)),
);

it('names the deltas and the segment index in the manifest, the newest delta first', async () => {
  const manifest = manifestSchema.parse(await (await get(manifestPath)).json());
  expect(manifest.deltas).toEqual([
    {
      from: 2,
      href: '/v1/caches/phones/delta?from=2&country=US',
      bytes: third.deltas[0]!.bytes,
      sha256: third.deltas[0]!.sha256,
      added: 1,
      changed: 0,
      removed: 100,
    },
    {
      from: 1,
      href: '/v1/caches/phones/delta?from=1&country=US',
      bytes: third.deltas[1]!.bytes,
      sha256: third.deltas[1]!.sha256,
      added: 1,
      changed: 100,
      removed: 100,
    },
  ]);
  expect(manifest.index).toEqual({
    href: '/v1/caches/phones/index?country=US',
    mediaType: 'text/tab-separated-values',
    sha256: third.stored.index.sha256,
    bytes: third.stored.index.bytes,
    segments: third.stored.index.segments,
    blockBytesMax: third.stored.index.blockBytesMax,
    directory: third.stored.index.directory,
    columns: ['prefix', 'offset', 'bytes', 'plain_bytes', 'rows', 'crc32', 'block_crc32', 'sha256'],
    directoryColumns: ['prefix', 'offset', 'bytes', 'sha256'],
  });
  const list = (await (await get('/v1/caches')).json()) as { manifests: unknown[] };
  expect(list.manifests).toContainEqual(JSON.parse(JSON.stringify(manifest)));
});

it('serves a delta with the headers of a file, and where it begins', async () => {
  const [delta] = third.deltas;
  const response = await get(deltaPath(2));
  const body = Buffer.from(await response.arrayBuffer());
  expect(response.status).toBe(200);
  expect(body.equals(await readFile(store.path({ ...artefact, sha256: delta!.sha256, kind: 'delta' })))).toBe(true);
  expect(gunzipSync(body).toString().split('\n')).toHaveLength(102);
  const headers = Object.fromEntries(response.headers);
  expect(headers).toMatchObject({
    etag: `"${delta!.sha256}"`,
    'content-type': 'application/gzip',
    'content-length': String(delta!.bytes),
    'content-disposition': 'attachment; filename="phones-US-v2-v3.delta.tsv.gz"',
    'x-cache-version': '3',
    'x-cache-from': '2',
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'repr-digest': `sha-256=:${Buffer.from(delta!.sha256, 'hex').toString('base64')}:`,
  });
  expect(headers).not.toHaveProperty('x-cache-rows');
  expect(headers).not.toHaveProperty('content-encoding');
});

it('serves the segment index, which says where each range of phones is', async () => {
  const response = await get('/v1/caches/phones/index?country=US');
  const index = new Uint8Array(await response.arrayBuffer());
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    etag: `"${third.stored.index.sha256}"`,
    'content-type': 'text/tab-separated-values',
    'content-disposition': 'attachment; filename="phones-US-v3.index.tsv"',
    'x-cache-version': '3',
  });
  expect(parseSegmentIndex(index, third.stored.index)).toEqual(third.stored.segments);
});

it.each([deltaPath(1), '/v1/caches/phones/index?country=US'])(
  'answers %s with 304, 206, 416, 412 and HEAD as it does files',
  async (path) => {
    const whole = await get(path);
    const [etag, body] = [whole.headers.get('etag')!, Buffer.from(await whole.arrayBuffer())];
    for (const method of ['GET', 'HEAD']) {
      const known = await get(path, { 'if-none-match': etag }, method);
      expect([known.status, known.headers.get('etag'), (await known.arrayBuffer()).byteLength]).toEqual([304, etag, 0]);
    }
    const head = await get(path, {}, 'HEAD');
    expect([head.status, head.headers.get('content-length'), (await head.arrayBuffer()).byteLength]).toEqual([
      200,
      String(body.length),
      0,
    ]);
    const part = await get(path, { range: 'bytes=3-20', 'if-range': etag });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 3-20/${body.length}`]);
    expect(Buffer.from(await part.arrayBuffer()).equals(body.subarray(3, 21))).toBe(true);
    const other = await get(path, { range: 'bytes=3-20', 'if-range': '"another"' });
    expect([other.status, (await other.arrayBuffer()).byteLength]).toEqual([200, body.length]);
    expect((await get(path, { range: `bytes=${body.length}-` })).status).toBe(416);
    expect((await get(path, { 'if-match': '"another"' })).status).toBe(412);
    expect((await get(path, {}, 'POST')).status).toBe(405);
  },
);

it.each([
  ['/v1/caches/phones/delta?country=US', 400, 'parameter_invalid'],
  ['/v1/caches/phones/delta?from=&country=US', 400, 'parameter_invalid'],
  ['/v1/caches/phones/delta?from=0&country=US', 400, 'parameter_invalid'],
  ['/v1/caches/phones/delta?from=-1&country=US', 400, 'parameter_invalid'],
  ['/v1/caches/phones/delta?from=1e0&country=US', 400, 'parameter_invalid'],
  ['/v1/caches/phones/delta?from=1.0&country=US', 400, 'parameter_invalid'],
  ['/v1/caches/phones/delta?from=%201&country=US', 400, 'parameter_invalid'],
  ['/v1/caches/phones/delta?from=1000000000&country=US', 400, 'parameter_invalid'],
  ['/v1/caches/phones/delta?from=1&from=2&country=US', 400, 'parameter_invalid'],
  ['/v1/caches/phones/delta?from=1', 400, 'country_required'],
  ['/v1/caches/phones/delta?from=1&country=us', 400, 'country_invalid'],
  ['/v1/caches/phones/delta?From=1&country=US', 400, 'parameter_unknown'],
  ['/v1/caches/spammer_phones/delta?from=1&country=US', 400, 'parameter_unknown'],
  ['/v1/caches/phones/delta?from=3&country=US', 410, 'delta_gone'],
  ['/v1/caches/phones/delta?from=4&country=US', 410, 'delta_gone'],
  ['/v1/caches/phones/delta?from=999999999&country=US', 410, 'delta_gone'],
  ['/v1/caches/phones/delta?from=1&country=FR', 404, 'artefact_not_found'],
  ['/v1/caches/phones/index?country=FR', 404, 'artefact_not_found'],
  ['/v1/caches/phones/index', 400, 'country_required'],
  ['/v1/caches/branded_phones/index?country=US', 400, 'parameter_unknown'],
  ['/v1/caches/other/delta?from=1', 404, 'cache_unknown'],
  ['/v1/caches/other/index', 404, 'cache_unknown'],
])('answers %s with %i %s', async (path, status, code) => {
  const response = await get(path);
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code]);
});

it('points at the whole file where there is no delta', async () => {
  const { detail } = (await (await get(deltaPath(3))).json()) as { detail: string };
  expect(detail).toBe(
    'No delta leads from that version to version 3. Take the whole file: /v1/caches/phones?country=US',
  );
});

it('asks for a key with the scope', async () => {
  for (const path of [deltaPath(1), '/v1/caches/phones/index?country=US'])
    expect((await fetch(`${url}${path}`)).status).toBe(401);
});

it('serves the filter of the spammers with the headers of a file, and no filter of another cache', async () => {
  const spammers = new PublishedHistory({ db: database.db, store, artefact: { cache: 'spammer_phones', country: '' } });
  const path = '/v1/caches/spammer_phones/filter';
  await publish({ cache: 'spammer_phones' }); // a version whose filter could not be made
  const early = await get(path);
  expect([early.status, await early.json()]).toMatchObject([
    404,
    { code: 'artefact_not_found', detail: 'The published version has no filter; the next night makes one.' },
  ]);
  for (const table of ['publication', 'artefact_version'])
    await database.db.query(`DELETE FROM ${table} WHERE cache = 'spammer_phones'`);
  for (let version = 1; version < 3; version++) await spammers.publish(inventedRows(300 + version));
  await until(async () => (await get(path, {}, 'HEAD')).headers.get('x-cache-version') === '2');
  const response = await get(path);
  const body = Buffer.from(await response.arrayBuffer());
  const sha256 = sha256Of(body);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    etag: `"${sha256}"`,
    'content-type': 'application/octet-stream',
    'content-length': String(body.length),
    'content-disposition': 'attachment; filename="spammer_phones-v2.filter.bin"',
    'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
  });
  expect(new NumberFilter(body).has('+12025000000')).toBe(true);
  const manifest = manifestSchema.parse(await (await get('/v1/caches/spammer_phones/manifest')).json());
  expect(manifest.filter).toMatchObject({
    href: path,
    sha256,
    bytes: body.length,
    keys: 302,
    falsePositiveRate: 1 / 256,
  });
  for (const method of ['GET', 'HEAD']) {
    const known = await get(path, { 'if-none-match': `"${sha256}"` }, method);
    expect([known.status, (await known.arrayBuffer()).byteLength]).toEqual([304, 0]);
  }
  const date = (await get('/v1/caches/spammer_phones', {}, 'HEAD')).headers.get('last-modified')!;
  expect(response.headers.get('last-modified')).toBeNull(); // the version keeps its date when FILTER_BITS changes
  expect((await get(path, { 'if-modified-since': date })).status).toBe(200);
  expect((await get(path, { 'if-range': date, range: 'bytes=0-7' })).status).toBe(200);
  const part = await get(path, { range: 'bytes=0-7' });
  expect([part.status, await part.text(), part.headers.get('content-range')]).toEqual([
    206,
    'CTFILTER',
    `bytes 0-7/${body.length}`,
  ]);
  expect((await get(path, { range: `bytes=${body.length}-` })).status).toBe(416);
  expect((await fetch(`${url}${path}`)).status).toBe(401);
  expect((await get(path, {}, 'POST')).status).toBe(405);
  await rm(store.path({ cache: 'spammer_phones', country: '', sha256, kind: 'filter' }));
  const lost = await get(path);
  expect([lost.status, ((await lost.json()) as { code: string }).code]).toEqual([503, 'not_ready']);
});

it.each([
  ['/v1/caches/phones/filter', 404, 'artefact_not_found'],
  ['/v1/caches/branded_phones/filter', 404, 'artefact_not_found'],
  ['/v1/caches/spam_ranges/filter', 404, 'artefact_not_found'],
  ['/v1/caches/other/filter', 404, 'cache_unknown'],
  ['/v1/caches/spammer_phones/filter?country=US', 400, 'parameter_unknown'],
])('answers %s, where there is no filter, with %i %s', async (path, status, code) => {
  const response = await get(path);
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([status, code]);
});

it('answers 410 where the file of a delta cannot be read, and 503 where that of the index cannot', async () => {
  const brands = new PublishedHistory({ db: database.db, store, artefact: { cache: 'branded_phones', country: '' } });
  await brands.publish(inventedRows(50, () => 'Northwind Dental'));
  const { stored, deltas } = await brands.publish(inventedRows(51, () => 'Northwind Dental'));
  await until(
    async () =>
      ((await (await get('/v1/caches/branded_phones/manifest')).json()) as { version?: number }).version === 2,
  );
  expect((await get('/v1/caches/branded_phones/delta?from=1')).status).toBe(200);
  await rm(store.path({ cache: 'branded_phones', country: '', sha256: deltas[0]!.sha256, kind: 'delta' }));
  await rm(store.path({ cache: 'branded_phones', country: '', sha256: stored.index.sha256, kind: 'index' }));
  const [delta, index] = [
    await get('/v1/caches/branded_phones/delta?from=1'),
    await get('/v1/caches/branded_phones/index'),
  ];
  expect([delta.status, ((await delta.json()) as { code: string }).code]).toEqual([410, 'delta_gone']);
  expect([index.status, ((await index.json()) as { code: string }).code, index.headers.get('retry-after')]).toEqual([
    503,
    'not_ready',
    '5',
  ]);
});

it('does not report a delta as gone while that is unknown', async () => {
  const germany = new PublishedHistory({ db: database.db, store, artefact: { cache: 'phones', country: 'DE' } });
  await germany.publish(inventedRows(50, () => `SPAM\t1${tail}`));
  const { deltas } = await germany.publish(inventedRows(51, () => `SPAM\t1${tail}`));
  const path = '/v1/caches/phones/delta?from=1&country=DE';
  await until(async () => (await get(path, {}, 'HEAD')).status === 200);
  const file = store.path({ cache: 'phones', country: 'DE', sha256: deltas[0]!.sha256, kind: 'delta' });
  await symlink(file, `${file}.loop`); // opening it fails with ELOOP
  await rename(`${file}.loop`, file);
  const response = await get(path);
  expect([
    response.status,
    ((await response.json()) as { code: string }).code,
    response.headers.get('retry-after'),
  ]).toEqual([503, 'not_ready', '5']);
});

it('holds one descriptor for a connection, however many deltas and indexes it asks for at once', async () => {
  const large = new PublishedHistory({ db: database.db, store, artefact: { cache: 'phones', country: 'GB' } });
  await large.publish(inventedRows(10, () => `SPAM\t1${tail}`));
  await large.publish(
    inventedRows(160_000, () => `SPAM\t1\t${randomBytes(64).toString('hex')}\t\t\t`),
    { segmentRowsMax: 8000 },
  );
  const path = '/v1/caches/phones/delta?from=1&country=GB';
  await until(async () => (await get(path, {}, 'HEAD')).status === 200);
  const connection = await openRaw(url);
  connection.socket.pause();
  const ask = (target: string, connectionHeader = '') =>
    `GET ${target} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${key}\r\n${connectionHeader}\r\n`;
  connection.send(
    ask(path) +
      `${ask(deltaPath(1))}${ask('/v1/caches/phones/index?country=US')}`.repeat(15) +
      ask(deltaPath(2), 'Connection: close\r\n'),
  );
  await until(async () => (await openVersionFiles()) === 1);
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(await openVersionFiles()).toBe(1);
  connection.socket.resume();
  expect((await connection.closed()).toString('latin1').split('HTTP/1.1 200 OK\r\n')).toHaveLength(33);
  await until(async () => (await openVersionFiles()) === 0);
});

/** Deltas and indexes that are open in this process. */
async function openVersionFiles(): Promise<number> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  );
  return links.filter((link) => /\.(delta\.tsv\.gz|index\.tsv)$/.test(link)).length;
}

it('sends the bytes of one delta to the end while a new version is published and the old files are removed', async () => {
  const large = new PublishedHistory({ db: database.db, store, artefact: { cache: 'phones', country: 'CA' } });
  await large.publish(inventedRows(10, () => `SPAM\t1${tail}`));
  const second = await large.publish(
    inventedRows(80_000, () => `SPAM\t1\t${randomBytes(64).toString('hex')}\t\t\t`),
    { segmentRowsMax: 8000 },
  );
  const path = '/v1/caches/phones/delta?from=1&country=CA';
  await until(async () => (await get(path, {}, 'HEAD')).status === 200);
  const connection = await openRaw(url);
  connection.socket.pause();
  connection.send(`GET ${path} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await large.publish(inventedRows(11, () => `SPAM\t1${tail}`));
  const expected = await readFile(
    store.path({ cache: 'phones', country: 'CA', sha256: second.deltas[0]!.sha256, kind: 'delta' }),
  );
  await rm(store.path({ cache: 'phones', country: 'CA', sha256: second.deltas[0]!.sha256, kind: 'delta' }));
  await until(async () => (await get(path, {}, 'HEAD')).headers.get('x-cache-version') === '3');
  connection.socket.resume();
  const received = await connection.closed();
  const body = received.subarray(received.indexOf('\r\n\r\n') + 4);
  expect(expected.length).toBeGreaterThan(5_000_000);
  expect(body.equals(expected)).toBe(true);
});
