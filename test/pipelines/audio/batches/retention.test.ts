import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AudioStore } from '../../../../pipelines/audio/store/audio-store.ts';
import { cancelBatch, readBatch } from '../../../../pipelines/audio/batches/batch.ts';
import { submitBatch } from '../../../../pipelines/audio/batches/batch-intake.ts';
import { deleteRecording, runRetention } from '../../../../pipelines/audio/batches/retention.ts';
import { listVerifications } from '../../../../pipelines/audio/batches/stored-verifications.ts';
import { useTestDatabase } from '../../../support/database.ts';
import { configIn, submissionOf, tinyRecording, useFolder } from '../../../support/recording-batch.ts';

const { db } = await useTestDatabase();
const folder = await useFolder('retention');
const config = configIn(folder);
const store = new AudioStore(config.audioDir);
const dayMs = 86_400_000;
let made = 0;
const submit = async (number = ++made) => {
  await writeFile(join(folder, 'x.wav'), tinyRecording(number));
  const { batch } = await submitBatch({ db, config }, submissionOf([{ path: join(folder, 'x.wav'), source: 'x.wav' }]));
  const [item] = await listVerifications(db, batch.batchId, { after: 0, limit: 1, windows: false });
  return { batch, sha256: item!.audio!.sha256, bytes: tinyRecording(number).length };
};
const row = async (sha256: string) =>
  (
    await db.query<{ deleted: boolean; deleted_why: string | null }>(
      'SELECT deleted_at IS NOT NULL AS deleted, deleted_why FROM recording WHERE sha256 = $1',
      [sha256],
    )
  ).rows[0];
const submittedDaysAgo = (sha256: string, days: number) =>
  db.query(`UPDATE recording SET last_submitted_at = now() - $2 * interval '1 day' WHERE sha256 = $1`, [sha256, days]);
const run = (at = new Date()) => runRetention({ db, store }, { retentionDays: 30, at });

describe('audio that is deleted', () => {
  it('is gone, and its row says when and why; again it changes nothing', async () => {
    const { sha256, bytes } = await submit();
    expect(await store.has({ sha256, bytes })).toBe(true);
    expect(await deleteRecording({ db, store }, sha256, 'Request of the\u0000 caller')).toMatchObject({
      deleted: true,
      reason: 'Request of the caller',
    });
    expect(await store.has({ sha256, bytes })).toBe(false);
    expect(await deleteRecording({ db, store }, sha256, 'again')).toMatchObject({
      deleted: false,
      reason: 'Request of the caller',
    });
    expect(await row(sha256)).toEqual({ deleted: true, deleted_why: 'Request of the caller' });
  });

  it('is there again when it is submitted again', async () => {
    const { sha256, bytes } = await submit();
    await deleteRecording({ db, store }, sha256, 'test');
    await submit(made);
    expect([await store.has({ sha256, bytes }), await row(sha256)]).toEqual([
      true,
      { deleted: false, deleted_why: null },
    ]);
  });

  it.each([
    ['0'.repeat(64), 'test', 'recording_unknown'],
    ['0'.repeat(64), ' ', 'audio_request_invalid'],
  ])('needs to be known, and a reason: %s, "%s"', async (sha256, reason, code) => {
    await expect(deleteRecording({ db, store }, sha256, reason)).rejects.toMatchObject({ code });
  });
});

describe('the retention', () => {
  it('deletes audio that nobody has submitted for longer than its days, and keeps what is younger', async () => {
    const [old, young] = [await submit(), await submit()];
    for (const { batch } of [old, young]) await cancelBatch(db, batch.id);
    await submittedDaysAgo(old.sha256, 30.01);
    await submittedDaysAgo(young.sha256, 29.99);
    expect(await run()).toEqual({ deleted: 1, swept: 0, cancelled: 0 });
    expect([await row(old.sha256), await row(young.sha256)]).toEqual([
      { deleted: true, deleted_why: 'Retention of 30 days is over.' },
      { deleted: false, deleted_why: null },
    ]);
    expect([await store.has(old), await store.has(young)]).toEqual([false, true]);
  });

  it('waits for items that are yet to be scored', async () => {
    const { sha256, batch } = await submit();
    await submittedDaysAgo(sha256, 100);
    expect((await run()).deleted).toBe(0);
    await cancelBatch(db, batch.id);
    expect((await run()).deleted).toBe(1);
  });

  it('counts from the last time that the audio was submitted', async () => {
    const { sha256, batch } = await submit();
    await cancelBatch(db, batch.id);
    await submittedDaysAgo(sha256, 100);
    await cancelBatch(db, (await submit(made)).batch.id);
    expect((await run()).deleted).toBe(0);
  });

  it('deletes many at a time, also with a second process that does the same', async () => {
    await db.query(
      `INSERT INTO recording (sha256, bytes, last_submitted_at) SELECT lpad(to_hex(at), 64, '0'), 1, now() - interval '40 days' FROM generate_series(1, 450) AS at`,
    );
    const ends = await Promise.all([run(), run()]);
    expect(ends[0].deleted + ends[1].deleted).toBe(450);
  });

  it('cancels batches whose submission was never completed, so that their audio can go', async () => {
    const { sha256, batch } = await submit();
    await db.query(
      `UPDATE verification_batch SET state = 'open', requested_at = now() - interval '31 days' WHERE batch_id = $1`,
      [batch.batchId],
    );
    await submittedDaysAgo(sha256, 31);
    expect(await run()).toMatchObject({ deleted: 1, cancelled: 1 });
    expect(await readBatch(db, batch.id)).toMatchObject({ state: 'cancelled' });
  });

  it('removes files that no row names after an hour', async () => {
    const { sha256, bytes } = await submit();
    await db.query('DELETE FROM verification WHERE audio_sha256 = $1', [sha256]);
    await db.query('DELETE FROM recording WHERE sha256 = $1', [sha256]);
    expect((await run()).swept).toBe(0);
    expect(await store.has({ sha256, bytes })).toBe(true);
    expect(await store.removeUnknown([sha256], -dayMs)).toBe(1);
  });
});
