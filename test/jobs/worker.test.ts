import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorker, type Worker } from '../../jobs/worker.ts';
import type { Queues } from '../../jobs/queues/backend.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { openMetrics } from '../../runtime/metrics/prometheus.ts';
import { backends, openBackend, silent, until, type TestBackend } from './backends.ts';

describe.each(backends)('a worker with the queues in $kind', ({ kind, skipped }) => {
  describe.skipIf(skipped !== undefined)(skipped ?? 'counts', () => {
    let backend: TestBackend;
    let queues: Queues;
    let worker: Worker;
    const metrics = openMetrics('worker');
    const counted = async () =>
      (await metrics.text())
        .split('\n')
        .filter((line) => line.startsWith('caller_trust_jobs_total'))
        .map((line) => /job_name="([\w-]+)",outcome="(\w+)"\} (\d+)/.exec(line)!.slice(1).join(' '))
        .toSorted();

    beforeAll(async () => {
      backend = await openBackend(kind, { JOB_LOCK_SECONDS: '15' });
      queues = await backend.openQueues();
    });
    afterAll(async () => {
      await worker.stop(0);
      await queues.close();
      await backend.close();
    });

    it('each attempt at a job by how it ended, and the jobs that run', async () => {
      let attempts = 0;
      let release = (): void => {};
      const held = new Promise<void>((resolve) => (release = resolve));
      worker = await startWorker({
        config: backend.config,
        databaseUrl: backend.database.url,
        log: silent,
        metrics,
        handlers: {
          'build-artefact': async () => {
            if (++attempts === 1) throw new Error('once');
          },
          'run-branding': () => Promise.reject(new ServiceError('job_invalid', { operation: 'test' })),
          'publish-night': () => held,
          'open-night': async (_payload, { signal }) => {
            if (!signal.aborted) await once(signal, 'abort'); // the queue may give the interrupted job back while it stops
            signal.throwIfAborted();
          },
        },
      });
      await queues.add({
        queue: 'builds',
        name: 'build-artefact',
        id: 'build-1',
        payload: { runId: 1, generation: 1, buildId: 1 },
      });
      await queues.add({ queue: 'branding', name: 'run-branding', id: 'branding-1', payload: { operationId: 1 } });
      await queues.add({
        queue: 'publications',
        name: 'publish-night',
        id: 'publish-1-g1',
        payload: { runId: 1, generation: 1 },
      });
      await queues.add({ queue: 'nights', name: 'open-night', id: 'night-1', payload: { runId: 1 } });
      await until(counted, (lines) => lines.length === 3);
      await until(
        async () => (await metrics.text()).includes('caller_trust_jobs_in_progress{queue="publications"} 1'),
        (isRunning) => isRunning,
      );
      release();
      expect(await until(counted, (lines) => lines.length === 4)).toEqual([
        'build-artefact done 1',
        'build-artefact retried 1',
        'publish-night done 1',
        'run-branding failed 1',
      ]);
      await worker.stop(0);
      expect(await counted()).toContainEqual(expect.stringMatching(/^open-night interrupted [12]$/));
      const text = await metrics.text();
      expect(text).toContain('caller_trust_jobs_in_progress{queue="nights"} 0');
      expect(text).toContain('caller_trust_job_seconds_count{queue="builds",job_name="build-artefact"} 2');
    });
  });
});
