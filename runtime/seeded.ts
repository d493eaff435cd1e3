/** A seeded random generator: the same seed gives the same choices. */
export class Seeded {
  private state: number;

  constructor(seed: number) {
    this.state = seed | 0;
  }

  /** From 0 to below 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** A whole number from 0 to below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(among: readonly T[]): T {
    return among[Math.floor(this.next() * among.length)]!;
  }

  /** An independent generator, so that draws from one do not shift the other. */
  fork(label: number): Seeded {
    return new Seeded(Math.imul(this.state ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(label + 1, 0xc2b2ae35));
  }
}
