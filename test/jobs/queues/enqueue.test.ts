import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Queues } from '../../../jobs/queues/backend.ts';
import { chunkPriority, enqueueBatch, startOfBatch } from '../../../jobs/queues/enqueue.ts';
import { backends, openBackend, until, type TestBackend } from '../backends.ts';

describe('the place of a batch in the queue', () => {
  it.each([
    ['nothing waits', undefined, 1],
    ['the first chunk of a batch waits since 30 s', { priority: 1, chunk: 0, queuedAt: -30_000 }, 31],
    ['the third chunk of that batch waits', { priority: 121, chunk: 2, queuedAt: -30_000 }, 31],
    ['one of a later batch waits', { priority: 331, chunk: 5, queuedAt: 0 }, 31],
    ['the clock was set back', { priority: 1, chunk: 0, queuedAt: 5_000 }, 1],
    ['a chunk waits whose priority could not rise', { priority: 2 ** 21, chunk: 40_000, queuedAt: 0 }, 1],
  ])('when %s', (_when, waiting, expected) => {
    expect(startOfBatch(waiting, 0)).toBe(expected);
  });

  it('never is beyond what the queue takes', () => {
    expect(chunkPriority(1, 2_000)).toBe(120_001);
    expect([chunkPriority(2 ** 21 - 1, 0), chunkPriority(2 ** 21 - 1, 1), chunkPriority(1, 2 ** 30)]).toEqual([
      2 ** 21 - 1,
      2 ** 21,
      2 ** 21,
    ]);
  });
});

describe.each(backends)('chunks in $kind', ({ kind, skipped }) => {
  describe.skipIf(skipped !== undefined)(skipped ?? 'order', () => {
    let backend: TestBackend;
    let queues: Queues;
    const begun = Date.parse('2026-11-02T08:00:00Z');

    beforeAll(async () => {
      backend = await openBackend(kind);
      queues = await backend.openQueues();
    });
    afterEach(() => vi.useRealTimers());
    afterAll(async () => {
      await queues.close();
      await backend.close();
    });

    /** Queues a batch of several chunks, some seconds after the first. */
    const queueAt = async (seconds: number, batchId: number, chunks: number) => {
      vi.useFakeTimers({ toFake: ['Date'], now: begun + seconds * 1000 });
      await enqueueBatch(queues, {
        batchId,
        generation: 1,
        chunks: Array.from({ length: chunks }, (_none, chunk) => chunk),
      });
      vi.useRealTimers();
    };

    it('of a small batch go before the later ones of a large batch, and those before small batches that come too late', async () => {
      await queueAt(0, 1, 5);
      await queueAt(10, 2, 1);
      await queueAt(150, 3, 1);
      await queueAt(151, 4, 2);
      await queueAt(900, 5, 1);
      const order: string[] = [];
      const worker = await backend.startWorker(
        {
          'verify-items': async ({ batchId, chunk }) => void order.push(`${batchId}.${chunk}`),
          'finish-batch': async () => {},
        },
        { verificationConcurrency: 1 },
      );
      await until(
        () => order.length,
        (done) => done === 10,
      );
      await worker.stop(0);
      expect(order).toEqual(['1.0', '2.0', '1.1', '1.2', '3.0', '4.0', '1.3', '4.1', '1.4', '5.0']);
      expect(await queues.firstWaiting('verifications')).toBeUndefined();
    });
  });
});
