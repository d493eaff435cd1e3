/** Milliseconds for which a read value counts as current. */
const freshMs = 800;

/** The pause after a read, as a multiple of its duration. */
const pauseFactor = 3;

/** Reads one value for all its followers: one read at a time, and none while the last value is fresh. */
export class LiveReading<Value> {
  private readonly read: () => Promise<Value>;
  private current: Promise<Value> | undefined;
  private following: Promise<Value> | undefined;
  private latest: { readonly value: Value; readonly endedAt: number; readonly tookMs: number } | undefined;

  constructor(read: () => Promise<Value>) {
    this.read = read;
  }

  /** A value whose read starts now, so that it includes the caller's own changes. */
  async now(): Promise<Value> {
    if (this.current === undefined) return this.start();
    return (this.following ??= this.current
      .catch(() => {})
      .then(() => {
        this.following = undefined;
        return this.current ?? this.start();
      }));
  }

  /** The next value, for a follower that already has one. */
  async next(): Promise<Value> {
    const { current, latest } = this;
    if (current !== undefined) return current;
    if (latest !== undefined && performance.now() - latest.endedAt < Math.max(freshMs, pauseFactor * latest.tookMs))
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

/** Readings by key, for each console in this process. */
const shared = new WeakMap<object, Map<string, SharedReading>>();

/** The shared reading of a key, kept until its last follower releases it. */
export function shareReading<Value>(
  owner: object,
  key: string,
  read: () => Promise<Value>,
): { readonly reading: LiveReading<Value>; readonly release: () => void } {
  const readings = shared.get(owner) ?? new Map<string, SharedReading>();
  shared.set(owner, readings);
  const found = readings.get(key) ?? { reading: new LiveReading<unknown>(read), followers: 0 };
  readings.set(key, found);
  found.followers++;
  const release = () => void (--found.followers === 0 && readings.delete(key));
  return { reading: found.reading as LiveReading<Value>, release };
}
