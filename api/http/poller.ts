/** A piece of work that is repeated until it is stopped. */
export interface Poller {
  /** Stops, and resolves when a run that is under way has ended. */
  stop(): Promise<void>;
}

/**
 * Runs `work` now and then `everyMs` after each end, one run at a time.
 * `onFailure` is told of the first failure of a row of failures and of each failure with another message,
 * `onRecovery` of the first success after one.
 */
export function startPolling({
  everyMs,
  work,
  onFailure,
  onRecovery,
}: {
  everyMs: number;
  work: () => Promise<void>;
  onFailure: (error: unknown) => void;
  onRecovery: () => void;
}): Poller {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let reported: string | undefined;
  let current: Promise<void>;

  async function runOnce(): Promise<void> {
    try {
      await work();
      if (reported !== undefined) onRecovery();
      reported = undefined;
    } catch (error) {
      const message = String(error);
      if (message !== reported && !stopped) onFailure(error);
      reported = message;
    }
    if (!stopped) timer = setTimeout(() => void (current = runOnce()), everyMs);
  }

  current = runOnce();
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
