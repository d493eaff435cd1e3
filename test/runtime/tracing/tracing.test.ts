import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../runtime/config.ts';
import { createLog } from '../../../runtime/log.ts';
import { failSpan, inSpan, isTracing, openServerSpan, startTracing } from '../../../runtime/tracing/tracing.ts';
import { tracePlace } from '../../../runtime/trace-place.ts';
import { startCollector } from '../../support/collector.ts';

const log = createLog({ level: 'silent', process: 'test' });

describe('without a collector', () => {
  it('work is done, and nothing is traced or registered with OpenTelemetry', async () => {
    const { stop } = await startTracing(loadConfig({}), { process: 'test', log });
    expect(isTracing()).toBe(false);
    expect(await inSpan('work', {}, async () => tracePlace() ?? 'done')).toBe('done');
    expect(openServerSpan('POST /')).toBeUndefined();
    expect(Object.getOwnPropertySymbols(globalThis).map(String).join()).not.toContain('opentelemetry');
    await stop();
  });

  it.each(['jobs/worker-main', 'jobs/scheduler-main', 'console/main', 'api/main', 'cli'])(
    '%s loads no file that traces at its start',
    async (program) => {
      const files = await staticImports(join(import.meta.dirname, '../../../dist', `${program}.js`));
      expect(files.size).toBeGreaterThan(1);
      for (const [path, text] of files) expect(/BullMQOtel|TraceparentPropagator/.test(text), path).toBe(false);
    },
  );
});

/** A bundled program and the files that it imports statically, with those that they import. */
async function staticImports(path: string, found = new Map<string, string>()): Promise<Map<string, string>> {
  if (found.has(path)) return found;
  const text = await readFile(path, 'utf8');
  found.set(path, text);
  for (const [, name] of text.matchAll(/^(?:import|export)\b[^'"]*["'](\.[^"']+)["']/gm))
    await staticImports(resolve(dirname(path), name!), found);
  return found;
}

describe('with a collector', () => {
  it('spans nest, have their facts, and reach it after answers that ask to try again', async () => {
    const collector = await startCollector([503, 429]);
    const config = loadConfig({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret, x-tenant=a',
    });
    const { stop } = await startTracing(config, { process: 'test', log });
    const places = await inSpan('outer', { rows: 3, share: 0.5, kind: 'full', ok: true }, async () => {
      const outer = tracePlace()!;
      const inner = await inSpan('inner', {}, async () => {
        await new Promise((done) => setTimeout(done, 20));
        return tracePlace()!;
      });
      expect(tracePlace()).toEqual(outer);
      return { outer, inner };
    });
    expect(tracePlace()).toBeUndefined();
    await expect(inSpan('failing', {}, () => Promise.reject(new Error('no disk')))).rejects.toThrow('no disk');
    await inSpan('marked', {}, async () => failSpan('held'));
    const request = openServerSpan('POST /api/nights')!;
    const within = await new Promise((done) => request.within(() => setTimeout(() => done(tracePlace()), 5)));
    request.end({ attributes: { 'http.response.status_code': 202 } });
    await new Promise((done) => setTimeout(done, 2300)); // two refused requests, a second apart
    await stop();
    const span = (name: string) => collector.spans.find((each) => each.name === name)!;
    expect(collector.spans).toHaveLength(5);
    expect(places.inner.traceId).toBe(places.outer.traceId);
    expect(span('outer')).toMatchObject({ ...places.outer, kind: 1, status: {}, service: 'caller-trust-test' });
    expect(span('outer').parentSpanId).toBeUndefined();
    expect(span('outer').attributes).toEqual([
      { key: 'rows', value: { intValue: '3' } },
      { key: 'share', value: { doubleValue: 0.5 } },
      { key: 'kind', value: { stringValue: 'full' } },
      { key: 'ok', value: { boolValue: true } },
    ]);
    expect(span('inner')).toMatchObject({ ...places.inner, parentSpanId: places.outer.spanId });
    const nanoseconds = Number(BigInt(span('inner').endTimeUnixNano) - BigInt(span('inner').startTimeUnixNano));
    expect(nanoseconds).toBeGreaterThan(15e6);
    expect(Math.abs(Number(BigInt(span('inner').endTimeUnixNano) / 1_000_000n) - Date.now())).toBeLessThan(10_000);
    expect(span('failing').status).toEqual({ code: 2, message: 'no disk' });
    expect(span('marked').status).toEqual({ code: 2, message: 'held' });
    expect(span('POST /api/nights')).toMatchObject({ ...(within as object), kind: 2 });
    expect(collector.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { 'content-type': 'application/json', authorization: 'Bearer secret', 'x-tenant': 'a' },
    });
    expect(isTracing()).toBe(false);
    await collector.close();
  });

  it('that is away costs no work and no end of the process', async () => {
    const config = loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
    const warnings: unknown[] = [];
    const { stop } = await startTracing(config, { process: 'test', log: { warn: (facts) => warnings.push(facts) } });
    for (let n = 0; n < 5000; n++) await inSpan('work', {}, async () => n);
    const startedAt = performance.now();
    await stop();
    expect(performance.now() - startedAt).toBeLessThan(4000);
    expect(warnings.at(-1)).toEqual({ dropped: 5000 });
  });
});
