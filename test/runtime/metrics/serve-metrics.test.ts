import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { loadConfig } from '../../../runtime/config.ts';
import { createLog } from '../../../runtime/log.ts';
import { METRICS } from '../../../runtime/metrics/metric-table.ts';
import { serveMetrics } from '../../../runtime/metrics/serve-metrics.ts';

const stateDir = await mkdtemp(join(tmpdir(), 'caller-trust-metrics-'));
afterAll(() => rm(stateDir, { recursive: true }));
const log = createLog({ level: 'silent', process: 'test' });
const config = loadConfig({ STATE_DIR: stateDir, METRICS_PORT: '0' });

/** The samples of a scrape. */
async function scrape(url: string): Promise<string[]> {
  const answer = await fetch(`${url}/metrics`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  return (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

it('serves the metrics of one process, and those of Node, under names of the closed list', async () => {
  const served = await serveMetrics('worker', { config, log });
  served.metrics.count('caller_trust_jobs_total', { queue: 'feeds', job_name: 'load-feed', outcome: 'done' });
  served.metrics.count('caller_trust_jobs_total', { queue: 'feeds', job_name: 'load-feed', outcome: 'done' }, 2);
  served.metrics.change('caller_trust_jobs_in_progress', { queue: 'feeds' }, 2);
  served.metrics.change('caller_trust_jobs_in_progress', { queue: 'feeds' }, -1);
  served.metrics.observe('caller_trust_recording_scoring_seconds', {}, 0.3);
  const samples = await scrape(served.url);
  expect(samples).toContain('caller_trust_jobs_total{queue="feeds",job_name="load-feed",outcome="done"} 3');
  expect(samples).toContain('caller_trust_jobs_in_progress{queue="feeds"} 1');
  expect(samples).toContain('caller_trust_recording_scoring_seconds_bucket{le="0.25"} 0');
  expect(samples).toContain('caller_trust_recording_scoring_seconds_bucket{le="0.5"} 1');
  expect(samples.some((line) => line.startsWith('caller_trust_build_info{version="'))).toBe(true);
  const names = samples.map((line) => /^\w+/.exec(line)![0].replace(/_(bucket|sum|count)$/, ''));
  const unknown = names.filter((name) => !Object.hasOwn(METRICS, name) && !/_(process|nodejs)_/.test(name));
  expect(unknown).toEqual([]);
  expect(samples.some((line) => line.startsWith('caller_trust_process_cpu_seconds_total'))).toBe(true);
  expect(samples.some((line) => line.startsWith('caller_trust_api_'))).toBe(false);
  expect((await fetch(`${served.url}/other`)).status).toBe(404);
  expect((await fetch(`${served.url}/metrics`, { method: 'POST' })).status).toBe(404);
  await served.close();
});

it('reads gauges at each scrape, once for scrapes at the same time, and has no sample of what cannot be read', async () => {
  const { metrics, url, close } = await serveMetrics('scheduler', { config, log });
  let reads = 0;
  metrics.atScrape(['caller_trust_queue_workers'], async (set) => {
    reads += 1;
    if (reads === 3) throw new Error('the queues are away');
    await new Promise((resolve) => setTimeout(resolve, 100));
    set('caller_trust_queue_workers', { queue: `read ${reads}` }, reads);
  });
  const ofWorkers = (samples: string[]) => samples.filter((line) => line.startsWith('caller_trust_queue_workers'));
  const both = await Promise.all([scrape(url), scrape(url)]);
  expect(both.map(ofWorkers)).toEqual([
    ['caller_trust_queue_workers{queue="read 1"} 1'],
    ['caller_trust_queue_workers{queue="read 1"} 1'],
  ]);
  expect(ofWorkers(await scrape(url))).toEqual(['caller_trust_queue_workers{queue="read 2"} 2']);
  expect(ofWorkers(await scrape(url))).toEqual([]);
  await close();
});

it('takes another port than the one of the process where that is taken, and says where', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  const settings = loadConfig({ STATE_DIR: stateDir, METRICS_PORT: String(port - 3) });
  await mkdir(join(stateDir, 'metrics'), { recursive: true });
  const dead = `console.${hostname()}.999999999.json`; // above the highest id of a process
  const elsewhere = 'console.another-machine.999999999.json';
  for (const name of [dead, elsewhere]) await writeFile(join(stateDir, 'metrics', name), '[]');
  const served = await serveMetrics('console', { config: settings, log });
  expect(new URL(served.url).port).not.toBe(String(port));
  const files = await readdir(join(stateDir, 'metrics'));
  expect(files.toSorted()).toEqual([elsewhere, `console.${hostname()}.${process.pid}.json`].toSorted());
  const [target] = JSON.parse(
    await readFile(join(stateDir, 'metrics', `console.${hostname()}.${process.pid}.json`), 'utf8'),
  ) as unknown[];
  expect(target).toEqual({ targets: [new URL(served.url).host], labels: { process: 'console' } });
  await served.close();
  expect(await readdir(join(stateDir, 'metrics'))).toEqual([elsewhere]);
  await new Promise((resolve) => taken.close(resolve));
});
