import type { Config } from '../config.ts';
import { findTracePlaceBy } from '../trace-place.ts';
import type { OpenSpan, SpanAttributes, Tracing, TracingLog } from './span.ts';

/** One a process, as its log and its standard error. */
let tracing: Tracing | undefined;

/**
 * Begins to trace if `OTEL_EXPORTER_OTLP_ENDPOINT` is set; otherwise no code of that is loaded, and the functions of this module do
 * their work alone. Returns what ends it.
 */
export async function startTracing(
  config: Pick<Config, 'otlpEndpoint' | 'otlpHeaders'>,
  { process, log }: { readonly process: string; readonly log: TracingLog },
): Promise<{ stop(): Promise<void> }> {
  if (config.otlpEndpoint === undefined || tracing !== undefined) return { stop: async () => {} };
  const { openTracing } = await import('./open-telemetry.ts');
  const opened = await openTracing({ process, log, endpoint: config.otlpEndpoint, headers: config.otlpHeaders });
  tracing = opened;
  findTracePlaceBy(opened.place);
  return {
    async stop() {
      tracing = undefined;
      findTracePlaceBy(() => undefined);
      await opened.close();
    },
  };
}

/** True while this process traces. */
export function isTracing(): boolean {
  return tracing !== undefined;
}

/** Runs `work` in a span of the present trace, or of a new one; an error that it throws marks the span as failed. */
export function inSpan<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>): Promise<Result> {
  return tracing === undefined ? work() : tracing.inSpan(name, attributes, work);
}

/** Opens a span for a request to this process; undefined while nothing is traced. */
export function openServerSpan(name: string): OpenSpan | undefined {
  return tracing?.openServerSpan(name);
}

/** Marks the present span as failed. */
export function failSpan(problem: string): void {
  tracing?.fail(problem);
}
