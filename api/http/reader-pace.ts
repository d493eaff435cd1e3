/** The slowest reader that is served: bytes a second, over so many seconds. */
export interface PaceLimits {
  readonly bytesPerSecondMin: number;
  readonly seconds: number;
}

/** Smallest and shortest piece that a slow reader is sent at a time: what it took is known that exactly. */
const pieceBytesMin = 16 * 1024;
const pieceMs = 1000;

/**
 * How fast a client takes a body. Only the time counts in which bytes wait for the client: not reading the disk, and not
 * waiting for a buffer.
 */
export class ReaderPace {
  readonly #limits: PaceLimits;
  readonly #pieceBytesMax: number;
  #pieceBytes: number;
  #waitedMs = 0;
  #bytes = 0;
  #writingSince: number | undefined;

  constructor(limits: PaceLimits, bufferBytes: number) {
    this.#limits = limits;
    this.#pieceBytesMax = bufferBytes;
    // The piece under way does not count as taken: it must be small beside what a reader may take in the whole period.
    const fair = (limits.bytesPerSecondMin * limits.seconds) / 2;
    this.#pieceBytes =
      limits.bytesPerSecondMin === 0 ? bufferBytes : Math.min(bufferBytes, Math.max(fair, pieceBytesMin));
  }

  /** Bytes to send at a time: about what the client takes in a second, a whole buffer for most. */
  get pieceBytes(): number {
    return this.#pieceBytes;
  }

  /** Bytes are handed to the connection. */
  begin(now: number): void {
    this.#writingSince = now;
  }

  /** The client has taken them. */
  end(now: number, bytes: number): void {
    const ms = now - (this.#writingSince ?? now);
    this.#writingSince = undefined;
    this.#waitedMs += ms;
    this.#bytes += bytes;
    if (ms > pieceMs) this.#pieceBytes = Math.max(pieceBytesMin, Math.floor((bytes * pieceMs) / ms));
    else if (ms < pieceMs / 4) this.#pieceBytes = Math.min(this.#pieceBytesMax, this.#pieceBytes * 2);
  }

  /** True if the client took too little in a whole period; a period in which it took enough is forgotten. */
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
