/** Milliseconds in which what was read counts as the value of the moment. */
const freshMs = 800;

/** A reading is left alone so many times as long as it took. */
const restShare = 3;

/** Reads one value for all who follow it: one reading at a time, however many there are, and none where the last one is fresh. */
export class LiveReading<Value> {
  private readonly read: () => Promise<Value>;
  private current: Promise<Value> | undefined;
  private following: Promise<Value> | undefined;
  private latest: { readonly value: Value; readonly endedAt: number; readonly tookMs: number } | undefined;

  constructor(read: () => Promise<Value>) {
    this.read = read;
  }

  /** A value that is read from now on: who has changed something sees it. */
  async now(): Promise<Value> {
    if (this.current === undefined) return this.start();
    return (this.following ??= this.current
      .catch(() => {})
      .then(() => {
        this.following = undefined;
        return this.current ?? this.start();
      }));
  }

  /** A value for who has one already. */
  async next(): Promise<Value> {
    const { current, latest } = this;
    if (current !== undefined) return current;
    if (latest !== undefined && performance.now() - latest.endedAt < Math.max(freshMs, restShare * latest.tookMs))
      return latest.value;
    return this.start();
  }

  private start(): Promise<Value> {
    const startedAt = performance.now();
    const end = () => void (this.current = undefined);
    this.current = this.read().then((value) => {
      const endedAt = performance.now();
      this.latest = { value, endedAt, tookMs: endedAt - startedAt };
      return value;
    });
    this.current.then(end, end);
    return this.current;
  }
}

interface SharedReading {
  readonly reading: LiveReading<unknown>;
  followers: number;
}

/** Readings by what they read, of each process that runs here. */
const shared = new WeakMap<object, Map<string, SharedReading>>();

/** The reading of a key, shared by all who have not let it go. */
export function shareReading<Value>(
  owner: object,
  key: string,
  read: () => Promise<Value>,
): { readonly reading: LiveReading<Value>; readonly letGo: () => void } {
  const readings = shared.get(owner) ?? new Map<string, SharedReading>();
  shared.set(owner, readings);
  const found = readings.get(key) ?? { reading: new LiveReading<unknown>(read), followers: 0 };
  readings.set(key, found);
  found.followers++;
  const letGo = () => void (--found.followers === 0 && readings.delete(key));
  return { reading: found.reading as LiveReading<Value>, letGo };
}
