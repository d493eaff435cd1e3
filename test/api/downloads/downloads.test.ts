import { createHash } from 'node:crypto';
import { truncate } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { useTestDatabase } from '../../support/database.ts';
import { noise, publish as publishOnly, sha256Of } from '../support/artefacts.ts';
import { openRaw, until, useTestApi } from '../support/running-api.ts';

const MiB = 1024 * 1024;
const database = await useTestDatabase();
const { get, publish, url, key, store, api, filesChecked } = await useTestApi(
  database,
  {},
  { apiReadBufferBytes: 65_536, apiStalledSecondsMax: 2 },
);

const us = await publish({ cache: 'phones', country: 'US', plain: '+12025550100\tSPAM\t6\t\t\t\t\n' });
const usPath = '/v1/caches/phones?country=US';

it('serves a file with the headers of the contract and the bytes of the manifest', async () => {
  const response = await get(usPath);
  const body = Buffer.from(await response.arrayBuffer());
  expect(response.status).toBe(200);
  expect(body.equals(us.gzip)).toBe(true);
  expect(gunzipSync(body).equals(us.plain)).toBe(true);
  const headers = Object.fromEntries(response.headers);
  expect(headers).toMatchObject({
    'content-type': 'application/gzip',
    'content-disposition': `attachment; filename="phones-US-v${us.version}.tsv.gz"`,
    'content-length': String(us.gzip.length),
    etag: `"${us.sha256}"`,
    'last-modified': us.publishedAt.toUTCString(),
    'repr-digest': `sha-256=:${Buffer.from(us.sha256, 'hex').toString('base64')}:`,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    vary: 'Authorization',
    'x-cache-version': String(us.version),
    'x-cache-rows': '1',
    'x-cache-as-of': us.publishedAt.toISOString(),
    'x-content-type-options': 'nosniff',
  });
  expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  for (const name of ['content-encoding', 'transfer-encoding', 'x-powered-by', 'server'])
    expect(headers).not.toHaveProperty(name);
});

it('answers HEAD with the same headers and no body', async () => {
  const [whole, head] = [await get(usPath), await get(usPath, {}, 'HEAD')];
  const comparable = (response: Response) =>
    Object.fromEntries(
      [...response.headers].filter(([name]) => !['x-request-id', 'date', 'connection', 'keep-alive'].includes(name)),
    );
  expect(head.status).toBe(200);
  expect(comparable(head)).toEqual(comparable(whole));
  expect((await head.arrayBuffer()).byteLength).toBe(0);
  await whole.arrayBuffer();
});

it.each([
  ['If-None-Match', { 'if-none-match': `"${us.sha256}"` }],
  ['If-None-Match with a list and a weak tag', { 'if-none-match': `"x", W/"${us.sha256}"` }],
  ['If-Modified-Since', { 'if-modified-since': us.publishedAt.toUTCString() }],
])('answers 304 without body or length to %s', async (_name, headers) => {
  for (const method of ['GET', 'HEAD']) {
    const response = await get(usPath, headers, method);
    expect(response.status).toBe(304);
    expect(response.headers.get('etag')).toBe(`"${us.sha256}"`);
    expect(response.headers.has('content-length')).toBe(false);
    expect((await response.arrayBuffer()).byteLength).toBe(0);
  }
});

it('answers 412 where If-Match names another version', async () => {
  const response = await get(usPath, { 'if-match': '"x"' });
  expect(response.status).toBe(412);
  expect(await response.json()).toMatchObject({ code: 'precondition_failed' });
});

it('answers a range with exactly those bytes, and 416 past the end', async () => {
  const size = us.gzip.length;
  const part = await get(usPath, { range: 'bytes=5-9' });
  expect(part.status).toBe(206);
  expect(part.headers.get('content-range')).toBe(`bytes 5-9/${size}`);
  expect(part.headers.get('content-length')).toBe('5');
  expect(Buffer.from(await part.arrayBuffer()).equals(us.gzip.subarray(5, 10))).toBe(true);
  const suffix = await get(usPath, { range: 'bytes=-4', 'if-range': `"${us.sha256}"` });
  expect(Buffer.from(await suffix.arrayBuffer()).equals(us.gzip.subarray(-4))).toBe(true);
  const past = await get(usPath, { range: `bytes=${size}-` });
  expect(past.status).toBe(416);
  expect(past.headers.get('content-range')).toBe(`bytes */${size}`);
  expect(await past.json()).toMatchObject({ code: 'range_not_satisfiable' });
  const several = await get(usPath, { range: 'bytes=0-1,3-4' });
  expect(several.status).toBe(200);
  expect((await several.arrayBuffer()).byteLength).toBe(size);
});

it('resumes an interrupted download, and starts again if the version has changed', async () => {
  const bytes = noise(300_000);
  const first = await publish({ cache: 'phones', country: 'FR', plain: bytes });
  const head = await get('/v1/caches/phones?country=FR', { range: 'bytes=0-99999' });
  const rest = await get('/v1/caches/phones?country=FR', { range: 'bytes=100000-', 'if-range': `"${first.sha256}"` });
  expect(rest.status).toBe(206);
  const joined = Buffer.concat([Buffer.from(await head.arrayBuffer()), Buffer.from(await rest.arrayBuffer())]);
  expect(joined.equals(first.gzip)).toBe(true);
  const second = await publish({ cache: 'phones', country: 'FR', plain: 'other\n' });
  const again = await get('/v1/caches/phones?country=FR', { range: 'bytes=100000-', 'if-range': `"${first.sha256}"` });
  expect(again.status).toBe(200);
  expect(Buffer.from(await again.arrayBuffer()).equals(second.gzip)).toBe(true);
});

it('does not take a date for If-Range where two versions share its second', async () => {
  const publishedAt = new Date(Math.floor(Date.now() / 1000) * 1000 - 5000);
  await publish({ cache: 'phones', country: 'IT', publishedAt });
  const single = await get('/v1/caches/phones?country=IT', {
    range: 'bytes=0-1',
    'if-range': publishedAt.toUTCString(),
  });
  expect(single.status).toBe(206);
  await single.arrayBuffer();
  await publish({ cache: 'phones', country: 'IT', publishedAt: new Date(publishedAt.getTime() + 300) });
  const shared = await get('/v1/caches/phones?country=IT', {
    range: 'bytes=0-1',
    'if-range': publishedAt.toUTCString(),
  });
  expect(shared.status).toBe(200);
  await shared.arrayBuffer();
});

/** Reads a body at about a rate, through a client whose buffers are small. */
function readSlowly(
  path: string,
  { pauseMs, onBytes }: { pauseMs: number; onBytes?: (bytes: number) => void },
): Promise<{ headers: Record<string, unknown>; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${url}${path}`,
      { headers: { authorization: `Bearer ${key}` }, agent: false },
      async (response) => {
        const chunks: Buffer[] = [];
        try {
          for await (const chunk of response) {
            chunks.push(chunk as Buffer);
            onBytes?.((chunk as Buffer).length);
            if (pauseMs > 0) await sleep(pauseMs);
          }
          resolve({ headers: response.headers, body: Buffer.concat(chunks) });
        } catch (error) {
          reject(error);
        }
      },
    );
    request.on('error', reject);
    request.end();
  });
}

it('sends the bytes of one version, also when a new one is published during a slow download', async () => {
  const old = await publish({ cache: 'spammer_phones', gzip: noise(24 * MiB) });
  let started = false;
  const slow = readSlowly('/v1/caches/spammer_phones', { pauseMs: 2, onBytes: () => (started = true) });
  await until(() => started);
  const next = await publish({ cache: 'spammer_phones', gzip: noise(2 * MiB, 2) });
  await store.remove({ cache: old.cache, country: '', sha256: old.sha256 });
  const fresh = await get('/v1/caches/spammer_phones');
  expect(sha256Of(Buffer.from(await fresh.arrayBuffer()))).toBe(next.sha256);
  const { headers, body } = await slow;
  expect(headers['etag']).toBe(`"${old.sha256}"`);
  expect(sha256Of(body)).toBe(old.sha256);
});

it('keeps length, ETag, digest, version and bytes of one version together under thousands of requests while versions change', async () => {
  const versions = new Map<string, { version: number; gzip: Buffer }>();
  const addNext = async (seed: number) => {
    const gzip = noise(2000 + seed * 700, seed);
    versions.set(`"${sha256Of(gzip)}"`, { version: seed, gzip }); // before the first client is served it
    expect(await publishOnly(database.db, store, { cache: 'branded_phones', gzip })).toMatchObject({ version: seed });
  };
  await addNext(1);
  await until(async () => (await get('/v1/caches/branded_phones', {}, 'HEAD')).status === 200);
  let running = true;
  const flips = (async () => {
    for (let seed = 2; running; seed++) {
      await addNext(seed);
      await sleep(20);
    }
  })();
  const statuses: Record<number, number> = {};
  const poll = async (turns: number) => {
    let known: string | undefined;
    for (let turn = 0; turn < turns; turn++) {
      const conditional: Record<string, string> =
        known === undefined
          ? {}
          : turn % 3 === 0
            ? { range: 'bytes=100-199', 'if-range': known }
            : { 'if-none-match': known };
      const response = await get('/v1/caches/branded_phones', conditional);
      const body = Buffer.from(await response.arrayBuffer());
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
      const etag = response.headers.get('etag') ?? '';
      const expected = versions.get(etag)?.gzip ?? Buffer.alloc(0);
      if (response.status === 304) {
        expect(etag).toBe(known);
        continue;
      }
      const bytes = response.status === 206 ? expected.subarray(100, 200) : expected;
      expect(body.equals(bytes)).toBe(true);
      expect(response.headers.get('content-length')).toBe(String(bytes.length));
      expect(response.headers.get('x-cache-version')).toBe(String(versions.get(etag)?.version));
      expect(response.headers.get('repr-digest')).toBe(
        `sha-256=:${createHash('sha256').update(expected).digest('base64')}:`,
      );
      known = etag;
    }
  };
  await Promise.all(Array.from({ length: 20 }, () => poll(150)));
  running = false;
  await flips;
  expect(versions.size).toBeGreaterThan(5);
  expect(Object.keys(statuses).sort()).toEqual(['200', '206', '304']);
});

it('cuts the connection where the file is shorter than its manifest says, and logs it', async () => {
  const damaged = await publish({ cache: 'phones', country: 'DE', gzip: noise(1_000_000, 7) });
  await filesChecked();
  await truncate(store.path({ cache: 'phones', country: 'DE', sha256: damaged.sha256 }), 400_000);
  await expect(readSlowly('/v1/caches/phones?country=DE', { pauseMs: 0 })).rejects.toThrow('aborted');
  const head = await get('/v1/caches/phones?country=DE', {}, 'HEAD');
  expect(head.status).toBe(200);
});

it('serves the version before where the file of a new one is missing or has another length', async () => {
  const good = await publish({ cache: 'phones', country: 'ES' });
  await publishOnly(database.db, store, { cache: 'phones', country: 'ES', keepFile: false });
  await sleep(300);
  const response = await get('/v1/caches/phones?country=ES');
  expect(response.headers.get('etag')).toBe(`"${good.sha256}"`);
  expect(Buffer.from(await response.arrayBuffer()).equals(good.gzip)).toBe(true);
  const manifest = (await (await get('/v1/caches/phones/manifest?country=ES')).json()) as { file: { sha256: string } };
  expect(manifest.file.sha256).toBe(good.sha256);
  const third = await publish({ cache: 'phones', country: 'ES' });
  expect((await get('/v1/caches/phones?country=ES', {}, 'HEAD')).headers.get('etag')).toBe(`"${third.sha256}"`);
});

it('answers 503 where the only version cannot be read here, and serves it as soon as it can', async () => {
  const lost = await publishOnly(database.db, store, { cache: 'phones', country: 'PT', keepFile: false });
  await until(async () => (await get('/v1/caches/phones?country=PT')).status === 503);
  expect(await (await get('/v1/caches/phones?country=PT')).json()).toMatchObject({ code: 'not_ready' });
  const file = await store.start('test-found');
  await file.handle.writeFile(lost.gzip);
  await file.keep({ cache: 'phones', country: 'PT', sha256: lost.sha256 });
  await until(async () => (await get('/v1/caches/phones?country=PT')).status === 200);
});

it('answers pipelined downloads in order, each whole', async () => {
  const raw = await openRaw(url);
  const line = `GET ${usPath} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
  raw.send(
    `${line}\r\n${line.replace('US', 'FR')}Connection: keep-alive\r\n\r\n`.repeat(10) +
      `${line}Connection: close\r\n\r\n`,
  );
  const received = await raw.closed();
  const bodies = received
    .toString('latin1')
    .split(/HTTP\/1\.1 200 OK\r\n/)
    .slice(1)
    .map((text) => Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1'));
  expect(bodies).toHaveLength(21);
  bodies.forEach((body, index) => {
    if (index % 2 === 0) expect(body.equals(us.gzip)).toBe(true);
  });
});

it('cuts off a client that takes no byte for the limit, and gives its place back', async () => {
  const big = await publish({ cache: 'phones', country: 'GB', gzip: noise(16 * MiB, 3) });
  const raw = await openRaw(url);
  raw.socket.pause();
  const started = performance.now();
  raw.send(`GET /v1/caches/phones?country=GB HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  const inProgress = async () =>
    /downloads_in_progress (\d+)/.exec(await (await fetch(`${api.metricsUrl}/metrics`)).text())?.[1];
  await until(async () => (await inProgress()) === '1');
  await until(async () => (await inProgress()) === '0');
  expect(performance.now() - started).toBeGreaterThan(1000);
  raw.socket.destroy();
  const whole = await get('/v1/caches/phones?country=GB');
  expect(sha256Of(Buffer.from(await whole.arrayBuffer()))).toBe(big.sha256);
});

it('does not cut off a slow client that keeps taking bytes', async () => {
  const big = await publish({ cache: 'phones', country: 'GB', gzip: noise(12 * MiB, 4) });
  const started = performance.now();
  const { body } = await readSlowly('/v1/caches/phones?country=GB', { pauseMs: 18 });
  expect(performance.now() - started).toBeGreaterThan(2500);
  expect(sha256Of(body)).toBe(big.sha256);
});
