import { expect, it } from 'vitest';
import { modelListSchema, modelSchema } from '../../../api/reads/model-schemas.ts';
import { keepRegistry, registryKeptMs } from '../../../api/reads/model-records.ts';
import { problemSchema } from '../../../api/documents/schemas.ts';
import { useTestDatabase } from '../../support/database.ts';
import { until, useTestApi } from '../support/running-api.ts';
import { releaseDefaults } from '../../support/release-defaults.ts';

const database = await useTestDatabase();
const { db } = database;
const { url, config } = await useTestApi(database);
const ask = (path: string) => fetch(`${url}${path}`); // without a key
const list = async (query = '') => modelListSchema.strict().parse(await (await ask(`/v1/models${query}`)).json());
const codeOf = async (response: Response) => {
  const problem = problemSchema.parse(await response.json());
  expect(problem.status).toBe(response.status);
  return problem.code;
};

it('lists the models of the contract to everybody, oldest first', async () => {
  const { release, models } = await list();
  expect(release).toBe('2026.11.r3p0');
  expect(models.map(({ model, release: of, state }) => [model, of, state])).toEqual([
    ['phone/v1.1', '2025.03.r1p0', 'available'],
    ['digital/v1.1', '2025.03.r1p0', 'available'],
    ['phone/v3', '2025.04.r1p0', 'available'],
    ['digital/v3', '2025.08.r1', 'available'],
    ['phone/v5', '2025.11.r1p0', 'removed'],
    ['phone/v6', '2026.02.r1p0', 'available'],
    ['phone/v7', '2026.03.r1p0', 'available'],
    ['phone/v8', '2026.04.r1p0', 'available'],
    ['phone/v8.1', '2026.11.r1p0', 'available'],
    ['digital/v3.1', '2026.11.r1p0', 'available'],
    ['digital/v3.2', '2026.11.r2p0', 'available'],
    ['phone/v8.2', '2026.11.r3p0', 'available'],
    ['digital/v3.3', '2026.11.r3p0', 'available'],
  ]);
  expect(models.filter((model) => model.default).map(({ model }) => model)).toEqual(['phone/v8.2', 'digital/v3.3']);
  expect(models[4]).toMatchObject({
    removedIn: '2026.02.r1p0',
    replacedBy: 'phone/v6',
    weights: null,
    input: null,
    scores: [],
    errorRates: [],
    unseenSystems: [],
  });
});

it.each(releaseDefaults)(
  'answers as of release %s with the defaults %s and %s',
  async (release, phone, digital, count) => {
    const answer = await list(`?release=${release}`);
    expect(answer.release).toBe(release);
    expect(answer.models).toHaveLength(count);
    expect(
      answer.models
        .filter((model) => model.default)
        .map(({ model }) => model)
        .sort(),
    ).toEqual([digital, phone]);
    expect(modelSchema.strict().parse(await (await ask(`/v1/models/phone?release=${release}`)).json()).model).toBe(
      phone,
    );
  },
);

it('shows a removed model as it stood: available before it was removed, with its successor after', async () => {
  expect(await (await ask('/v1/models/phone/v5?release=2025.11.r1p0')).json()).toMatchObject({
    state: 'available',
    default: true,
    removedIn: null,
    replacedBy: null,
  });
  const now = await ask('/v1/models/phone/v5');
  expect(now.status).toBe(200);
  expect(await now.json()).toMatchObject({
    state: 'removed',
    default: false,
    removedIn: '2026.02.r1p0',
    replacedBy: 'phone/v6',
  });
});

it('shows a model by any letter case, and the default of a family', async () => {
  const model = modelSchema.strict().parse(await (await ask('/v1/models/Phone/V8.2')).json());
  expect(model).toMatchObject({
    model: 'phone/v8.2',
    family: 'phone',
    version: 'v8.2',
    origin: 'shipped',
    default: true,
    note: expect.stringContaining('phone/v8.1 stays available by its name'),
    links: { self: '/v1/models/phone/v8.2' },
  });
  expect(model.unseenSystems.map(({ seconds, systems }) => [seconds, systems])).toEqual([
    [3, 118],
    [10, 102],
  ]);
  expect(model.unseenSystems[0]!.equalErrorRate).toBeGreaterThan(model.errorRates[0]!.equalErrorRate);
  expect(await (await ask('/v1/models/phone')).json()).toEqual(model);
  expect(await (await ask('/v1/models/DIGITAL')).json()).toMatchObject({ model: 'digital/v3.3' });
});

it('knows no other model, family or release', async () => {
  for (const path of [
    '/v1/models/phone/v2',
    '/v1/models/mobile',
    '/v1/models/phone/v8?release=2026.03.r1p0',
    '/v1/models/phone/..%2f..%2fv8',
    '/v1/models/__proto__',
  ]) {
    const response = await ask(path);
    expect([response.status, await codeOf(response)], path).toEqual([404, 'model_unknown']);
  }
  for (const release of ['2024.01.r1p0', '2025.08.r1p0', '2026.11-p0', 'newest'])
    expect(await codeOf(await ask(`/v1/models?release=${release}`)), release).toBe('release_unknown');
  expect(await codeOf(await ask('/v1/models?release='))).toBe('parameter_invalid');
  expect(await codeOf(await ask('/v1/models?family=phone'))).toBe('parameter_unknown');
});

it('answers 304 to the tag of the list', async () => {
  const answer = await ask('/v1/models');
  expect(answer.headers.get('cache-control')).toBe('no-cache');
  expect(
    (await fetch(`${url}/v1/models`, { headers: { 'if-none-match': answer.headers.get('etag') ?? '' } })).status,
  ).toBe(304);
});

it('shows a default that an operator has set, soon after', async () => {
  await db.query(
    "INSERT INTO model_default (family, model, set_by, reason, forced) VALUES ('phone', 'phone/v7', 'Pat Operator', 'a test', true)",
  );
  await until(async () => ((await (await ask('/v1/models/phone')).json()) as { model: string }).model === 'phone/v7');
  expect(
    (await list('?release=2026.03.r1p0')).models.filter((model) => model.default).map(({ model }) => model),
  ).toEqual(['digital/v3', 'phone/v7']);
  expect(JSON.stringify(await list())).not.toContain('Pat Operator');
});

it('reads the registry once for all who ask within its time, and again after a failure', async () => {
  let [reads, now, fails] = [0, 0, false];
  const records = keepRegistry({
    modelDir: config.modelDir,
    now: () => now,
    read: async (work) => {
      reads++;
      if (fails) throw new Error('away');
      return work(db);
    },
  });
  const [a, b] = await Promise.all([records(), records()]);
  expect([a === b, reads]).toEqual([true, 1]);
  now = registryKeptMs - 1;
  expect(await records()).toBe(a);
  now = registryKeptMs;
  fails = true;
  await expect(records()).rejects.toThrow('away');
  fails = false;
  await records();
  expect(reads).toBe(3);
});
