import type { SharedFile } from './shared-file.ts';

/** A buffer that downloads send from. One that holds a whole page of a file may be sent by several at once. */
export class PooledBuffer {
  readonly memory: Buffer;
  /** Downloads that send it. */
  users = 0;
  /** The page that it holds, if others may find it. */
  page: Page | undefined;
  /** False once a write from it was not confirmed, which may still read it. */
  reusable = true;

  constructor(bytes: number) {
    this.memory = Buffer.allocUnsafeSlow(bytes);
  }
}

/** Pages are kept until this fraction of the buffers is in use, 8 MiB by default: they stay in the processor's cache. */
const keptShare = 4;

/** A whole page of a file: its bytes between two multiples of the size of a buffer, or up to the file's end. */
interface Page {
  readonly file: SharedFile;
  readonly start: number;
  readonly bytes: number;
}

/**
 * Large buffers that downloads borrow. The pool has a fixed limit, which does not grow with the number of downloads.
 * Pages that were shared stay in the pool for a while, so that downloads of one file that follow each other closely read
 * it once. 100 of them took two thirds of the system time of as many that each read for themselves (measured at commit 96725380).
 */
export class BufferPool {
  readonly bufferBytes: number;
  readonly #buffersMax: number;
  readonly #pages = new WeakMap<SharedFile, Map<number, PooledBuffer>>();
  /** Free buffers without a page. The most recently used one is reused first, since it is in the processor's cache. */
  readonly #empty: PooledBuffer[] = [];
  /** Free buffers with a page, the least recently used first. */
  readonly #kept = new Set<PooledBuffer>();
  readonly #waiting: ((buffer: PooledBuffer) => void)[] = [];
  #borrowed = 0;

  constructor({ bufferBytes, buffersMax }: { bufferBytes: number; buffersMax: number }) {
    this.bufferBytes = bufferBytes;
    this.#buffersMax = buffersMax;
  }

  get borrowed(): number {
    return this.#borrowed;
  }

  /** True while more than half of the buffers are borrowed: a download then borrows one at a time. */
  get scarce(): boolean {
    return this.#borrowed * 2 > this.#buffersMax;
  }

  /** Borrows a buffer, immediately if one is free; otherwise waits, first come first served. */
  take(): PooledBuffer | Promise<PooledBuffer> {
    if (this.#borrowed >= this.#buffersMax) return new Promise((resolve) => this.#waiting.push(resolve));
    const buffer = this.#empty.pop() ?? this.#oldestKept() ?? new PooledBuffer(this.bufferBytes);
    this.#use(buffer);
    return buffer;
  }

  /** Borrows the buffer that holds the page of a file that starts there, if there is one. */
  find(file: SharedFile, start: number): PooledBuffer | undefined {
    const buffer = this.#pages.get(file)?.get(start);
    if (buffer !== undefined) this.#use(buffer);
    return buffer;
  }

  /** Lets others find a borrowed buffer by the page that it has been filled with. */
  share(buffer: PooledBuffer, page: Page): void {
    const pages = this.#pages.get(page.file) ?? new Map<number, PooledBuffer>();
    if (pages.has(page.start)) return; // two read it at the same time
    this.#pages.set(page.file, pages.set(page.start, buffer));
    buffer.page = page;
  }

  /** Gives a borrowed buffer back. Unless every write from it was confirmed (`sent`), its memory is never reused. */
  giveBack(buffer: PooledBuffer, { sent }: { sent: boolean }): void {
    buffer.reusable &&= sent;
    if (--buffer.users > 0) return;
    this.#borrowed--;
    if (!buffer.reusable) this.#forgetPage(buffer);
    else if (buffer.page === undefined) this.#empty.push(buffer);
    else this.#kept.add(buffer);
    if (this.#waiting.length > 0) this.#waiting.shift()!(this.take() as PooledBuffer); // one is free
  }

  #use(buffer: PooledBuffer): void {
    this.#kept.delete(buffer);
    if (buffer.users++ === 0) this.#borrowed++;
  }

  /** The buffer to reuse next; none while few are in use. Keeping more pages than that only costs memory. */
  #oldestKept(): PooledBuffer | undefined {
    const few = (this.#borrowed + this.#kept.size) * keptShare < this.#buffersMax;
    const [oldest] = few ? [] : this.#kept;
    if (oldest !== undefined) {
      this.#kept.delete(oldest);
      this.#forgetPage(oldest);
    }
    return oldest;
  }

  #forgetPage(buffer: PooledBuffer): void {
    if (buffer.page !== undefined) this.#pages.get(buffer.page.file)?.delete(buffer.page.start);
    buffer.page = undefined;
  }
}
