import { pino, type Logger } from 'pino';

export type Log = Logger;

/** A logger of JSON lines on standard error; standard output belongs to results. */
export function createLog(options: { level: string; process: string }): Log {
  return pino(
    {
      level: options.level,
      base: { process: options.process, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: ['err.detail', 'err.where', 'err.cause.detail', 'req.headers.authorization'], remove: true },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}
