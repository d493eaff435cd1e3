import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cancelBatch, readBatch } from '../../../../pipelines/audio/batches/batch.ts';
import { submitBatch, type BatchSubmission } from '../../../../pipelines/audio/batches/batch-intake.ts';
import type { SubmittedItem } from '../../../../pipelines/audio/batches/batch-items.ts';
import { parseRawAudio } from '../../../../pipelines/audio/decode/raw-audio.ts';
import { listVerifications, readVerifications } from '../../../../pipelines/audio/batches/stored-verifications.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { configIn, submissionOf, testModel, tinyRecording, useFolder } from '../../../support/recording-batch.ts';

const { db } = await useTestDatabase();
const folder = await useFolder('intake');
const config = configIn(folder, { BATCH_ITEMS_MAX: '1200', AUDIO_BYTES_MAX: '5000' });
let made = 0;
/** Recordings of different content. */
const write = (count: number) =>
  Promise.all(
    Array.from({ length: count }, async (): Promise<SubmittedItem> => {
      const source = `${String(++made).padStart(5, '0')}.wav`;
      await writeFile(join(folder, source), tinyRecording(made));
      return { path: join(folder, source), source };
    }),
  );
const submit = (items: readonly SubmittedItem[], changes: Partial<BatchSubmission> = {}) =>
  submitBatch({ db, config }, submissionOf(items, changes));
const itemsOf = (batchId: number) => listVerifications(db, batchId, { after: 0, limit: 2000, windows: false });
const stored = async () =>
  (await readdir(config.audioDir, { recursive: true }).catch(() => [])).filter(
    (name) => name.includes('/') || name.startsWith('incoming'),
  );
/** Items that end the process, as it were, after some. */
async function* killedAfter(items: readonly SubmittedItem[], count: number): AsyncGenerator<SubmittedItem> {
  yield* items.slice(0, count);
  throw new Error('killed');
}

describe('a batch that is submitted', () => {
  it('is queued with its items in their order, their audio stored by content', async () => {
    const [one, two] = await write(2);
    const before = (await stored()).length;
    const { batch, repeated } = await submit([one!, two!, { ...one!, source: 'the same' }]);
    expect(batch).toMatchObject({
      state: 'queued',
      items: 3,
      generation: 1,
      requestedModel: testModel,
      settings: { channels: 'apart' },
      owner: 'Test',
      endedAt: null,
    });
    expect(repeated).toBe(false);
    const items = await itemsOf(batch.batchId);
    expect(items.map(({ line, source, state, model }) => [line, source, state, model])).toEqual([
      [1, one!.source, 'queued', testModel],
      [2, two!.source, 'queued', testModel],
      [3, 'the same', 'queued', testModel],
    ]);
    expect(items[0]!.audio!.sha256).toBe(items[2]!.audio!.sha256);
    expect((await stored()).length).toBe(before + 2);
  });

  it('keeps the meaning of the families and the release of that moment', async () => {
    const { batch } = await submit(await write(1), { model: 'Phone/V1.1 ' });
    expect(batch).toMatchObject({
      requestedModel: testModel,
      pinned: { phone: 'phone/v8.2', digital: 'digital/v3.3' },
      release: '2026.11.r3p0',
    });
  });

  it('has an outcome at once for each item that is refused, and none of them stops another', async () => {
    const [good] = await write(1);
    await writeFile(join(folder, 'empty'), '');
    await writeFile(join(folder, 'large'), Buffer.alloc(5001));
    const at = (source: string, model?: string): SubmittedItem => ({
      path: source === good!.source ? good!.path : join(folder, source),
      source,
      model,
    });
    const { batch } = await submit([
      at('none'),
      at('empty'),
      at('large'),
      at(good!.source, 'phone/v99'),
      at(good!.source, 'PHONE/v5'),
      at(good!.source, 'auto'),
      at(good!.source, 'digital'),
      at(good!.source),
    ]);
    const items = await itemsOf(batch.batchId);
    expect(items.map(({ state, reason, model, audio }) => [state, reason, model, audio === null])).toEqual([
      ['error', 'file_missing', null, true],
      ['error', 'file_empty', null, true],
      ['error', 'file_too_large', null, true],
      ['error', 'model_unknown', null, true],
      ['error', 'model_removed', null, true],
      ['queued', null, null, false],
      ['queued', null, 'digital/v3.3', false],
      ['queued', null, testModel, false],
    ]);
    expect(items[4]!.reasonDetail).toMatch(/phone\/v6/);
    expect(batch.state).toBe('queued');
  });

  it('is done at once if every item is refused', async () => {
    const { batch } = await submit([{ path: join(folder, 'none'), source: 'none' }]);
    expect(batch).toMatchObject({ state: 'done', items: 1, endedAt: expect.any(Date) as Date });
  });

  it.each([
    [{ model: 'phone/v99' }, 'model_unknown'],
    [{ model: 'phone/v5' }, 'model_removed'],
    [{ owner: ' ' }, 'audio_request_invalid'],
    [{ key: 'with space' }, 'audio_request_invalid'],
    [{ key: 'x'.repeat(129) }, 'audio_request_invalid'],
    [{ settings: { channels: 'left' as 'apart' } }, 'audio_request_invalid'],
    [{ items: [] }, 'audio_request_invalid'],
  ])('is refused whole for %j', async (changes, code) => {
    const items = await write(1);
    await expect(submit(items, changes)).rejects.toMatchObject({ code });
  });

  it('may have as many items as the limit; with one more it is cancelled', async () => {
    const [item] = await write(1);
    const many = (count: number) => Array.from({ length: count }, () => item!);
    expect((await submit(many(1200))).batch.items).toBe(1200);
    await expect(submit(many(1201), { key: 'too-large' })).rejects.toMatchObject({ code: 'batch_too_large' });
    const {
      rows: [row],
    } = await db.query(`SELECT state FROM verification_batch WHERE idempotency_key = 'too-large'`);
    expect(row).toEqual({ state: 'cancelled' });
  });
});

describe('the same submission under the same key', () => {
  it('is the same batch, also in another case and after a file is gone', async () => {
    const items = await write(3);
    const first = await submit(items, { key: 'same' });
    await rm(items[1]!.path as string);
    const second = await submit(items, { key: 'same', model: 'PHONE/v1.1', name: 'another name' });
    expect(second).toMatchObject({ repeated: true, batch: { id: first.batch.id, items: 3 } });
    expect(await itemsOf(first.batch.batchId)).toHaveLength(3);
  });

  it('is a batch of its own for another owner', async () => {
    const items = await write(1);
    const ids = [
      (await submit(items, { key: 'mine' })).batch.id,
      (await submit(items, { key: 'mine', owner: 'Other' })).batch.id,
    ];
    expect(new Set(ids).size).toBe(2);
  });

  it.each([
    ['another model', { model: 'digital/v1.1' }],
    ['other settings', { settings: { channels: 'mixed' as const } }],
  ])('is refused with %s', async (_what, changes) => {
    const items = await write(1);
    const key = `conflict-${made}`;
    await submit(items, { key });
    await expect(submit(items, { key, ...changes })).rejects.toMatchObject({ code: 'idempotency_conflict' });
  });

  it.each([
    [
      'another content',
      async (items: SubmittedItem[]) => (await writeFile(items[1]!.path, tinyRecording(++made)), items),
    ],
    ['another name', async (items: SubmittedItem[]) => [{ ...items[0]!, source: 'renamed' }, ...items.slice(1)]],
    [
      'another model of an item',
      async (items: SubmittedItem[]) => [items[0]!, { ...items[1]!, model: 'digital/v1.1' }, items[2]!],
    ],
    [
      'another form of raw audio',
      async (items: SubmittedItem[]) => [{ ...items[0]!, raw: parseRawAudio('alaw@8000') }, ...items.slice(1)],
    ],
    ['one item less', async (items: SubmittedItem[]) => items.slice(0, 2)],
    ['one item more', async (items: SubmittedItem[]) => [...items, ...(await write(1))]],
    ['another order', async (items: SubmittedItem[]) => items.toReversed()],
  ])('is refused with %s', async (_what, change) => {
    const items = await write(3);
    const key = `items-${made}`;
    const { batch } = await submit(items, { key });
    await expect(submit(await change(items), { key })).rejects.toMatchObject({ code: 'idempotency_conflict' });
    expect(await readBatch(db, batch.id)).toEqual(batch);
  });

  it('of raw audio is the same batch again, and a conflict without its form', async () => {
    const path = join(folder, 'leg.ul');
    await writeFile(path, Buffer.alloc(801, ++made));
    const items = [{ path, source: 'leg.ul', raw: parseRawAudio('mulaw@8000') }];
    const { batch } = await submit(items, { key: 'raw' });
    expect(await submit(items, { key: 'raw' })).toMatchObject({ repeated: true, batch: { id: batch.id } });
    await expect(submit([{ path, source: 'leg.ul' }], { key: 'raw' })).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
  });

  it('completes a batch whose submission was killed, with each item once', async () => {
    const items = await write(1150);
    for (const after of [20, 520, 1020])
      await expect(
        submitBatch({ db, config }, { ...submissionOf([], { key: 'killed' }), items: killedAfter(items, after) }),
      ).rejects.toThrow('killed');
    const {
      rows: [open],
    } = await db.query(`SELECT state, items FROM verification_batch WHERE idempotency_key = 'killed'`);
    expect(open).toEqual({ state: 'open', items: 1000 });
    const { batch } = await submit(items, { key: 'killed' });
    expect(batch).toMatchObject({ state: 'queued', items: 1150 });
    const sources = [];
    for await (const page of readVerifications(db, batch.batchId, { windows: false }))
      sources.push(...page.map(({ source }) => source));
    expect(sources).toEqual(items.map(({ source }) => source));
    expect((await stored()).filter((name) => name.startsWith('incoming'))).toEqual([]);
  });

  it('makes one batch if several processes submit it at the same time', async () => {
    const items = await write(700);
    const ends = await Promise.all([1, 2, 3].map(() => submit(items, { key: 'at-once' })));
    expect(new Set(ends.map(({ batch }) => batch.id)).size).toBe(1);
    expect(ends.filter(({ repeated }) => !repeated)).toHaveLength(1);
    expect((await itemsOf(ends[0]!.batch.batchId)).map(({ line }) => line)).toEqual(items.map((_item, at) => at + 1));
  });

  it('is refused after the batch was cancelled, and a submission in hand ends then', async () => {
    const items = await write(2);
    const { batch } = await submit(items, { key: 'cancelled' });
    expect(await cancelBatch(db, batch.id)).toEqual({ cancelled: 2 });
    await expect(submit(items, { key: 'cancelled' })).rejects.toMatchObject({ code: 'batch_ended' });
    const later = async function* () {
      yield* Array.from({ length: 500 }, () => items[0]!);
      const {
        rows: [row],
      } = await db.query<{ public_id: string }>(
        `SELECT public_id FROM verification_batch WHERE idempotency_key = 'in-hand'`,
      );
      if (row !== undefined) await cancelBatch(db, row.public_id);
      yield* items;
    };
    const inHand = submitBatch(
      { db, config, onProgress: () => {} },
      { ...submissionOf([], { key: 'in-hand' }), items: later() },
    );
    await expect(inHand).rejects.toMatchObject({ code: 'batch_ended' });
  });
});
