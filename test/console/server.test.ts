import { afterAll, expect, it } from 'vitest';
import { createLog } from '../../runtime/log.ts';
import { openMetrics } from '../../runtime/metrics/prometheus.ts';
import { startTracing } from '../../runtime/tracing/tracing.ts';
import { loadConfig } from '../../runtime/config.ts';
import { startCollector } from '../support/collector.ts';
import { useConsoleServer } from './support/console-server.ts';

const collector = await startCollector();
const tracing = await startTracing(loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }), {
  process: 'console',
  log: createLog({ level: 'silent', process: 'test' }),
});
const metrics = openMetrics('console');
const server = await useConsoleServer({}, metrics); // after tracing has begun, which its queues ask
afterAll(async () => {
  await tracing.stop();
  await collector.close();
});

it('requests are counted by route, method and status, and those that no route takes under one name', async () => {
  const session = await server.session('viewer');
  await server.send({ method: 'GET', url: '/api/nights/settings', headers: session });
  await server.send({ method: 'GET', url: '/api/nights/999999', headers: session });
  await server.send({ method: 'GET', url: '/api/no/such/route', headers: session });
  const samples = (await metrics.text()).split('\n').filter((line) => line.includes('console_request'));
  const counted = samples.filter((line) => line.startsWith('caller_trust_console_requests_total'));
  expect(counted).toEqual([
    'caller_trust_console_requests_total{route="/api/nights/settings",method="GET",status="200"} 1',
    'caller_trust_console_requests_total{route="/api/nights/:run",method="GET",status="404"} 1',
    'caller_trust_console_requests_total{route="/api/*",method="GET",status="404"} 1',
  ]);
  expect(samples).toContain('caller_trust_console_request_seconds_count{route="/api/nights/:run",method="GET"} 1');
});

it('a request that queues a night begins the trace of the night; one that reads begins none', async () => {
  const session = await server.session('operator');
  await server.send({ method: 'GET', url: '/api/nights/settings', headers: session });
  const answer = await server.send({
    method: 'POST',
    url: '/api/nights',
    payload: { only: null, acceptShrink: false },
    headers: { ...session, 'Idempotency-Key': '"traced"' },
  });
  expect(answer.statusCode).toBe(202);
  await tracing.stop();
  const named = (name: string) => collector.spans.filter((span) => span.name === name);
  const [request, ...others] = named('POST /api/nights');
  expect(others).toEqual([]);
  expect(request).toMatchObject({ kind: 2, service: 'caller-trust-console', status: {} });
  expect(request!.attributes).toContainEqual({ key: 'http.response.status_code', value: { intValue: '202' } });
  expect(named('add nights.open-night')).toMatchObject([{ traceId: request!.traceId, parentSpanId: request!.spanId }]);
  expect(collector.spans).toHaveLength(2);
});
