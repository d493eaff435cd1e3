import { expect, it } from 'vitest';
import type { z } from 'zod';
import { EXAMPLES } from '../../api/documents/examples.ts';
import { namedSchemas } from '../../api/documents/schemas.ts';
import type { ApiManifestList } from '../../clients/typescript/service/api-documents.ts';
import { readDocument, readNumber } from '../../clients/typescript/service/read-document.ts';
import { ServiceClient } from '../../clients/typescript/service/service-client.ts';
import { clientTypes, clientTypesFile } from '../../scripts/client-types.mjs';
import { useTestDatabase } from '../support/database.ts';
import { lintOpenApi, type OpenApiDocument, type OpenApiOperation } from './documents/openapi-rules.ts';
import { noise } from './support/artefacts.ts';
import { until, useTestApi } from './support/running-api.ts';

const database = await useTestDatabase();
const { url, get, publish, api, key, config } = await useTestApi(database);

type Document = Omit<OpenApiDocument, 'components'> & {
  readonly paths: Record<string, { readonly get: OpenApiOperation }>;
  readonly components: { readonly schemas: Record<string, unknown> };
};

async function readOpenApi(): Promise<Document> {
  return (await (await fetch(`${url}/openapi.json`)).json()) as Document;
}

/** A schema of the document by its name. */
function schemaNamed(name: string): z.ZodType {
  return (namedSchemas as unknown as { _idmap: Map<string, z.ZodType> })._idmap.get(name)!;
}

const paths = [
  '/healthz',
  '/readyz',
  '/v1/batches',
  '/v1/batches/{id}',
  '/v1/brands',
  '/v1/brands/{handle}',
  '/v1/brands/{handle}/letters',
  '/v1/brands/{handle}/letters/{letterId}',
  '/v1/brands/{handle}/numbers',
  '/v1/caches',
  '/v1/caches/branded_phones',
  '/v1/caches/branded_phones/delta',
  '/v1/caches/branded_phones/index',
  '/v1/caches/branded_phones/manifest',
  '/v1/caches/phones',
  '/v1/caches/phones/delta',
  '/v1/caches/phones/index',
  '/v1/caches/phones/manifest',
  '/v1/caches/spam_ranges',
  '/v1/caches/spam_ranges/delta',
  '/v1/caches/spam_ranges/filter',
  '/v1/caches/spam_ranges/index',
  '/v1/caches/spam_ranges/manifest',
  '/v1/caches/spammer_phones',
  '/v1/caches/spammer_phones/delta',
  '/v1/caches/spammer_phones/filter',
  '/v1/caches/spammer_phones/index',
  '/v1/caches/spammer_phones/manifest',
  '/v1/models',
  '/v1/models/{family}',
  '/v1/models/{family}/{version}',
  '/v1/numbers/{phone}',
  '/v1/releases',
  '/v1/reputation/categories',
  '/v1/trust/targets/{cache}/{country}/{file}',
  '/v1/trust/targets/{cache}/{file}',
  '/v1/trust/{name}',
  '/v1/verifications',
  '/v1/verifications/{id}',
];

it('describes every route with its answers, headers and security, without a key', async () => {
  const response = await fetch(`${url}/openapi.json`);
  expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const document = (await response.json()) as Document;
  expect(document.openapi).toBe('3.1.0');
  expect(Object.keys(document.paths).sort()).toEqual(paths);
  const download = document.paths['/v1/caches/phones']?.get;
  expect(Object.keys(download?.responses ?? {})).toEqual([
    '200',
    '206',
    '304',
    '307',
    '400',
    '401',
    '403',
    '404',
    '405',
    '412',
    '416',
    '429',
    '500',
    '503',
  ]);
  expect(download?.parameters).toMatchObject([{ name: 'country', in: 'query', required: true }]);
  expect(document.paths['/v1/caches/branded_phones']?.get.parameters ?? []).toEqual([]);
  expect(download?.security).toEqual([{ key: [] }]);
  expect(Object.keys(download?.responses['200']?.content ?? {})).toEqual(['application/gzip']);
  expect(download?.responses['304']?.content).toBeUndefined();
  expect(download?.responses['400']).toMatchObject({
    description: expect.stringContaining('country_required'),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  });
  expect(Object.keys(document.components.schemas).sort()).toEqual([
    'Batch',
    'BatchDetail',
    'BatchList',
    'Brand',
    'BrandDetail',
    'BrandList',
    'BrandNumber',
    'BrandNumberList',
    'CategoryList',
    'Letter',
    'LetterList',
    'Live',
    'Manifest',
    'ManifestList',
    'Model',
    'ModelList',
    'Number',
    'Problem',
    'Readiness',
    'ReleaseList',
    'SignedMetadata',
    'Verification',
    'VerificationDetail',
    'VerificationList',
  ]);
  const delta = document.paths['/v1/caches/phones/delta']?.get;
  expect(Object.keys(delta?.responses ?? {})).toEqual([
    '200',
    '206',
    '304',
    '307',
    '400',
    '401',
    '403',
    '404',
    '405',
    '410',
    '412',
    '416',
    '429',
    '500',
    '503',
  ]);
  expect(delta?.parameters).toMatchObject([
    { name: 'country', in: 'query', required: true },
    { name: 'from', in: 'query', required: true, schema: { type: 'integer' } },
  ]);
  expect(Object.keys(document.paths['/v1/caches/spammer_phones/index']?.get.responses['200']?.content ?? {})).toEqual([
    'text/tab-separated-values',
  ]);
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(operations.length).toBe(paths.length);
  for (const { responses } of operations)
    for (const answer of Object.values(responses)) expect(answer.headers).toHaveProperty('X-Request-Id');
  expect(
    (await fetch(`${url}/openapi.json`, { headers: { 'if-none-match': response.headers.get('etag') ?? '' } })).status,
  ).toBe(304);
});

it('lacks nothing that a reader of OpenAPI documents expects, and its examples have the form of their schemas', async () => {
  const document = await readOpenApi();
  expect(lintOpenApi(document)).toEqual([]);
  expect(Object.keys(EXAMPLES).sort()).toEqual(
    Object.keys(document.components.schemas)
      .filter((name) => name !== 'Problem')
      .sort(),
  );
  for (const [name, example] of Object.entries(EXAMPLES)) {
    const named = schemaNamed(name);
    expect(named.parse(example), name).toEqual(example);
  }
});

it('is the one that the types of the client are made from (with --update=all they are made again)', async () => {
  const document = (await readOpenApi()) as Parameters<typeof clientTypes>[0];
  await expect(clientTypes(document)).toMatchFileSnapshot(clientTypesFile);
});

it('is enough for a generated client: its types compile, and it reads what this server answers', async () => {
  await publish({ cache: 'phones', country: 'US' });
  const client = new ServiceClient({ url, key });
  const { manifests }: ApiManifestList = await readDocument(client, '/v1/caches');
  expect(manifests.map(({ cache, country }) => [cache, country])).toContainEqual(['phones', 'US']);
  const manifest = await readDocument(client, '/v1/caches/phones/manifest', { country: 'US' });
  expect(manifest.file.sha256).toMatch(/^[0-9a-f]{64}$/);
  const { categories } = await readDocument(client, '/v1/reputation/categories');
  expect(categories.find(({ id }) => id === 6)).toEqual({ id: 6, name: 'telemarketer', level: 'SPAM' });
  const { releases } = await readDocument(client, '/v1/releases', { service: 'branding' });
  expect(new Set(releases.map(({ service }) => service))).toEqual(new Set(['branding']));
  const model = await readDocument(client, '/v1/models/{family}/{version}', { family: 'phone', version: 'v8' });
  expect(model.model).toBe('phone/v8');
  await expect(readNumber(client, '+12025550123')).rejects.toMatchObject({ code: 'forbidden' });
  await expect(readDocument(client, '/v1/models/{family}', { family: 'a/b' })).rejects.toMatchObject({
    code: 'model_unknown',
  });
});

it('describes the parameters, pages and errors of branding, and releases without a key', async () => {
  const { paths: described } = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  const numbers = described['/v1/brands/{handle}/numbers']?.get;
  expect(numbers?.parameters).toMatchObject([
    {
      name: 'state',
      in: 'query',
      required: false,
      schema: { enum: expect.arrayContaining(['verified', 'permanently_rejected']) },
    },
    {
      name: 'limit',
      in: 'query',
      required: false,
      description: expect.stringContaining('without it 100'),
      schema: { type: 'integer', minimum: 1, maximum: 500 },
    },
    { name: 'cursor', in: 'query', required: false, schema: { type: 'string' } },
    { name: 'handle', in: 'path', required: true },
  ]);
  expect(Object.keys(numbers?.responses ?? {})).toEqual([
    '200',
    '304',
    '400',
    '401',
    '403',
    '404',
    '405',
    '412',
    '429',
    '500',
    '503',
  ]);
  expect(numbers?.responses['200']).toMatchObject({
    headers: { Link: {}, ETag: {} },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/BrandNumberList' } } },
  });
  expect(numbers?.responses['400']?.description).toMatch(/parameter_unknown.*parameter_invalid/);
  expect(numbers?.responses['503']?.description).toMatch(/database_unavailable/);
  expect(numbers?.security).toEqual([{ key: [] }]);
  expect(described['/v1/brands/{handle}']?.get.responses['200']?.headers).not.toHaveProperty('Link');
  const releases = described['/v1/releases']?.get;
  expect(releases?.security).toEqual([]);
  expect(Object.keys(releases?.responses ?? {})).toEqual(['200', '304', '400', '405', '412', '429', '500']);
});

it('describes the filters of verifications, and models without a key', async () => {
  const { paths: described } = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  const verifications = described['/v1/verifications']?.get;
  expect(verifications?.parameters?.map(({ name }) => name)).toEqual(['state', 'model', 'batch', 'limit', 'cursor']);
  expect(verifications?.responses['200']).toMatchObject({
    headers: { Link: {}, ETag: {} },
    content: { 'application/json': { schema: { $ref: '#/components/schemas/VerificationList' } } },
  });
  expect(verifications?.security).toEqual([{ key: [] }]);
  expect(described['/v1/batches/{id}']?.get.responses['200']?.headers).toHaveProperty('Link');
  expect(described['/v1/verifications/{id}']?.get.responses['404']?.description).toContain('verification_unknown');
  const model = described['/v1/models/{family}/{version}']?.get;
  expect(model?.parameters?.map(({ name }) => name).sort()).toEqual(['family', 'release', 'version']);
  expect(model?.security).toEqual([]);
  expect(model?.responses['404']?.description).toMatch(/model_unknown.*release_unknown/);
});

it('says of parameters and fields what they mean', async () => {
  const { components, paths: described } = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  expect(described['/v1/caches/phones']?.get.parameters).toMatchObject([
    { description: 'ISO 3166-1 alpha-2, two upper-case letters.' },
  ]);
  expect(components.schemas['Manifest']).toMatchObject({
    properties: { version: { description: 'Rises only when the plain bytes change.' } },
  });
  expect(components.schemas['BrandNumber']).toMatchObject({
    properties: { liveUntil: { description: expect.stringContaining('not published') } },
  });
});

it('has every reference that it makes', async () => {
  const text = await (await fetch(`${url}/openapi.json`)).text();
  const { components } = JSON.parse(text) as Document;
  for (const [, name] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
    expect(components.schemas).toHaveProperty(name ?? '');
  expect(text).not.toMatch(/"\$ref":"(?!#\/components\/schemas\/)/);
});

it('answers each download with the headers that the document names', async () => {
  await publish({ cache: 'phones', country: 'US' });
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  for (const [headers, status] of [
    [{}, '200'],
    [{ range: 'bytes=0-1' }, '206'],
    [{ 'if-none-match': '*' }, '304'],
  ] as const) {
    const response = await get('/v1/caches/phones?country=US', headers);
    const named = document.paths['/v1/caches/phones']?.get.responses[status]?.headers ?? {};
    expect(response.status).toBe(Number(status));
    for (const name of Object.keys(named)) expect(response.headers.has(name), `${status} ${name}`).toBe(true);
    await response.arrayBuffer();
  }
});

it('shows the page from this server alone, under a strict policy', async () => {
  const page = await fetch(`${url}/docs`);
  expect(page.status).toBe(200);
  expect(page.headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';",
  );
  const html = await page.text();
  expect(html).not.toMatch(/https?:\/\//);
  expect(html).toContain('<title>Caller Trust API</title>');
  expect(html).not.toMatch(/favicon-\d+x\d+|swagger ui/i);
  const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '');
  expect(assets.length).toBeGreaterThan(4);
  for (const path of assets) {
    const asset = await fetch(new URL(path, `${url}/docs`));
    expect(asset.status, path).toBe(200);
    expect(asset.headers.get('x-content-type-options')).toBe('nosniff');
  }
  const initializer = await (await fetch(`${url}/docs/static/swagger-initializer.js`)).text();
  expect(initializer).toMatch(/"?validatorUrl"?: ?null/);
  const [, picture = ''] = /img\.src = 'data:image\/svg\+xml;base64,([^']+)'/.exec(initializer) ?? [];
  expect(Buffer.from(picture, 'base64').toString()).toContain('>Caller Trust</text>');
  expect(await (await fetch(`${url}/docs/json`)).json()).toEqual(await (await fetch(`${url}/openapi.json`)).json());
  const missing = await fetch(`${url}/docs/static/nothing.js`);
  expect([missing.status, missing.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
  expect((await fetch(`${url}/docs/static/..%2f..%2fpackage.json`)).status).not.toBe(200);
});

it('measures requests, bytes and artefacts, with no label that a stranger could make', async () => {
  const published = await publish({ cache: 'spammer_phones', gzip: noise(1000) });
  await (await get('/v1/caches/spammer_phones')).arrayBuffer();
  await fetch(`${url}/nothing/+12025550142?key=${key}`);
  await fetch(`${url}/%zz`);
  const read = async () => (await fetch(`${api.metricsUrl}/metrics`)).text();
  await until(async () =>
    /caller_trust_api_requests_total\{route="unknown",method="GET",status="404"\} \d+/.test(await read()),
  );
  await get('/v1/brands/northwind-dental/numbers'); // a key without the scope
  const text = await read();
  expect(text).toMatch(
    /caller_trust_api_requests_total\{route="\/v1\/brands\/:handle\/numbers",method="GET",status="403"\} 1\n/,
  );
  expect(text).toMatch(
    /caller_trust_api_requests_total\{route="\/v1\/caches\/spammer_phones",method="GET",status="200"\} 1\n/,
  );
  expect(text).toMatch(/caller_trust_api_requests_total\{route="unknown",method="GET",status="400"\} 1\n/);
  expect(text).toMatch(/caller_trust_api_body_bytes_total\{route="\/v1\/caches\/spammer_phones"\} \d{4}/);
  expect(text).toMatch(/caller_trust_api_downloads_in_progress 0/);
  expect(text).toContain(`caller_trust_artefact_version{cache="spammer_phones",country=""} ${published.version}`);
  expect(text).toMatch(/caller_trust_artefact_age_seconds\{cache="phones",country="US"\} \d/);
  expect(text).toMatch(/caller_trust_artefact_rows\{cache="phones",country="US"\} 1/);
  expect(text).toContain('caller_trust_artefacts_stale{cache="phones"} 0');
  expect(text).toMatch(/caller_trust_process_cpu_seconds_total/);
  expect(text).not.toMatch(/2025550142|ct_[a-z0-9]{12}/);
  expect(text).not.toContain(config.stateDir);
  expect((await fetch(`${api.metricsUrl}/other`)).status).toBe(404);
  expect((await fetch(`${url}/metrics`)).status).toBe(404);
});
