import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { revokeKey } from '../../../pipelines/access/keys.ts';
import { useTestDatabase } from '../../support/database.ts';
import { openRaw, until, useTestApi, type RawConnection } from '../support/running-api.ts';

const database = await useTestDatabase();
const { url, api, key, get, publish, makeKey } = await useTestApi(
  database,
  { API_REQUESTS_PER_MINUTE_MAX: '200' },
  { apiHeadersSecondsMax: 2, apiKeepAliveSecondsMax: 2 },
);
const us = await publish({ cache: 'phones', country: 'US' });
const file = '/v1/caches/phones?country=US';
const manifest = '/v1/caches/phones/manifest?country=US';

function request(path: string, tag: string, { bearer = key, more = '' } = {}): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${bearer}\r\nIf-None-Match: ${tag}\r\n${more}\r\n`;
}

/** Sends, and returns what came when as many answers as asked for have begun. */
async function answersTo(raw: RawConnection, text: string, answers = 1): Promise<string> {
  const before = raw.received().length;
  raw.send(text);
  const received = () => raw.received().subarray(before).toString('latin1');
  await until(() => (received().match(/HTTP\/1\.1 \d{3}/g) ?? []).length >= answers && /\r\n\r\n/.test(received()));
  return received();
}

async function counted(): Promise<number> {
  const text = await (await fetch(`${api.metricsUrl}/metrics`)).text();
  return Number(
    /^caller_trust_api_requests_total\{route="\/v1\/caches\/phones",method="GET",status="304"\} (\d+)$/m.exec(
      text,
    )?.[1] ?? 0,
  );
}

describe('a client that has the file', () => {
  it.each([
    ['of the file', file, async () => `"${us.sha256}"`],
    ['of the manifest', manifest, async () => (await get(manifest)).headers.get('etag')!],
  ])('is given a 304 %s without a body', async (_what, path, readTag) => {
    const tag = await readTag();
    const raw = await openRaw(url);
    const answer = await answersTo(raw, request(path, tag));
    expect(answer).toMatch(/^HTTP\/1\.1 304 Not Modified\r\n/);
    expect(answer).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/);
    expect(answer).toMatch(/\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/);
    expect(answer.toLowerCase()).toContain(`\r\netag: ${tag}\r\n`);
    expect(answer.endsWith('\r\n\r\n')).toBe(true);
    raw.socket.destroy();
  });

  it('may ask again and again, and for something else after that', async () => {
    const before = await counted();
    const raw = await openRaw(url);
    for (let time = 0; time < 3; time++)
      expect(await answersTo(raw, request(file, `"${us.sha256}"`))).toMatch(/^HTTP\/1\.1 304 /);
    const other = await answersTo(raw, request(file, '"another"'));
    expect(other).toMatch(/^HTTP\/1\.1 200 /);
    await until(() => raw.received().includes(us.gzip));
    expect(await answersTo(raw, request(file, `"${us.sha256}"`))).toMatch(/^HTTP\/1\.1 304 /);
    await until(async () => (await counted()) === before + 4);
    raw.socket.destroy();
  });

  it('is answered in order when it does not wait for answers, or sends a request in pieces', async () => {
    const raw = await openRaw(url);
    const several = request(file, `"${us.sha256}"`) + request('/healthz', '"x"') + request(file, `"${us.sha256}"`);
    const statuses = Array.from(
      (await answersTo(raw, several, 3)).matchAll(/HTTP\/1\.1 (\d{3})/g),
      ([, status]) => status,
    );
    expect(statuses).toEqual(['304', '200', '304']);
    const pieces = await openRaw(url);
    const text = request(file, `"${us.sha256}"`);
    for (const piece of [text.slice(0, 7), text.slice(7, 60)]) {
      pieces.send(piece);
      await sleep(30);
    }
    expect(await answersTo(pieces, text.slice(60))).toMatch(/^HTTP\/1\.1 304 /);
    for (const each of [raw, pieces]) each.socket.destroy();
  });

  it('with a key that is unknown, or lacks the scope, is refused by the route', async () => {
    const { key: other } = await makeKey(['branding:read']);
    for (const [bearer, status] of [
      ['nonsense', 401],
      [other, 403],
    ] as const) {
      const raw = await openRaw(url);
      expect(await answersTo(raw, request(file, `"${us.sha256}"`, { bearer }))).toContain(`HTTP/1.1 ${status} `);
      raw.socket.destroy();
    }
  });

  it('is refused on the same connection after its key was revoked', async () => {
    const { key: own, keyId } = await makeKey();
    const raw = await openRaw(url);
    expect(await answersTo(raw, request(file, `"${us.sha256}"`, { bearer: own }))).toMatch(/^HTTP\/1\.1 304 /);
    await revokeKey(database.db, keyId);
    await until(async () =>
      (await answersTo(raw, request(file, `"${us.sha256}"`, { bearer: own }))).startsWith('HTTP/1.1 401 '),
    );
    raw.socket.destroy();
  });

  it('is counted against the limit of its key, and refused beyond it', async () => {
    const { key: own } = await makeKey();
    const raw = await openRaw(url);
    const statuses = new Set<string>();
    let asked = 0;
    for (; !statuses.has('429') && asked < 250; asked++)
      statuses.add(
        /^HTTP\/1\.1 (\d{3})/.exec(await answersTo(raw, request(file, `"${us.sha256}"`, { bearer: own })))![1]!,
      );
    expect([...statuses]).toEqual(['304', '429']);
    expect(asked).toBeGreaterThan(190);
    expect(asked).toBeLessThanOrEqual(201);
    raw.socket.destroy();
  });

  it('is given the new version when there is one', async () => {
    const next = await publish({ cache: 'phones', country: 'US' });
    const raw = await openRaw(url);
    expect(await answersTo(raw, request(file, `"${us.sha256}"`))).toMatch(/^HTTP\/1\.1 200 /);
    raw.socket.destroy();
    const again = await openRaw(url);
    expect(await answersTo(again, request(file, `"${next.sha256}"`))).toMatch(/^HTTP\/1\.1 304 /);
    again.socket.end();
    await again.closed();
  });
});

it('closes a connection that sends nothing, and one that asks no more', async () => {
  const [silent, idle] = [await openRaw(url), await openRaw(url)];
  const tag = (await get(file, {}, 'HEAD')).headers.get('etag')!;
  expect(await answersTo(idle, request(file, tag))).toMatch(/^HTTP\/1\.1 304 /);
  await Promise.all([silent.closed(), idle.closed()]);
  expect(silent.received().toString('latin1')).toMatch(/^HTTP\/1\.1 408 /);
});
