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
 * Scores one stream from its bytes. The result is that of `scoreRecording` for a WAV file with these bytes. Call one method at a time, and
 * not while another stream of the same model is being scored.
 */
export class StreamScoring {
  private readonly request: StreamScoringRequest;
  private readonly scorer: RecordingScorer;
  private readonly faults: SampleFaults = { clipped: 0, notFinite: 0 };
  /** Bytes of an incomplete sample. */
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
   * Scores the next bytes, which may end in the middle of a sample.
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
   * Ends the stream; an incomplete last sample is dropped. Nothing may be pushed afterwards.
   * @throws AudioRefusal as `push`, and `audio_damaged` if no complete sample arrived
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
      notes: [...faultNotes(this.faults), ...this.scorer.detected],
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
