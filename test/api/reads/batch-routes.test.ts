import { expect, it } from 'vitest';
import { formatCursor } from '../../../api/documents/cursor.ts';
import { problemSchema } from '../../../api/documents/schemas.ts';
import { batchDetailSchema, batchListSchema } from '../../../api/reads/verification-schemas.ts';
import { useTestDatabase } from '../../support/database.ts';
import { useTestApi } from '../support/running-api.ts';
import { addBatch, addItems } from '../support/verifications.ts';

const database = await useTestDatabase();
const { db } = database;
const { url, makeKey, key: cachesKey } = await useTestApi(database);
const bank = await makeKey(['verifications:read'], undefined, 'Alpine Bank');
const insurer = await makeKey(['verifications:read'], undefined, 'Northwind Insurance');
const ask = (path: string, key = bank.key) => fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } });
const read = async (path: string) => batchDetailSchema.strict().parse(await (await ask(path)).json());
const codeOf = async (response: Response) => problemSchema.parse(await response.json()).code;

const done = await addBatch(db, { owner: bank.client, name: 'calls of monday' });
await addItems(db, done, { from: 1, to: 6 });
await addItems(db, done, { from: 7, to: 8, state: 'performedWithoutScore', reason: 'insufficient_voice' });
await addItems(db, done, { from: 9, to: 9, state: 'error', reason: 'audio_damaged', attempts: 1 });
const open = await addBatch(db, {
  owner: bank.client,
  name: 'calls of tuesday',
  state: 'open',
  requestedModel: 'auto',
});
const foreign = await addBatch(db, { owner: insurer.client });

it('lists the batches of the client from the newest down, and those of no other', async () => {
  const { batches, next } = batchListSchema.strict().parse(await (await ask('/v1/batches')).json());
  expect(batches.map(({ id, state, items }) => [id, state, items])).toEqual([
    [open.id, 'open', 0],
    [done.id, 'done', 9],
  ]);
  expect(next).toBeNull();
  expect(
    batchListSchema.parse(await (await ask('/v1/batches', insurer.key)).json()).batches.map(({ id }) => id),
  ).toEqual([foreign.id]);
  expect(batchListSchema.parse(await (await ask('/v1/batches?state=done')).json()).batches.map(({ id }) => id)).toEqual(
    [done.id],
  );
});

it('shows a batch with the counts of its states and its verifications in their order', async () => {
  const batch = await read(`/v1/batches/${done.id}`);
  expect(batch).toMatchObject({
    id: done.id,
    name: 'calls of monday',
    state: 'done',
    mode: 'api',
    requestedModel: 'phone',
    release: '2026.04.r1p0',
    models: { phone: 'phone/v8', digital: null },
    channels: 'apart',
    items: 9,
    times: { requested: '2026-11-20T08:00:00.000Z', ended: '2026-11-20T08:05:00.000Z' },
    links: { self: `/v1/batches/${done.id}`, verifications: `/v1/verifications?batch=${done.id}` },
    counts: { queued: 0, performing: 0, performed: 6, performedWithoutScore: 2, error: 1 },
    next: null,
  });
  expect(batch.verifications.map(({ state }) => state)).toEqual([
    ...Array<string>(6).fill('performed'),
    'performedWithoutScore',
    'performedWithoutScore',
    'error',
  ]);
  expect(await read(`/v1/batches/${open.id}`)).toMatchObject({
    items: 0,
    verifications: [],
    times: { ended: null },
    counts: { queued: 0 },
  });
});

it('pages through the verifications of a batch, of all states or of one', async () => {
  for (const [query, pages] of [
    ['limit=4', [4, 4, 1]],
    ['limit=4&state=performed', [4, 2]],
    ['state=queued', [0]],
  ] as const) {
    const sizes: number[] = [];
    const seen = new Set<string>();
    let path: string | null = `/v1/batches/${done.id}?${query}`;
    while (path !== null) {
      const page: Awaited<ReturnType<typeof read>> = await read(path);
      expect(page.counts.performed).toBe(6);
      sizes.push(page.verifications.length);
      for (const { id } of page.verifications) seen.add(id);
      path = page.next;
    }
    expect(sizes).toEqual(pages);
    expect(seen.size).toBe(pages.reduce((sum: number, size) => sum + size, 0));
  }
});

it('shows each verification once while the batch is still being submitted', async () => {
  const growing = await addBatch(db, { owner: bank.client, state: 'open' });
  await addItems(db, growing, { from: 1, to: 10, state: 'queued' });
  const seen: string[] = [];
  let path: string | null = `/v1/batches/${growing.id}?limit=3`;
  for (let line = 11; path !== null; line++) {
    const page: Awaited<ReturnType<typeof read>> = await read(path);
    seen.push(...page.verifications.map(({ id }) => id));
    path = page.next;
    if (line <= 12) await addItems(db, growing, { from: line, to: line, state: 'queued' });
  }
  expect(seen).toHaveLength(12);
  expect(new Set(seen).size).toBe(12);
});

it('knows no batch of another client, nor what can be no id', async () => {
  for (const id of [foreign.id, '00000000-0000-4000-8000-000000000000', '1', 'x']) {
    const response = await ask(`/v1/batches/${id}`);
    expect([response.status, await codeOf(response)], id).toEqual([404, 'batch_unknown']);
  }
});

it('refuses a cursor of another batch and wrong parameters', async () => {
  const { next } = await read(`/v1/batches/${done.id}?limit=1`);
  const cursor = new URL(next!, url).searchParams.get('cursor')!;
  const made = (key: string) => formatCursor({ list: 'batch', of: [bank.client, done.id, null] }, key);
  for (const path of [
    `/v1/batches/${open.id}?cursor=${cursor}`,
    `/v1/batches/${done.id}?state=error&cursor=${cursor}`,
    `/v1/batches/${done.id}?cursor=${made('0')}`,
    `/v1/batches/${done.id}?cursor=${made('9'.repeat(10))}`,
    `/v1/batches/${done.id}?state=open`,
    '/v1/batches?state=performed',
    `/v1/batches?cursor=${cursor}`,
  ]) {
    expect(await codeOf(await ask(path)), path).toBe('parameter_invalid');
  }
  expect(await codeOf(await ask(`/v1/batches/${done.id}?model=phone/v8`))).toBe('parameter_unknown');
  const twoBatches = batchListSchema.parse(await (await ask('/v1/batches?limit=1')).json());
  expect(await codeOf(await ask(twoBatches.next!, insurer.key))).toBe('parameter_invalid');
  expect(batchListSchema.parse(await (await ask(twoBatches.next!)).json()).batches).toHaveLength(1);
});

it('needs a key with the scope', async () => {
  for (const path of ['/v1/batches', `/v1/batches/${done.id}`]) {
    expect((await fetch(`${url}${path}`)).status).toBe(401);
    expect(await codeOf(await ask(path, cachesKey))).toBe('forbidden');
  }
});
