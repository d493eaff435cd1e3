import { AudioStore } from '../../pipelines/audio/store/audio-store.ts';
import { modelOrRefusal } from '../../pipelines/audio/models/named-model.ts';
import { loadRegistry, type ModelRegistry, type ResolvedModel } from '../../pipelines/audio/models/registry.ts';
import { AudioRefusal } from '../../pipelines/audio/reasons.ts';
import type { RecordingWaveform } from '../../pipelines/audio/scoring/recording-waveform.ts';
import { isServiceError, ServiceError } from '../../runtime/errors.ts';
import type { ConsoleWork } from '../http/console-work.ts';
import { SharedWork } from './shared-work.ts';
import { Turns } from '../http/turns.ts';
import type { VerificationDetail } from '../answers/verification-answers.ts';

/** Waveforms in memory, least recently used dropped; each has at most about 60 KB a channel. */
const keptMax = 32;

/** Waveforms computed at a time, and requests that may wait: workers on the same machine score meanwhile. */
const drawnAtOnceMax = 2;
const waitingMax = 20;

interface DrawnRecording {
  readonly sha256: string;
  readonly model: ResolvedModel | null;
  readonly settings: VerificationDetail['settings'];
}

/** Waveforms of recordings: a child process computes each once for concurrent requests. */
export class Waveforms {
  private readonly work: Pick<ConsoleWork, 'config' | 'db' | 'scoring' | 'signal'>;
  private readonly pictures: SharedWork<RecordingWaveform>;
  private readonly turns = new Turns({
    runningMax: drawnAtOnceMax,
    waitingMax,
    refusal: { code: 'overloaded', operation: 'draw recording', problem: 'Other recordings are being drawn.' },
  });

  constructor(work: Pick<ConsoleWork, 'config' | 'db' | 'scoring' | 'signal'>) {
    this.work = work;
    this.pictures = new SharedWork({ signal: work.signal, keptMax });
  }

  /**
   * The waveform of a verification's recording, with the voice activity that its model found. The work is cancelled once the
   * signals of all waiting requests have fired.
   * @throws ServiceError `recording_unknown` if it is not stored, `recording_refused` if it cannot be read, `overloaded`
   */
  async read(
    { audio, model, settings, recording }: VerificationDetail,
    signal: AbortSignal,
  ): Promise<RecordingWaveform> {
    const { sha256 } = requireStored({ audio, recording });
    const { config, db } = this.work;
    const usable = model === null ? null : usableModel(await loadRegistry(db, config), model);
    const key = `${sha256} ${usable?.manifestSha256 ?? ''} ${settings.channels}`;
    return this.pictures.take(key, signal, (left) => this.draw({ sha256, model: usable, settings }, left));
  }

  private async draw({ sha256, model, settings }: DrawnRecording, signal: AbortSignal): Promise<RecordingWaveform> {
    const { config, scoring } = this.work;
    try {
      return await this.turns.take(
        () => scoring.waveform({ file: new AudioStore(config.audioDir).pathOf(sha256), model, settings }, signal),
        signal,
      );
    } catch (error) {
      if (!(error instanceof AudioRefusal)) throw error;
      if (error.reason === 'file_missing') throw recordingNotStored();
      throw new ServiceError('recording_refused', {
        operation: 'draw recording',
        object: sha256,
        problem: `${error.detail} [${error.reason}]`,
        cause: error,
      });
    }
  }
}

/** The stored audio of a verification. @throws ServiceError `recording_unknown` */
export function requireStored({ audio, recording }: Pick<VerificationDetail, 'audio' | 'recording'>): {
  readonly sha256: string;
  readonly bytes: number;
} {
  if (audio === null || recording === null || recording.bytes === null)
    throw new ServiceError('recording_unknown', {
      operation: 'read recording',
      problem: 'The submitted file could not be read, so nothing of it is stored.',
    });
  if (recording.deletedAt !== null)
    throw new ServiceError('recording_unknown', {
      operation: 'read recording',
      object: audio.sha256,
      problem: `The audio was deleted at ${recording.deletedAt.toISOString()}: ${recording.deletedWhy}`,
      hint: 'Its results stay.',
    });
  return { sha256: audio.sha256, bytes: recording.bytes };
}

/** The error of audio that is on another machine, or whose file was removed. */
export function recordingNotStored(): ServiceError {
  return new ServiceError('recording_unknown', {
    operation: 'read recording',
    problem: 'The stored audio is not in the audio directory of the console.',
    hint: 'AUDIO_DIR of the console and of the workers must be the same directory.',
  });
}

function usableModel(registry: ModelRegistry, name: string): ResolvedModel | null {
  try {
    const found = modelOrRefusal(registry, name);
    return found instanceof AudioRefusal ? null : found;
  } catch (error) {
    if (isServiceError(error, 'model_invalid')) return null; // the waveform then has no voice activity
    throw error;
  }
}
