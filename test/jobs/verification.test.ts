import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Queues } from '../../jobs/queues/backend.ts';
import { jobIds } from '../../jobs/queues/enqueue.ts';
import { createHandlers } from '../../jobs/handlers.ts';
import { openLazyScoring, type LazyScoring } from '../../jobs/lazy-scoring.ts';
import { reconcile } from '../../jobs/reconcile.ts';
import { requestRetry, requestVerification } from '../../jobs/queues/verification-producer.ts';
import type { Worker } from '../../jobs/worker.ts';
import type { JobConfig } from '../../jobs/queues/queues.ts';
import { cancelBatch, countStates, hasEnded, readBatch, type Batch } from '../../pipelines/audio/batches/batch.ts';
import { submitBatch } from '../../pipelines/audio/batches/batch-intake.ts';
import type { SubmittedItem } from '../../pipelines/audio/batches/batch-items.ts';
import { listVerifications } from '../../pipelines/audio/batches/stored-verifications.ts';
import { submissionOf, tinyRecording, useFolder, writeVoice } from '../support/recording-batch.ts';
import { backends, openBackend, silent, until, wipe, type TestBackend } from './backends.ts';

const folder = await useFolder('verification-jobs');

describe.each(backends)('a batch with queues in $kind', ({ kind, skipped }) => {
  describe.skipIf(skipped !== undefined)(skipped ?? 'of recordings', () => {
    let backend: TestBackend;
    let queues: Queues;
    let scoring: LazyScoring;
    const workers: Worker[] = [];
    let made = kind === 'redis' ? 100_000 : 0;

    const db = () => backend.database.db;
    const silence = async (): Promise<SubmittedItem> => {
      const path = join(folder, `${++made}.wav`);
      await writeFile(path, tinyRecording(made));
      return { path, source: `${made}.wav` };
    };
    const silences = (count: number) => Promise.all(Array.from({ length: count }, silence));
    const request = async (items: readonly SubmittedItem[]) =>
      (
        await requestVerification(
          { db: db(), config: backend.config, queues, log: silent },
          submissionOf(items, { key: randomUUID() }),
        )
      ).batch;
    const startWorker = async (changes: Partial<JobConfig> = {}) => {
      const config = { ...backend.config, ...changes };
      const { 'verify-items': verify, 'finish-batch': finish } = createHandlers({
        config,
        db: db(),
        database: {
          url: backend.database.url,
          apiUrl: undefined,
          kind: 'given',
          home: undefined,
          release: async () => {},
        },
        log: silent,
        queues,
        scoring,
      });
      const worker = await backend.startWorker({ 'verify-items': verify, 'finish-batch': finish }, changes);
      workers.push(worker);
      return worker;
    };
    const untilEnded = ({ id }: Batch) => until(() => readBatch(db(), id), hasEnded);

    beforeAll(async () => {
      backend = await openBackend(kind, { STATE_DIR: join(folder, kind), RECONCILE_SECONDS: '1' });
      queues = await backend.openQueues();
      scoring = openLazyScoring({ config: backend.config, log: silent });
    });
    afterEach(async () => {
      await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
      await wipe(backend);
    });
    afterAll(async () => {
      await scoring.close();
      await queues.close();
      await backend.close();
    });

    it('is performed in chunks, and done when each item has an outcome', async () => {
      const voice = { path: await writeVoice(join(folder, `voice-${kind}.wav`)), source: 'voice' };
      const batch = await request([voice, ...(await silences(60)), { path: join(folder, 'none'), source: 'none' }]);
      expect(await queues.counts()).toMatchObject({
        verifications: { waiting: 2 },
        batches: { 'waiting-children': 1 },
      });
      await startWorker();
      expect(await untilEnded(batch)).toMatchObject({ state: 'done', generation: 1 });
      expect(await countStates(db(), batch.batchId)).toEqual({
        queued: 0,
        performing: 0,
        performed: 1,
        performedWithoutScore: 60,
        error: 1,
      });
      await until(
        () => queues.state('batches', jobIds.batchEnd(batch)),
        (state) => state === 'completed',
      );
    });

    it('of one recording does not wait for all of a large one', async () => {
      const large = await request(await silences(200));
      const small = await request(await silences(1));
      await startWorker({ verificationConcurrency: 1 });
      await untilEnded(small);
      expect((await countStates(db(), large.batchId)).queued).toBeGreaterThan(0);
      await untilEnded(large);
    });

    it('is performed though the queues were emptied, each item once', async () => {
      const batch = await request(await silences(3));
      await wipe(backend);
      expect(await queues.state('batches', jobIds.batchEnd(batch))).toBe('missing');
      expect(await reconcile({ db: db(), queues, log: silent })).toEqual({ enqueued: 1, lost: 0 });
      expect(await reconcile({ db: db(), queues, log: silent })).toEqual({ enqueued: 0, lost: 0 });
      await startWorker();
      expect(await untilEnded(batch)).toMatchObject({ state: 'done', generation: 2 });
      expect(
        (await listVerifications(db(), batch.batchId, { after: 0, limit: 10, windows: false })).map(
          ({ attempts }) => attempts,
        ),
      ).toEqual([1, 1, 1]);
    });

    it('is performed though the queues were emptied in the middle', async () => {
      const batch = await request(await silences(160));
      await startWorker({ verificationConcurrency: 1 });
      await until(
        () => countStates(db(), batch.batchId),
        ({ performedWithoutScore }) => performedWithoutScore > 5,
      );
      await wipe(backend);
      await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
      await reconcile({ db: db(), queues, log: silent });
      await startWorker();
      expect(await untilEnded(batch)).toMatchObject({ state: 'done', generation: 2 });
      expect(await countStates(db(), batch.batchId)).toMatchObject({ performedWithoutScore: 160, error: 0 });
    });

    it('is queued by the reconciler if its producer was killed before it could be, and by the same submission', async () => {
      const submission = submissionOf(await silences(1), { key: randomUUID() });
      const { batch } = await submitBatch({ db: db(), config: backend.config }, submission);
      expect(await queues.state('batches', jobIds.batchEnd(batch))).toBe('missing');
      const again = await requestVerification({ db: db(), config: backend.config, queues, log: silent }, submission);
      expect(again).toMatchObject({ repeated: true, batch: { id: batch.id } });
      expect(await reconcile({ db: db(), queues, log: silent })).toEqual({ enqueued: 0, lost: 0 });
      await startWorker();
      await untilEnded(batch);
    });

    it('that was cancelled continues with a retry, and its first jobs do nothing', async () => {
      const batch = await request(await silences(2));
      await cancelBatch(db(), batch.id);
      await startWorker();
      await until(
        () => queues.state('batches', jobIds.batchEnd(batch)),
        (state) => state === 'completed',
      );
      expect(await countStates(db(), batch.batchId)).toMatchObject({ error: 2 });
      expect(await requestRetry({ db: db(), queues, log: silent }, batch.id, { all: false })).toMatchObject({
        retried: 2,
        batch: { state: 'queued', generation: 2 },
      });
      expect(await untilEnded(batch)).toMatchObject({ state: 'done' });
      expect(await countStates(db(), batch.batchId)).toMatchObject({ performedWithoutScore: 2, error: 0 });
    });

    it('whose chunk was given up without a word is queued again by the job that ends it', async () => {
      const batch = await request(await silences(2));
      const config = { ...backend.config };
      const { 'finish-batch': finish, 'verify-items': verify } = createHandlers({
        config,
        db: db(),
        database: {
          url: backend.database.url,
          apiUrl: undefined,
          kind: 'given',
          home: undefined,
          release: async () => {},
        },
        log: silent,
        queues,
        scoring,
      });
      let calls = 0;
      const worker = await backend.startWorker({
        'finish-batch': finish,
        'verify-items': async (payload, context) => (++calls === 1 ? 'nothing' : verify(payload, context)),
      });
      workers.push(worker);
      expect(await untilEnded(batch)).toMatchObject({ state: 'done', generation: 2 });
    });

    it('ends in error where scoring is not possible, and can be tried again', async () => {
      const items = await silences(2);
      const batch = await request(items);
      const { 'finish-batch': finish, 'verify-items': verify } = createHandlers({
        config: { ...backend.config },
        db: db(),
        database: {
          url: backend.database.url,
          apiUrl: undefined,
          kind: 'given',
          home: undefined,
          release: async () => {},
        },
        log: silent,
        queues,
        scoring: { score: () => Promise.reject(new TypeError('no such thing')), close: async () => {} },
      });
      workers.push(await backend.startWorker({ 'finish-batch': finish, 'verify-items': verify }));
      await untilEnded(batch);
      expect(
        (await listVerifications(db(), batch.batchId, { after: 0, limit: 10, windows: false })).map(
          ({ state, reason }) => [state, reason],
        ),
      ).toEqual(Array(2).fill(['error', 'scoring_failed']));
      expect((await requestRetry({ db: db(), queues, log: silent }, batch.id, { all: false })).retried).toBe(2);
    });
  });
});
