/** Limits of a stream that no installation has needed to change; docs/streaming.md says what each does. Tests meet them sooner with smaller ones. */
export const streamLimits = {
  /** Seconds in which the first message must arrive; a client has it ready when it connects. */
  streamStartSecondsMax: 10,
  /** Bytes of one message: 8 s of stereo at 16 kHz in 16 bits have as many. */
  streamFrameBytesMax: 256 * 1024,
  /** Seconds of audio in a second that may be sent in the long run: a file that is sent as a stream is done in an eighth of its time. */
  streamSpeedMax: 8,
  /** Seconds of audio that may be sent at once, beyond that speed: what a client has gathered while it was away. */
  streamBurstSeconds: 30,
  /** A stream of which more seconds of audio wait to be scored is not read until some of them are. */
  streamBehindSecondsMax: 10,
  /** Bytes of answers that a client may leave unread before it is cut off: a thousand windows and more. */
  streamUnsentBytesMax: 1024 * 1024,
};

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
