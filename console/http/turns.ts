import { ServiceError, type ErrorCode } from '../../runtime/errors.ts';

/** Limits of concurrent work. */
interface TurnLimits {
  readonly runningMax: number;
  readonly waitingMax: number;
  /** The error if the queue is full. */
  readonly refusal: {
    readonly code: ErrorCode;
    readonly operation: string;
    readonly problem: string;
    readonly hint?: string;
  };
}

/** Limits how many tasks run at a time, and how many wait. */
export class Turns {
  private readonly limits: TurnLimits;
  private readonly waiting = new Set<() => void>();
  private running = 0;

  constructor(limits: TurnLimits) {
    this.limits = limits;
  }

  /**
   * Runs the work when it is its turn, unless its signal fires before.
   * @throws ServiceError the refusal if too many wait; the reason of the signal
   */
  async take<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    const { runningMax, waitingMax, refusal } = this.limits;
    if (this.running < runningMax) this.running++;
    else {
      if (this.waiting.size >= waitingMax)
        throw new ServiceError(refusal.code, {
          operation: refusal.operation,
          problem: refusal.problem,
          hint: refusal.hint ?? 'Try again in a few seconds.',
        });
      await this.wait(signal);
    }
    try {
      signal?.throwIfAborted();
      return await work();
    } finally {
      this.pass();
    }
  }

  /** Resolves when a running task passes its turn. */
  private wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.waiting.delete(start);
        reject(signal!.reason as Error);
      };
      this.waiting.add(start);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }

  private pass(): void {
    const [next] = this.waiting;
    if (next === undefined) return void this.running--;
    this.waiting.delete(next);
    next();
  }
}
