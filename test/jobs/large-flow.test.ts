import { describe, expect, it } from 'vitest';
import { enqueueNightFlow } from '../../jobs/queues/enqueue.ts';
import { sizes } from '../support/run-size.ts';
import { backends, openBackend, until } from './backends.ts';

const children = sizes.flowChildren;

describe.each(backends)('the queues in $kind', ({ kind, skipped }) => {
  it.skipIf(skipped !== undefined)(
    `run a flow of ${children} builds, each once, and its publication after the last${skipped === undefined ? '' : ` (skipped: ${skipped})`}`,
    async () => {
      const backend = await openBackend(kind, { JOB_LOCK_SECONDS: '30' });
      const queues = await backend.openQueues();
      const runs = new Map<number, number>();
      let built = -1;
      const worker = await backend.startWorker({
        'build-artefact': async ({ buildId }) => void runs.set(buildId, (runs.get(buildId) ?? 0) + 1),
        'publish-night': async () => void (built = runs.size),
      });
      const buildIds = Array.from({ length: children }, (_none, at) => at + 1);
      const startedAt = performance.now();
      await enqueueNightFlow(queues, { runId: 1, generation: 1, buildIds });
      const addedAt = performance.now();
      await until(
        () => built,
        (count) => count >= 0,
        60 + children / 10,
      );
      const seconds = (from: number, to: number) => ((to - from) / 1000).toFixed(1);
      console.log(
        `flow of ${children} on ${kind}: added in ${seconds(startedAt, addedAt)} s, done after ${seconds(startedAt, performance.now())} s, ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`,
      );
      expect(built).toBe(children);
      expect([...runs.values()].every((times) => times === 1)).toBe(true);
      await worker.stop(0);
      await queues.close();
      await backend.close();
    },
    120_000 + children * 200,
  );
});
