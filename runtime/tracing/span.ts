import type { TracePlace } from '../trace-place.ts';

/** The part of a log that tracing needs. */
export interface TracingLog {
  warn(facts: object, message: string): void;
}

/** Facts about a span. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** A span of a request, which ends by a call. */
export interface OpenSpan {
  /** Runs a callback within the span. */
  within(callback: () => void): void;
  /** Ends the span; `problem` marks it as failed. */
  end(facts: { readonly attributes: SpanAttributes; readonly problem?: string | undefined }): void;
}

/** Tracing that is on. */
export interface Tracing {
  inSpan<Result>(name: string, attributes: SpanAttributes, work: () => Promise<Result>): Promise<Result>;
  openServerSpan(name: string): OpenSpan;
  place(): TracePlace | undefined;
  /** Marks the present span as failed. */
  fail(problem: string): void;
  /** Sends the spans that are left. */
  close(): Promise<void>;
}
