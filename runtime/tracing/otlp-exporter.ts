import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessageOf } from '../errors.ts';
import { within } from '../processes/repeat.ts';
import type { TracingLog } from './span.ts';

/** An ended span. Times are in nanoseconds since 1970. */
export interface EndedSpan {
  readonly scope: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** As OTLP has it: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly {
    readonly name: string;
    readonly atNs: bigint;
    readonly attributes: Readonly<Record<string, unknown>>;
  }[];
  /** Why it failed; undefined if it did not. */
  readonly problem: string | undefined;
}

interface ExporterOptions {
  /** Base address of the collector. */
  readonly endpoint: string;
  /** `name=value`, separated by commas, with percent-encoded values. */
  readonly headers: string | undefined;
  /** Attributes of the process. */
  readonly resource: Readonly<Record<string, string | number>>;
  readonly log: TracingLog;
}

/** Sends ended spans to a collector. */
export interface Exporter {
  add(span: EndedSpan): void;
  /** Sends what is left, within a few seconds. */
  close(): Promise<void>;
}

/** Spans of one request, and spans that wait while a collector is unreachable; later ones are dropped. */
const batchMax = 512;
const waitingMax = 4096;
const flushMs = 1000;
const requestMsMax = 10_000;
const closeMsMax = 3000;
const quietMs = 60_000;

/**
 * Opens an exporter of OTLP over HTTP in its JSON encoding (OpenTelemetry Protocol 1.x, `POST /v1/traces`). The packages of
 * OpenTelemetry that do this take 26 MB, with metrics and logs that nobody asked for. Spans are sent every second; what a collector
 * does not take for a passing reason (a broken connection, 429, 502, 503, 504) is sent again, all else is dropped with a warning.
 */
export function openExporter({ endpoint, headers, resource, log }: ExporterOptions): Exporter {
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  const requestHeaders = { 'Content-Type': 'application/json', ...parseHeaders(headers) };
  const waiting: EndedSpan[] = [];
  const closing = new AbortController();
  let warnedAt = -Infinity;
  let dropped = 0;
  const warn = (problem: string): void => {
    if (performance.now() - warnedAt < quietMs) return;
    warnedAt = performance.now();
    log.warn({ problem, dropped, waiting: waiting.length }, 'traces could not be sent');
  };

  async function send(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchMax);
      const outcome = await post(url, requestHeaders, encodeSpans(batch, resource));
      if (outcome !== 'taken') warn(outcome.problem);
      if (outcome !== 'taken' && outcome.again) return;
      waiting.splice(0, batch.length);
      if (outcome !== 'taken') dropped += batch.length;
    }
  }

  const sending = (async () => {
    while (!closing.signal.aborted) {
      await sleep(flushMs, undefined, { signal: closing.signal, ref: false }).catch(() => {});
      await send();
    }
  })();

  return {
    add(span) {
      if (waiting.length < waitingMax) waiting.push(span);
      else dropped += 1;
    },
    async close() {
      closing.abort();
      await within(closeMsMax, sending); // it sends once more after the signal
      if (waiting.length + dropped > 0)
        log.warn(
          { dropped: dropped + waiting.length },
          'spans of traces were dropped: the collector did not take them',
        );
    },
  };
}

type PostOutcome = 'taken' | { readonly problem: string; readonly again: boolean };

async function post(url: string, headers: Record<string, string>, body: string): Promise<PostOutcome> {
  try {
    const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(requestMsMax) });
    await answer.body?.cancel();
    if (answer.ok) return 'taken';
    return { problem: `The collector answered ${answer.status}.`, again: [429, 502, 503, 504].includes(answer.status) };
  } catch (error) {
    return { problem: errorMessageOf(error), again: true };
  }
}

function parseHeaders(text: string | undefined): Record<string, string> {
  return Object.fromEntries(
    (text ?? '').split(',').flatMap((part) => {
      const place = part.indexOf('=');
      return place <= 0 ? [] : [[part.slice(0, place).trim(), decodeURIComponent(part.slice(place + 1).trim())]];
    }),
  );
}

/** The body of a request: ids in hexadecimal digits and times as strings, as OTLP's JSON has them. */
function encodeSpans(spans: readonly EndedSpan[], resource: ExporterOptions['resource']): string {
  const scopes = [...new Set(spans.map(({ scope }) => scope))];
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: encodeAttributes(resource) },
        scopeSpans: scopes.map((name) => ({
          scope: { name },
          spans: spans.filter(({ scope }) => scope === name).map(encodeSpan),
        })),
      },
    ],
  });
}

function encodeSpan({ traceId, spanId, parentSpanId, name, kind, startNs, endNs, ...rest }: EndedSpan): object {
  return {
    traceId,
    spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    name,
    kind,
    startTimeUnixNano: String(startNs),
    endTimeUnixNano: String(endNs),
    attributes: encodeAttributes(rest.attributes),
    events: rest.events.map((event) => ({
      timeUnixNano: String(event.atNs),
      name: event.name,
      attributes: encodeAttributes(event.attributes),
    })),
    status: rest.problem === undefined ? {} : { code: 2, message: rest.problem },
  };
}

function encodeAttributes(attributes: Readonly<Record<string, unknown>>): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [{ key, value: encodeValue(value) }],
  );
}

function encodeValue(value: unknown): object {
  switch (typeof value) {
    case 'boolean':
      return { boolValue: value };
    case 'number':
      return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
    default:
      return Array.isArray(value) ? { arrayValue: { values: value.map(encodeValue) } } : { stringValue: String(value) };
  }
}
