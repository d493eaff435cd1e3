import { pino, type Logger } from 'pino';
import { tracePlace } from './trace-place.ts';

export type Log = Logger;

/** A logger of JSON lines on standard error; standard output is for results. Lines within a trace have its id. */
export function createLog(options: { level: string; process: string }): Log {
  return pino(
    {
      level: options.level,
      base: { process: options.process, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError },
      mixin: () => tracePlace() ?? {},
    },
    pino.destination({ fd: 2, sync: true }),
  );
}

/** The logged fields of an error. Not others: a database error has rows in its `detail`, and the client with its secrets. */
interface DescribedError {
  readonly type: string;
  readonly code?: string | undefined;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly cause?: DescribedError | undefined;
}

function describeError(error: unknown): DescribedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const cause = error.cause === undefined ? undefined : describeError(error.cause);
  return { type: error.name, code, message: error.message, stack: error.stack, cause };
}
