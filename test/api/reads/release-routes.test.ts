import { expect, it } from 'vitest';
import { problemSchema, releaseListSchema } from '../../../api/documents/schemas.ts';
import { RELEASES } from '../../../pipelines/audio/models/releases.ts';
import { useTestDatabase } from '../../support/database.ts';
import { useTestApi } from '../support/running-api.ts';

const { url } = await useTestApi(await useTestDatabase());

it('lists the releases to everybody, oldest first within a service', async () => {
  const response = await fetch(`${url}/v1/releases`);
  expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
    200,
    'application/json; charset=utf-8',
    'no-cache',
  ]);
  const body = releaseListSchema.strict().parse(await response.json());
  expect(body).toEqual({ current: { audio: '2026.11.r3p0', branding: '2026.11-p0' }, releases: RELEASES });
  expect(body.releases[2]).toEqual({
    service: 'audio',
    name: '2025.08.r1',
    year: 2025,
    month: 8,
    revision: 1,
    patch: null,
    changes: [{ kind: 'introduced', subject: 'digital/v3', replacedBy: null, note: null }],
  });
  expect((await fetch(`${url}/v1/releases`, { headers: { authorization: 'Bearer nothing' } })).status).toBe(200);
});

it.each([
  ['audio', 10, { audio: '2026.11.r3p0' }],
  ['branding', 1, { branding: '2026.11-p0' }],
])('lists those of %s alone', async (service, count, current) => {
  const body = releaseListSchema.parse(await (await fetch(`${url}/v1/releases?service=${service}`)).json());
  expect(body.current).toEqual(current);
  expect(body.releases).toHaveLength(count);
  expect(body.releases.every((release) => release.service === service)).toBe(true);
});

it.each([
  ['?service=', 'parameter_invalid'],
  ['?service=Audio', 'parameter_invalid'],
  ['?service=caches', 'parameter_invalid'],
  ['?service=audio&service=audio', 'parameter_invalid'],
  ['?service=audio&service=branding', 'parameter_invalid'],
  ['?services=audio', 'parameter_unknown'],
  ['?limit=1', 'parameter_unknown'],
])('refuses %s with %s', async (query, code) => {
  const response = await fetch(`${url}/v1/releases${query}`);
  expect(response.status).toBe(400);
  expect(problemSchema.parse(await response.json())).toMatchObject({ code });
});

it('answers 304 to its ETag, and HEAD without a body', async () => {
  const etag = (await fetch(`${url}/v1/releases`)).headers.get('etag') ?? '';
  expect((await fetch(`${url}/v1/releases`, { headers: { 'if-none-match': etag } })).status).toBe(304);
  expect((await fetch(`${url}/v1/releases?service=audio`, { headers: { 'if-none-match': etag } })).status).toBe(200);
  const head = await fetch(`${url}/v1/releases`, { method: 'HEAD' });
  expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
  expect((await fetch(`${url}/v1/releases`, { method: 'POST' })).status).toBe(405);
  expect((await fetch(`${url}/v1/releases/audio`)).status).toBe(404);
});
