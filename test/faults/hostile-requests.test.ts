import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { migrateQueues } from '../../jobs/queues/queue-schema.ts';
import { createKey, SCOPES } from '../../pipelines/access/keys.ts';
import { ArtefactDirectory } from '../../pipelines/caches/store/artefact-directory.ts';
import { loadConfig } from '../../runtime/config.ts';
import { useTestDatabase } from '../support/database.ts';
import { attack, type Door, type Operation } from '../support/hostile-requests.ts';
import { manyNumbers, putNumbers } from '../support/numbers.ts';
import { inPortions, sizes } from '../support/run-size.ts';
import { inventedRows, PublishedHistory } from '../support/segmented-artefacts.ts';
import { killProcessesAfterEach, startProcess, untilServing } from '../support/service-process.ts';

vi.setConfig({ testTimeout: 300_000 + sizes.requests * 5 });

const database = await useTestDatabase();
const { db } = database;
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-hostile-requests-'));
afterAll(() => rm(stateDir, { recursive: true, force: true }));
killProcessesAfterEach();
const secret = 'a secret of the tests, long enough to be one';

const settings = { STATE_DIR: stateDir, API_KEY_SECRET: secret, METRICS_PORT: '0', LOG_LEVEL: 'error' };

/** Examples of the parameters of paths. */
const parameters: Readonly<Record<string, string>> = { feed: 'directory', upload: randomUUID(), handle: 'northwind' };
const withParameters = (path: string) => path.replace(/\{(\w+)\}/g, (_all, name: string) => parameters[name] ?? '1');

it(`${sizes.requests} odd and damaged requests to the API are answered without a 5xx, within the limit of memory`, async () => {
  await putNumbers(db, manyNumbers(50));
  const history = new PublishedHistory({
    db,
    store: new ArtefactDirectory(join(stateDir, 'artefacts')),
    artefact: { cache: 'phones', country: 'US' },
  });
  await history.publish(inventedRows(200));
  await history.publish(inventedRows(210));
  const { key } = await createKey(db, { client: 'hostile', scopes: [...SCOPES], secret });
  const service = startProcess('api/main.js', {
    ...settings,
    DATABASE_URL: database.url,
    API_DATABASE_URL: database.apiUrl,
    API_PORT: '0',
    API_REQUESTS_PER_MINUTE_MAX: '1000000000',
  });
  const { url } = await untilServing(stateDir, 'api');
  const paths = [
    '/v1/caches',
    '/v1/caches/phones?country=US',
    '/v1/caches/phones/manifest?country=US',
    '/v1/caches/phones/delta?from=1&country=US',
    '/v1/caches/phones/index?country=US',
    '/v1/categories',
    '/v1/numbers/+12025550001',
    '/v1/brands?owner=acme&limit=5&after=x',
    '/v1/verifications?limit=3',
    '/v1/models',
    '/openapi.json',
    '/readyz',
    '/docs',
  ];
  const door: Door = {
    url,
    service,
    headers: () => ({ Host: 'x', Authorization: `Bearer ${key}` }),
    spoiled: 'Authorization',
    operations: paths.map((path) => ({ method: 'GET', path })),
    limits: [],
  };
  await inPortions('requests', { size: sizes.requests, portion: 100_000 }, (part) => attack(door, part));
  expect((await fetch(new URL('/healthz', url))).status).toBe(200);
});

it(`${sizes.doorRequests} odd and damaged requests to the intake are answered without a 5xx, within the limit of memory`, async () => {
  const scopes = ['batches:write', 'branding:write', 'feeds:write', 'numbers:dispute'] as const;
  const { key } = await createKey(db, { client: 'hostile', scopes: [...scopes], secret });
  await migrateQueues(database.url, loadConfig({ ...settings, DATABASE_URL: database.url }));
  const service = startProcess('intake/main.js', {
    ...settings,
    INTAKE: 'on',
    INTAKE_DATABASE_URL: database.intakeUrl,
    LETTER_MASTER_KEY: 'ab'.repeat(32),
    INTAKE_PORT: '0',
    INTAKE_REQUESTS_PER_MINUTE_MAX: '1000000000',
  });
  const { url } = await untilServing(stateDir, 'intake');
  const { paths } = (await (await fetch(new URL('/openapi.json', url))).json()) as { paths: OpenApiPaths };
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { requestBody }]): Operation => {
      const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
      const body = content === undefined ? undefined : JSON.stringify(content.example ?? 'bytes');
      return { method: method.toUpperCase(), path: withParameters(path), body, type };
    }),
  );
  const door: Door = {
    url,
    service,
    headers: () => ({
      Host: 'x',
      Authorization: `Bearer ${key}`,
      'Idempotency-Key': randomUUID(),
      'Upload-Complete': '?0',
      'Upload-Offset': '0',
      'Upload-Length': '100',
    }),
    spoiled: 'Upload-Length',
    operations: [...described, ...['?for=feed', '?for=letter'].map((query) => ({ method: 'POST', path: `/v1/uploads${query}`, body: 'bytes', type: 'audio/wav' }))], // prettier-ignore
    limits: ['overloaded', 'queue_full', 'uploads_full'],
  };
  await inPortions('requests to the intake', { size: sizes.doorRequests, portion: 20_000 }, (part) =>
    attack(door, part),
  );
  expect((await fetch(new URL('/healthz', url))).status).toBe(200);
});

interface OpenApiPaths {
  readonly [path: string]: {
    readonly [method: string]: {
      readonly requestBody?: { readonly content: { readonly [type: string]: { readonly example?: unknown } } };
    };
  };
}
