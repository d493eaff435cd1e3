import type { SegmentBlock } from '../format/segment-work.ts';

/** A block in the making. */
interface PendingBlock {
  readonly block: Promise<SegmentBlock>;
  readonly plainBytes: number;
}

/** Plain bytes that one producer may have made and not yet written, unless a single block is larger. */
const plainBytesMax = 8 * 1024 * 1024;

/** The bytes that one producer has made and that are not written yet. */
export class Backlog {
  plainBytes = 0;
}

/**
 * Orders the blocks of a build: several producers make them at a time, and one consumer writes them in the order of the parts. A
 * producer that is far ahead waits. Each makes whole parts in ascending order, so a producer is always at work on the first part
 * that is not written, and the consumer can write what that part has so far.
 */
export class BlockQueue {
  readonly #parts: { readonly blocks: (PendingBlock & { readonly backlog: Backlog })[]; isComplete: boolean }[];
  #failure: { readonly error: unknown } | undefined;
  #wake = () => {};
  #changed: Promise<void>;

  constructor(parts: number) {
    this.#parts = Array.from({ length: parts }, () => ({ blocks: [], isComplete: false }));
    this.#changed = this.#nextChange();
  }

  /** Adds a block to a part, and resolves when its producer may make the next one. */
  async push(part: number, pending: PendingBlock, backlog: Backlog): Promise<void> {
    pending.block.catch(() => {}); // awaited by drain
    this.#parts[part]!.blocks.push({ ...pending, backlog });
    backlog.plainBytes += pending.plainBytes;
    this.#notify();
    while (this.#failure === undefined && backlog.plainBytes > plainBytesMax) await this.#changed;
    this.#requireGoingOn();
  }

  complete(part: number): void {
    this.#parts[part]!.isComplete = true;
    this.#notify();
  }

  /** Ends all work: producers and the consumer throw this error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#notify();
  }

  /** Gives each block to `write`, in order. */
  async drain(write: (block: SegmentBlock) => Promise<void>): Promise<void> {
    for (const part of this.#parts) {
      while (part.blocks.length > 0 || !part.isComplete) {
        const next = part.blocks[0];
        if (next === undefined) await this.#changed;
        else {
          await write(await next.block);
          part.blocks.shift();
          next.backlog.plainBytes -= next.plainBytes;
          this.#notify();
        }
        this.#requireGoingOn();
      }
    }
  }

  /** Waits until no block is in the making, also after an error. */
  async whenIdle(): Promise<void> {
    await Promise.allSettled(this.#parts.flatMap(({ blocks }) => blocks.map(({ block }) => block)));
  }

  #requireGoingOn(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #notify(): void {
    this.#wake();
    this.#changed = this.#nextChange();
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }
}
