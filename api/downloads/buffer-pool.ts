/** Large buffers that downloads borrow one at a time: so many at most, whatever the number of downloads. */
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

  /** Buffers that are borrowed now. */
  get borrowed(): number {
    return this.#borrowed;
  }

  /** A buffer, at once if one is left; else when one comes back, in the order of asking. The one used last comes first: its bytes are in the processor's cache. */
  take(): Buffer | Promise<Buffer> {
    if (this.#borrowed >= this.#buffersMax) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#borrowed++;
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(this.bufferBytes);
  }

  /** Gives a buffer back. Only one that nothing reads any more: a write that was not confirmed may still read it. */
  giveBack(buffer: Buffer): void {
    const next = this.#waiting.shift();
    if (next !== undefined) return next(buffer);
    this.#borrowed--;
    this.#idle.push(buffer);
  }

  /** Gives up a buffer that something may still read: another takes its place. */
  abandon(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) return next(Buffer.allocUnsafeSlow(this.bufferBytes));
    this.#borrowed--;
  }
}
