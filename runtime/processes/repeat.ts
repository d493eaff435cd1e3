import { setTimeout as sleep } from 'node:timers/promises';

/** Runs `work` repeatedly, the first time at once, with a pause of `seconds` after each run. */
export function repeat({
  seconds,
  work,
  onError,
}: {
  seconds: number;
  work: () => Promise<void>;
  onError: (error: unknown) => void;
}): { stop(): Promise<void> } {
  let stopped = false;
  let wake = (): void => {};
  const loop = async (): Promise<void> => {
    while (!stopped) {
      await work().catch(onError);
      if (stopped) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, seconds * 1000);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const ended = loop();
  return {
    async stop() {
      stopped = true;
      wake();
      await ended;
    },
  };
}

/** The result of `work`; undefined after `ms`, while the work continues. */
export async function within<Result>(ms: number, work: Promise<Result>): Promise<Result | undefined> {
  const timer = new AbortController();
  try {
    return await Promise.race([work, sleep(ms, undefined, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
