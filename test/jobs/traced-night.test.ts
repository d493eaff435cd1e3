import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readNight } from '../../pipelines/caches/night/night-report.ts';
import { queryRow } from '../../runtime/postgres.ts';
import { startCollector, type Collector } from '../support/collector.ts';
import { backends, openBackend, until, type TestBackend } from './backends.ts';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

interface LogLine {
  readonly msg: string;
  readonly process: string;
  readonly traceId?: string;
  readonly spanId?: string;
}

describe.each(backends)('a night that is traced, with the queues in $kind', ({ kind, skipped }) => {
  describe.skipIf(skipped !== undefined)(skipped ?? 'across processes', () => {
    let directory: string;
    let backend: TestBackend;
    let collector: Collector;
    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'caller-trust-trace-'));
      collector = await startCollector();
      backend = await openBackend(kind, {
        STATE_DIR: directory,
        METRICS_PORT: '0',
        JOB_LOCK_SECONDS: '15', // a worker on a busy machine is not taken for a crashed one, whose night would be two attempts
        LOG_LEVEL: 'info',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      });
    });
    afterAll(async () => {
      await backend.close();
      await collector.close();
      await rm(directory, { recursive: true });
    });

    it('is one trace from the scheduler over the queues to the workers, and its id is in the logs and the report', async () => {
      const { env, database } = backend;
      const started = ['scheduler', 'worker'].map((name) => startLogged(name, env));
      await until(
        () => queryRow<{ state: string }>(database.db, 'SELECT state FROM night_run'),
        (night) => night?.state === 'finished',
      );
      for (const { child } of started) child.kill('SIGTERM');
      await Promise.all(started.map(({ child }) => once(child, 'exit')));

      const { report } = await readNight(database.db, {});
      const { traceId } = report!;
      expect(traceId).toMatch(/^[0-9a-f]{32}$/);
      const spans = collector.spans.filter((span) => span.traceId === traceId);
      const found = (name: string) => spans.filter((span) => span.name === name);
      const [request, ...others] = found('request night');
      expect([others, request!.parentSpanId, request!.service]).toEqual([[], undefined, 'caller-trust-scheduler']);
      const builds = report!.artefacts.length;
      const counts = Object.fromEntries(
        ['process nights', 'prepare night', 'hold snapshot', 'process builds', 'process publications'].map((name) => [
          name,
          found(name).length,
        ]),
      );
      expect(counts).toEqual({
        'process nights': 1,
        'prepare night': 1,
        'hold snapshot': 1,
        'process builds': builds,
        'process publications': 1,
      });
      expect(found('process nights')[0]).toMatchObject({ service: 'caller-trust-worker', kind: 5, scope: 'bullmq' });

      const byId = new Map(spans.map((span) => [span.spanId, span]));
      for (const span of spans) {
        if (span === request) continue;
        const parent = byId.get(span.parentSpanId ?? '');
        expect(parent, `the parent of ${span.name}`).toBeDefined();
        expect(BigInt(span.startTimeUnixNano) + 5_000_000n).toBeGreaterThan(BigInt(parent!.startTimeUnixNano));
      }
      // What the library of the queues does for itself is left out, a worker at rest included.
      expect(
        [...new Set(collector.spans.filter(({ scope }) => scope === 'bullmq').map((span) => span.kind))].sort(),
      ).toEqual([4, 5]);

      const lines = started.flatMap(({ lines: each }) => each());
      const traced = (message: string) => lines.find(({ msg }) => msg === message);
      expect(traced('the night is due')).toMatchObject({ process: 'scheduler', traceId });
      expect(traced('complaints are scored')).toMatchObject({ process: 'worker', traceId });
      expect(traced('the night is published')).toMatchObject({ process: 'worker', traceId });
      expect(traced('the worker runs')!.traceId).toBeUndefined();
    });
  });
});

/** Starts a process of the service and keeps what it logs. */
function startLogged(name: string, env: Record<string, string>): { child: ChildProcess; lines(): LogLine[] } {
  const entry = fileURLToPath(new URL(`../../dist/jobs/${name}-main.js`, import.meta.url));
  const child = spawn(process.execPath, [entry], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  children.push(child);
  let text = '';
  child.stderr!.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return {
    child,
    lines: () =>
      text
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => JSON.parse(line) as LogLine),
  };
}
