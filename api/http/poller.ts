/** Work that is repeated until it is stopped. */
export interface Poller {
  /** Stops, and resolves when the current run has ended. */
  stop(): Promise<void>;
}

/**
 * Runs `work` now and then `everyMs` after each end, one run at a time.
 * `onFailure` is called for the first failure after a success and for each failure with a different message,
 * `onRecovery` for the first success after a failure.
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
