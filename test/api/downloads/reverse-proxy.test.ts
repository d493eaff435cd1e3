import { describe, expect, it } from 'vitest';
import { useTestDatabase } from '../../support/database.ts';
import { freePort, nginxMissing as missing, startNginx } from '../../support/nginx.ts';
import { noise } from '../support/artefacts.ts';
import { until, useTestApi } from '../support/running-api.ts';

/** The locations of docs/operations/scaling.md. */
const locations = (api: string, artefactDir: string) => `
  location / {
    proxy_pass ${api};
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    proxy_buffering off;
  }
  location /artefacts/ {
    internal;
    alias ${artefactDir}/;
    etag off;
    if_modified_since off;
    max_ranges 1;
    add_header ETag $upstream_http_etag;
    add_header Last-Modified $upstream_http_last_modified;
    add_header Repr-Digest $upstream_http_repr_digest;
    add_header Vary $upstream_http_vary;
    add_header Access-Control-Allow-Origin $upstream_http_access_control_allow_origin;
    add_header Access-Control-Expose-Headers $upstream_http_access_control_expose_headers;
    add_header X-Cache-Version $upstream_http_x_cache_version;
    add_header X-Cache-From $upstream_http_x_cache_from;
    add_header X-Cache-Rows $upstream_http_x_cache_rows;
    add_header X-Cache-As-Of $upstream_http_x_cache_as_of;
    add_header X-Request-Id $upstream_http_x_request_id;
    add_header X-Content-Type-Options nosniff;
  }`;

describe.skipIf(missing)(missing ? 'nginx is not on the PATH' : 'behind nginx that sends the files', async () => {
  if (missing) return;
  const database = await useTestDatabase();
  const { url, config, key, publish } = await useTestApi(database, {
    API_DELIVERY: '/artefacts',
    API_ALLOWED_ORIGINS: 'https://app.example.com',
  });
  const proxy = await startNginx({ locations: locations(url, config.artefactDir), port: await freePort() });
  const path = '/v1/caches/phones?country=US';
  const bytes = noise(300_000);
  const us = await publish({ cache: 'phones', country: 'US', gzip: bytes });
  await until(() =>
    fetch(`${proxy}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const get = (headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`${proxy}${path}`, { method, headers: { authorization: `Bearer ${key}`, ...headers } });
  const bodyOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

  it('a download has the bytes and the headers that the API gives', async () => {
    const origin = { origin: 'https://app.example.com' };
    const [direct, through] = [
      await fetch(`${url}${path}`, { headers: { ...origin, authorization: `Bearer ${key}`, 'if-range': '"none"' } }),
      await get(origin),
    ];
    expect((await bodyOf(direct)).equals(bytes)).toBe(true);
    expect((await bodyOf(through)).equals(bytes)).toBe(true);
    const names = [
      'content-type',
      'content-disposition',
      'content-length',
      'etag',
      'last-modified',
      'repr-digest',
      'accept-ranges',
      'cache-control',
      'vary',
      'access-control-allow-origin',
      'access-control-expose-headers',
      'x-cache-version',
      'x-cache-rows',
      'x-cache-as-of',
      'x-content-type-options',
    ];
    for (const name of names) expect([name, through.headers.get(name)]).toEqual([name, direct.headers.get(name)]);
    expect(through.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    expect(through.headers.has('x-accel-redirect')).toBe(false);
    expect(through.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('a range is that range, and several ranges are the whole file', async () => {
    const part = await get({ range: 'bytes=1000-1999' });
    expect({ status: part.status, range: part.headers.get('content-range') }).toEqual({
      status: 206,
      range: `bytes 1000-1999/${bytes.length}`,
    });
    expect((await bodyOf(part)).equals(bytes.subarray(1000, 2000))).toBe(true);
    const several = await get({ range: 'bytes=0-1,5-6' });
    expect(several.status).toBe(200);
    expect((await bodyOf(several)).equals(bytes)).toBe(true);
  });

  it('a resumed download continues if the version is the same, and starts again if it is not', async () => {
    const rest = await get({ range: 'bytes=299000-', 'if-range': `"${us.sha256}"` });
    expect(rest.status).toBe(206);
    expect((await bodyOf(rest)).equals(bytes.subarray(299_000))).toBe(true);
    const again = await get({ range: 'bytes=299000-', 'if-range': '"another"' });
    expect(again.status).toBe(200);
    expect((await bodyOf(again)).equals(bytes)).toBe(true);
  });

  it('conditions, HEAD and errors are answered by the API', async () => {
    expect((await get({ 'if-none-match': `"${us.sha256}"` })).status).toBe(304);
    const other = await get({
      'if-none-match': '"another"',
      'if-modified-since': new Date(Date.now() + 60_000).toUTCString(),
    });
    expect(other.status).toBe(200);
    expect(await bodyOf(other)).toHaveLength(bytes.length);
    expect((await get({ 'if-match': '"another"' })).status).toBe(412);
    expect((await get({ range: `bytes=${bytes.length}-` })).status).toBe(416);
    const head = await get({}, 'HEAD');
    expect({ status: head.status, length: head.headers.get('content-length') }).toEqual({
      status: 200,
      length: String(bytes.length),
    });
    expect((await fetch(`${proxy}${path}`)).status).toBe(401);
  });

  it('the files cannot be asked for without the API', async () => {
    expect((await fetch(`${proxy}/artefacts/phones/US/${us.sha256}.tsv.gz`)).status).toBe(404);
  });
});
