import { describe, expect, it } from 'vitest';
import { decideCrossOrigin } from '../../../api/http/cross-origin.ts';
import { useTestDatabase } from '../../support/database.ts';
import { inventedRows, PublishedHistory } from '../../support/segmented-artefacts.ts';
import { until, useTestApi } from '../support/running-api.ts';

const page = 'https://app.example.com';
const preflight = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization,range' };
const allowOrigin = 'Access-Control-Allow-Origin';

describe('what a page of another origin may do', () => {
  it.each([
    ['no setting', undefined, page, { allowed: undefined, vary: undefined, preflight: false }],
    ['the origin of the setting', page, page, { allowed: page, vary: 'Origin', preflight: true }],
    ['one of several', `https://a.example,${page}`, page, { allowed: page, vary: 'Origin', preflight: true }],
    ['another origin', page, 'https://b.example', { allowed: undefined, vary: 'Origin', preflight: false }],
    ['a longer name', page, `${page}.evil.example`, { allowed: undefined, vary: 'Origin', preflight: false }],
    ['another port', page, `${page}:8443`, { allowed: undefined, vary: 'Origin', preflight: false }],
    ['a page without an origin', page, 'null', { allowed: undefined, vary: 'Origin', preflight: false }],
    ['no page at all', page, undefined, { allowed: undefined, vary: 'Origin', preflight: false }],
    ['every origin', '*', 'null', { allowed: '*', vary: undefined, preflight: true }],
    ['every origin, no page', '*', undefined, { allowed: undefined, vary: undefined, preflight: false }],
  ])('%s', (_case, setting, origin, { allowed, vary, preflight: isPreflight }) => {
    const asked = decideCrossOrigin({ method: 'OPTIONS', headers: { origin, ...preflight } }, setting);
    expect(asked.preflight !== undefined).toBe(isPreflight);
    const read = decideCrossOrigin({ method: 'GET', headers: { origin } }, setting);
    for (const { headers } of [asked, read])
      expect({ allowed: headers[allowOrigin], vary: headers['Vary'] }).toEqual({ allowed, vary });
    expect(read.headers['Access-Control-Expose-Headers'] !== undefined).toBe(allowed !== undefined);
    expect(read.preflight).toBeUndefined();
  });

  it('OPTIONS without a wanted method is no preflight', () => {
    expect(decideCrossOrigin({ method: 'OPTIONS', headers: { origin: page } }, page).preflight).toBeUndefined();
  });
});

const database = await useTestDatabase();
const closed = await useTestApi(database);
const open = await useTestApi(database, { API_ALLOWED_ORIGINS: page, API_REQUESTS_PER_MINUTE_MAX: '200' });
const artefact = await open.publish({ cache: 'phones', country: 'US' });
const path = '/v1/caches/phones?country=US';

/** The headers of an answer that a browser judges by. */
function crossOriginHeaders(answer: Response): Record<string, string> {
  return Object.fromEntries([...answer.headers].filter(([name]) => name.startsWith('access-control-')));
}

it('a preflight of an allowed origin is answered 204 on every path, without a key', async () => {
  for (const asked of [path, '/nothing', '/v1/caches/%zz', '/healthz', '/docs']) {
    const answer = await fetch(`${open.url}${asked}`, { method: 'OPTIONS', headers: { origin: page, ...preflight } });
    expect([answer.status, await answer.text(), answer.headers.get('vary')], asked).toEqual([204, '', 'Origin']);
    expect(crossOriginHeaders(answer)).toEqual({
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers':
        'Authorization, If-Match, If-Modified-Since, If-None-Match, If-Range, If-Unmodified-Since, Range',
      'access-control-max-age': '7200',
    });
  }
});

it('a preflight of another origin, or where none is allowed, stays 405', async () => {
  for (const [url, origin] of [
    [open.url, 'https://other.example'],
    [closed.url, page],
  ]) {
    const answer = await fetch(`${url}${path}`, { method: 'OPTIONS', headers: { origin: origin!, ...preflight } });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(crossOriginHeaders(answer)).toEqual({});
  }
});

it('every answer to an allowed origin can be read by its page: files, parts, 304, documents and errors', async () => {
  const exposed = /\bContent-Range\b.*\bETag\b.*\bRepr-Digest\b.*\bRetry-After\b.*\bX-Cache-Version\b/;
  const etag = `"${artefact.sha256}"`;
  const cases: [path: string, headers: Record<string, string>, status: number, vary: string][] = [
    [path, {}, 200, 'Authorization, Origin'],
    [path, { range: 'bytes=0-9' }, 206, 'Authorization, Origin'],
    [path, { 'if-none-match': etag }, 304, 'Authorization, Origin'],
    [path, { range: 'bytes=999999-' }, 416, 'Origin'],
    ['/v1/caches', {}, 200, 'Authorization, Origin'],
    ['/v1/models', {}, 200, 'Origin'],
    ['/openapi.json', {}, 200, 'Origin'],
    ['/healthz', {}, 200, 'Origin'],
    ['/v1/caches', { authorization: 'Bearer wrong' }, 401, 'Origin'],
    ['/v1/caches/%zz', {}, 400, 'Origin'],
    ['/nothing', {}, 404, 'Origin'],
  ];
  for (const [asked, headers, status, vary] of cases) {
    const answer = await open.get(asked, { origin: page, ...headers });
    await answer.arrayBuffer();
    expect([answer.status, answer.headers.get('vary')], asked).toEqual([status, vary]);
    expect(crossOriginHeaders(answer)).toEqual({
      'access-control-allow-origin': page,
      'access-control-expose-headers': expect.stringMatching(exposed) as string,
    });
  }
});

it('a page can read every header that a delta has of its own', async () => {
  const brands = { cache: 'branded_phones', country: '' } as const;
  const history = new PublishedHistory({ db: database.db, store: open.store, artefact: brands });
  for (const rows of [50, 51]) await history.publish(inventedRows(rows, () => 'Northwind Dental'));
  const delta = '/v1/caches/branded_phones/delta?from=1';
  await until(async () => (await open.get(delta, {}, 'HEAD')).status === 200);
  const { headers } = await open.get(delta, { origin: page }, 'HEAD');
  const exposed = headers.get('access-control-expose-headers')!.toLowerCase().split(', ');
  const own = [...headers.keys()].filter((name) => name.startsWith('x-cache-'));
  expect(own).toContain('x-cache-from');
  expect(exposed).toEqual(expect.arrayContaining(own));
});

it('without the setting no answer has a header for pages of other origins', async () => {
  const answer = await closed.get('/v1/caches', { origin: page });
  expect(crossOriginHeaders(answer)).toEqual({});
  expect(answer.headers.get('vary')).toBe('Authorization');
});

it('preflights do not count towards the limit of requests; what follows them does, and its 429 can be read', async () => {
  const headers = { origin: page, ...preflight };
  for (let tries = 0; tries < 250; tries++)
    expect((await fetch(`${open.url}${path}`, { method: 'OPTIONS', headers })).status).toBe(204);
  const answers = await Promise.all(
    Array.from({ length: 201 }, () => fetch(`${open.url}/v1/models`, { headers: { origin: page } })),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]!.headers.get('access-control-allow-origin')).toBe(page);
  expect(Number(refused[0]!.headers.get('retry-after'))).toBeGreaterThan(0);
  await Promise.all(answers.map((answer) => answer.arrayBuffer()));
});
