import { createServer, type Server } from 'node:http';
import { mkdir, readdir, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { isServiceError } from '../errors.ts';
import type { Log } from '../log.ts';
import { openServer, type OpenServer } from '../open-server.ts';
import { packageVersion } from '../package-root.ts';
import { isProcessAlive } from '../files/file-lock.mjs';
import { writeWholeFile } from '../files/whole-file.ts';
import type { MetricsProcess } from './metric-table.ts';
import type { Metrics } from './metrics.ts';
import { openMetrics, type Exposition } from './prometheus.ts';

/** Each process has its metrics on `METRICS_PORT` and this many ports further. */
const portOffsets: Readonly<Record<MetricsProcess, number>> = {
  api: 0,
  worker: 1,
  scheduler: 2,
  console: 3,
  intake: 4,
};

type MetricsConfig = Pick<Config, 'metricsHost' | 'metricsPort' | 'stateDir'>;

/** Metrics that are served. */
export interface ServedMetrics {
  readonly metrics: Metrics;
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the metrics of this process: `GET /metrics` in the Prometheus text format, on a port that clients need not reach. Where
 * the port is taken, as by another worker of this machine, a free one: metrics never keep a process from its work. The
 * address is written to the state directory in the form of Prometheus' file-based discovery.
 */
export async function serveMetrics(
  process: MetricsProcess,
  { config, log }: { readonly config: MetricsConfig; readonly log: Log },
): Promise<ServedMetrics> {
  const metrics = openMetrics(process);
  metrics.set('caller_trust_build_info', { version: await packageVersion(), node: globalThis.process.version }, 1);
  const server = await listen(process, metrics, { config, log });
  const target = await announce(process, { stateDir: config.stateDir, url: server.url, log });
  log.info({ metricsUrl: server.url }, 'metrics are served');
  return {
    metrics,
    url: server.url,
    async close() {
      await server.end({ graceSeconds: 0 });
      await target.remove();
    },
  };
}

async function listen(
  process: MetricsProcess,
  exposition: Exposition,
  { config: { metricsHost: host, metricsPort }, log }: { readonly config: MetricsConfig; readonly log: Log },
): Promise<OpenServer> {
  const port = metricsPort === 0 ? 0 : metricsPort + portOffsets[process];
  try {
    return await openServer(createMetricsServer(exposition), { host, port });
  } catch (error) {
    if (process === 'api' || port === 0 || !isServiceError(error, 'address_unavailable')) throw error;
    log.warn({ port }, 'the port of the metrics is taken; a free one is used');
    return openServer(createMetricsServer(exposition), { host, port: 0 });
  }
}

function createMetricsServer(exposition: Exposition): Server {
  return createServer((request, response) => {
    if (request.url !== '/metrics' || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('GET /metrics\n');
      return;
    }
    exposition.text().then(
      (text) => response.writeHead(200, { 'Content-Type': exposition.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
}

/** Writes the target of this process next to those of the others, and removes those of dead processes of this machine. */
async function announce(
  process: MetricsProcess,
  { stateDir, url, log }: { readonly stateDir: string; readonly url: string; readonly log: Log },
): Promise<{ remove(): Promise<void> }> {
  const directory = join(stateDir, 'metrics');
  const path = join(directory, `${process}.${hostname()}.${globalThis.process.pid}.json`);
  try {
    await mkdir(directory, { recursive: true });
    await removeDead(directory);
    const targets = [{ targets: [new URL(url).host], labels: { process } }];
    await writeWholeFile(path, `${JSON.stringify(targets)}\n`, { durable: false });
  } catch (error) {
    log.warn({ err: error }, 'the address of the metrics could not be written to the state directory');
  }
  return { remove: () => unlink(path).catch(() => {}) };
}

async function removeDead(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const [, machine, pid] = /^[a-z]+\.(.*)\.(\d+)\.json$/.exec(name) ?? [];
    if (machine === hostname() && !isProcessAlive(Number(pid))) await unlink(join(directory, name)).catch(() => {});
  }
}
