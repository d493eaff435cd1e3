import type { SegmentBlock } from '../format/segment-work.ts';

/** A block in the making. */
export interface PendingBlock {
  readonly block: Promise<SegmentBlock>;
  readonly plainBytes: number;
}

/** Plain bytes that one producer may have made and not yet written, unless a single block is larger. */
const plainBytesMax = 8 * 1024 * 1024;

/** What a producer has made and not yet written. */
export class Room {
  plainBytes = 0;
}

/**
 * The blocks of a build between those who make them, several at a time, and the one who writes them in the order of the parts.
 * A producer that is far ahead waits. Each makes whole parts in ascending order, so the first part that is not written is always
 * in the making, and what is made of it is written.
 */
export class BlockLine {
  readonly #parts: { readonly blocks: (PendingBlock & { readonly room: Room })[]; isComplete: boolean }[];
  #failure: { readonly error: unknown } | undefined;
  #wake = () => {};
  #changed: Promise<void>;

  constructor(parts: number) {
    this.#parts = Array.from({ length: parts }, () => ({ blocks: [], isComplete: false }));
    this.#changed = this.#nextChange();
  }

  /** Adds a block to a part, and resolves when its producer may make the next one. */
  async push(part: number, pending: PendingBlock, room: Room): Promise<void> {
    pending.block.catch(() => {}); // awaited by drain
    this.#parts[part]!.blocks.push({ ...pending, room });
    room.plainBytes += pending.plainBytes;
    this.#notify();
    while (this.#failure === undefined && room.plainBytes > plainBytesMax) await this.#changed;
    this.#requireGoingOn();
  }

  complete(part: number): void {
    this.#parts[part]!.isComplete = true;
    this.#notify();
  }

  /** Ends the work of all: whoever waits throws this error. */
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
          next.room.plainBytes -= next.plainBytes;
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
