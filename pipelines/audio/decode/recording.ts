/** Limits before and during decoding, each checked before memory of that size is allocated. */
export interface DecodeLimits {
  readonly bytesMax: number;
  readonly channelsMax: number;
  /** In Hz. */
  readonly sampleRateMin: number;
  readonly sampleRateMax: number;
  /** Duration of the decoded audio, whatever the file declares. */
  readonly secondsMax: number;
  /** Time spent decoding, without the time that the consumer of the blocks takes. */
  readonly wallSecondsMax: number;
}

/** Anomalies of a recording that did not prevent decoding. */
export const RECORDING_NOTES = {
  truncated: 'The file ends before the audio that it declares; what is there was decoded.',
  unknown_length: 'The file does not say how long its audio is (it was written as a stream); all of it was decoded.',
  samples_clipped: 'Samples beyond full scale were set to full scale.',
  samples_not_finite: 'Samples that are no numbers were set to zero.',
  damaged_parts: 'Parts that could not be decoded were left out.',
} as const;

export type RecordingNote = keyof typeof RECORDING_NOTES;

/** What was detected in the sound of a recording, which decides its model where none is named. */
const DETECTED_NOTES = {
  telephone_band:
    'The speech is of a telephone, or another channel of 4 kHz, although the sample rate is higher: above 4 kHz there is next to nothing, or a mirror image.',
} as const;

export type DetectedNote = keyof typeof DETECTED_NOTES;

/** Whether the notes of a result say that the speech is of a telephone. */
export function isOfTelephone(notes: readonly string[]): boolean {
  return notes.includes('telephone_band' satisfies DetectedNote);
}

/** An opened recording. The notes are complete when the blocks have been read. */
export interface Recording {
  /** The container, by the names of `sniff.ts`. */
  readonly format: string;
  /** The codec, by FFmpeg's name: `pcm_s16le`, `pcm_mulaw`, `opus` ... */
  readonly codec: string;
  readonly sampleRate: number;
  readonly channels: number;
  /** As declared by the file; null if it declares none. */
  readonly durationSeconds: number | null;
  readonly notes: readonly RecordingNote[];
  /**
   * The samples, in [-1, 1]: one array per channel, all of one length, at most `blockSamplesMax`. Can be read once.
   * @throws AudioRefusal if the audio is damaged, too long, or decodes too slowly
   */
  blocks(): AsyncIterable<Float32Array[]>;
  /** Closes the file and frees the decoder's memory. Safe to call twice, and between blocks. */
  close(): Promise<void>;
}

/** The longest block, in samples of a channel. */
export const blockSamplesMax = 65_536;
