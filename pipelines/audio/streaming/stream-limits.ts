/** Limits of a stream that no installation has needed to change (docs/streaming.md). Tests use smaller ones. */
export const streamLimits = {
  /** Seconds within which the first message must arrive; a client has it ready when it connects. */
  streamStartSecondsMax: 10,
  /** A stream that sends no audio for as long is ended; the received audio is verified. */
  streamIdleSecondsMax: 30,
  /** Bytes of one message: 4 s of stereo at 16 kHz in 16 bits. */
  streamFrameBytesMax: 256 * 1024,
  /** Seconds of audio per second in the long run: a file that is sent as a stream takes an eighth of its duration. */
  streamSpeedMax: 8,
  /** Seconds of audio that may be sent at once, beyond that speed: what a client buffered while it was disconnected. */
  streamBurstSeconds: 30,
  /** A stream with more seconds of unscored audio is not read until some are scored. */
  streamBehindSecondsMax: 10,
  /** Bytes of answers that a client may leave unread before it is cut off: a thousand windows and more. */
  streamUnsentBytesMax: 1024 * 1024,
};

/** How fast audio may arrive. */
interface PaceLimits {
  /** Seconds of audio per second, once the allowance is used up. */
  readonly streamSpeedMax: number;
  /** Seconds of audio that may arrive at once: an allowance that refills. */
  readonly streamBurstSeconds: number;
}

/** Computes how long a stream that sends too fast is left unread: a token bucket of seconds of audio, full at first. */
export class StreamPace {
  private readonly limits: PaceLimits;
  private allowance: number;
  private at: number;

  constructor(limits: PaceLimits, nowMs: number) {
    this.limits = limits;
    this.allowance = limits.streamBurstSeconds;
    this.at = nowMs;
  }

  /** Milliseconds to wait after `seconds` of audio have arrived; 0 while there is an allowance. */
  take(seconds: number, nowMs: number): number {
    const { streamSpeedMax, streamBurstSeconds } = this.limits;
    const filled = this.allowance + ((nowMs - this.at) / 1000) * streamSpeedMax;
    this.allowance = Math.min(streamBurstSeconds, filled) - seconds;
    this.at = nowMs;
    return this.allowance >= 0 ? 0 : Math.ceil((-this.allowance / streamSpeedMax) * 1000);
  }
}
