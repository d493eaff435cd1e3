import { faultNotes, readSamples, type SampleFaults } from '../decode/sample-formats.ts';
import type { ResolvedModel } from '../models/registry.ts';
import type { OpenModels } from '../scoring/open-models.ts';
import { RecordingScorer } from '../scoring/recording-scorer.ts';
import type { ScoredRecording, ScoredWindow, ScoringSettings } from '../verification.ts';
import { frameBytesOf, sampleFormatOf, type StreamFormat } from './stream-format.ts';

/** A stream that is to be scored, with its model. */
export interface StreamScoringRequest {
  readonly model: ResolvedModel;
  readonly format: StreamFormat;
  readonly settings: ScoringSettings;
}

/**
 * Scores one stream from its bytes. What comes out in the end is what `scoreRecording` gives of the WAV file with these bytes. Not to be
 * called again before it has answered, nor beside another one of the same model.
 */
export class StreamScoring {
  private readonly request: StreamScoringRequest;
  private readonly scorer: RecordingScorer;
  private readonly faults: SampleFaults = { clipped: 0, notFinite: 0 };
  /** Bytes of a sample that is not whole. */
  private carried = Buffer.alloc(0);
  private computedMs = 0;

  /** @throws ServiceError `model_invalid` if the model does not fit its manifest */
  static async open(
    request: StreamScoringRequest,
    { opened, onWindow }: { readonly opened: OpenModels; readonly onWindow: (window: ScoredWindow) => void },
  ): Promise<StreamScoring> {
    const { manifest, batch, promptDetector } = await opened.open(request.model);
    const { sampleRate, channels } = request.format;
    return new StreamScoring(
      request,
      new RecordingScorer({
        manifest,
        batch,
        detector: promptDetector,
        sampleRate,
        channels,
        settings: request.settings,
        onWindow,
      }),
    );
  }

  private constructor(request: StreamScoringRequest, scorer: RecordingScorer) {
    this.request = request;
    this.scorer = scorer;
  }

  get voiceSeconds(): number {
    return this.scorer.voiceSeconds;
  }

  /**
   * Takes the next bytes, which may end anywhere.
   * @throws AudioRefusal `recording_too_long`
   * @throws ServiceError `model_invalid`
   */
  async push(given: Uint8Array): Promise<void> {
    const started = performance.now();
    const { format } = this.request;
    const frameBytes = frameBytesOf(format);
    const bytes =
      this.carried.length === 0
        ? Buffer.from(given.buffer, given.byteOffset, given.byteLength)
        : Buffer.concat([this.carried, given]);
    const frames = Math.floor(bytes.length / frameBytes);
    this.carried = Buffer.from(bytes.subarray(frames * frameBytes));
    if (frames > 0) await this.scorer.push(this.samplesOf(bytes, frames));
    this.computedMs += performance.now() - started;
  }

  /**
   * Ends the stream; a sample that is not whole is left out. Nothing may follow.
   * @throws AudioRefusal as `push`, and `audio_damaged` if no whole sample came
   * @throws ServiceError as `push`
   */
  async finish(): Promise<ScoredRecording> {
    const started = performance.now();
    const {
      model,
      format: { encoding, sampleRate, channels },
    } = this.request;
    const { durationSeconds, ...outcome } = await this.scorer.finish();
    const computedMs = this.computedMs + performance.now() - started;
    return {
      ...outcome,
      model: model.name,
      audio: { format: 'wav', codec: encoding, sampleRate, channels, durationSeconds },
      notes: faultNotes(this.faults),
      computedMs,
    };
  }

  private samplesOf(bytes: Buffer, frames: number): Float32Array[] {
    const { format } = this.request;
    return Array.from({ length: format.channels }, (_none, first) => {
      const into = new Float32Array(frames);
      readSamples(sampleFormatOf(format), { bytes, first, step: format.channels, into }, this.faults);
      return into;
    });
  }
}
