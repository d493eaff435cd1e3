/** The slowest reader that is served: bytes a second, measured over `seconds`. */
export interface PaceLimits {
  readonly bytesPerSecondMin: number;
  readonly seconds: number;
}

/** Smallest chunk for a slow reader, and the target time per chunk: the resolution of the measured rate. */
const chunkBytesMin = 16 * 1024;
const chunkMs = 1000;

/**
 * Measures how fast a client reads a body. Only time in which bytes wait for the client counts, not the time to read the
 * disk or to get a buffer.
 */
export class ReaderPace {
  readonly #limits: PaceLimits;
  readonly #writeBytesMax: number;
  #chunkBytes: number;
  #waitedMs = 0;
  #bytes = 0;
  #writingSince: number | undefined;

  constructor(limits: PaceLimits, writeBytesMax: number) {
    this.#limits = limits;
    this.#writeBytesMax = writeBytesMax;
    // The chunk in flight does not count as read: it must be small compared to what a reader may read in the whole period.
    const fair = (limits.bytesPerSecondMin * limits.seconds) / 2;
    this.#chunkBytes =
      limits.bytesPerSecondMin === 0 ? writeBytesMax : Math.min(writeBytesMax, Math.max(fair, chunkBytesMin));
  }

  /** Bytes to send at a time: about what the client reads in a second; the most that is allowed for most clients. */
  get chunkBytes(): number {
    return this.#chunkBytes;
  }

  /** Bytes are written to the connection. */
  begin(now: number): void {
    this.#writingSince = now;
  }

  /** The connection has accepted them. */
  end(now: number, bytes: number): void {
    const ms = now - (this.#writingSince ?? now);
    this.#writingSince = undefined;
    this.#waitedMs += ms;
    this.#bytes += bytes;
    if (ms > chunkMs) this.#chunkBytes = Math.max(chunkBytesMin, Math.floor((bytes * chunkMs) / ms));
    else if (ms < chunkMs / 4) this.#chunkBytes = Math.min(this.#writeBytesMax, this.#chunkBytes * 2);
  }

  /** True if the client was too slow over a whole period; otherwise a new period begins. */
  isTooSlow(now: number): boolean {
    const ms = this.#waitedMs + (this.#writingSince === undefined ? 0 : now - this.#writingSince);
    const { bytesPerSecondMin, seconds } = this.#limits;
    if (bytesPerSecondMin === 0 || ms < seconds * 1000) return false;
    if (this.#bytes * 1000 < bytesPerSecondMin * ms) return true;
    this.#waitedMs = 0;
    this.#bytes = 0;
    if (this.#writingSince !== undefined) this.#writingSince = now;
    return false;
  }
}
