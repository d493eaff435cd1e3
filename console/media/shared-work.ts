/** Which results are kept, and for how long. */
interface SharedWorkOptions<Result> {
  /** Fires when the process stops: all results are then released. */
  readonly signal: AbortSignal;
  /** Most results, pending ones included; the least recently used are dropped. */
  readonly keptMax: number;
  /** Milliseconds without a user after which a result is released; undefined: never. */
  readonly idleMs?: number;
  /** Called with each released result. */
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

/** Deduplicates work: concurrent requests for a key share one run, and its result is cached. */
export class SharedWork<Result> {
  private readonly options: SharedWorkOptions<Result>;
  /** Most recently used last. */
  private readonly held = new Map<string, Held<Result>>();

  constructor(options: SharedWorkOptions<Result>) {
    this.options = options;
    options.signal.addEventListener('abort', () => this.forgetAll(), { once: true });
  }

  /**
   * The result for a key, which may be used until `signal` fires. The work is cancelled once the signals of all waiting
   * requests have fired.
   * @throws the errors of the work; the next request runs it again
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

  /** Drops a result, which is released when its last user has left; later requests run the work again. */
  forget(key: string): void {
    const held = this.held.get(key);
    if (held !== undefined) this.drop(key, held);
  }

  /** Releases the least recently used result; false if all are in use. */
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
