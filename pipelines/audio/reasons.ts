/**
 * Why a recording has no score. Closed list; docs/audio.md is checked against it both ways.
 *
 * - `state`: how the item ends. `performedWithoutScore`: it was opened, but there is nothing to score. `error`: it was not scored.
 * - `retry`: `batch retry` tries it again, since the cause may lie in the service and not in the recording.
 */
export const AUDIO_REASONS = {
  // nothing to score
  no_voice: { state: 'performedWithoutScore', retry: false, meaning: 'No voice was found in the recording.' },
  insufficient_voice: {
    state: 'performedWithoutScore',
    retry: false,
    meaning: 'The recording has less voice than a score needs.',
  },
  excessive_noise: {
    state: 'performedWithoutScore',
    retry: false,
    meaning: 'The voice does not stand out from the noise.',
  },
  // the file
  file_missing: { state: 'error', retry: false, meaning: 'The file does not exist.' },
  file_unreadable: { state: 'error', retry: false, meaning: 'The file is not a regular file, or may not be read.' },
  file_empty: { state: 'error', retry: false, meaning: 'The file has no byte.' },
  file_too_large: { state: 'error', retry: false, meaning: 'The file is larger than the limit.' },
  recording_deleted: { state: 'error', retry: false, meaning: 'The stored audio was deleted before it was scored.' },
  // the audio
  format_unknown: { state: 'error', retry: false, meaning: 'The content is of no format that is read here.' },
  codec_unsupported: { state: 'error', retry: false, meaning: 'The container is read, but not the codec in it.' },
  decoder_missing: {
    state: 'error',
    retry: true,
    meaning: 'The format needs the optional decoder, which is not installed.',
  },
  audio_damaged: { state: 'error', retry: false, meaning: 'The audio data contradict themselves, or hold no sample.' },
  channels_too_many: { state: 'error', retry: false, meaning: 'The recording has more channels than the limit.' },
  sample_rate_too_low: { state: 'error', retry: false, meaning: 'The sample rate is below what the model needs.' },
  sample_rate_too_high: { state: 'error', retry: false, meaning: 'The sample rate is above the limit.' },
  recording_too_long: { state: 'error', retry: false, meaning: 'The recording is longer than the limit.' },
  decoding_too_slow: { state: 'error', retry: true, meaning: 'Decoding took longer than the limit.' },
  // the model
  model_unknown: { state: 'error', retry: false, meaning: 'No model has this name.' },
  model_removed: { state: 'error', retry: false, meaning: 'The model was removed; another one replaces it.' },
  // the service
  memory_exceeded: { state: 'error', retry: true, meaning: 'Scoring needed more memory than the limit.' },
  time_exceeded: { state: 'error', retry: true, meaning: 'Scoring took longer than the limit.' },
  scorer_crashed: { state: 'error', retry: true, meaning: 'The process that scored the recording died.' },
  scoring_failed: {
    state: 'error',
    retry: true,
    meaning: 'A fault in the service; the log has its cause under the id of the verification.',
  },
  batch_cancelled: {
    state: 'error',
    retry: true,
    meaning: 'The batch was cancelled before this recording was scored.',
  },
} as const satisfies Record<string, { state: 'performedWithoutScore' | 'error'; retry: boolean; meaning: string }>;

export type AudioReason = keyof typeof AUDIO_REASONS;

/** A refused recording: a reason of the closed list, and what was found. `detail` never holds a path. */
export class AudioRefusal extends Error {
  override readonly name = 'AudioRefusal';
  readonly reason: AudioReason;
  readonly detail: string;

  constructor(reason: AudioReason, detail: string = AUDIO_REASONS[reason].meaning) {
    super(`${reason}: ${detail}`);
    this.reason = reason;
    this.detail = detail;
  }
}

/** The refusal, where an error is one. @throws any other error */
export function refusalOrThrow(error: unknown): AudioRefusal {
  if (error instanceof AudioRefusal) return error;
  throw error;
}
