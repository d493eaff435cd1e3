import { openRecording } from '../decode/open-recording.ts';
import type { DecodeLimits, Recording } from '../decode/recording.ts';
import type { ResolvedModel } from '../models/registry.ts';
import type { ScoringSettings } from '../verification.ts';
import { voiceFramesPerSecond } from '../voice-activity/voice-activity.ts';
import { ChannelWindows } from './channel-windows.ts';
import { mixChannels } from '../signal/mixed-channels.ts';
import type { OpenModels } from './open-models.ts';
import { waveformBucketsMax } from './scorer-protocol.ts';

/** Samples in a bucket at first. */
const firstBucketSamples = 16;

/** The waveform of a channel. */
interface ChannelWaveform {
  /** From 0; null where the channels were mixed. */
  readonly channel: number | null;
  /** Lowest and highest sample of each bucket, in [-1, 1]. */
  readonly lows: readonly number[];
  readonly highs: readonly number[];
  /** Stretches of voice: start and end, in seconds, without pauses shorter than a bucket. Null without a model. */
  readonly voice: readonly (readonly [number, number])[] | null;
}

/** The waveform of a recording: at most {@link waveformBucketsMax} buckets, whatever its length. */
export interface RecordingWaveform {
  readonly durationSeconds: number;
  /** Length of a bucket; the last one may be shorter. */
  readonly bucketSeconds: number;
  readonly channels: readonly ChannelWaveform[];
}

export interface WaveformRequest {
  readonly file: string;
  /** The model whose voice detector is used; null for none. */
  readonly model: ResolvedModel | null;
  readonly settings: ScoringSettings;
  readonly limits: DecodeLimits;
  readonly opened: OpenModels;
}

/**
 * Computes the waveform of a recording, with the voice that the model's detector finds.
 * @throws AudioRefusal if it cannot be read
 * @throws ServiceError `model_invalid` if the model does not fit its manifest
 */
export async function readWaveform({
  file,
  model,
  settings,
  limits,
  opened,
}: WaveformRequest): Promise<RecordingWaveform> {
  const recording = await openRecording(file, limits);
  try {
    const { sampleRate } = recording;
    const open = model === null ? null : await opened.open(model);
    const listen = () =>
      open === null ? null : new ChannelWindows({ manifest: open.manifest, sampleRate, detector: open.detector() });
    const numbers =
      settings.channels === 'mixed' ? [null] : Array.from({ length: recording.channels }, (_none, number) => number);
    const channels = numbers.map((number) => ({
      number,
      peaks: new Peaks(),
      voice: new VoiceSpans(),
      cutter: listen(),
    }));
    const samples = await readChannels(recording, channels);
    for (const { peaks } of channels) peaks.finish();
    const bucketSeconds = channels[0]!.peaks.bucketSamples / sampleRate;
    return {
      durationSeconds: samples / sampleRate,
      bucketSeconds,
      channels: channels.map(({ number, peaks, voice, cutter }) => ({
        channel: number,
        ...peaks.shown(),
        voice: cutter === null ? null : voice.shown(bucketSeconds),
      })),
    };
  } finally {
    await recording.close();
  }
}

interface DrawnChannel {
  readonly number: number | null;
  readonly peaks: Peaks;
  readonly voice: VoiceSpans;
  readonly cutter: ChannelWindows | null;
}

async function readChannels(recording: Recording, channels: readonly DrawnChannel[]): Promise<number> {
  let read = 0;
  for await (const block of recording.blocks()) {
    read += block[0]!.length;
    for (const { number, peaks, voice, cutter } of channels) {
      const samples = number === null ? mixChannels(block) : block[number]!;
      peaks.add(samples);
      if (cutter !== null) await passBy(cutter.push(samples, (frames) => voice.add(frames)));
    }
  }
  for (const { voice, cutter } of channels)
    if (cutter !== null && read > 0) await passBy(cutter.finish((frames) => voice.add(frames)));
  return read;
}

/** The windows are not needed here. */
async function passBy(windows: AsyncGenerator<unknown>): Promise<void> {
  for await (const _window of windows);
}

/** Lowest and highest samples in buckets that double in length whenever there are too many. */
class Peaks {
  private readonly lows: number[] = [];
  private readonly highs: number[] = [];
  private low = Infinity;
  private high = -Infinity;
  private held = 0;
  bucketSamples = firstBucketSamples;

  add(samples: Float32Array): void {
    for (let at = 0; at < samples.length; at++) {
      const sample = samples[at]!;
      if (sample < this.low) this.low = sample;
      if (sample > this.high) this.high = sample;
      if (++this.held === this.bucketSamples) this.close();
    }
  }

  /** Closes the last bucket. Nothing may be added afterwards. */
  finish(): void {
    if (this.held > 0) this.close();
  }

  shown(): { lows: number[]; highs: number[] } {
    return { lows: this.lows.map(rounded), highs: this.highs.map(rounded) };
  }

  private close(): void {
    this.lows.push(this.low);
    this.highs.push(this.high);
    [this.low, this.high, this.held] = [Infinity, -Infinity, 0];
    if (this.lows.length === waveformBucketsMax) this.join();
  }

  private join(): void {
    for (let at = 0; at < waveformBucketsMax / 2; at++) {
      this.lows[at] = Math.min(this.lows[2 * at]!, this.lows[2 * at + 1]!);
      this.highs[at] = Math.max(this.highs[2 * at]!, this.highs[2 * at + 1]!);
    }
    this.lows.length = this.highs.length = waveformBucketsMax / 2;
    this.bucketSamples *= 2;
  }
}

/** A thousandth of full scale is less than a pixel. */
function rounded(sample: number): number {
  return Math.round(Math.max(-1, Math.min(1, sample)) * 1000) / 1000;
}

/** Stretches of frames with voice, in the order of time. */
class VoiceSpans {
  private readonly spans: [number, number][] = [];
  private frames = 0;

  add(voiced: Uint8Array): void {
    for (const isVoice of voiced) {
      const from = this.frames++;
      if (isVoice !== 1) continue;
      const last = this.spans.at(-1);
      if (last !== undefined && last[1] === from) last[1] = this.frames;
      else this.spans.push([from, this.frames]);
    }
  }

  /** In seconds, without pauses shorter than a bucket. */
  shown(pauseSecondsMin: number): [number, number][] {
    const joined: [number, number][] = [];
    for (const [from, to] of this.spans) {
      const [start, end] = [from / voiceFramesPerSecond, to / voiceFramesPerSecond];
      const last = joined.at(-1);
      if (last !== undefined && start - last[1] < pauseSecondsMin) last[1] = end;
      else joined.push([start, end]);
    }
    return joined;
  }
}
