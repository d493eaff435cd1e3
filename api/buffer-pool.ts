/** Idle buffers that are kept; more are left to the garbage collector. 32 of 256 KiB are 8 MiB. */
const idleBuffersMax = 32;

/** Large buffers that downloads borrow one at a time. */
export class BufferPool {
  readonly bufferBytes: number;
  readonly #idle: Buffer[] = [];

  constructor(bufferBytes: number) {
    this.bufferBytes = bufferBytes;
  }

  take(): Buffer {
    return this.#idle.pop() ?? Buffer.allocUnsafeSlow(this.bufferBytes);
  }

  /** Gives a buffer back. Only one that nothing reads any more: a write that was not confirmed may still read it. */
  giveBack(buffer: Buffer): void {
    if (this.#idle.length < idleBuffersMax) this.#idle.push(buffer);
  }
}
