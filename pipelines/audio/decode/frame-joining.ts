import type { ChannelLayout, Frame, SoftwareResampleContext } from 'node-av/lib';
import { AudioRefusal } from '../reasons.ts';
import type { DecoderLibrary } from './decoder-library.ts';
import { readSamples, type SampleFaults } from './sample-formats.ts';

/** Long enough that the overhead of a block is negligible, short enough to stay in the processor's cache. */
const blockSamples = 16_384;

const orderUnspecified = 0; // AV_CHANNEL_ORDER_UNSPEC

/**
 * Joins a decoder's frames, some of 20 ms, into blocks of 32-bit floating point. FFmpeg does it (a conversion of format that
 * keeps the rate): copying each frame's samples into JavaScript costs as much as decoding Opus.
 */
export class FrameJoiner {
  readonly faults: SampleFaults = { clipped: 0, notFinite: 0 };
  private readonly library: DecoderLibrary;
  private readonly converter: SoftwareResampleContext;
  private readonly block: Frame;
  /** Channel layout for decoders that report none; the converter compares it. */
  private readonly missingLayout: ChannelLayout | undefined;
  private waiting = 0;

  /** Makes a joiner for frames like the first one, which `add` still has to append. */
  constructor(library: DecoderLibrary, first: Frame) {
    const { functions, constants } = library;
    const { sampleRate, format } = first;
    this.missingLayout =
      first.channelLayout.order === orderUnspecified ? functions.avChannelLayoutDefault(first.channels) : undefined;
    const channelLayout = this.missingLayout ?? first.channelLayout;
    this.library = library;
    this.converter = new functions.SoftwareResampleContext();
    this.block = new functions.Frame();
    this.block.alloc();
    Object.assign(this.block, {
      format: constants.AV_SAMPLE_FMT_FLTP,
      nbSamples: blockSamples,
      channelLayout,
      sampleRate,
    });
    const set = this.converter.allocSetOpts2(
      channelLayout,
      constants.AV_SAMPLE_FMT_FLTP,
      sampleRate,
      channelLayout,
      format as typeof constants.AV_SAMPLE_FMT_S16,
      sampleRate,
    );
    const made = [set, set < 0 ? set : this.converter.init(), this.block.allocBuffer()].find((code) => code < 0);
    if (made !== undefined) {
      this.free();
      throw new AudioRefusal(
        'audio_damaged',
        `Its samples cannot be converted (${functions.FFmpegError.strerror(made)}).`,
      );
    }
  }

  /**
   * Appends a frame's samples.
   * @throws AudioRefusal if the frame has another rate, format or number of channels than the first
   */
  add(frame: Frame): void {
    const isAlike = this.missingLayout === undefined || frame.channels === this.missingLayout.nbChannels;
    if (isAlike && this.missingLayout !== undefined) frame.channelLayout = this.missingLayout;
    const taken = isAlike ? this.converter.convertFrame(null, frame) : this.library.constants.AVERROR_INPUT_CHANGED;
    if (taken < 0)
      throw new AudioRefusal(
        'audio_damaged',
        `Its sample format changes within the recording (${this.library.functions.FFmpegError.strerror(taken)}).`,
      );
    this.waiting += frame.nbSamples;
  }

  /** The next complete block, if there is one; at the end also the rest. */
  take(isEnd: boolean): Float32Array[] | undefined {
    if (this.waiting < (isEnd ? 1 : blockSamples)) return undefined;
    this.block.nbSamples = blockSamples;
    const given = this.converter.convertFrame(this.block, null);
    const samples = this.block.nbSamples;
    const planes = this.block.extendedData;
    if (given < 0 || samples === 0 || planes === null) return undefined;
    this.waiting -= samples;
    return planes.map((bytes) => {
      const into = new Float32Array(samples);
      readSamples('f32', { bytes, first: 0, step: 1, into }, this.faults);
      return into;
    });
  }

  free(): void {
    this.converter.free();
    this.block.free();
  }
}
