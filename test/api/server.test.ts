import { METHODS } from 'node:http';
import { expect, it } from 'vitest';
import { categoryListSchema, manifestListSchema, manifestSchema, problemSchema } from '../../api/documents/schemas.ts';
import { useTestDatabase } from '../support/database.ts';
import { openRaw, until, useTestApi } from './support/running-api.ts';

const database = await useTestDatabase();
const { get, publish, url, key, makeKey } = await useTestApi(database);

const us = await publish({ cache: 'phones', country: 'US' });
const branded = await publish({ cache: 'branded_phones' });

const parameterCases: [path: string, status: number, code: string][] = [
  ['/v1/caches/phones', 400, 'country_required'],
  ['/v1/caches/phones?', 400, 'country_required'],
  ['/v1/caches/phones?country=', 400, 'country_invalid'],
  ['/v1/caches/phones?country', 400, 'country_invalid'],
  ['/v1/caches/phones?country=us', 400, 'country_invalid'],
  ['/v1/caches/phones?country=USA', 400, 'country_invalid'],
  ['/v1/caches/phones?country=U', 400, 'country_invalid'],
  ['/v1/caches/phones?country=U1', 400, 'country_invalid'],
  ['/v1/caches/phones?country=%20US', 400, 'country_invalid'],
  ['/v1/caches/phones?country=US%0A', 400, 'country_invalid'],
  ['/v1/caches/phones?country=US%00', 400, 'country_invalid'],
  ['/v1/caches/phones?country=%C4%B1N', 400, 'country_invalid'], // dotless i
  ['/v1/caches/phones?country=%zz', 400, 'country_invalid'],
  ['/v1/caches/phones?country=%FF%FE', 400, 'country_invalid'],
  ['/v1/caches/phones?country=..%2F..', 400, 'country_invalid'],
  ['/v1/caches/phones?country=US&country=US', 400, 'country_invalid'],
  ['/v1/caches/phones?country=US&country=FR', 400, 'country_invalid'],
  ['/v1/caches/phones?country[]=US', 400, 'parameter_unknown'],
  ['/v1/caches/phones?country[a]=US', 400, 'parameter_unknown'],
  ['/v1/caches/phones?Country=US', 400, 'parameter_unknown'],
  ['/v1/caches/phones?country=US&x=1', 400, 'parameter_unknown'],
  ['/v1/caches/phones?country=us&x=1', 400, 'parameter_unknown'],
  ['/v1/caches/phones?country=US&__proto__=1', 400, 'parameter_unknown'],
  ['/v1/caches/phones?country=US&=1', 400, 'parameter_unknown'],
  ['/v1/caches/phones?country=ZZ', 404, 'artefact_not_found'],
  ['/v1/caches/phones?country=GB', 404, 'artefact_not_found'],
  ['/v1/caches/branded_phones?country=US', 400, 'parameter_unknown'],
  ['/v1/caches/spammer_phones?country=US', 400, 'parameter_unknown'],
  ['/v1/caches/spammer_phones', 404, 'artefact_not_found'],
  ['/v1/caches/spammer_phones/manifest', 404, 'artefact_not_found'],
  ['/v1/caches/phones/manifest', 400, 'country_required'],
  ['/v1/caches/phones/manifest?country=us', 400, 'country_invalid'],
  ['/v1/caches/branded_phones/manifest?country=US', 400, 'parameter_unknown'],
  ['/v1/caches?country=US', 400, 'parameter_unknown'],
  ['/v1/reputation/categories?x', 400, 'parameter_unknown'],
  ['/healthz?x=1', 400, 'parameter_unknown'],
  ['/v1/caches/nothing/manifest', 404, 'cache_unknown'],
  ['/v1/caches/nothing', 404, 'route_unknown'],
  ['/v1/caches/', 404, 'route_unknown'],
  ['/v1/caches/phones/', 404, 'route_unknown'],
  ['/V1/caches', 404, 'route_unknown'],
  ['/v1//caches', 404, 'route_unknown'],
  ['/', 404, 'route_unknown'],
  ['/v1/caches/phones;country=US', 404, 'route_unknown'],
  [`/v1/caches/${'x'.repeat(100)}/manifest`, 404, 'cache_unknown'],
  [`/v1/caches/${'x'.repeat(101)}/manifest`, 404, 'route_unknown'],
  ['/v1/caches/%zz', 400, 'request_invalid'],
  ['/v1/caches/%2e%2e%2fphones', 404, 'route_unknown'],
];

it.each(parameterCases)('%s: %d %s', async (path, status, code) => {
  const response = await get(path);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const body = problemSchema.parse(await response.json());
  expect(body).toMatchObject({ status, code, type: `urn:caller-trust:error:${code}` });
  expect(response.status).toBe(status);
  expect(body.requestId).toBe(response.headers.get('x-request-id'));
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
});

it('reads an escaped country and an absolute request target', async () => {
  expect((await get('/v1/caches/phones?country=%55S')).status).toBe(200);
  const raw = await openRaw(url);
  raw.send(
    `GET http://somewhere/v1/caches/phones?country=US HTTP/1.1\r\nHost: somewhere\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
  );
  expect((await raw.closed()).toString('latin1')).toMatch(/^HTTP\/1\.1 200 OK/);
});

it('repeats nothing of the request in a problem', async () => {
  const secretText = '+12025550142';
  for (const path of [
    `/v1/caches/phones?country=${secretText}`,
    `/v1/caches/phones?country=US&${secretText}=1`,
    `/v1/caches/${secretText}/manifest`,
    `/${secretText}`,
    `/v1/caches/phones?country=ct_abcdefghijkl_${'A'.repeat(43)}`,
  ]) {
    expect(await (await get(path)).text()).not.toMatch(/2025550142|ct_/);
  }
});

it('asks for a key before it looks at anything else', async () => {
  for (const path of [
    '/v1/caches',
    '/v1/caches/phones',
    '/v1/caches/phones?country=US',
    '/v1/caches/phones?x=1',
    '/v1/caches/spammer_phones',
    '/v1/caches/nothing/manifest',
    '/v1/caches/phones/manifest',
    '/v1/reputation/categories',
  ]) {
    const response = await fetch(`${url}${path}`);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(await response.json()).toMatchObject({ code: 'unauthenticated' });
  }
});

it('names the scope that a key lacks', async () => {
  const { key: other } = await makeKey(['branding:read']);
  const response = await fetch(`${url}/v1/caches/phones`, { headers: { authorization: `Bearer ${other}` } });
  expect(response.status).toBe(403);
  const body = (await response.json()) as { code: string; detail: string };
  expect(body.code).toBe('forbidden');
  expect(body.detail).toContain('caches:read');
});

it.each([
  ['Basic eDp5'],
  ['Bearer'],
  ['Bearer '],
  [`Bearer ${key}x`],
  [`Bearer ${key.slice(0, -1)}`],
  [`Bearer ${key.toUpperCase()}`],
  [`Bearer ${key} ${key}`],
  [key],
  [`Bearer ${key.replace(/_.{43}$/, `_${'A'.repeat(43)}`)}`],
  [`Bearer ct_aaaaaaaaaaaa_${key.slice(-43)}`],
  [`Bearer ${'x'.repeat(5000)}`],
])('refuses the header %s', async (authorization) => {
  const response = await fetch(`${url}/v1/caches`, { headers: { authorization } });
  expect(response.status).toBe(401);
});

it('takes the scheme in any case', async () => {
  expect((await fetch(`${url}/v1/caches`, { headers: { authorization: `bEARER ${key}` } })).status).toBe(200);
});

it('answers every other method on any path with 405 and Allow', async () => {
  const others = METHODS.filter((method) => !['GET', 'HEAD', 'CONNECT'].includes(method));
  for (const path of [
    '/v1/caches/phones?country=US',
    '/v1/caches',
    '/nothing',
    '/healthz',
    '/docs',
    '/v1/caches/%zz',
  ]) {
    for (const method of others) {
      const raw = await openRaw(url);
      raw.send(
        `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\nContent-Type: weird/type\r\n\r\n{}`,
      );
      const text = (await raw.closed()).toString('latin1');
      expect(text, `${method} ${path}`).toMatch(/^HTTP\/1\.1 405 /);
      expect(text).toMatch(/\r\nAllow: GET, HEAD\r\n/i);
      expect(text).toContain('"code":"method_not_allowed"');
    }
  }
});

it.each([
  ['CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'method_not_allowed'],
  ['OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 405, 'method_not_allowed'],
  ['FETCH / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'request_invalid'],
  ['hello\r\n\r\n', 400, 'request_invalid'],
  ['\x16\x03\x01\x02\x00\x01\x00', 400, 'request_invalid'],
  ['GET / HTTP/9.9\r\nHost: x\r\n\r\n', 400, 'request_invalid'],
  ['GET /v1/caches HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'request_invalid'],
  ['GET /v1/caches HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400, 'request_invalid'],
  [
    'GET /v1/caches HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    400,
    'request_invalid',
  ],
  ['GET /v1/caches HTTP/1.1\r\nHost: x\r\nBad Header: x\r\n\r\n', 400, 'request_invalid'],
])('answers the raw request %j with %d', async (text, status, code) => {
  const raw = await openRaw(url);
  raw.send(text);
  const answer = (await raw.closed()).toString('latin1');
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toMatch(/\r\nContent-Type: application\/problem\+json\r\n/i);
  const [, header, body] = /^([^]*?)\r\n\r\n([^]*)$/.exec(answer) ?? [];
  expect(problemSchema.parse(JSON.parse(body ?? ''))).toMatchObject({ status, code });
  expect(header).toMatch(/X-Request-Id: [0-9a-f-]{36}/i);
});

it('ignores an expectation and a body that comes with a GET', async () => {
  const raw = await openRaw(url);
  raw.send(
    `GET /v1/caches HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nExpect: something\r\nContent-Length: 5\r\n\r\nhelloGET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
  );
  const answer = (await raw.closed()).toString('latin1');
  expect(answer.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
});

it('serves each manifest with its own ETag, and 304 to it', async () => {
  const response = await get('/v1/caches/phones/manifest?country=US');
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const manifest = manifestSchema.parse(await response.json());
  expect(manifest).toMatchObject({
    cache: 'phones',
    country: 'US',
    version: us.version,
    status: 'fresh',
    file: { href: '/v1/caches/phones?country=US', sha256: us.sha256, bytes: us.gzip.length },
  });
  const etag = response.headers.get('etag') ?? '';
  for (const method of ['GET', 'HEAD'])
    expect((await get('/v1/caches/phones/manifest?country=US', { 'if-none-match': etag }, method)).status).toBe(304);
  expect((await get('/v1/caches/phones/manifest?country=US', { 'if-match': '"x"' })).status).toBe(412);
  const head = await get('/v1/caches/phones/manifest?country=US', {}, 'HEAD');
  expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(`${JSON.stringify(manifest)}\n`)));
});

it('lists every manifest, and a new ETag when one changes', async () => {
  const first = await get('/v1/caches');
  const { manifests } = manifestListSchema.parse(await first.json());
  expect(manifests.map(({ cache, country }) => [cache, country])).toEqual([
    ['branded_phones', null],
    ['phones', 'US'],
  ]);
  expect(manifests[0]?.version).toBe(branded.version);
  const etag = first.headers.get('etag') ?? '';
  expect((await get('/v1/caches', { 'if-none-match': etag })).status).toBe(304);
  await database.db.query(
    "UPDATE publication SET status = 'stale', stale_code = 'copy_cut', stale_reason = 'The stream ended.', stale_since = now() WHERE country = 'US'",
  );
  await until(async () => (await get('/v1/caches', { 'if-none-match': etag })).status === 200);
  const changed = manifestSchema.parse(await (await get('/v1/caches/phones/manifest?country=US')).json());
  expect(changed).toMatchObject({
    status: 'stale',
    stale: { code: 'copy_cut', reason: 'The stream ended.' },
    version: us.version,
  });
  expect((await get('/v1/caches/phones?country=US', { 'if-none-match': `"${us.sha256}"` })).status).toBe(304);
});

it('lists the categories', async () => {
  const response = await get('/v1/reputation/categories');
  const { categoriesVersion, categories } = categoryListSchema.parse(await response.json());
  expect(categoriesVersion).toBe(1);
  expect(categories).toHaveLength(15);
  expect(categories[5]).toEqual({ id: 6, name: 'telemarketer', level: 'SPAM' });
  expect((await get('/v1/reputation/categories', { 'if-none-match': response.headers.get('etag') ?? '' })).status).toBe(
    304,
  );
});

it('says that it lives without a key', async () => {
  const response = await fetch(`${url}/healthz`);
  expect([response.status, await response.json()]).toEqual([200, { status: 'live' }]);
});
