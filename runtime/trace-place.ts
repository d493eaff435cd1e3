/** Where in a trace something happens, as log lines and reports have it. */
export interface TracePlace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

/** One a process, as its log and its standard error; tracing/tracing.ts sets it. */
let find: () => TracePlace | undefined = () => undefined;

/** Sets what finds the place of a caller. */
export function findTracePlaceBy(finder: () => TracePlace | undefined): void {
  find = finder;
}

/** Where the caller is in a trace; undefined outside of one. */
export function tracePlace(): TracePlace | undefined {
  return find();
}
