/** What is kept of work that was done, and for how long. */
export interface SharedWorkOptions<Result> {
  /** Fires when the process stops: nothing is kept then. */
  readonly signal: AbortSignal;
  /** Results that are kept, with those that are being made; the latest used stay. */
  readonly keptMax: number;
  /** Milliseconds without a user after which a result is released; absent: never. */
  readonly idleMs?: number;
  /** Called with a result that has no user and is not kept any more. */
  readonly onGone?: (result: Result) => void;
}

interface Held<Result> {
  readonly result: Promise<Result>;
  readonly stop: AbortController;
  /** Requests that wait for the result or use it. */
  users: number;
  made: { readonly result: Result } | undefined;
  isKept: boolean;
  idle: NodeJS.Timeout | undefined;
}

/** Work on what many may ask for at the same moment: it is done once for all of them, and its result is kept for a while. */
export class SharedWork<Result> {
  private readonly options: SharedWorkOptions<Result>;
  /** The latest used last. */
  private readonly held = new Map<string, Held<Result>>();

  constructor(options: SharedWorkOptions<Result>) {
    this.options = options;
    options.signal.addEventListener('abort', () => this.forgetAll(), { once: true });
  }

  /**
   * The result for a key, which may be used until `signal` fires. Work ends when the signals of all who wait for it have fired.
   * @throws what the work throws; the next request tries it again
   */
  take(key: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    const held = this.held.get(key) ?? this.begin(key, work);
    this.held.delete(key);
    this.held.set(key, held);
    const [oldest] = this.held.keys();
    if (this.held.size > this.options.keptMax) this.forget(oldest!);
    this.use(key, held, signal);
    return held.result;
  }

  /** Releases a result when its last user has left; later requests have it made again. */
  forget(key: string): void {
    const held = this.held.get(key);
    if (held !== undefined) this.drop(key, held);
  }

  /** Releases the result that was not used for the longest time; false if all are in use. */
  forgetOldestUnused(): boolean {
    const unused = [...this.held].find(([, { users }]) => users === 0);
    if (unused === undefined) return false;
    this.drop(...unused);
    return true;
  }

  private forgetAll(): void {
    for (const [key, held] of this.held) this.drop(key, held);
  }

  private begin(key: string, work: (signal: AbortSignal) => Promise<Result>): Held<Result> {
    const stop = new AbortController();
    const held: Held<Result> = {
      result: work(AbortSignal.any([this.options.signal, stop.signal])),
      stop,
      users: 0,
      made: undefined,
      isKept: true,
      idle: undefined,
    };
    held.result.then(
      (result) => {
        held.made = { result };
        if (!held.isKept && held.users === 0) this.options.onGone?.(result);
      },
      () => this.drop(key, held),
    );
    return held;
  }

  private use(key: string, held: Held<Result>, signal: AbortSignal): void {
    held.users++;
    clearTimeout(held.idle);
    const leave = () => this.leave(key, held, signal.reason);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  }

  private leave(key: string, held: Held<Result>, reason: unknown): void {
    if (--held.users > 0) return;
    if (held.made === undefined) {
      this.drop(key, held);
      held.stop.abort(reason);
    } else if (!held.isKept) this.options.onGone?.(held.made.result);
    else if (this.options.idleMs !== undefined)
      held.idle = setTimeout(() => this.drop(key, held), this.options.idleMs).unref();
  }

  private drop(key: string, held: Held<Result>): void {
    if (this.held.get(key) === held) this.held.delete(key);
    if (!held.isKept) return;
    held.isKept = false;
    clearTimeout(held.idle);
    if (held.users === 0 && held.made !== undefined) this.options.onGone?.(held.made.result);
  }
}
