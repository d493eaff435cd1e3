import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { requestReadsMax } from '../../../api/http/request-reads.ts';
import { problemSchema, readinessSchema } from '../../../api/documents/schemas.ts';
import { useTestDatabase } from '../../support/database.ts';
import { addBrand, addNumbers } from '../support/brands.ts';
import { useCuttableRoad } from '../support/cuttable-road.ts';
import { until, useTestApi, type TestApi } from '../support/running-api.ts';

const database = await useTestDatabase();
const { db } = database;
const road = await useCuttableRoad(database.apiUrl);
const near = await useTestApi(database);
const far = await useTestApi({ ...database, apiUrl: road.url });

const owner = 'Northwind Agency';
const { key } = await near.makeKey(['branding:read', 'caches:read'], undefined, owner);
const brandId = await addBrand(db, { handle: 'northwind-dental', owner });
await addNumbers(db, brandId, { from: 1, to: 10 });
for (const api of [near, far]) await api.publish({ cache: 'branded_phones' });
const headers = { authorization: `Bearer ${key}` };
const ask = (api: TestApi, path: string) => fetch(`${api.url}${path}`, { headers });
await until(async () => (await ask(far, '/v1/brands/northwind-dental/numbers')).status === 200);

const metric = async (api: TestApi, outcome: string) =>
  Number(
    new RegExp(`caller_trust_api_database_reads_total\\{outcome="${outcome}"\\} (\\d+)`).exec(
      await (await fetch(`${api.api.metricsUrl}/metrics`)).text(),
    )?.[1] ?? 0,
  );

async function expectCachesServed(api: TestApi): Promise<void> {
  for (const path of ['/v1/caches', '/v1/caches/branded_phones', '/v1/reputation/categories', '/v1/releases']) {
    const response = await ask(api, path);
    expect(response.status, path).toBe(200);
    await response.arrayBuffer();
  }
}

async function expectUnavailable(response: Response, code: string): Promise<void> {
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
  const body = problemSchema.parse(await response.json());
  expect(body.code).toBe(code);
  expect(body.detail).not.toMatch(/ECONN|relation|permission|select|brand_overview|127\.0\.0\.1/i);
}

const paths = [
  '/v1/brands',
  '/v1/brands/northwind-dental',
  '/v1/brands/northwind-dental/numbers',
  '/v1/brands/northwind-dental/letters',
  '/v1/brands/no-such-brand',
  '/v1/brands/northwind-dental/letters/1',
];

it('answers 503 with Retry-After while the database is away, serves the caches on, and answers again when it is back', async () => {
  road.cut();
  for (const path of paths) await expectUnavailable(await ask(far, path), 'database_unavailable');
  await until(async () => !readinessSchema.parse(await (await fetch(`${far.url}/readyz`)).json()).database.reachable);
  const startedAt = performance.now();
  for (const path of paths) await expectUnavailable(await ask(far, path), 'database_unavailable');
  expect(performance.now() - startedAt).toBeLessThan(2000); // nothing waits for a connection
  expect(readinessSchema.parse(await (await fetch(`${far.url}/readyz`)).json()).status).toBe('degraded');
  await expectCachesServed(far);
  expect((await fetch(`${far.url}/v1/brands`)).status).toBe(401);
  expect((await ask(far, '/v1/brands?limit=0')).status).toBe(400);
  expect(await metric(far, 'refused')).toBeGreaterThanOrEqual(paths.length);
  await road.restore();
  await until(async () => (await ask(far, '/v1/brands/northwind-dental/numbers')).status === 200);
});

it('gives a request up that the network swallows, and serves the caches meanwhile', async () => {
  expect((await ask(far, '/v1/brands')).status).toBe(200);
  road.stall();
  const startedAt = performance.now();
  const waiting = ask(far, '/v1/brands');
  await expectCachesServed(far);
  await expectUnavailable(await waiting, 'database_unavailable');
  expect(performance.now() - startedAt).toBeLessThan(9000);
  expect(await metric(far, 'failed')).toBeGreaterThanOrEqual(1);
  await road.restore();
  await until(async () => (await ask(far, '/v1/brands')).status === 200);
});

it('ends statements that take too long, refuses requests past the limit, and keeps the polls going meanwhile', async () => {
  const made = await near.makeKey(); // waits until the API knows it
  const client = await db.connect();
  await client.query('BEGIN');
  await client.query('LOCK TABLE brand IN ACCESS EXCLUSIVE MODE');
  const asked = Array.from({ length: requestReadsMax + 3 }, () => ask(near, '/v1/brands'));
  const codes: string[] = [];
  const ended = asked.map(async (each) => {
    const response = await each;
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    codes.push(problemSchema.parse(await response.json()).code);
  });
  await until(() => codes.length === 3);
  expect(codes).toEqual(['not_ready', 'not_ready', 'not_ready']);
  await near.publish({ cache: 'branded_phones' }); // waits until the API serves it
  expect(made.key).toMatch(/^ct_/);
  await expectCachesServed(near);
  expect(readinessSchema.parse(await (await fetch(`${near.url}/readyz`)).json()).status).toBe('ready');
  expect(codes.filter((code) => code === 'not_ready')).toHaveLength(3);
  await Promise.all(ended);
  expect(codes.filter((code) => code === 'database_unavailable')).toHaveLength(requestReadsMax);
  const active =
    "SELECT count(*) AS count FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'caller-trust api requests #%' AND state = 'active'";
  await until(async () => (await db.query<{ count: number }>(active)).rows[0]?.count === 0);
  await client.query('ROLLBACK');
  client.release();
  await until(async () => (await ask(near, '/v1/brands')).status === 200);
});

it('continues when the server ended its connections', async () => {
  expect((await ask(near, '/v1/brands')).status).toBe(200);
  await db.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'caller-trust api requests #%'",
  );
  await sleep(50);
  await until(async () => (await ask(near, '/v1/brands')).status === 200);
});

it('answers 503 where the role may not read brands, and serves the caches', async () => {
  await db.query('REVOKE SELECT ON brand_overview FROM caller_trust_reader');
  await expectUnavailable(await ask(near, '/v1/brands'), 'database_unsuitable');
  await expectCachesServed(near);
  await db.query('GRANT SELECT ON brand_overview TO caller_trust_reader');
  expect((await ask(near, '/v1/brands')).status).toBe(200);
});

it('reads as a role that can read nothing of branding but what it shows', async () => {
  const { rows } = await db.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v') AND relname ~ '^(brand|letter|document)'
     AND has_any_column_privilege('caller_trust_reader', oid, 'SELECT') ORDER BY relname`,
  );
  expect(rows.map(({ name }) => name)).toEqual([
    'brand_number',
    'brand_overview',
    'branded_number',
    'letter',
    'letter_finding',
    'letter_number',
  ]);
});
