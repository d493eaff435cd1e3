/** Initial capacity: some seconds of samples. */
const roomMin = 16_384;

type Numbers = Float32Array | Uint8Array;

/** The latest part of an endless sequence of numbers, indexed from its start. The space of dropped ones is reused. */
export class SlidingSamples<Kind extends Numbers> {
  private readonly Room: new (length: number) => Kind;
  private room: Kind;
  /** Index of the first number that is kept, and its offset in the buffer. */
  private firstKept = 0;
  private offset = 0;
  private count = 0;

  constructor(Room: new (length: number) => Kind) {
    this.Room = Room;
    this.room = new Room(0);
  }

  /** How many numbers were appended, dropped ones included. */
  get length(): number {
    return this.firstKept + this.count;
  }

  append(numbers: Kind): void {
    if (this.offset + this.count + numbers.length > this.room.length) this.compact(numbers.length);
    this.room.set(numbers, this.offset + this.count);
    this.count += numbers.length;
  }

  /** A view of the numbers `from` to `to`, which must not be dropped. Valid until the next `append`. */
  view(from: number, to: number): Kind {
    if (from < this.firstKept || to > this.length) throw new RangeError(`Places ${from} to ${to} are not kept.`);
    const at = this.offset + from - this.firstKept;
    return this.room.subarray(at, at + to - from) as Kind;
  }

  /** Drops the numbers before an index. */
  dropBefore(place: number): void {
    const dropped = Math.min(Math.max(0, place - this.firstKept), this.count);
    this.firstKept += dropped;
    this.offset += dropped;
    this.count -= dropped;
  }

  private compact(more: number): void {
    const kept = this.room.subarray(this.offset, this.offset + this.count);
    if ((this.count + more) * 2 > this.room.length) {
      const room = new this.Room(Math.max(roomMin, (this.count + more) * 2));
      room.set(kept);
      this.room = room;
    } else this.room.copyWithin(0, this.offset, this.offset + this.count);
    this.offset = 0;
  }
}
