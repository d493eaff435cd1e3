import { join } from 'node:path';
import { AudioStore } from '../../pipelines/audio/store/audio-store.ts';
import { AudioRefusal } from '../../pipelines/audio/reasons.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { ConvertedRecording, convertedHeaderBytes } from './converted-recording.ts';
import { SharedWork } from './shared-work.ts';
import { Turns } from '../http/turns.ts';
import { recordingNotStored } from './waveforms.ts';

/** Limits of converted recordings. */
export interface PlaybackLimits {
  /** Concurrent conversions, and those that may wait. */
  readonly runningMax: number;
  readonly waitingMax: number;
  /** Bytes of one recording: nine hours of both sides of a call at 8 kHz, or an hour and a half of stereo at 48 kHz. */
  readonly recordingBytesMax: number;
  /** Bytes of all that are kept, in use, or being converted. */
  readonly diskBytesMax: number;
  readonly keptMax: number;
  /** Milliseconds for which an unused one is kept: a browser requests another range when the user seeks. */
  readonly idleMs: number;
}

const GiB = 1024 ** 3;

/** The limits of the console. */
export const playbackLimits: PlaybackLimits = {
  runningMax: 2,
  waitingMax: 20,
  recordingBytesMax: GiB,
  diskBytesMax: 2 * GiB,
  keptMax: 32,
  idleMs: 5 * 60_000,
};

type PlaybackWork = Pick<ConsoleWork, 'config' | 'scoring' | 'log' | 'signal'>;

/** The folder of converted recordings, below STATE_DIR: the system's temporary folder may be in memory. */
export function playbackDirectory(stateDir: string): string {
  return join(stateDir, 'playback');
}

/** Converts recordings that browsers cannot play to WAV: a child process decodes each once for all listeners. */
export class Playbacks {
  private readonly work: PlaybackWork;
  private readonly limits: PlaybackLimits;
  private readonly shared: SharedWork<ConvertedRecording>;
  private readonly turns: Turns;
  private diskBytes = 0;

  constructor(work: PlaybackWork, limits = playbackLimits) {
    const { runningMax, waitingMax, keptMax, idleMs } = limits;
    this.work = work;
    this.limits = limits;
    this.shared = new SharedWork({
      signal: work.signal,
      keptMax,
      idleMs,
      onGone: (recording) =>
        void this.remove(recording).catch((err: unknown) =>
          work.log.warn({ err }, 'a converted recording was not closed'),
        ),
    });
    this.turns = new Turns({
      runningMax,
      waitingMax,
      refusal: { code: 'overloaded', operation: 'convert recording', problem: 'Other recordings are being converted.' },
    });
  }

  /**
   * A stored recording as WAV, readable until `signal` fires. The conversion is cancelled once the signals of all waiting
   * requests have fired.
   * @throws ServiceError `recording_unknown` if it is not stored here, `recording_refused` if it cannot be read or is too long,
   * `overloaded`
   */
  read(sha256: string, signal: AbortSignal): Promise<ConvertedRecording> {
    return this.shared.take(sha256, signal, (left) => this.turns.take(() => this.convert(sha256, left), left));
  }

  /** Drops a recording that was deleted. */
  forget(sha256: string): void {
    this.shared.forget(sha256);
  }

  private async convert(sha256: string, signal: AbortSignal): Promise<ConvertedRecording> {
    const { config, scoring } = this.work;
    const { recordingBytesMax } = this.limits;
    const recording = await ConvertedRecording.begin(playbackDirectory(config.stateDir));
    this.diskBytes += recording.bytes;
    try {
      const file = new AudioStore(config.audioDir).pathOf(sha256);
      await recording.finish(
        await scoring.decode(
          { file, pcmBytesMax: recordingBytesMax - convertedHeaderBytes, take: (pcm) => this.add(recording, pcm) },
          signal,
        ),
      );
      return recording;
    } catch (error) {
      await this.remove(recording);
      throw toServiceError(error, sha256);
    }
  }

  /** Appends samples within the limit, which the sandboxed decoder is not trusted to keep. */
  private async add(recording: ConvertedRecording, pcm: Uint8Array): Promise<void> {
    const { recordingBytesMax, diskBytesMax } = this.limits;
    if (recording.bytes + pcm.length > recordingBytesMax)
      throw new AudioRefusal('scorer_crashed', 'The process sent more samples than it may.');
    while (this.diskBytes + pcm.length > diskBytesMax && this.shared.forgetOldestUnused());
    if (this.diskBytes + pcm.length > diskBytesMax)
      throw new ServiceError('overloaded', {
        operation: 'convert recording',
        problem: 'Other converted recordings are being played.',
        hint: 'Try again when they have ended, or save the original.',
      });
    this.diskBytes += pcm.length;
    await recording.add(pcm);
  }

  private async remove(recording: ConvertedRecording): Promise<void> {
    this.diskBytes -= recording.bytes;
    await recording.close();
  }
}

function toServiceError(error: unknown, sha256: string): unknown {
  if (!(error instanceof AudioRefusal)) return error;
  if (error.reason === 'file_missing') return recordingNotStored();
  return new ServiceError('recording_refused', {
    operation: 'convert recording',
    object: sha256,
    problem: `${error.detail} [${error.reason}]`,
    hint: 'Save the original to hear it with another program.',
    cause: error,
  });
}
