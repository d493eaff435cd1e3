import { AudioRefusal } from '../reasons.ts';
import type { DecodeLimits } from './recording.ts';

/** What a file declares about its audio. */
export interface Declared {
  readonly channels: number;
  readonly sampleRate: number;
  /** Null if it declares none, or only an estimate. */
  readonly durationSeconds: number | null;
}

/**
 * Refuses a file that declares more than the limits, before memory is allocated for it.
 * @throws AudioRefusal
 */
export function checkDeclared({ channels, sampleRate, durationSeconds }: Declared, limits: DecodeLimits): void {
  if (channels < 1) throw new AudioRefusal('audio_damaged', 'It declares no channel.');
  if (sampleRate < 1) throw new AudioRefusal('audio_damaged', 'It declares a sample rate of 0 Hz.');
  if (channels > limits.channelsMax)
    throw new AudioRefusal('channels_too_many', `It has ${channels} channels; ${limits.channelsMax} are read at most.`);
  if (sampleRate < limits.sampleRateMin)
    throw new AudioRefusal(
      'sample_rate_too_low',
      `It has ${sampleRate} Hz; the least that is read is ${limits.sampleRateMin} Hz.`,
    );
  if (sampleRate > limits.sampleRateMax)
    throw new AudioRefusal(
      'sample_rate_too_high',
      `It has ${sampleRate} Hz; the most that is read is ${limits.sampleRateMax} Hz.`,
    );
  if (durationSeconds !== null && durationSeconds > limits.secondsMax) throw tooLong(limits);
}

/** The refusal of audio that exceeds the limit, whatever the file declared. */
export function tooLong({ secondsMax }: DecodeLimits): AudioRefusal {
  return new AudioRefusal('recording_too_long', `It has more than ${secondsMax} s.`);
}

/** Measures the time spent decoding, between `start` and `stop`, against its limit. */
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
