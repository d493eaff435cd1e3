import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openQueues, type Queues } from '../../../jobs/queues/backend.ts';
import { enqueueJob, enqueueNightFlow } from '../../../jobs/queues/enqueue.ts';
import { startWorker, type Handlers, type Worker } from '../../../jobs/worker.ts';
import type { JobConfig } from '../../../jobs/queues/queues.ts';
import { loadConfig } from '../../../runtime/config.ts';
import { acquireEmbeddedDatabase, removeStateDirectory } from '../../../runtime/services/embedded-postgres.ts';
import { ServiceError, type Failure } from '../../../runtime/errors.ts';
import { backends, openBackend, silent, until, wipe, type TestBackend } from '../backends.ts';
import { startWorkerProcess, type WorkerProcess } from '../worker-process.ts';

describe.each(backends)('the queues in $kind', ({ kind, skipped }) => {
  describe.skipIf(skipped !== undefined)(skipped ?? 'contract', () => {
    let backend: TestBackend;
    let queues: Queues;
    let workers: Worker[] = [];
    let processes: WorkerProcess[] = [];
    let loadId = 0;

    const start = async (handlers: Partial<Handlers>, config: Partial<JobConfig> = {}): Promise<Worker> => {
      const worker = await backend.startWorker(handlers, config);
      workers.push(worker);
      return worker;
    };
    const startProcess = async (...words: string[]): Promise<WorkerProcess> => {
      const worker = await startWorkerProcess(backend.env, ...words);
      processes.push(worker);
      return worker;
    };
    const feedState = (id: number) => queues.state('feeds', `feed-${id}`);

    beforeAll(async () => {
      backend = await openBackend(kind);
      queues = await backend.openQueues();
    });
    afterAll(async () => {
      await queues.close();
      await backend.close();
    });
    beforeEach(() => {
      loadId += 1;
    });
    afterEach(async () => {
      await Promise.all(workers.map((worker) => worker.stop(0)));
      await Promise.all(processes.map((worker) => worker.end('SIGKILL')));
      workers = [];
      processes = [];
    });

    it('runs a job once with its payload, its attempt and its log', async () => {
      const seen: unknown[] = [];
      await start({
        'load-feed': async (payload, { attempt, signal, updateProgress }) => {
          await updateProgress({ rows: 7 });
          seen.push({ payload, attempt, aborted: signal.aborted });
        },
      });
      expect(await enqueueJob(queues, 'load-feed', { loadId })).toBe(true);
      await until(
        () => feedState(loadId),
        (state) => state === 'completed',
      );
      expect(seen).toEqual([{ payload: { loadId }, attempt: 1, aborted: false }]);
    });

    it('refuses a payload that does not fit, when it is added and when it arrives', async () => {
      expect(() => enqueueJob(queues, 'load-feed', { loadId: -1 })).toThrow(
        expect.objectContaining({ code: 'job_invalid' }),
      );
      let runs = 0;
      await start({ 'load-feed': async () => (runs += 1) });
      await queues.add({ queue: 'feeds', name: 'load-feed', id: `feed-${loadId}`, payload: { loadId: 'twelve' } });
      await until(
        () => feedState(loadId),
        (state) => state === 'failed',
      );
      expect(await queues.failure('feeds', `feed-${loadId}`)).toMatchObject({
        reason: expect.stringContaining('job_invalid'),
        byCrashes: false,
      });
      expect(runs).toBe(0);
    });

    it('retries an error that another attempt can cure, and has its failure recorded after the last attempt alone', async () => {
      const attempts: [number, string][] = [];
      await start({
        'publish-night': async (_payload, { attempt, onFailure }) => {
          attempts.push([attempt, 'run']);
          onFailure(async ({ code }) => attempts.push([attempt, code]));
          throw new ServiceError('copy_cut', { operation: 'test' });
        },
      });
      await enqueueNightFlow(queues, { runId: loadId, generation: 1, buildIds: [] });
      await until(
        () => queues.state('publications', `publish-${loadId}-g1`),
        (state) => state === 'failed',
      );
      expect(attempts).toEqual([
        [1, 'run'],
        [2, 'run'],
        [3, 'run'],
        [3, 'copy_cut'],
      ]);
    });

    it('lets accepted work wait for a full disk, beyond its attempts', async () => {
      let attempts = 0;
      const recorded: Failure[] = [];
      await start({
        'load-feed': async (_payload, { attempt, onFailure }) => {
          attempts += 1;
          onFailure(async (failure) => recorded.push(failure));
          expect(attempt).toBe(1);
          if (attempts < 3)
            throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC', syscall: 'write' });
        },
      });
      await enqueueJob(queues, 'load-feed', { loadId });
      await until(
        () => feedState(loadId),
        (state) => state === 'completed',
      );
      expect(attempts).toBe(3);
      expect(recorded).toEqual([]);
    });

    it('lets a build wait for a full disk, and the publication for the build, without an attempt', async () => {
      const buildId = 40_000 + loadId;
      const attempts: number[] = [];
      await start({
        'build-artefact': async (_payload, { attempt }) => {
          attempts.push(attempt);
          if (attempts.length < 4) throw new ServiceError('storage_unavailable', { operation: 'test' });
        },
        'publish-night': async () => undefined,
      });
      await enqueueNightFlow(queues, { runId: loadId, generation: 1, buildIds: [buildId] });
      await until(
        () => queues.state('publications', `publish-${loadId}-g1`),
        (state) => state === 'completed',
      );
      expect(attempts).toEqual([1, 1, 1, 1]);
      expect(await queues.state('builds', `build-${buildId}`)).toBe('completed');
    });

    it('fails a job at once whose error no second attempt can cure, and keeps its code and words', async () => {
      let attempts = 0;
      const recorded: Failure[] = [];
      await start({
        'load-feed': async (_payload, { onFailure }) => {
          attempts += 1;
          onFailure(async (failure) => recorded.push(failure));
          throw new ServiceError('feed_gzip_invalid', { operation: 'read feed', object: 'feed load 1' });
        },
      });
      await enqueueJob(queues, 'load-feed', { loadId });
      await until(
        () => feedState(loadId),
        (state) => state === 'failed',
      );
      expect(attempts).toBe(1);
      expect(recorded).toEqual([
        { code: 'feed_gzip_invalid', reason: 'The gzip data of the feed is damaged or cut off.' },
      ]);
      expect(await queues.failure('feeds', `feed-${loadId}`)).toEqual({
        reason: 'feed_gzip_invalid: read feed feed load 1: The gzip data of the feed is damaged or cut off.',
        byCrashes: false,
      });
    });

    it('leaves a job of the same id alone while it is live, and adds it again once it has ended', async () => {
      expect(await enqueueJob(queues, 'load-feed', { loadId })).toBe(true);
      expect(await enqueueJob(queues, 'load-feed', { loadId })).toBe(false);
      let runs = 0;
      const worker = await start({
        'load-feed': async () => {
          runs += 1;
          if (runs === 1) throw new ServiceError('feed_gzip_invalid', { operation: 'test' });
        },
      });
      await until(
        () => feedState(loadId),
        (state) => state === 'failed',
      );
      expect(await enqueueJob(queues, 'load-feed', { loadId })).toBe(true);
      await until(
        () => feedState(loadId),
        (state) => state === 'completed',
      );
      expect(await enqueueJob(queues, 'load-feed', { loadId })).toBe(true);
      await until(
        () => runs,
        (count) => count === 3,
      );
      await worker.stop();
      expect(runs).toBe(3);
    });

    it('publishes when every build has ended, also when one of them failed permanently', async () => {
      const built: number[] = [];
      const published: unknown[] = [];
      const handlers: Partial<Handlers> = {
        'build-artefact': async ({ buildId }) => {
          if (buildId % 10 === 2) throw new ServiceError('rows_differ', { operation: 'test' });
          if (buildId % 10 === 3) throw new ServiceError('snapshot_gone', { operation: 'test' });
          built.push(buildId);
        },
        'publish-night': async (payload) => published.push(payload),
      };
      const buildIds = [1, 2, 3, 4].map((id) => loadId * 10 + id);
      await enqueueNightFlow(queues, { runId: loadId, generation: 1, buildIds });
      expect(await queues.state('publications', `publish-${loadId}-g1`)).toBe('waiting-children');
      await enqueueNightFlow(queues, { runId: loadId, generation: 1, buildIds });
      await start(handlers);
      await until(
        () => queues.state('publications', `publish-${loadId}-g1`),
        (state) => state === 'completed',
      );
      expect(built.toSorted((a, b) => a - b)).toEqual([buildIds[0], buildIds[3]]);
      expect(published).toEqual([{ runId: loadId, generation: 1 }]);
    });

    it('publishes a night without builds', async () => {
      await enqueueNightFlow(queues, { runId: loadId, generation: 1, buildIds: [] });
      await start({ 'publish-night': async () => undefined });
      await until(
        () => queues.state('publications', `publish-${loadId}-g1`),
        (state) => state === 'completed',
      );
    });

    it('runs a job again whose worker was killed, without using up an attempt', async () => {
      await enqueueJob(queues, 'load-feed', { loadId });
      const victim = await startProcess('hold');
      await victim.line(`start ${loadId}`);
      await victim.end('SIGKILL');
      const attempts: number[] = [];
      await start({ 'load-feed': async (_payload, { attempt }) => attempts.push(attempt) });
      await until(
        () => feedState(loadId),
        (state) => state === 'completed',
      );
      expect(attempts).toEqual([1]);
    });

    it('gives a job up that crashes its worker more often than the crash budget allows', async () => {
      const kills = 2;
      await enqueueJob(queues, 'load-feed', { loadId });
      for (let crash = 0; crash < kills; crash++) {
        const victim = await startWorkerProcess(backend.env, 'hold');
        await victim.line(`start ${loadId}`);
        await victim.end('SIGKILL');
      }
      let runs = 0;
      await start({ 'load-feed': async () => (runs += 1) }, { jobCrashesMax: 1 });
      await until(
        () => feedState(loadId),
        (state) => state === 'failed',
      );
      expect(await queues.failure('feeds', `feed-${loadId}`)).toMatchObject({ byCrashes: true });
      expect(runs).toBe(0);
    });

    it('puts a job back on SIGTERM, where another worker finds it at once and no attempt is used up', async () => {
      await enqueueJob(queues, 'load-feed', { loadId });
      const first = await startProcess('hold');
      await first.line(`start ${loadId}`);
      const attempts: number[] = [];
      await first.end('SIGTERM');
      expect(first.lines.at(-1)).toBe('stopped');
      expect(await feedState(loadId)).toBe('waiting');
      await start({ 'load-feed': async (_payload, { attempt }) => attempts.push(attempt) });
      await until(
        () => feedState(loadId),
        (state) => state === 'completed',
      );
      expect(attempts).toEqual([1]);
    });

    it('hands an interrupted build over to a worker that is waiting already, and then publishes', async () => {
      const buildId = 1000 + loadId;
      await enqueueNightFlow(queues, { runId: loadId, generation: 1, buildIds: [buildId] });
      // A lock of 5 s is not found stalled meanwhile. With a longer one its worker would check less often than once a second,
      // and on Redis a check keeps the other workers, also those of the next tests, from checking until its own is due.
      const first = await startWorkerProcess({ ...backend.env, JOB_LOCK_SECONDS: '5' }, 'hold');
      processes.push(first);
      await first.line(`start ${loadId}-1-${buildId}`);
      const ran: string[] = [];
      await start({
        'build-artefact': async (_payload, { attempt }) => ran.push(`build ${attempt}`),
        'publish-night': async () => ran.push('publish'),
      });
      await first.end('SIGTERM');
      const began = Date.now();
      await until(
        () => queues.state('publications', `publish-${loadId}-g1`),
        (state) => state === 'completed',
      );
      expect(Date.now() - began).toBeLessThan(15_000);
      expect(ran).toEqual(['build 1', 'publish']);
    });

    it('lets a job end that finishes within the grace', async () => {
      await enqueueJob(queues, 'load-feed', { loadId });
      let ended = false;
      let began = (): void => {};
      const running = new Promise<void>((resolve) => (began = resolve));
      const worker = await backend.startWorker({
        'load-feed': async () => {
          began();
          await sleep(300);
          ended = true;
        },
      });
      await running;
      expect(await worker.stop(5)).toBe(true);
      expect(ended).toBe(true);
      expect(await feedState(loadId)).toBe('completed');
    });

    it('shares jobs between two workers without doing one twice', async () => {
      const ids = Array.from({ length: 30 }, (_, index) => 5000 + loadId * 100 + index);
      const done: string[] = [];
      const handler = (worker: string) => async (payload: { loadId: number }) => {
        done.push(`${worker} ${payload.loadId}`);
        await until(
          () => new Set(done.map((line) => line[0])).size,
          (count) => count === 2,
        ); // the first job of each waits for the other
      };
      await start({ 'load-feed': handler('a') });
      await start({ 'load-feed': handler('b') });
      for (const id of ids) await enqueueJob(queues, 'load-feed', { loadId: id });
      await until(
        () => done.length,
        (count) => count >= ids.length,
      );
      await until(
        async () => (await queues.counts()).feeds,
        ({ waiting, active }) => waiting + active === 0,
      );
      expect(done.map((line) => Number(line.slice(2))).toSorted((a, b) => a - b)).toEqual(ids);
      expect(new Set(done.map((line) => line[0]))).toEqual(new Set(['a', 'b']));
    });

    it('counts the workers that are connected', async () => {
      await start({ 'load-feed': async () => undefined });
      expect(
        await until(
          async () => (await queues.workers()).feeds,
          (count) => count === 1,
        ),
      ).toBe(1);
    });

    it('does a job twice whose handler blocks the event loop for longer than the lock: the reason for worker threads', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'released-'));
      onTestFinished(() => rm(folder, { recursive: true }));
      const released = join(folder, 'now');
      const blocked = await startProcess('block', released);
      await enqueueJob(queues, 'load-feed', { loadId });
      await blocked.line(`start ${loadId}`);
      let runs = 0;
      await start({ 'load-feed': async () => (runs += 1) });
      await until(
        () => runs,
        (count) => count === 1,
      );
      await writeFile(released, '');
      await blocked.line(`end ${loadId}`);
      await until(
        () => feedState(loadId),
        (state) => state === 'completed',
      );
    });

    it('fires the signal of a handler that has lost its job, and runs the job when it is queued again', async () => {
      await enqueueJob(queues, 'load-feed', { loadId });
      let runs = 0;
      let reason: unknown;
      await start({
        'load-feed': async (_payload, { signal }) => {
          runs += 1;
          if (runs > 1) return;
          await sleep(30_000, undefined, { signal }).catch(() => (reason = signal.reason));
          throw reason;
        },
      });
      await until(
        () => runs,
        (count) => count === 1,
      );
      await wipe(backend);
      await until(
        () => reason,
        (reason) => reason !== undefined,
      );
      expect(reason).toMatchObject({ code: 'interrupted' });
      expect(await enqueueJob(queues, 'load-feed', { loadId })).toBe(true);
      await until(
        () => feedState(loadId),
        (state) => state === 'completed',
      );
      expect(runs).toBe(2);
    });

    it('continues after every connection was cut, idle or at work', async () => {
      let runs = 0;
      let began = (): void => {};
      const running = new Promise<void>((resolve) => (began = resolve));
      await start({
        'load-feed': async (payload) => {
          runs += 1;
          began();
          if (payload.loadId === loadId) await sleep(1500);
        },
      });
      await enqueueJob(queues, 'load-feed', { loadId });
      await running;
      await cutConnections(backend);
      await until(
        () => feedState(loadId).catch(() => 'away'),
        (state) => state === 'completed',
      );
      await sleep(200);
      await cutConnections(backend);
      await enqueueJob(queues, 'load-feed', { loadId: 9000 + loadId }).catch(() =>
        enqueueJob(queues, 'load-feed', { loadId: 9000 + loadId }),
      );
      await until(
        () => feedState(9000 + loadId).catch(() => 'away'),
        (state) => state === 'completed',
      );
      expect(runs).toBeGreaterThanOrEqual(2);
    });

    it('adds a flow once when two processes add it at the same time', async () => {
      const others = await backend.openQueues();
      const buildIds = Array.from({ length: 20 }, (_, index) => 30_000 + index);
      const flow = { runId: loadId, generation: 1, buildIds };
      await Promise.all([enqueueNightFlow(queues, flow), enqueueNightFlow(others, flow)]);
      const ran: string[] = [];
      await start({
        'build-artefact': async ({ buildId }) => ran.push(String(buildId)),
        'publish-night': async () => ran.push('publish'),
      });
      await until(
        () => queues.state('publications', `publish-${loadId}-g1`),
        (state) => state === 'completed',
      );
      expect(ran.toSorted()).toEqual([...buildIds.map(String), 'publish']);
      expect(ran.at(-1)).toBe('publish');
      await others.close();
    });

    if (kind === 'redis') {
      it('continues after Redis was killed and started again, with the jobs it had acknowledged', async () => {
        const ids = Array.from({ length: 20 }, (_, index) => 20_000 + index);
        for (const id of ids) await enqueueJob(queues, 'load-feed', { loadId: id });
        const done = new Set<number>();
        await start({
          'load-feed': async (payload) => {
            await sleep(50);
            done.add(payload.loadId);
          },
        });
        await until(
          () => done.size,
          (count) => count > 3,
        );
        const printed = vi.spyOn(console, 'error'); // by BullMQ, where nothing listens for its errors
        await backend.redis!.kill();
        await sleep(1000);
        await backend.redis!.start();
        await until(
          () => done.size,
          (count) => count === ids.length,
        );
        expect(printed).not.toHaveBeenCalled();
        printed.mockRestore();
      });
    }
  });
});

describe('the queues in PostgreSQL', () => {
  it('continue after the server was restarted, with the jobs they had acknowledged', async () => {
    const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-restart-'));
    const embedded = await acquireEmbeddedDatabase(stateDir);
    const config = loadConfig({ JOB_LOCK_SECONDS: '5' });
    const queues = await openQueues(config, embedded.url, silent);
    const done = new Set<number>();
    const handlers: Partial<Handlers> = {
      'load-feed': async ({ loadId }) => {
        await sleep(50);
        done.add(loadId);
      },
    };
    const worker = await startWorker({ config, databaseUrl: embedded.url, log: silent, handlers });
    for (let loadId = 1; loadId <= 20; loadId++) await enqueueJob(queues, 'load-feed', { loadId });
    await until(
      () => done.size,
      (count) => count > 3,
    );
    await embedded.release(); // a fast shutdown
    await sleep(1000);
    const again = await acquireEmbeddedDatabase(stateDir);
    expect(again.url).toBe(embedded.url);
    await until(
      () => done.size,
      (count) => count === 20,
    );
    await until(
      () => queues.state('feeds', 'feed-20').catch(() => 'away'),
      (state) => state === 'completed',
    );
    await worker.stop(0);
    await queues.close();
    await again.release();
    await removeStateDirectory(stateDir);
  });
});

/** Ends every connection of the backend but the one that does it. */
async function cutConnections({ database, redis }: TestBackend): Promise<void> {
  if (redis === undefined) {
    await database.db.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    return;
  }
  const { connectRedis } = await import('../../../runtime/redis.ts');
  const client = await connectRedis({ url: redis.url, name: 'test', commandRetriesMax: 1, onError: () => {} });
  await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  client.disconnect();
}
