import { join } from 'node:path';
import { AudioStore } from '../../pipelines/audio/store/audio-store.ts';
import { AudioRefusal } from '../../pipelines/audio/reasons.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { ConvertedRecording, convertedHeaderBytes } from './converted-recording.ts';
import { SharedWork } from './shared-work.ts';
import { Turns } from '../http/turns.ts';
import { notHere } from './waveforms.ts';

/** What converted recordings may take. */
export interface PlaybackLimits {
  /** Recordings that are converted at a time, and those that wait. */
  readonly runningMax: number;
  readonly waitingMax: number;
  /** Bytes of one: nine hours of both sides of a call at 8 kHz, or an hour and a half of stereo at 48 kHz. */
  readonly recordingBytesMax: number;
  /** Bytes of all that are kept, heard or being made. */
  readonly diskBytesMax: number;
  readonly keptMax: number;
  /** Milliseconds for which one is kept that nobody hears: a browser asks for the next part when somebody seeks. */
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

/** The folder of converted recordings, below STATE_DIR: a temporary folder of the system may lie in memory. */
export function playbackDirectory(stateDir: string): string {
  return join(stateDir, 'playback');
}

/** Recordings that browsers do not play, as WAV files: each is decoded by a child process, once for all who listen. */
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
   * A stored recording as WAV, which can be read until `signal` fires. Converting ends when the signals of all who wait for it have fired.
   * @throws ServiceError `recording_unknown` if it is not here, `recording_refused` if it cannot be read or is too long, `overloaded`
   */
  read(sha256: string, signal: AbortSignal): Promise<ConvertedRecording> {
    return this.shared.take(sha256, signal, (left) => this.turns.take(() => this.convert(sha256, left), left));
  }

  /** Lets go of a recording that was deleted. */
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
      throw asRefusal(error, sha256);
    }
  }

  /** Writes samples where there is room. The process that sends them is not believed to keep to the limit. */
  private async add(recording: ConvertedRecording, pcm: Uint8Array): Promise<void> {
    const { recordingBytesMax, diskBytesMax } = this.limits;
    if (recording.bytes + pcm.length > recordingBytesMax)
      throw new AudioRefusal('scorer_crashed', 'The process sent more samples than it may.');
    while (this.diskBytes + pcm.length > diskBytesMax && this.shared.forgetOldestUnused());
    if (this.diskBytes + pcm.length > diskBytesMax)
      throw new ServiceError('overloaded', {
        operation: 'convert recording',
        problem: 'Other converted recordings are being heard.',
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

function asRefusal(error: unknown, sha256: string): unknown {
  if (!(error instanceof AudioRefusal)) return error;
  if (error.reason === 'file_missing') return notHere();
  return new ServiceError('recording_refused', {
    operation: 'convert recording',
    object: sha256,
    problem: `${error.detail} [${error.reason}]`,
    hint: 'Save the original to hear it with another program.',
    cause: error,
  });
}
