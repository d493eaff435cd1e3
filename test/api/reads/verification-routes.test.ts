import { expect, it } from 'vitest';
import { formatCursor } from '../../../api/documents/cursor.ts';
import { problemSchema } from '../../../api/documents/schemas.ts';
import { verificationDetailSchema, verificationListSchema } from '../../../api/reads/verification-schemas.ts';
import { sql } from '../../../sql/sql.ts';
import { useTestDatabase } from '../../support/database.ts';
import { useTestApi } from '../support/running-api.ts';
import { addBatch, addItems, decision, hiddenTexts, sha256OfText } from '../support/verifications.ts';

const database = await useTestDatabase();
const { db } = database;
const { url, makeKey, key: cachesKey } = await useTestApi(database);
const bank = await makeKey(['verifications:read'], undefined, 'Alpine Bank');
const insurer = await makeKey(['verifications:read'], undefined, 'Northwind Insurance');
const nobody = await makeKey(['verifications:read'], undefined, 'Nobody');
const pager = await makeKey(['verifications:read'], undefined, 'Pager');
const ask = (path: string, key = bank.key, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
const list = async (path: string, key = bank.key) =>
  verificationListSchema.strict().parse(await (await ask(path, key)).json());
const codeOf = async (response: Response) => {
  const problem = problemSchema.parse(await response.json());
  expect(problem.status).toBe(response.status);
  return problem.code;
};

const first = await addBatch(db, { owner: bank.client });
await addItems(db, first, { from: 1, to: 2 });
await addItems(db, first, { from: 3, to: 3, state: 'performedWithoutScore', reason: 'no_voice' });
await addItems(db, first, { from: 4, to: 4, state: 'error', reason: 'file_missing', attempts: 0, model: null });
const second = await addBatch(db, { owner: bank.client, state: 'performing' });
await addItems(db, second, { from: 1, to: 1, state: 'performing' });
await addItems(db, second, { from: 2, to: 2, state: 'queued', attempts: 0 });
await addItems(db, second, { from: 3, to: 3, model: 'phone/v7' });
const foreign = await addBatch(db, { owner: insurer.client });
await addItems(db, foreign, { from: 1, to: 1 });

it('lists the verifications of the client from the newest down, and those of no other', async () => {
  const { verifications, next } = await list('/v1/verifications');
  expect(verifications.map(({ batch, state }) => [batch, state])).toEqual([
    [second.id, 'performed'],
    [second.id, 'queued'],
    [second.id, 'performing'],
    [first.id, 'error'],
    [first.id, 'performedWithoutScore'],
    [first.id, 'performed'],
    [first.id, 'performed'],
  ]);
  expect(next).toBeNull();
  expect((await list('/v1/verifications', insurer.key)).verifications).toHaveLength(1);
  expect(await list('/v1/verifications', nobody.key)).toEqual({ verifications: [], next: null });
});

it('shows of a verification the fields of the contract', async () => {
  const [shown] = (await list(`/v1/verifications?batch=${first.id}&state=performed&limit=1`)).verifications;
  const id = shown!.id;
  expect(shown).toEqual({
    id,
    batch: first.id,
    state: 'performed',
    mode: 'api',
    requestedModel: 'phone',
    model: 'phone/v8',
    release: '2026.04.r1p0',
    audio: { sha256: sha256OfText('audio performed'), sampleRate: 8000, channels: 1, duration: 6, voiceDuration: 4.5 },
    scores: { synthesis: 0.91, replay: 0.25 },
    scoreDirection: 'higher-is-authentic',
    decision,
    nextStep: 'refuse',
    reason: null,
    attempts: 1,
    times: {
      queued: '2026-11-20T08:00:00.000Z',
      started: '2026-11-20T08:01:00.000Z',
      ended: '2026-11-20T08:02:00.000Z',
    },
    links: { self: `/v1/verifications/${id}`, batch: `/v1/batches/${first.id}` },
  });
});

it('gives a reason and never a number where there is no score', async () => {
  const { verifications } = await list(`/v1/verifications?batch=${first.id}`);
  expect(verifications[1]).toMatchObject({
    state: 'performedWithoutScore',
    reason: 'no_voice',
    scores: null,
    decision: null,
    audio: { voiceDuration: 0, duration: 6 },
  });
  expect(verifications[0]).toMatchObject({
    state: 'error',
    reason: 'file_missing',
    scores: null,
    decision: null,
    audio: null,
    model: null,
    attempts: 0,
  });
  const [, queued] = (await list(`/v1/verifications?batch=${second.id}`)).verifications;
  expect(queued).toMatchObject({
    state: 'queued',
    scores: null,
    reason: null,
    audio: { sampleRate: null, duration: null, voiceDuration: null },
    times: { started: null, ended: null },
  });
});

it('never shows the path of a file, nor the details for the operator', async () => {
  const { verifications } = await list('/v1/verifications');
  const texts = [
    JSON.stringify(verifications),
    ...(await Promise.all(verifications.map(async ({ links }) => (await ask(links.self)).text()))),
  ];
  for (const text of texts) for (const hidden of Object.values(hiddenTexts)) expect(text).not.toContain(hidden);
});

it('shows a verification with its windows, by an id in any letter case', async () => {
  const [shown] = (await list(`/v1/verifications?batch=${first.id}&state=performed&limit=1`)).verifications;
  const detail = verificationDetailSchema.strict().parse(await (await ask(shown!.links.self)).json());
  expect(detail).toEqual({
    ...shown,
    windows: [
      { channel: 0, start: 0, end: 4, label: 'validVoice', scores: { synthesis: 0.91, replay: 0.75 } },
      { channel: 0, start: 2, end: 6, label: 'insufficientVoice', scores: null },
    ],
    notes: [],
  });
  expect((await ask(`/v1/verifications/${shown!.id.toUpperCase()}`)).status).toBe(200);
  const [failed] = (await list('/v1/verifications?state=error')).verifications;
  expect(await (await ask(failed!.links.self)).json()).toMatchObject({ windows: [] });
});

it('filters by state, model and batch, and by all of them', async () => {
  const states = async (query: string) =>
    (await list(`/v1/verifications?${query}`)).verifications.map(({ state }) => state);
  expect(await states('state=performed')).toEqual(['performed', 'performed', 'performed']);
  expect(await states('model=phone/v7')).toEqual(['performed']);
  expect(await states('model=Phone/V8')).toEqual([
    'queued',
    'performing',
    'performedWithoutScore',
    'performed',
    'performed',
  ]);
  expect(await states(`batch=${second.id.toUpperCase()}&model=phone/v8&state=queued`)).toEqual(['queued']);
  expect(await states(`batch=${foreign.id}`)).toEqual([]);
  expect(await states('model=phone/v99')).toEqual([]);
});

it.each([
  'state=done',
  'state=performed&state=error',
  'model=phone',
  'model=../v8',
  'batch=7',
  'batch=',
  'limit=0',
  'limit=501',
  'cursor=x',
  'cursor=',
])('refuses the filter %s', async (query) => {
  const response = await ask(`/v1/verifications?${query}`);
  expect([response.status, await codeOf(response)]).toEqual([400, 'parameter_invalid']);
});

it('refuses a parameter that it does not have', async () => {
  expect(await codeOf(await ask('/v1/verifications?owner=Alpine+Bank'))).toBe('parameter_unknown');
});

it('knows no verification of another client, nor what can be no id', async () => {
  const [other] = (await list('/v1/verifications', insurer.key)).verifications;
  for (const id of [other!.id, '00000000-0000-4000-8000-000000000000', '7', 'x', "';--"]) {
    const response = await ask(`/v1/verifications/${id}`);
    expect([response.status, await codeOf(response)], id).toEqual([404, 'verification_unknown']);
  }
});

it('needs a key with the scope', async () => {
  for (const path of ['/v1/verifications', '/v1/verifications/00000000-0000-4000-8000-000000000000']) {
    expect((await fetch(`${url}${path}`)).status).toBe(401);
    expect(await codeOf(await ask(path, cachesKey))).toBe('forbidden');
    expect(
      (await fetch(`${url}${path}`, { method: 'POST', headers: { authorization: `Bearer ${bank.key}` } })).status,
    ).toBe(405);
  }
});

it('answers 304 to the tag of a page that did not change', async () => {
  const page = await ask(`/v1/verifications?batch=${first.id}`);
  expect(page.headers.get('cache-control')).toBe('private, no-cache');
  expect(
    (await ask(`/v1/verifications?batch=${first.id}`, bank.key, { 'if-none-match': page.headers.get('etag') ?? '' }))
      .status,
  ).toBe(304);
});

const batches = [
  await addBatch(db, { owner: pager.client }),
  await addBatch(db, { owner: pager.client }),
  await addBatch(db, { owner: pager.client, state: 'open' }),
];
for (const batch of batches) await addItems(db, batch, { from: 1, to: 25 });

it('shows each row once, page after page, while others are submitted', async () => {
  const seen: string[] = [];
  let path: string | null = '/v1/verifications?limit=10&state=performed';
  for (let page = 1; path !== null; page++) {
    const response: Response = await ask(path, pager.key);
    const link = response.headers.get('link');
    const { verifications, next } = verificationListSchema.parse(await response.json());
    expect(link).toBe(next === null ? null : `<${next}>; rel="next"`);
    seen.push(...verifications.map(({ id }) => id));
    path = next;
    await addItems(db, batches[2]!, { from: 25 + page, to: 25 + page });
    if (page === 3) await addItems(db, await addBatch(db, { owner: pager.client }), { from: 1, to: 3 });
  }
  expect(seen).toHaveLength(75);
  expect(new Set(seen).size).toBe(75);
});

it('refuses the cursor of another list, of other filters, of another client, and a made one', async () => {
  const { next } = await list('/v1/verifications?limit=1');
  const cursor = new URL(next!, url).searchParams.get('cursor')!;
  expect((await ask(next!)).status).toBe(200);
  expect((await ask(`/v1/verifications?limit=5&cursor=${cursor}`)).status).toBe(200);
  const of = (client: string) => ({ list: 'verifications', of: [client, null, null, null] });
  const refused: [string, string][] = [
    [`/v1/verifications?limit=1&cursor=${cursor}`, insurer.key],
    [`/v1/verifications?state=error&cursor=${cursor}`, bank.key],
    [`/v1/batches?cursor=${cursor}`, bank.key],
    [`/v1/batches/${first.id}?cursor=${cursor}`, bank.key],
    ...['', '1', '1.0', '0.1', '-1.1', '1.1.1', `1.${'9'.repeat(11)}`].map((key): [string, string] => [
      `/v1/verifications?cursor=${formatCursor(of(bank.client), key)}`,
      bank.key,
    ]),
  ];
  for (const [path, key] of refused) expect(await codeOf(await ask(path, key)), path).toBe('parameter_invalid');
  expect((await ask(`/v1/verifications?cursor=${formatCursor(of(bank.client), '1.9999999999')}`)).status).toBe(200);
});

it('reads a page of 100,000 verifications from an index, first and last, whatever is filtered', async () => {
  const owner = 'Big Contact Centre';
  const small = await addBatch(db, { owner });
  await addItems(db, small, { from: 1, to: 3, model: 'phone/v7' });
  const { batchId } = await addBatch(db, { owner });
  await addItems(db, { batchId, id: '' }, { from: 1, to: 100_000 });
  await db.query('VACUUM ANALYZE verification, verification_batch, verification_result');

  const newest = { state: null, model: null, batchId: Number.MAX_SAFE_INTEGER, line: 2 ** 31 - 1, limit: 101 };
  const measureNewest = (asked: Partial<Record<keyof typeof newest, string | number>>) => {
    const { state, model, batchId: before, line, limit } = { ...newest, ...asked };
    const values = [state, model, null, null, 0, before, line, null, null, limit, owner, null];
    return measureRead('audio/list_newest_verifications_by_batch', values);
  };
  const pages = {
    first: await measureNewest({}),
    last: await measureNewest({ batchId, line: 60 }),
    inState: await measureNewest({ state: 'performed', limit: 501 }),
    inStateOfNone: await measureNewest({ state: 'error' }),
    ofModel: await measureNewest({ model: 'phone/v7' }),
    batchMiddle: await measureRead('audio/list_verifications', [batchId, null, null, null, null, 50_000, 101, false]),
    counts: await measureRead('audio/count_states', [batchId]),
  };
  expect(Object.fromEntries(Object.entries(pages).map(([name, { rows }]) => [name, rows]))).toEqual({
    first: 101,
    last: 62,
    inState: 501,
    inStateOfNone: 0,
    ofModel: 3,
    batchMiddle: 101,
    counts: 1,
  });
  const blocks = Object.fromEntries(Object.entries(pages).map(([name, page]) => [name, page.blocks]));
  for (const name of ['first', 'last', 'inState', 'inStateOfNone', 'batchMiddle'])
    expect(blocks[name], name).toBeLessThan(200);
  expect(blocks['counts']).toBeLessThan(1500); // of an index of 100,000 entries
});

type Statement = Parameters<typeof sql>[0];

/** Rows of a statement, and blocks of 8 KiB that the database looked at for them. */
async function measureRead(name: Statement, values: unknown[]): Promise<{ rows: number; blocks: number; ms: number }> {
  interface Plan {
    'Actual Rows': number;
    'Shared Hit Blocks': number;
    'Shared Read Blocks': number;
  }
  const { rows } = await db.query<{ 'QUERY PLAN': [{ Plan: Plan; 'Execution Time': number }] }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql(name)}`,
    values,
  );
  const [{ Plan: plan, 'Execution Time': ms }] = rows[0]!['QUERY PLAN'];
  return { rows: plan['Actual Rows'], blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'], ms };
}
