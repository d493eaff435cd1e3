import { AudioRefusal } from '../reasons.ts';

/** Time spent decoding, against its limit; it runs between `start` and `stop` only. */
export class WallClock {
  private readonly limitMs: number;
  private spentMs = 0;
  private startedAt: number | undefined;

  constructor(wallSecondsMax: number) {
    this.limitMs = wallSecondsMax * 1000;
  }

  start(): void {
    this.startedAt ??= performance.now();
  }

  /** @throws AudioRefusal `decoding_too_slow` */
  check(): void {
    const running = this.startedAt === undefined ? 0 : performance.now() - this.startedAt;
    if (this.spentMs + running > this.limitMs)
      throw new AudioRefusal('decoding_too_slow', `Decoding took more than ${this.limitMs / 1000} s.`);
  }

  stop(): void {
    if (this.startedAt !== undefined) this.spentMs += performance.now() - this.startedAt;
    this.startedAt = undefined;
  }
}
