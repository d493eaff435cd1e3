import { request, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { useTestDatabase } from '../support/database.ts';
import { noise } from './support/artefacts.ts';
import { openRaw, until, useTestApi, type RawConnection } from './support/running-api.ts';

const MiB = 1024 * 1024;
const database = await useTestDatabase();

const fifty = await useTestApi(database, { API_REQUESTS_PER_MINUTE_MAX: '50' });
const three = await useTestApi(database, {}, { apiDownloadsMax: 3 });
const smallHeader = await useTestApi(database, {}, { apiHeaderBytesMax: 2048 });
const quick = await useTestApi(database, {}, { apiHeadersSecondsMax: 1, apiRequestSecondsMax: 1 });
const twelve = await useTestApi(database, {}, { apiConnectionsMax: 12 });

/** Asks from an address of its own, which nobody asked from before. */
function askFrom(
  localAddress: string,
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { localAddress, headers, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

it('answers as many requests of an address as the limit, and 429 with Retry-After to one more', async () => {
  const statuses: number[] = [];
  for (let asked = 0; asked < 50; asked++) statuses.push((await askFrom('127.0.0.2', `${fifty.url}/nothing`)).status);
  expect(statuses).toEqual(Array.from({ length: 50 }, () => 404));
  const refused = await askFrom('127.0.0.2', `${fifty.url}/nothing`);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(60);
  expect(JSON.parse(refused.body)).toMatchObject({ code: 'rate_limited' });
  expect((await askFrom('127.0.0.3', `${fifty.url}/nothing`)).status).toBe(404);
  for (let asked = 0; asked < 60; asked++)
    expect((await askFrom('127.0.0.2', `${fifty.url}/healthz`)).status).toBe(200);
});

it('counts a key separately, from any address', async () => {
  const { key } = await fifty.makeKey(); // one request of it was answered while it was made
  const headers = { authorization: `Bearer ${key}` };
  for (let asked = 0; asked < 49; asked++)
    expect((await askFrom(`127.0.1.${asked + 1}`, `${fifty.url}/v1/caches`, headers)).status).toBe(200);
  expect((await askFrom('127.0.1.77', `${fifty.url}/v1/caches`, headers)).status).toBe(429);
  expect((await askFrom('127.0.1.77', `${fifty.url}/v1/caches`)).status).toBe(401);
  expect((await fifty.get('/v1/caches')).status).toBe(200);
});

it('sends as many downloads as the limit and answers 503 with Retry-After to one more', async () => {
  const { url, key, publish, get } = three;
  await publish({ cache: 'spammer_phones', gzip: noise(24 * MiB) });
  const line = `GET /v1/caches/spammer_phones HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const slow: RawConnection[] = [];
  for (let count = 0; count < 3; count++) {
    const raw = await openRaw(url);
    slow.push(raw);
    raw.socket.once('data', () => raw.socket.pause());
    raw.send(line);
    await until(() => raw.received().length > 0);
  }
  const refused = await get('/v1/caches/spammer_phones');
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ code: 'overloaded' });
  expect((await get('/v1/caches/spammer_phones', {}, 'HEAD')).status).toBe(200);
  slow[0]?.socket.destroy();
  await until(async () => {
    const response = await get('/v1/caches/spammer_phones', { range: 'bytes=0-9' });
    await response.arrayBuffer();
    return response.status === 206;
  });
  for (const raw of slow) raw.socket.destroy();
});

it('answers a header of the limit, and 431 to a larger one', async () => {
  const { url } = smallHeader;
  expect((await fetch(`${url}/healthz`, { headers: { x: 'a'.repeat(1500) } })).status).toBe(200);
  const raw = await openRaw(url);
  raw.send(`GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(2100)}\r\n\r\n`);
  const answer = (await raw.closed()).toString('latin1');
  expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  expect(answer).toContain('"code":"header_too_large"');
});

it('gives half a request up with 408, and a silent connection too', async () => {
  const { url } = quick;
  const [half, trickle, silent] = [await openRaw(url), await openRaw(url), await openRaw(url)];
  half.send('GET /healthz HTTP/1.1\r\nHost: x\r\n');
  trickle.send('GET /healthz HTTP/1.1\r\n');
  const drip = setInterval(() => trickle.send('X'), 100);
  for (const raw of [half, trickle]) {
    const answer = (await raw.closed()).toString('latin1');
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('"code":"request_timeout"');
  }
  clearInterval(drip);
  await silent.closed();
});

it('closes one connection past the limit at once', async () => {
  const { url } = twelve;
  await sleep(100); // connections of the set-up stay open for the next request
  const open: RawConnection[] = [];
  let refused = 0;
  for (let count = 0; count < 13; count++) {
    const raw = await openRaw(url);
    raw.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    const answered = until(() => raw.received().length > 0).then(() => true);
    const closed = raw.closed().then((bytes) => bytes.length > 0);
    if (await Promise.race([answered, closed])) open.push(raw);
    else refused++;
  }
  expect(refused).toBeGreaterThanOrEqual(1);
  expect(open.length).toBeGreaterThanOrEqual(8);
  for (const raw of open) raw.socket.destroy();
});
