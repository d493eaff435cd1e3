import { ERRORS, errorCodeOf, ServiceError } from '../errors.ts';
import { createLog, type Log } from '../log.ts';

/** True if this process was started with a channel. Read when the module is loaded: later the starting process may be gone. */
const startedWithChannel = process.channel !== undefined;

/**
 * The signal that a process must stop: fires at the first SIGTERM or SIGINT, or when the process that started this one with a
 * channel (`caller-trust start`) has ended.
 * A second SIGTERM or SIGINT ends the process at once.
 */
export function stopSignal(log: Log): AbortSignal {
  const controller = new AbortController();
  const stop = (reason: string): void => {
    if (controller.signal.aborted) process.exit(1);
    log.info({ reason }, 'stopping');
    controller.abort(new ServiceError('interrupted', { operation: 'run' }));
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  if (startedWithChannel && !process.connected) stop('the starting process is gone');
  else if (startedWithChannel) {
    process.once('disconnect', () => {
      if (!controller.signal.aborted) stop('the starting process is gone');
    });
    process.channel?.unref(); // the channel alone must not keep the process alive
  }
  return controller.signal;
}

/** Resolves when the signal fires. Keeps the process alive until then. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  const alive = setInterval(() => {}, 2 ** 30);
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => {
      clearInterval(alive);
      resolve();
    });
  });
}

/**
 * Runs the body of a process, then exits, also with open handles. An error is logged here, once, and decides the exit code.
 */
export async function runProcess(name: string, body: () => Promise<void>): Promise<never> {
  try {
    await body();
    process.exit(0);
  } catch (error) {
    createLog({ level: 'fatal', process: name }).fatal({ code: errorCodeOf(error), err: error }, 'the process ends');
    process.exit(ERRORS[errorCodeOf(error)].exit);
  }
}
