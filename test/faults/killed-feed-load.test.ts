import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openQueues } from '../../jobs/queues/backend.ts';
import { enqueueJob } from '../../jobs/queues/enqueue.ts';
import { readFeedLoad, submitFeed } from '../../pipelines/feeds/feed-load.ts';
import { loadConfig } from '../../runtime/config.ts';
import { useTestDatabase } from '../support/database.ts';
import { silentLog } from '../support/night.ts';
import { startPostgresProxy } from '../support/postgres-proxy.ts';
import { killProcessesAfterEach, startProcess, until } from '../support/service-process.ts';

const { db, url } = await useTestDatabase();
const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-kill-feed-'));
killProcessesAfterEach();
afterAll(() => rm(stateDir, { recursive: true, force: true }));

const startWorker = (databaseUrl: string) =>
  startProcess('jobs/worker-main.js', {
    DATABASE_URL: databaseUrl,
    STATE_DIR: stateDir,
    JOB_LOCK_SECONDS: '2',
    SHUTDOWN_GRACE_SECONDS: '1',
  });

it.each(['SIGKILL', 'SIGTERM'] as const)(
  'a feed whose worker ends by %s in the middle of the load is loaded once, whole, by the next worker',
  async (signal) => {
    const path = join(stateDir, `${signal}.csv`);
    const phones = Array.from(
      { length: 500 },
      (_, at) => `+1202${signal === 'SIGKILL' ? 555 : 556}${String(2000 + at)}`,
    );
    await writeFile(
      path,
      ['phone,level,category', ...phones.map((phone) => `${phone},SPAM,6`), 'none,SPAM,6', ''].join('\n'),
    );
    const queues = await openQueues(loadConfig({}), url, silentLog);
    const proxy = await startPostgresProxy(url, { at: 'copyIn', then: 'stall' });
    try {
      const worker = startWorker(proxy.url);
      const { loadId } = await submitFeed({
        db,
        feedDir: join(stateDir, 'feeds'),
        feed: 'reputation',
        path,
        submittedBy: 'test',
      });
      await enqueueJob(queues, 'load-feed', { loadId });
      await until(async () => proxy.interferences() > 0, 'the rows are about to be copied');
      await worker.end(signal);
      await proxy.release();
      const { rows: before } = await db.query<{ count: number }>(
        'SELECT count(*) FROM phone_number WHERE phone = ANY ($1)',
        [phones],
      );
      expect(before[0]!.count).toBe(0);
      startWorker(url);
      const load = await until(async () => {
        const read = await readFeedLoad(db, loadId);
        return read.state === 'done' && read;
      }, 'the load is done');
      expect(load).toMatchObject({ rowsGiven: 501, rowsAccepted: 500, rowsRejected: 1, rowsChanged: 500 });
      const { rows: after } = await db.query<{ count: number }>(
        'SELECT count(*) FROM phone_number WHERE phone = ANY ($1)',
        [phones],
      );
      expect(after[0]!.count).toBe(500);
    } finally {
      await proxy.close();
      await queues.close();
    }
  },
);
