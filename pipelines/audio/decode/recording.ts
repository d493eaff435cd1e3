/** What a file may be before and while it is decoded. Each limit is checked before anything of its size is allocated. */
export interface DecodeLimits {
  readonly bytesMax: number;
  readonly channelsMax: number;
  /** In Hz. */
  readonly sampleRateMin: number;
  readonly sampleRateMax: number;
  /** Decoded audio, whatever the file says. */
  readonly secondsMax: number;
  /** Time spent decoding; the time that the reader of the blocks takes for itself is not counted. */
  readonly wallSecondsMax: number;
}

/** What was unusual about a recording that was decoded all the same. */
export const RECORDING_NOTES = {
  truncated: 'The file ends before the audio that it declares; what is there was decoded.',
  unknown_length: 'The file does not say how long its audio is (it was written as a stream); all of it was decoded.',
  samples_clipped: 'Samples beyond full scale were set to full scale.',
  samples_not_finite: 'Samples that are no numbers were set to zero.',
  damaged_parts: 'Parts that could not be decoded were left out.',
} as const;

export type RecordingNote = keyof typeof RECORDING_NOTES;

/** An opened recording. The notes are complete when the blocks have been read. */
export interface Recording {
  /** The container: `wav`, `flac`, `mp3`, `ogg` or `mp4`. */
  readonly format: string;
  /** The codec, by FFmpeg's name: `pcm_s16le`, `pcm_mulaw`, `opus` ... */
  readonly codec: string;
  readonly sampleRate: number;
  readonly channels: number;
  /** As the file declares; null where it does not. */
  readonly durationSeconds: number | null;
  readonly notes: readonly RecordingNote[];
  /**
   * The samples, in [-1, 1]: one array a channel, all as long, at most `blockSamplesMax`. Can be read once.
   * @throws AudioRefusal if the audio is damaged, too long, or decodes too slowly
   */
  blocks(): AsyncIterable<Float32Array[]>;
  /** Gives the file and the decoder's memory back. Safe to call twice, and between blocks. */
  close(): Promise<void>;
}

/** The longest block, in samples of a channel. */
export const blockSamplesMax = 65_536;
