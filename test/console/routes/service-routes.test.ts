import { afterAll, describe, expect, it } from 'vitest';
import { enqueueJob, jobIds } from '../../../jobs/queues/enqueue.ts';
import { UnrecoverableError } from 'bullmq';
import type { JobPage, QueueList } from '../../../console/answers/queue-answers.ts';
import { openQueues, startWorkers } from '../../../jobs/queues/backend.ts';
import { until } from '../../support/service-process.ts';
import { loadConfig } from '../../../runtime/config.ts';
import { silentLog } from '../../support/night.ts';
import { startRedis, whyNoRedis } from '../../support/redis.ts';
import { logIn, useConsole, type TestConsole } from '../support/console-process.ts';

const redis = whyNoRedis() === undefined ? await startRedis() : undefined;
afterAll(async () => redis?.stop());
const onPostgres = await useConsole();
const onRedis = redis === undefined ? undefined : await useConsole({ REDIS_URL: redis.url });

async function addNight({ env, database }: TestConsole, runId: number): Promise<void> {
  const queues = await openQueues(loadConfig(env), database.url, silentLog);
  await enqueueJob(queues, 'open-night', { runId });
  await queues.close();
}

describe.each(
  [
    { backend: 'PostgreSQL', running: onPostgres },
    { backend: 'Redis', running: onRedis }, // skipped where redis-server is not on the PATH
  ].filter(({ running }) => running !== undefined),
)('the queues in $backend', ({ backend, running: given }) => {
  const running = given!;

  it('are shown with their jobs to operators alone', async () => {
    await addNight(running, 7);
    const reviewer = await logIn(running, 'reviewer');
    for (const path of ['/api/queues', '/api/queues/nights/jobs'])
      expect((await reviewer.fetch(path)).status, path).toBe(403);
    expect((await fetch(`${running.url}/api/queues`)).status).toBe(401);
    const operator = await logIn(running, 'operator');
    const list = await operator.json<QueueList>('/api/queues');
    expect(list.backend).toBe(backend === 'Redis' ? 'redis' : 'postgres');
    expect(list.queues.map(({ name }) => name).sort()).toEqual([
      'batches',
      'branding',
      'builds',
      'feeds',
      'nights',
      'publications',
      'verifications',
      'webhooks',
    ]);
    expect(list.queues.find(({ name }) => name === 'nights')).toMatchObject({
      counts: { waiting: 1 },
      isPaused: false,
    });
    expect(await operator.json('/api/queues/nights/jobs?state=waiting')).toMatchObject({
      jobs: [{ id: jobIds.night(7), name: 'open-night', payload: { runId: 7 }, tries: 0, endedAt: null, reason: null }],
      next: null,
    });
  });

  it('are paused, and their jobs removed, from the pages alone, and that is recorded', async () => {
    const operator = await logIn(running, 'operator');
    const post = (path: string, headers: Record<string, string> = {}) =>
      operator.fetch(`/api/queues${path}`, { method: 'POST', body: '{}', headers });
    expect((await post('/nights/pause', { Origin: 'https://elsewhere.example' })).status).toBe(403);
    expect((await post('/nights/pause', { 'X-CSRF-Token': '' })).status).toBe(403);
    const isPaused = async () =>
      (await operator.json<QueueList>('/api/queues')).queues.find(({ name }) => name === 'nights')!.isPaused;
    expect((await post('/nights/pause')).status).toBe(200);
    expect(await isPaused()).toBe(true);
    expect((await post('/nights/resume')).status).toBe(200);
    expect(await isPaused()).toBe(false);
    expect((await post(`/nights/jobs/${jobIds.night(7)}/run`)).status).toBe(404); // it waits already
    expect((await post(`/nights/jobs/${jobIds.night(7)}/remove`)).status).toBe(200);
    expect((await post(`/nights/jobs/${jobIds.night(7)}/remove`)).status).toBe(404);
    const { rows } = await running.database.db.query(
      `SELECT actor, object, detail FROM console_event WHERE action = 'change_queue' ORDER BY event_id`,
    );
    const job = `queue nights, job ${jobIds.night(7)}`;
    expect(rows).toEqual([
      { actor: 'operator', object: 'queue nights: pause', detail: {} },
      { actor: 'operator', object: 'queue nights: resume', detail: {} },
      { actor: 'operator', object: `${job}: run`, detail: {} },
      { actor: 'operator', object: `${job}: run`, detail: { refused: true } },
      { actor: 'operator', object: `${job}: remove`, detail: {} },
      { actor: 'operator', object: `${job}: remove`, detail: {} },
      { actor: 'operator', object: `${job}: remove`, detail: { refused: true } },
    ]);
  });

  it('list failed jobs with their reason, in parts, and run one again', async () => {
    const queues = await openQueues(loadConfig(running.env), running.database.url, silentLog);
    const failing = await startWorkers(loadConfig(running.env), running.database.url, [
      {
        queue: 'nights',
        process: () => Promise.reject(new UnrecoverableError('no disk is left')),
        onError: () => {},
        onFailed: () => {},
        onLocksLost: () => {},
        onStalled: () => {},
      },
    ]);
    for (const runId of [8, 9]) await enqueueJob(queues, 'open-night', { runId });
    const failed = async () => (await queues.counts()).nights.failed;
    await until(async () => (await failed()) === 2, 'both jobs have failed');
    await failing.close();
    const operator = await logIn(running, 'operator');
    const first = await operator.json<JobPage>('/api/queues/nights/jobs?state=failed&limit=1');
    const second = await operator.json<JobPage>(`/api/queues/nights/jobs?state=failed&limit=1&from=${first.next}`);
    expect([...first.jobs, ...second.jobs].map(({ id }) => id).sort()).toEqual([jobIds.night(8), jobIds.night(9)]);
    expect(first.jobs[0]).toMatchObject({ tries: 1, reason: 'no disk is left' });
    expect(second.next).toBeNull();
    const run = `/api/queues/nights/jobs/${jobIds.night(8)}/run`;
    expect((await operator.fetch(run, { method: 'POST', body: '{}' })).status).toBe(200);
    expect([await queues.state('nights', jobIds.night(8)), await failed()]).toEqual(['waiting', 1]);
    await queues.close();
  });

  it('refuse what is no queue, no state and no id, and take no job', async () => {
    const operator = await logIn(running, 'operator');
    for (const path of ['/letters/jobs', '/nights/jobs?state=lost', '/nights/jobs?from=-1'])
      expect((await operator.fetch(`/api/queues${path}`)).status, path).toBe(400);
    const send = async (path: string) =>
      (await operator.fetch(`/api/queues${path}`, { method: 'POST', body: '{}' })).status;
    expect(await send('/letters/pause')).toBe(400);
    expect(await send('/nights/jobs/%00/remove')).toBe(400);
    expect(await send('/nights/jobs')).toBe(404);
    expect(await send('/nights/jobs/no-such-job/remove')).toBe(404);
  });
});
