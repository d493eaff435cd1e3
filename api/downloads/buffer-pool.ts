/** Large buffers that downloads borrow one at a time. The pool has a fixed limit, which does not grow with the number of downloads. */
export class BufferPool {
  readonly bufferBytes: number;
  readonly #buffersMax: number;
  readonly #idle: Buffer[] = [];
  readonly #waiting: ((buffer: Buffer) => void)[] = [];
  #borrowed = 0;

  constructor({ bufferBytes, buffersMax }: { bufferBytes: number; buffersMax: number }) {
    this.bufferBytes = bufferBytes;
    this.#buffersMax = buffersMax;
  }

  get borrowed(): number {
    return this.#borrowed;
  }

  /** Returns a buffer, immediately if one is free; otherwise waits, first come first served. The most recently used one is reused first, since it is in the processor's cache. */
  take(): Buffer | Promise<Buffer> {
    if (this.#borrowed >= this.#buffersMax) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#borrowed++;
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(this.bufferBytes);
  }

  /** Returns a buffer to the pool. The buffer must have no reader left: an unconfirmed write may still read it. */
  giveBack(buffer: Buffer): void {
    const next = this.#waiting.shift();
    if (next !== undefined) return next(buffer);
    this.#borrowed--;
    this.#idle.push(buffer);
  }

  /** Drops a buffer that may still be read; a new one replaces it. */
  abandon(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) return next(Buffer.allocUnsafeSlow(this.bufferBytes));
    this.#borrowed--;
  }
}
