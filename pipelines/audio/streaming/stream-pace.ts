/** How fast audio may come. */
export interface PaceLimits {
  /** Seconds of audio in a second, once the allowance is used up. */
  readonly streamSpeedMax: number;
  /** Seconds of audio that may come at once: an allowance that fills up again. */
  readonly streamBurstSeconds: number;
}

/** Says how long a stream that sends faster than it may is left unread. A bucket of seconds of audio, full at first. */
export class StreamPace {
  private readonly limits: PaceLimits;
  private allowance: number;
  private at: number;

  constructor(limits: PaceLimits, nowMs: number) {
    this.limits = limits;
    this.allowance = limits.streamBurstSeconds;
    this.at = nowMs;
  }

  /** Milliseconds to wait after `seconds` of audio have come; 0 while there is an allowance. */
  take(seconds: number, nowMs: number): number {
    const { streamSpeedMax, streamBurstSeconds } = this.limits;
    const filled = this.allowance + ((nowMs - this.at) / 1000) * streamSpeedMax;
    this.allowance = Math.min(streamBurstSeconds, filled) - seconds;
    this.at = nowMs;
    return this.allowance >= 0 ? 0 : Math.ceil((-this.allowance / streamSpeedMax) * 1000);
  }
}
