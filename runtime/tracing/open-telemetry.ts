import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type AttributeValue,
  type Attributes,
  type Context,
  type ContextManager,
  type Exception,
  type Span,
  type SpanContext,
  type SpanOptions,
  type SpanStatus,
  type TextMapPropagator,
  type TimeInput,
  type Tracer,
} from '@opentelemetry/api';
import { errorMessageOf } from '../errors.ts';
import { packageVersion } from '../package-root.ts';
import { openExporter, type EndedSpan, type Exporter } from './otlp-exporter.ts';
import type { OpenSpan, SpanAttributes, Tracing, TracingLog } from './span.ts';

interface OpenTracingOptions {
  readonly process: string;
  readonly log: TracingLog;
  readonly endpoint: string;
  readonly headers: string | undefined;
}

/** Scope of the spans that this service makes itself; those of a library have its name. */
const ownScope = 'caller-trust';

/**
 * Registers a tracer, a context and the W3C form of propagation with the API of OpenTelemetry, which libraries such as that of the
 * queues use, and sends what they trace.
 */
export async function openTracing({ process, log, endpoint, headers }: OpenTracingOptions): Promise<Tracing> {
  const exporter = openExporter({
    endpoint,
    headers,
    log,
    resource: {
      'service.name': `caller-trust-${process}`,
      'service.version': await packageVersion(),
      'host.name': hostname(),
      'process.pid': globalThis.process.pid,
    },
  });
  context.setGlobalContextManager(new StorageContextManager());
  propagation.setGlobalPropagator(new TraceparentPropagator());
  trace.setGlobalTracerProvider({ getTracer: (scope) => new RecordingTracer(scope, exporter) });
  const tracer = trace.getTracer(ownScope);
  return {
    inSpan: (name, attributes, work) =>
      tracer.startActiveSpan(name, { attributes }, async (span) => {
        try {
          return await work();
        } catch (error) {
          fail(span, errorMessageOf(error));
          throw error;
        } finally {
          span.end();
        }
      }),
    openServerSpan: (name) => openServerSpan(tracer, name),
    place() {
      const found = trace.getActiveSpan()?.spanContext();
      return found === undefined || !trace.isSpanContextValid(found)
        ? undefined
        : { traceId: found.traceId, spanId: found.spanId };
    },
    fail(problem) {
      const span = trace.getActiveSpan();
      if (span !== undefined) fail(span, problem);
    },
    async close() {
      await exporter.close();
      trace.disable();
      propagation.disable();
      context.disable();
    },
  };
}

function fail(span: Span, message: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

function openServerSpan(tracer: Tracer, name: string): OpenSpan {
  const span = tracer.startSpan(name, { kind: SpanKind.SERVER, root: true }); // what a browser claims to continue is not believed
  return {
    within: (callback) => context.with(trace.setSpan(ROOT_CONTEXT, span), callback),
    end({ attributes, problem }: { attributes: SpanAttributes; problem?: string | undefined }) {
      span.setAttributes(attributes);
      if (problem !== undefined) fail(span, problem);
      span.end();
    },
  };
}

/**
 * Makes spans. Of the queues' library, internal steps are left out: a worker at rest makes a handful a second (it asks for jobs,
 * extends locks, looks for stalled jobs), each a trace of its own.
 */
class RecordingTracer implements Tracer {
  readonly #scope: string;
  readonly #exporter: Exporter;

  constructor(scope: string, exporter: Exporter) {
    this.#scope = scope;
    this.#exporter = exporter;
  }

  startSpan(name: string, options: SpanOptions = {}, given: Context = context.active()): Span {
    const parent = options.root === true ? undefined : trace.getSpanContext(given);
    const isChild = parent !== undefined && trace.isSpanContextValid(parent);
    const kind = options.kind ?? SpanKind.INTERNAL;
    if (this.#scope !== ownScope && kind === SpanKind.INTERNAL)
      return trace.wrapSpanContext(isChild ? parent : invalidPlace);
    return new RecordingSpan({
      scope: this.#scope,
      name,
      kind,
      attributes: options.attributes,
      parent: isChild ? parent : undefined,
      exporter: this.#exporter,
    });
  }

  startActiveSpan<F extends (span: Span) => unknown>(
    name: string,
    ...rest: [F] | [SpanOptions, F] | [SpanOptions, Context, F]
  ): ReturnType<F> {
    const work = rest.at(-1) as F; // the interface has the callback last
    const [options, given = context.active()] = rest.slice(0, -1) as [SpanOptions?, Context?];
    const span = this.startSpan(name, options, given);
    return context.with(trace.setSpan(given, span), () => work(span)) as ReturnType<F>;
  }
}

const invalidPlace: SpanContext = { traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: TraceFlags.NONE };

interface RecordingSpanOptions {
  readonly scope: string;
  readonly name: string;
  readonly kind: SpanKind;
  readonly attributes: Attributes | undefined;
  readonly parent: SpanContext | undefined;
  readonly exporter: Exporter;
}

/** A span that is exported when it ends. */
class RecordingSpan implements Span {
  readonly #options: RecordingSpanOptions;
  readonly #place: SpanContext;
  readonly #startNs = nowNs();
  readonly #attributes: Attributes;
  readonly #events: { name: string; atNs: bigint; attributes: Attributes }[] = [];
  #name: string;
  #problem: string | undefined;
  #isEnded = false;

  constructor(options: RecordingSpanOptions) {
    this.#options = options;
    this.#name = options.name;
    this.#attributes = { ...options.attributes };
    this.#place = {
      traceId: options.parent?.traceId ?? randomBytes(16).toString('hex'),
      spanId: randomBytes(8).toString('hex'),
      traceFlags: TraceFlags.SAMPLED,
    };
  }

  spanContext(): SpanContext {
    return this.#place;
  }

  setAttribute(key: string, value: AttributeValue): this {
    this.#attributes[key] = value;
    return this;
  }

  setAttributes(attributes: Attributes): this {
    Object.assign(this.#attributes, attributes);
    return this;
  }

  addEvent(name: string, attributes?: Attributes | TimeInput): this {
    const given = typeof attributes === 'object' && !Array.isArray(attributes) && !(attributes instanceof Date);
    this.#events.push({ name, atNs: nowNs(), attributes: given ? (attributes as Attributes) : {} });
    return this;
  }

  addLink(): this {
    return this; // nothing of the service links spans
  }

  addLinks(): this {
    return this;
  }

  setStatus({ code, message }: SpanStatus): this {
    this.#problem = code === SpanStatusCode.ERROR ? (message ?? '') : undefined;
    return this;
  }

  updateName(name: string): this {
    this.#name = name;
    return this;
  }

  isRecording(): boolean {
    return !this.#isEnded;
  }

  recordException(exception: Exception): void {
    const { name, message } = typeof exception === 'string' ? { name: 'Error', message: exception } : exception;
    this.addEvent('exception', { 'exception.type': name ?? 'Error', 'exception.message': message ?? '' });
    this.#problem ??= message ?? name ?? '';
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { scope, kind, parent, exporter } = this.#options;
    exporter.add({
      scope,
      traceId: this.#place.traceId,
      spanId: this.#place.spanId,
      parentSpanId: parent?.spanId,
      name: this.#name,
      kind: kind + 1, // OTLP has 0 for an unknown kind
      startNs: this.#startNs,
      endNs: nowNs(),
      attributes: this.#attributes,
      events: this.#events,
      problem: this.#problem,
    } satisfies EndedSpan);
  }
}

/** Nanoseconds since 1970, by the wall clock at the start of the process and its steady clock since. */
function nowNs(): bigint {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
}

/** Contexts that follow asynchronous calls. */
class StorageContextManager implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    given: Context,
    work: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(given, () => work.call(thisArg, ...args));
  }

  bind<T>(given: Context, target: T): T {
    if (typeof target !== 'function') return target;
    const bound = (...args: unknown[]): unknown =>
      this.#storage.run(given, () => (target as (...all: unknown[]) => unknown)(...args));
    return bound as T;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    this.#storage.disable();
    return this;
  }
}

/** The header `traceparent` of W3C Trace Context, which jobs carry in their options. */
class TraceparentPropagator implements TextMapPropagator {
  inject(given: Context, carrier: unknown, setter: { set(carrier: unknown, key: string, value: string): void }): void {
    const place = trace.getSpanContext(given);
    if (place !== undefined && trace.isSpanContextValid(place))
      setter.set(carrier, 'traceparent', `00-${place.traceId}-${place.spanId}-01`);
  }

  extract(
    given: Context,
    carrier: unknown,
    getter: { get(carrier: unknown, key: string): string | string[] | undefined },
  ): Context {
    const text = String(getter.get(carrier, 'traceparent') ?? '');
    const [, traceId, spanId] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(text) ?? [];
    if (traceId === undefined || spanId === undefined) return given;
    return trace.setSpanContext(given, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
  }

  fields(): string[] {
    return ['traceparent'];
  }
}
