import { afterAll, describe, expect, it } from 'vitest';
import { enqueueNight, jobIds } from '../../jobs/queues/enqueue.ts';
import { openQueues } from '../../jobs/queues/backend.ts';
import { loadConfig } from '../../runtime/config.ts';
import { silentLog } from '../support/night.ts';
import { startRedis, whyNoRedis } from '../support/redis.ts';
import { logIn, useConsole, type TestConsole } from './support/console-process.ts';

const redis = whyNoRedis() === undefined ? await startRedis() : undefined;
afterAll(async () => redis?.stop());
const onPostgres = await useConsole();
const onRedis = redis === undefined ? undefined : await useConsole({ REDIS_URL: redis.url });

async function addNight({ env, database }: TestConsole, runId: number): Promise<void> {
  const queues = await openQueues(loadConfig(env), database.url, silentLog);
  await enqueueNight(queues, { runId });
  await queues.close();
}

const board = '/queues/api/queues';

describe.each(
  [
    { backend: 'PostgreSQL', running: onPostgres },
    { backend: 'Redis', running: onRedis }, // skipped where redis-server is not on the PATH
  ].filter(({ running }) => running !== undefined),
)('the board of the queues in $backend', ({ running: given }) => {
  const running = given!;

  it('shows the queues with their jobs to operators alone', async () => {
    await addNight(running, 7);
    const reviewer = await logIn(running, 'reviewer');
    for (const path of ['/queues/', '/queues/static/images/logo.svg', board])
      expect((await reviewer.fetch(path)).status, path).toBe(403);
    const nobody = (path: string) => fetch(`${running.url}${path}`, { redirect: 'manual' });
    expect([(await nobody('/queues/')).headers.get('location'), (await nobody(board)).status]).toEqual(['/', 401]); // a browser is led to where users log in
    const operator = await logIn(running, 'operator');
    const { queues } = await operator.json<{ queues: { name: string; counts: Record<string, number> }[] }>(board);
    expect(queues.map(({ name }) => name).sort()).toEqual([
      'batches',
      'branding',
      'builds',
      'feeds',
      'nights',
      'publications',
      'verifications',
    ]);
    expect(queues.find(({ name }) => name === 'nights')!.counts['waiting']).toBe(1);
    expect(await operator.json(`${board}/nights/${jobIds.night(7)}`)).toMatchObject({
      status: 'waiting',
      job: { name: 'open-night', data: { runId: 7 } },
    });
  });

  it('pauses a queue and removes a job, from its own pages alone, and records that', async () => {
    const operator = await logIn(running, 'operator');
    const put = (path: string, headers: Record<string, string> = {}) =>
      operator.fetch(`${board}${path}`, { method: 'PUT', headers: { 'X-CSRF-Token': '', ...headers } });
    expect((await put('/nights/pause', { Origin: 'https://elsewhere.example' })).status).toBe(403);
    expect((await put('/nights/pause')).status).toBe(200);
    expect((await put('/nights/resume')).status).toBe(200);
    expect((await put(`/nights/${jobIds.night(7)}/clean`)).status).toBe(204);
    expect((await put(`/nights/${jobIds.night(7)}/clean`)).status).toBe(404);
    const { rows } = await running.database.db.query(
      `SELECT actor, object, detail FROM console_event WHERE action = 'change_queue' ORDER BY event_id`,
    );
    expect(rows).toEqual([
      { actor: 'operator', object: 'queue nights: pause', detail: {} },
      { actor: 'operator', object: 'queue nights: resume', detail: {} },
      { actor: 'operator', object: 'queue nights, job night-7: clean', detail: {} },
      { actor: 'operator', object: 'queue nights, job night-7: clean', detail: {} },
      { actor: 'operator', object: 'queue nights, job night-7: clean', detail: { refused: 404 } },
    ]);
  });

  it('tells the state of its datastore, and refuses what is no id', async () => {
    const operator = await logIn(running, 'operator');
    expect(await operator.json('/queues/api/redis/stats')).toMatchObject({ version: expect.any(String) as string });
    for (const path of ['/letters/pause', '/nights/no-such-job/clean'])
      expect((await operator.fetch(`${board}${path}`, { method: 'PUT' })).status, path).toBe(404);
    expect((await operator.json(`${board}/nights/%00`))['code']).toBe('parameter_invalid');
  });

  it('makes no job of its own, and removes no queue', async () => {
    const operator = await logIn(running, 'operator');
    const send = async (method: string, path: string, body: object) =>
      (await operator.fetch(`${board}${path}`, { method, body: JSON.stringify(body) })).status;
    expect(await send('POST', '/nights/add', { name: 'open-night', data: { runId: 1 } })).toBe(403);
    expect(await send('PUT', '/nights/obliterate', { force: true })).toBe(403);
  });

  it('has a page without an outside address, under a policy without inline scripts and without styles but two', async () => {
    const operator = await logIn(running, 'operator');
    const response = await operator.fetch('/queues/queue/nights');
    const [policy, page] = [response.headers.get('content-security-policy')!, await response.text()];
    expect(policy).not.toContain('unsafe');
    expect(policy).toContain("script-src 'self';");
    expect(page).not.toMatch(/https?:\/\/|<style|style=|<script>/);
    for (const [, path] of page.matchAll(/(?:src|href)="(\/queues\/static\/[^"]+)"/g))
      expect((await operator.fetch(path!)).status, path).toBe(200);
    expect((await operator.fetch('/queues/static/..%2f..%2fpackage.json')).status).toBe(404);
  });
});
