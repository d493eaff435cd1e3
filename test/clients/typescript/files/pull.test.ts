import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { downloadFile } from '../../../../clients/typescript/files/download-file.ts';
import { findInCopy } from '../../../../clients/typescript/files/find-in-copy.ts';
import { pull, type PulledArtefact, type Wanted } from '../../../../clients/typescript/files/pull.ts';
import { ServiceClient, type RetryPolicy } from '../../../../clients/typescript/service/service-client.ts';
import { isServiceError } from '../../../../runtime/errors.ts';
import { until, useTestApi } from '../../../api/support/running-api.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { inventedRows, PublishedHistory } from '../../../support/segmented-artefacts.ts';
import { useTroubledRoad } from '../../../support/troubled-road.ts';

const database = await useTestDatabase();
const { url, key, get, store, filesChecked } = await useTestApi(database);
const road = await useTroubledRoad(url);
const root = await mkdtemp(join(tmpdir(), 'caller-trust-pull-'));
afterAll(() => rm(root, { recursive: true }));
beforeEach(() => road.set({}));

const spammers = { cache: 'spammer_phones', country: '' } as const;
const wantSpammers: Wanted = { caches: ['spammer_phones'], countries: 'all' };
const hurried: RetryPolicy = {
  triesMax: 4,
  firstWaitMs: 5,
  waitMsMax: 1500,
  silenceMsMax: 10_000,
  bytesPerSecondMin: 1024,
};
const impatient: RetryPolicy = { ...hurried, silenceMsMax: 400 };
const history = new PublishedHistory({ db: database.db, store, artefact: spammers });

/** Publishes the next version, and waits until the API serves it. */
async function publish(plain: Buffer, options: { deltasKept?: number } = {}) {
  const published = await history.publish(plain, options);
  await until(
    async () =>
      (await get('/v1/caches/spammer_phones', {}, 'HEAD')).headers.get('x-cache-version') === String(published.version),
  );
  return { ...published, plain };
}

async function newDirectory(): Promise<string> {
  return mkdtemp(join(root, 'copy-'));
}

function run(
  directory: string,
  {
    wanted = wantSpammers,
    key: secret = key,
    retryPolicy = hurried,
    parallel = 4,
    signal,
  }: { wanted?: Wanted; key?: string; retryPolicy?: RetryPolicy; parallel?: number; signal?: AbortSignal } = {},
): Promise<PulledArtefact[]> {
  return pull({
    client: new ServiceClient({ url: road.url, key: secret, retryPolicy, signal }),
    directory,
    wanted,
    parallel,
  });
}

const rowsOf = async (directory: string, name = 'spammer_phones') =>
  gunzipSync(await readFile(join(directory, name, 'rows.tsv.gz')));
const stateOf = async (directory: string, name = 'spammer_phones') =>
  JSON.parse(await readFile(join(directory, name, 'state.json'), 'utf8')) as {
    manifest: { version: number; file: { plainSha256: string } };
  };
const random = (rows: number) => inventedRows(rows, () => `SPAM\t1\t${randomBytes(150).toString('hex')}`);

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
});

/** A server of a test's own; it is closed after the last test of the file. */
async function listen(answer: RequestListener): Promise<{ url: string }> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(server);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('pull', () => {
  it('takes the whole file first, then nothing, then a delta', async () => {
    const directory = await newDirectory();
    const first = await publish(inventedRows(4000));
    expect(await run(directory)).toMatchObject([
      { how: 'full', from: null, version: first.version, rows: 4000, failure: null },
    ]);
    expect((await rowsOf(directory)).equals(first.plain)).toBe(true);

    const [again] = await run(directory);
    expect(again).toMatchObject({ how: 'unchanged', version: first.version, bytesReceived: 0 });

    const second = await publish(inventedRows(4000, (n) => (n % 100 === 0 ? 'FRAUD\t7' : `SPAM\t${1 + (n % 5)}`)));
    const [updated] = await run(directory);
    expect(updated).toMatchObject({
      how: 'delta',
      from: first.version,
      version: second.version,
      rows: 4000,
      deltaRefused: null,
    });
    expect(updated!.bytesReceived).toBeLessThan(second.stored.file.bytes);
    expect((await rowsOf(directory)).equals(second.plain)).toBe(true);
    expect((await stateOf(directory)).manifest.file.plainSha256).toBe(second.stored.file.plainSha256);

    // What was made with a delta is the basis of the next one, over several versions.
    await publish(inventedRows(4100));
    const fourth = await publish(inventedRows(3900, (n) => (n % 50 === 0 ? null : `SPAM\t${1 + (n % 5)}`)));
    expect(await run(directory)).toMatchObject([{ how: 'delta', from: second.version, version: fourth.version }]);
    expect((await rowsOf(directory)).equals(fourth.plain)).toBe(true);
    expect(await readdir(join(directory, '.partial'))).toEqual([]);
    expect(await readdir(join(directory, '.versions', 'spammer_phones'))).toHaveLength(2);
  });

  it('takes the whole file where that is fewer bytes, or no delta leads from what it has', async () => {
    const directory = await newDirectory();
    const first = await publish(random(3000));
    await run(directory);
    const second = await publish(Buffer.from(random(3000).toString().replaceAll('+1202', '+1302'))); // its delta is larger: it names what is gone as well
    expect(await run(directory)).toMatchObject([
      { how: 'full', from: first.version, version: second.version, deltaRefused: null },
    ]);
    await publish(inventedRows(500), { deltasKept: 1 });
    const last = await publish(inventedRows(501), { deltasKept: 1 });
    expect(await run(directory)).toMatchObject([{ how: 'full', from: second.version, version: last.version }]);
    expect((await rowsOf(directory)).equals(last.plain)).toBe(true);
  });

  it('takes the whole file where the copy or the delta is damaged, and reports why', async () => {
    const directory = await newDirectory();
    const first = await publish(inventedRows(3000));
    await run(directory);
    const path = join(directory, 'spammer_phones', 'rows.tsv.gz');
    const bytes = await readFile(path);
    bytes[bytes.length >> 1]! ^= 0x20;
    await writeFile(path, bytes);
    const second = await publish(inventedRows(3001));
    const [repaired] = await run(directory);
    expect(repaired).toMatchObject({ how: 'full', from: first.version, version: second.version, failure: null });
    expect(repaired!.deltaRefused).toMatch(/damaged|not those of the expected version/);
    expect((await rowsOf(directory)).equals(second.plain)).toBe(true);

    const third = await publish(inventedRows(3002));
    const deltaPath = store.path({ ...spammers, sha256: third.deltas[0]!.sha256, kind: 'delta' });
    await filesChecked();
    const delta = await readFile(deltaPath);
    delta[20]! ^= 1;
    await writeFile(deltaPath, delta);
    expect(await run(directory)).toMatchObject([
      { how: 'full', version: third.version, deltaRefused: 'The downloaded file is not as it was published.' },
    ]);

    const fourth = await publish(inventedRows(3003));
    await rm(store.path({ ...spammers, sha256: fourth.deltas[0]!.sha256, kind: 'delta' }));
    expect(await run(directory)).toMatchObject([{ how: 'full', version: fourth.version }]);
    expect((await rowsOf(directory)).equals(fourth.plain)).toBe(true);
  });

  it('does not replace the copy by a damaged download', async () => {
    const directory = await newDirectory();
    const first = await publish(inventedRows(2000));
    await run(directory);
    const second = await publish(random(2000), { deltasKept: 0 });
    const path = store.path({ ...spammers, sha256: second.stored.file.sha256 });
    await filesChecked();
    const bytes = await readFile(path);
    await writeFile(path, Buffer.concat([bytes.subarray(0, 1000), Buffer.alloc(10), bytes.subarray(1010)]));
    expect(await run(directory)).toMatchObject([
      { how: 'failed', from: first.version, failure: { code: 'download_damaged' } },
    ]);
    expect((await rowsOf(directory)).equals(first.plain)).toBe(true);
    await writeFile(path, bytes);
    expect(await run(directory)).toMatchObject([{ how: 'full', version: second.version }]);
    expect((await rowsOf(directory)).equals(second.plain)).toBe(true);
  });

  it('notes a manifest that says more without touching the rows', async () => {
    const directory = await newDirectory();
    const published = await publish(inventedRows(1000));
    await run(directory);
    const link = await readlink(join(directory, 'spammer_phones'));
    await database.db.query(
      "UPDATE publication SET confirmed_as_of = confirmed_as_of + interval '1 hour' WHERE cache = 'spammer_phones'",
    );
    const etag = (await get('/v1/caches/spammer_phones/manifest')).headers.get('etag');
    await until(async () => (await get('/v1/caches/spammer_phones/manifest')).headers.get('etag') !== etag);
    const [again] = await run(directory);
    expect(again).toMatchObject({ how: 'unchanged', version: published.version });
    expect(again!.bytesReceived).toBeGreaterThan(0);
    expect(await run(directory)).toMatchObject([{ how: 'unchanged', bytesReceived: 0 }]);
    expect(await readlink(join(directory, 'spammer_phones'))).toBe(link);
  });
});

describe('pull of many artefacts', () => {
  it('finds the published countries itself, and asks for one list', async () => {
    for (const country of ['US', 'DE'])
      await new PublishedHistory({ db: database.db, store, artefact: { cache: 'phones', country } }).publish(
        inventedRows(30, () => 'SPAM\t1\t\t\t\t'),
      );
    await publish(inventedRows(10));
    await until(
      async () =>
        (await get('/v1/caches/phones?country=DE', {}, 'HEAD')).status === 200 &&
        (await get('/v1/caches/phones?country=US', {}, 'HEAD')).status === 200,
    );
    const directory = await newDirectory();
    const wanted: Wanted = { caches: ['phones', 'branded_phones', 'spammer_phones'], countries: 'all' };
    const pulled = await run(directory, { wanted });
    expect(pulled.map(({ cache, country, how }) => [cache, country, how])).toEqual([
      ['phones', 'DE', 'full'],
      ['phones', 'US', 'full'],
      ['spammer_phones', '', 'full'],
    ]);
    expect((await rowsOf(directory, 'phones-DE')).equals(inventedRows(30, () => 'SPAM\t1\t\t\t\t'))).toBe(true);
    const client = new ServiceClient({ url, key, retryPolicy: hurried });
    expect((await pull({ client, directory, wanted, parallel: 4 })).map(({ how }) => how)).toEqual([
      'unchanged',
      'unchanged',
      'unchanged',
    ]);
    expect(client.bytesReceived).toBe(0);
  });

  it.each(['', 'null', '{"etag":', '{"etag":ETAG}', '{"etag":ETAG,"body":{"manifests":[{}]}}'])(
    'reads the list again where the stored one is %j',
    async (kept) => {
      const directory = await newDirectory();
      const etag = (await get('/v1/caches')).headers.get('etag');
      await writeFile(join(directory, '.manifests.json'), kept.replace('ETAG', JSON.stringify(etag)));
      const wanted: Wanted = { caches: ['phones'], countries: 'all' };
      expect((await run(directory, { wanted })).map(({ country, how }) => [country, how])).toEqual([
        ['DE', 'full'],
        ['US', 'full'],
      ]);
      expect((JSON.parse(await readFile(join(directory, '.manifests.json'), 'utf8')) as { etag: string }).etag).toBe(
        etag,
      );
    },
  );

  it('continues with the others where one fails', async () => {
    const directory = await newDirectory();
    const pulled = await run(directory, { wanted: { caches: ['phones', 'spammer_phones'], countries: ['FR', 'US'] } });
    expect(pulled.map(({ country, how, failure }) => [country, how, failure?.code])).toEqual([
      ['FR', 'failed', 'artefact_not_found'],
      ['US', 'full', undefined],
      ['', 'full', undefined],
    ]);
  });

  it('refuses a cache that there is not', async () => {
    await expect(
      run(await newDirectory(), { wanted: { caches: ['numbers'], countries: 'all' } }),
    ).rejects.toMatchObject({ code: 'cache_unknown' });
  });
});

describe('pull over a bad connection', () => {
  it('continues where it was cut off, again and again, and asks for no byte twice', async () => {
    const published = await publish(random(18_000));
    expect(published.stored.file.bytes).toBeGreaterThan(2_500_000);
    const directory = await newDirectory();
    road.set({ cutAfterBytes: 150_000 });
    const [pulled] = await run(directory);
    expect(pulled).toMatchObject({ how: 'full', failure: null });
    expect(pulled!.bytesReceived).toBeLessThan(published.stored.file.bytes + 20_000);
    expect(road.connections()).toBeGreaterThan(15);
    expect((await rowsOf(directory)).equals(published.plain)).toBe(true);
  });

  it('gives up on a service that is not there, or says nothing, and keeps what it has for the next run', async () => {
    const published = await publish(random(18_000));
    const directory = await newDirectory();
    road.set({ silent: true });
    await expect(run(directory, { retryPolicy: impatient })).rejects.toMatchObject({ code: 'download_failed' });
    road.set({ bytesPerSecond: 1_500_000 });
    const interruption = new AbortController();
    const running = run(directory, { parallel: 1, signal: interruption.signal });
    await until(
      async () =>
        (await readFile(join(directory, '.partial', 'spammer_phones.full.pieces'), 'utf8').catch(() => '')).split('\n')
          .length > 2,
    );
    interruption.abort(new Error('enough'));
    await running.catch(() => {});
    road.set({});
    const [resumed] = await run(directory);
    expect(resumed).toMatchObject({ how: 'full', failure: null });
    expect(resumed!.bytesReceived).toBeLessThan(published.stored.file.bytes - 700_000);
    expect((await rowsOf(directory)).equals(published.plain)).toBe(true);
  });

  it('waits as long as the answer asks for, up to a limit', async () => {
    const published = await publish(inventedRows(100));
    const instead = (seconds: number) =>
      `HTTP/1.1 503 Service Unavailable\r\nRetry-After: ${seconds}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    road.set({ answerInstead: { text: instead(1), times: 1 } });
    const started = performance.now();
    expect(await run(await newDirectory())).toMatchObject([{ how: 'full', version: published.version }]);
    expect(performance.now() - started).toBeGreaterThanOrEqual(1000);
    road.set({ answerInstead: { text: instead(2), times: 1 } });
    await expect(run(await newDirectory())).rejects.toMatchObject({
      code: 'download_failed',
      problem: 'The service answers 503',
    });
  });

  it.each<[string, RequestListener]>([
    [
      'only gets the reason',
      (_request, response) =>
        response
          .writeHead(503, { 'Content-Type': 'application/problem+json' })
          .end(JSON.stringify({ code: 'not_ready', detail: 'The service starts.' })),
    ],
    [
      'gets the beginning of a document again and again',
      (_request, response) =>
        response
          .writeHead(200, { 'Content-Length': '1000' })
          .write('{"schema":', () => setTimeout(() => response.destroy(), 10)),
    ],
  ])('gives up after the promised tries where it %s', async (_what, answer) => {
    let requests = 0;
    const service = await listen((request, response) => {
      requests++;
      answer(request, response);
    });
    const client = new ServiceClient({ url: service.url, key, retryPolicy: hurried });
    await expect(
      pull({ client, directory: await newDirectory(), wanted: wantSpammers, parallel: 4 }),
    ).rejects.toMatchObject({ code: 'download_failed' });
    expect(client.bytesReceived).toBeGreaterThan(0);
    expect(requests).toBe(hurried.triesMax);
  });

  it('gives a piece up that does not come on, although the others do', async () => {
    const [sha256, bytes] = ['a'.repeat(64), 2 * 1024 * 1024];
    let triesOfFirst = 0;
    const service = await listen((request, response) => {
      const [, start = '', end = ''] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
      if (start === '0') return void response.writeHead(503).end(`busy for the ${++triesOfFirst}. time`);
      response.writeHead(206, {
        ETag: `"${sha256}"`,
        'Content-Range': `bytes ${start}-${end}/${bytes}`,
        'Content-Length': Number(end) - Number(start) + 1,
      });
      response.write(Buffer.alloc(Math.min(65_536, Number(end) - Number(start) + 1)), () =>
        setTimeout(() => response.destroy(), 10),
      );
    });
    const client = new ServiceClient({ url: service.url, retryPolicy: hurried });
    const downloading = downloadFile({
      client,
      remote: { href: '/file', sha256, bytes },
      path: join(await newDirectory(), 'file'),
      parallel: 2,
    });
    await expect(downloading).rejects.toMatchObject({ code: 'download_failed', problem: 'The service answers 503' });
    expect(triesOfFirst).toBe(hurried.triesMax);
    expect(client.bytesReceived).toBeGreaterThan(bytes / 4);
  });

  it('begins again with the new version where one is published meanwhile', async () => {
    await publish(random(18_000));
    const directory = await newDirectory();
    road.set({ bytesPerSecond: 200_000 });
    const running = run(directory, { parallel: 1 });
    await until(
      async () =>
        (await readFile(join(directory, '.partial', 'spammer_phones.full.pieces'), 'utf8').catch(() => '')) !== '',
    );
    const next = await publish(inventedRows(200));
    road.set({});
    expect(await running).toMatchObject([{ how: 'full', version: next.version, failure: null }]);
    expect((await rowsOf(directory)).equals(next.plain)).toBe(true);
  });

  it('says what the service says to a wrong key, and writes the key nowhere', async () => {
    const directory = await newDirectory();
    expect(await run(directory, { key: 'not-a-key' })).toMatchObject([
      { how: 'failed', failure: { code: 'unauthenticated' } },
    ]);
    await run(directory);
    for (const name of await readdir(directory, { recursive: true, withFileTypes: true })) {
      if (name.isFile()) expect((await readFile(join(name.parentPath, name.name))).includes(key)).toBe(false);
    }
  });
});

describe('pull from a service that redirects to an object store', () => {
  it('takes the ranges there, without the key', async () => {
    const published = await publish(random(18_000));
    const bytes = await readFile(store.path({ ...spammers, sha256: published.stored.file.sha256 }));
    const keysSeen: (string | undefined)[] = [];
    const objects = await listen((request, response) => {
      keysSeen.push(request.headers.authorization);
      const [, start = '', end = ''] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
      if (request.headers['if-range'] !== undefined) return void response.writeHead(200, { ETag: '"md5"' }).end(bytes);
      response
        .writeHead(206, { ETag: '"md5"', 'Content-Range': `bytes ${start}-${end}/${bytes.length}` })
        .end(bytes.subarray(Number(start), Number(end) + 1));
    });
    const front = await listen(async (request, response) => {
      if (request.url === '/v1/caches/spammer_phones')
        return void response.writeHead(307, { Location: `${objects.url}/bucket/object?signature=x` }).end();
      const asked = Object.entries(request.headers).filter(([name]) => /^(authorization|range|if-range)$/.test(name));
      const answer = await fetch(`${url}${request.url}`, { headers: asked as [string, string][] });
      const given = [...answer.headers].filter(([name]) => /^(content-range|etag)$/.test(name));
      response.writeHead(answer.status, Object.fromEntries(given)).end(Buffer.from(await answer.arrayBuffer()));
    });
    const directory = await newDirectory();
    const pulled = await pull({
      client: new ServiceClient({ url: front.url, key, retryPolicy: hurried }),
      directory,
      wanted: wantSpammers,
      parallel: 4,
    });
    expect(pulled).toMatchObject([{ how: 'full', failure: null }]);
    expect((await rowsOf(directory)).equals(published.plain)).toBe(true);
    expect(keysSeen.length).toBeGreaterThan(1);
    expect(new Set(keysSeen)).toEqual(new Set([undefined]));
  });
});

describe('a copy', () => {
  const lookIn = (directory: string, phone: string) => findInCopy({ directory, artefact: spammers, phone });
  const phoneOf = (line: string) => line.split('\t')[0]!;

  it('finds its numbers by its own index, whether it was downloaded or made with a delta', async () => {
    const directory = await newDirectory();
    for (const rows of [3000, 3400]) {
      const { plain, version } = await publish(inventedRows(rows));
      expect(await run(directory)).toMatchObject([{ how: rows === 3000 ? 'full' : 'delta' }]);
      const lines = plain.toString().split('\n').slice(0, -1);
      for (const at of [0, 1, lines.length >> 1, lines.length - 1]) {
        const phone = phoneOf(lines[at]!);
        const [, level, category] = lines[at]!.split('\t');
        expect(await lookIn(directory, phone)).toEqual({
          version,
          row: { phone, reputation_level: level, reputation_category: category },
          isVerified: false,
        });
        expect((await lookIn(directory, `${phone}0`)).row).toBeNull();
      }
      expect((await lookIn(directory, '+99999999999')).row).toBeNull();
    }
  });

  it('whose rows, index or state are damaged or missing is refused', async () => {
    const directory = await newDirectory();
    const { plain } = await publish(inventedRows(2500));
    await run(directory);
    const phone = phoneOf(plain.toString());
    const file = join(directory, 'spammer_phones', 'rows.tsv.gz');
    const bytes = await readFile(file);
    bytes.fill(0x55, 20, 40);
    await writeFile(file, bytes);
    await expect(lookIn(directory, phone)).rejects.toMatchObject({ code: 'segment_index_invalid' });
    await expect(lookIn(await newDirectory(), phone)).rejects.toMatchObject({ code: 'artefact_not_found' });
    const other = await newDirectory();
    await run(other);
    const index = join(other, 'spammer_phones', 'index.tsv');
    const whole = await readFile(index);
    for (const at of [10, whole.length - 10]) {
      await writeFile(index, whole.with(at, whole[at]! ^ 1));
      await expect(lookIn(other, phone)).rejects.toMatchObject({ code: 'segment_index_invalid' });
    }
    await rm(index);
    await expect(lookIn(other, phone)).rejects.toMatchObject({ code: 'segment_index_invalid' });
  });
});

describe('a directory of copies', () => {
  it('that cannot be written is named', async () => {
    const directory = await newDirectory();
    await writeFile(join(directory, '.partial'), 'a file in the way');
    await publish(inventedRows(20));
    expect(await run(directory)).toMatchObject([
      {
        how: 'failed',
        failure: {
          code: 'download_failed',
          reason: expect.stringMatching(/^The copy cannot be read or written: E[A-Z]+\.$/) as string,
        },
      },
    ]);
    await expect(run(join(directory, '.partial', 'below'))).rejects.toMatchObject({ code: 'usage_invalid' });
  });

  it('is worked in by one process at a time', async () => {
    const directory = await newDirectory();
    road.set({ silent: true });
    const first = run(directory, { retryPolicy: { ...hurried, silenceMsMax: 30_000 } });
    await until(async () => (await readFile(join(directory, '.lock'), 'utf8').catch(() => '')) !== '');
    await expect(run(directory)).rejects.toMatchObject({ code: 'directory_busy' });
    road.set({});
    expect((await first)[0]!.failure).toBeNull();
    expect((await readdir(directory)).filter((name) => name.startsWith('.lock'))).toEqual([]);
  });

  it.each([
    ['a process that has ended', { pid: 2 ** 22 + 1, host: hostname(), token: 'a' }],
    ['an earlier process with our id', { pid: process.pid, host: hostname(), token: 'a' }],
  ])('is taken over from %s', async (_what, holder) => {
    const directory = await newDirectory();
    await writeFile(join(directory, '.lock'), JSON.stringify(holder));
    expect((await run(directory))[0]!.failure).toBeNull();
  });

  it('is not taken over from a process of another machine that showed a sign of life', async () => {
    const directory = await newDirectory();
    await writeFile(join(directory, '.lock'), JSON.stringify({ pid: 1, host: 'another', token: 'a' }));
    await expect(run(directory)).rejects.toSatisfy((error) => isServiceError(error, 'directory_busy'));
  });

  it('is left to the process that took it over while a run stood still', async () => {
    const directory = await newDirectory();
    const before = await publish(inventedRows(900));
    await run(directory);
    await publish(random(4000));
    road.set({ bytesPerSecond: 500_000 });
    const running = run(directory);
    const refused = expect(running).rejects.toMatchObject({ code: 'directory_busy' });
    const path = join(directory, '.lock');
    await until(async () => (await readFile(path, 'utf8').catch(() => '')) !== '');
    const lockOfOther = JSON.stringify({ pid: 1, host: 'another', token: 'b' });
    await writeFile(path, lockOfOther);
    await refused;
    expect(await readFile(path, 'utf8')).toBe(lockOfOther);
    expect((await rowsOf(directory)).equals(before.plain)).toBe(true);
  });

  it('is repaired where a run stopped between two steps', async () => {
    const directory = await newDirectory();
    const published = await publish(inventedRows(700));
    await run(directory);
    await mkdir(join(directory, '.versions', 'spammer_phones', '.unfinished', '.steps-killed'), { recursive: true });
    await writeFile(join(directory, '.versions', 'spammer_phones', '.unfinished', 'rows.tsv.gz'), 'half');
    await writeFile(join(directory, '.versions', 'spammer_phones', '.link'), 'half');
    await writeFile(join(directory, 'spammer_phones', 'state.json.new'), 'half');
    const next = await publish(inventedRows(701));
    expect(await run(directory)).toMatchObject([{ how: 'delta', from: published.version, version: next.version }]);
    expect((await readdir(join(directory, 'spammer_phones'))).sort()).toEqual([
      'index.tsv',
      'rows.tsv.gz',
      'state.json',
    ]);
    await writeFile(join(directory, 'spammer_phones', 'state.json'), '{"schema":');
    expect(await run(directory)).toMatchObject([{ how: 'full', from: null, version: next.version }]);
    expect((await rowsOf(directory)).equals(next.plain)).toBe(true);
  });
});
