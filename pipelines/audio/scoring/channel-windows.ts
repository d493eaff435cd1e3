import { Resampler } from '../signal/resample.ts';
import { voiceSampleRates, windowSamples, type ModelManifest } from '../models/manifest.ts';
import {
  joinFrames,
  labelWindow,
  summarizeVoice,
  voiceFramesPerSecond,
  type VoiceDetector,
  type VoiceFrames,
  type VoiceSampleRate,
} from '../voice-activity/voice-activity.ts';
import type { WindowLabel } from '../verification.ts';
import { SlidingSamples } from '../signal/sliding-samples.ts';
import { lastWindow, windowAt, type Cut, type Stretch } from '../signal/windows.ts';

/**
 * Least distance, in dB, from the noise level to the level of the voice with noise: at 3 dB voice and noise
 * are equally loud.
 */
export const signalToNoiseDbMin = 3;

/** A window that is cut and labelled. */
export interface CutWindow {
  /** In seconds from the start of the recording. */
  readonly start: number;
  readonly end: number;
  readonly label: WindowLabel;
  /** At the model's rate; a view that is valid until the next window is requested. */
  readonly samples: Float32Array;
}

interface ChannelSettings {
  readonly manifest: Pick<ModelManifest, 'input' | 'minimumVoiceSeconds'>;
  /** Rate of the recording, in Hz. */
  readonly sampleRate: number;
  readonly detector: VoiceDetector;
}

/** Sample rate of the voice detector for a model: the highest supported one that is not above the model's, or 8 kHz. */
export function voiceRateOf(modelRate: number): VoiceSampleRate {
  return voiceSampleRates.findLast((rate) => rate <= modelRate) ?? voiceSampleRates[0];
}

/** Cuts one channel that arrives in blocks into labelled windows; keeps one window and the samples that the detector has not decided. */
export class ChannelWindows {
  private readonly settings: ChannelSettings;
  private readonly cut: Cut;
  private readonly rate: number;
  private readonly toModel: Resampler | null;
  private readonly toDetector: Resampler | null;
  private readonly samples = new SlidingSamples<Float32Array>(Float32Array);
  private readonly voiced = new SlidingSamples<Uint8Array>(Uint8Array);
  private readonly levels = new SlidingSamples<Float32Array>(Float32Array);
  private place = 0;
  /** Place of the next window of `early`. */
  private ahead = 0;
  private voicedFrames = 0;

  constructor(settings: ChannelSettings) {
    const { input } = settings.manifest;
    this.settings = settings;
    this.rate = input.sampleRate;
    this.cut = { window: windowSamples(input), hop: Math.round(input.hopSeconds * input.sampleRate) };
    this.toModel =
      settings.sampleRate === input.sampleRate ? null : new Resampler(settings.sampleRate, input.sampleRate);
    const voiceRate = voiceRateOf(input.sampleRate);
    this.toDetector = voiceRate === input.sampleRate ? null : new Resampler(input.sampleRate, voiceRate);
  }

  /** Seconds of voice so far. */
  get voiceSeconds(): number {
    return this.voicedFrames / voiceFramesPerSecond;
  }

  /** Appends samples; yields the windows that are complete. `onFrames` receives the frames of voice as they are decided. */
  async *push(block: Float32Array, onFrames?: (voiced: Uint8Array) => void): AsyncGenerator<CutWindow> {
    await this.take(this.toModel === null ? block : this.toModel.push(block), onFrames);
    yield* this.complete();
  }

  /**
   * The windows whose samples have arrived while the detector has not decided all of their frames, each once, labelled as if the
   * recording ended here. A window that ends with the samples so far is included, since it would be the last one.
   */
  async *early(): AsyncGenerator<CutWindow> {
    this.ahead = Math.max(this.ahead, this.place);
    let open: VoiceFrames | undefined;
    for (let next = this.nextEarly(); next !== undefined; next = this.nextEarly()) {
      open ??= await this.settings.detector.preview();
      yield this.labelled(
        next,
        joinFrames([
          this.framesBetween(this.frameOf(next.from), this.voiced.length),
          openFrames(open, this.frameOf(next.from) - this.voiced.length, this.frameOf(next.to) - this.voiced.length),
        ]),
      );
      this.ahead++;
    }
  }

  /** The remaining windows; the last one ends with the recording. Nothing may be pushed afterwards. */
  async *finish(onFrames?: (voiced: Uint8Array) => void): AsyncGenerator<CutWindow> {
    if (this.toModel !== null) await this.take(this.toModel.end(), onFrames);
    if (this.toDetector !== null) this.decided(await this.settings.detector.push(this.toDetector.end()), onFrames);
    this.decided(await this.settings.detector.finish(), onFrames);
    yield* this.complete();
    yield this.cutOut(lastWindow(this.samples.length, this.cut));
  }

  private async take(samples: Float32Array, onFrames: ((voiced: Uint8Array) => void) | undefined): Promise<void> {
    this.samples.append(samples);
    this.decided(
      await this.settings.detector.push(this.toDetector === null ? samples : this.toDetector.push(samples)),
      onFrames,
    );
  }

  private decided({ voiced, levelsDbfs }: VoiceFrames, onFrames: ((voiced: Uint8Array) => void) | undefined): void {
    this.voiced.append(voiced);
    this.levels.append(levelsDbfs);
    for (let at = 0; at < voiced.length; at++) this.voicedFrames += voiced[at]!;
    onFrames?.(voiced);
  }

  /** The windows whose samples and frames are complete. */
  private *complete(): Generator<CutWindow> {
    for (;;) {
      const next = windowAt(this.place, this.samples.length, this.cut);
      if (next === undefined || this.frameOf(next.to) > this.voiced.length) return;
      yield this.cutOut(next);
      this.place++;
      this.forget(Math.min(this.place * this.cut.hop, this.samples.length - this.cut.window));
    }
  }

  private nextEarly(): Stretch | undefined {
    return windowAt(this.ahead, this.samples.length + 1, this.cut);
  }

  private cutOut(stretch: Stretch): CutWindow {
    return this.labelled(stretch, this.framesBetween(this.frameOf(stretch.from), this.frameOf(stretch.to)));
  }

  /** Views of decided frames. */
  private framesBetween(first: number, end: number): VoiceFrames {
    const to = Math.min(end, this.voiced.length);
    const from = Math.min(first, to);
    return { voiced: this.voiced.view(from, to), levelsDbfs: this.levels.view(from, to) };
  }

  private labelled({ from, to }: Stretch, frames: VoiceFrames): CutWindow {
    const label = labelWindow(summarizeVoice(frames), {
      voicedSecondsMin: this.settings.manifest.minimumVoiceSeconds,
      signalToNoiseDbMin,
    });
    return { start: from / this.rate, end: to / this.rate, label, samples: this.samples.view(from, to) };
  }

  private forget(place: number): void {
    this.samples.dropBefore(place);
    this.voiced.dropBefore(this.frameOf(place));
    this.levels.dropBefore(this.frameOf(place));
  }

  private frameOf(place: number): number {
    return Math.floor((place * voiceFramesPerSecond) / this.rate);
  }
}

/** The undecided frames `first` to `end`. */
function openFrames({ voiced, levelsDbfs }: VoiceFrames, first: number, end: number): VoiceFrames {
  const from = Math.max(0, first);
  return { voiced: voiced.subarray(from, end), levelsDbfs: levelsDbfs.subarray(from, end) };
}
