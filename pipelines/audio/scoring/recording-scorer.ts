import type { ModelManifest } from '../models/manifest.ts';
import { digitalSampleRateMin } from '../models/named-model.ts';
import type { DetectedNote } from '../decode/recording.ts';
import { AudioRefusal, type AudioReason } from '../reasons.ts';
import type { ChannelScores, ScoredRecording, ScoredWindow, ScoringSettings } from '../verification.ts';
import type { VoiceDetector } from '../voice-activity/voice-activity.ts';
import { ChannelWindows, type CutWindow } from './channel-windows.ts';
import { calibrate, decideByThresholds, lowestScores } from './score-decision.ts';
import { meanLogits, type Logits } from './score-decision.ts';
import { mixChannels } from '../signal/mixed-channels.ts';
import { areOfTelephone, TelephoneBand } from '../signal/telephone-band.ts';
import type { WindowBatch } from './window-batch.ts';
import { SlidingSamples } from '../signal/sliding-samples.ts';
import { voiceFramesPerSecond } from '../voice-activity/voice-frames.ts';

/**
 * Most windows of one recording, over all of its channels: 27 hours of a call's two sides at one window each 2 s. Each takes some
 * 200 bytes of the result.
 */
const windowsMax = 100_000;

/** What a file or a live recording is scored with. */
interface RecordingScorerOptions {
  readonly manifest: ModelManifest;
  /** Must hold no windows of another recording. */
  readonly batch: WindowBatch;
  /** A fresh detector for a channel. */
  readonly detector: () => VoiceDetector;
  readonly sampleRate: number;
  readonly channels: number;
  readonly settings: ScoringSettings;
  /**
   * Called with each window at once, which is then scored alone, and again if later audio changes its label. Absent: windows are
   * scored in full batches.
   */
  readonly onWindow?: ((window: ScoredWindow) => void) | undefined;
}

/** The outcome of scoring. */
type ScoringOutcome = Pick<
  ScoredRecording,
  'state' | 'scores' | 'decision' | 'reason' | 'channelScores' | 'windows' | 'voiceSeconds'
> & { readonly durationSeconds: number };

/** The state of one channel. */
interface Channel {
  /** Null where the channels are mixed. */
  readonly number: number | null;
  readonly cutter: ChannelWindows;
  /** Null at rates that have no band above that of a telephone. */
  readonly band: TelephoneBand | null;
  readonly windows: OpenWindow[];
  /** Windows that were emitted before their voice was decided, by their start. */
  readonly early: Map<number, OpenWindow>;
}

/** A window whose logits may still be pending. */
interface OpenWindow extends Omit<CutWindow, 'samples'> {
  logits: Logits | null;
}

/**
 * Scores one recording that arrives in blocks; the result does not depend on the block boundaries. Only the list of windows grows
 * with its length. Blocks the event loop while the graph runs.
 */
export class RecordingScorer {
  private readonly options: RecordingScorerOptions;
  private readonly channels: readonly Channel[];
  private readonly union: VoiceUnion;
  private windows = 0;
  private samples = 0;

  constructor(options: RecordingScorerOptions) {
    const { manifest, sampleRate, settings, detector } = options;
    const numbers =
      settings.channels === 'mixed' ? [null] : Array.from({ length: options.channels }, (_none, number) => number);
    this.options = options;
    this.channels = numbers.map((number) => ({
      number,
      windows: [],
      early: new Map(),
      cutter: new ChannelWindows({ manifest, sampleRate, detector: detector() }),
      band: sampleRate < digitalSampleRateMin ? null : new TelephoneBand(sampleRate),
    }));
    this.union = new VoiceUnion(this.channels.length);
  }

  /** Seconds with voice on any channel, as far as decided. */
  get voiceSeconds(): number {
    return this.union.seconds;
  }

  /** What was detected up to now: the first 30 s of sound in each channel. */
  get detected(): readonly DetectedNote[] {
    return areOfTelephone(this.channels.flatMap(({ band }) => band ?? [])) ? ['telephone_band'] : [];
  }

  /** True if more samples do not change {@link detected}. */
  get isHeard(): boolean {
    return this.channels.every(({ band }) => band === null || band.isComplete);
  }

  /**
   * Scores the next samples: one array per channel, all of one length.
   * @throws AudioRefusal `recording_too_long` if there are more than {@link windowsMax} windows
   * @throws ServiceError `model_invalid` if the graph does not answer as its manifest says
   */
  async push(block: readonly Float32Array[]): Promise<void> {
    this.samples += block[0]!.length;
    for (const [place, channel] of this.channels.entries()) {
      const samples = channel.number === null ? mixChannels(block) : block[channel.number]!;
      channel.band?.push(samples);
      await this.gather(
        channel,
        channel.cutter.push(samples, (voiced) => this.union.add(place, voiced)),
      );
    }
    if (this.options.onWindow !== undefined) for (const channel of this.channels) await this.tellEarly(channel);
  }

  /**
   * Ends the recording. Nothing may be pushed afterwards.
   * @throws AudioRefusal as `push`, and `audio_damaged` if there was no sample
   * @throws ServiceError as `push`
   */
  async finish(): Promise<ScoringOutcome> {
    if (this.samples === 0) throw new AudioRefusal('audio_damaged', 'It holds no sample.');
    for (const [place, channel] of this.channels.entries())
      await this.gather(
        channel,
        channel.cutter.finish((voiced) => this.union.add(place, voiced)),
      );
    await this.options.batch.flush();
    return {
      ...this.outcome(),
      voiceSeconds: this.union.seconds,
      durationSeconds: this.samples / this.options.sampleRate,
    };
  }

  private async gather(channel: Channel, cut: AsyncGenerator<CutWindow>): Promise<void> {
    for await (const { samples, ...facts } of cut) {
      if (++this.windows > windowsMax)
        throw new AudioRefusal('recording_too_long', `It has more than ${windowsMax} windows.`);
      const emitted = channel.early.get(facts.start);
      const window: OpenWindow = { ...facts, logits: null };
      channel.windows.push(window);
      channel.early.delete(facts.start);
      if (window.label === 'validVoice') await this.score(window, samples, emitted?.logits ?? null);
      if (emitted?.label !== window.label) this.emit(channel, window);
    }
  }

  /** Complete windows with their voice as estimated now: some detectors decide seconds later. */
  private async tellEarly(channel: Channel): Promise<void> {
    for await (const { samples, ...facts } of channel.cutter.early()) {
      const window: OpenWindow = { ...facts, logits: null };
      channel.early.set(window.start, window);
      if (window.label === 'validVoice') await this.score(window, samples, null);
      this.emit(channel, window);
    }
  }

  private async score(window: OpenWindow, samples: Float32Array, known: Logits | null): Promise<void> {
    const { batch, onWindow } = this.options;
    if (known !== null) window.logits = known;
    else await batch.add(samples, (logits) => void (window.logits = logits));
    if (onWindow !== undefined) await batch.flush();
  }

  private emit({ number }: Channel, window: OpenWindow): void {
    this.options.onWindow?.(showWindow(window, number, this.options.manifest));
  }

  private outcome(): Omit<ScoringOutcome, 'voiceSeconds' | 'durationSeconds'> {
    const { manifest, settings } = this.options;
    const windows = this.channels.flatMap((channel) =>
      channel.windows.map((window) => showWindow(window, channel.number, manifest)),
    );
    const scored = this.channels.map((channel) => scoreChannel(channel, manifest));
    const channelScores = settings.channels === 'mixed' ? [] : scored.map((each, channel) => ({ channel, ...each }));
    const given = scored.flatMap(({ scores, voiceSeconds }) => (scores === null ? [] : [{ scores, voiceSeconds }]));
    if (given.length === 0) {
      return {
        state: 'performedWithoutScore',
        scores: null,
        decision: null,
        reason: reasonOfAll(scored.flatMap(({ reason }) => reason ?? [])),
        channelScores,
        windows,
      };
    }
    const scores = lowestScores(given.map((each) => each.scores));
    return {
      state: 'performed',
      scores,
      decision: decideByThresholds(given, manifest),
      reason: null,
      channelScores,
      windows,
    };
  }
}

function showWindow(
  { start, end, label, logits }: OpenWindow,
  channel: number | null,
  manifest: ModelManifest,
): ScoredWindow {
  return { channel, start, end, label, scores: logits === null ? null : calibrate(logits, manifest) };
}

function scoreChannel({ windows, cutter }: Channel, manifest: ModelManifest): Omit<ChannelScores, 'channel'> {
  const logits = meanLogits(windows.flatMap((window) => window.logits ?? []));
  const voiceSeconds = cutter.voiceSeconds;
  if (logits !== null) return { voiceSeconds, scores: calibrate(logits, manifest, voiceSeconds), reason: null };
  return { voiceSeconds, scores: null, reason: reasonOfWindows(windows, voiceSeconds) };
}

/** Why a channel has no score: the reason of its best window. */
export function reasonOfWindows(windows: readonly Pick<ScoredWindow, 'label'>[], voiceSeconds: number): AudioReason {
  if (windows.some(({ label }) => label === 'excessiveNoise')) return 'excessive_noise';
  return voiceSeconds > 0 ? 'insufficient_voice' : 'no_voice';
}

const reasonsByPriority = [
  'excessive_noise',
  'insufficient_voice',
  'no_voice',
] as const satisfies readonly AudioReason[];

/** Why a recording has no score: the reason of its best channel. */
export function reasonOfAll(reasons: readonly AudioReason[]): AudioReason {
  return reasonsByPriority.find((reason) => reasons.includes(reason)) ?? 'no_voice';
}

/**
 * Counts the seconds with voice on any channel. The frames of the channels arrive independently; those that some channel lacks are
 * kept.
 */
export class VoiceUnion {
  private readonly channels: SlidingSamples<Uint8Array>[];
  private done = 0;
  private voiced = 0;

  constructor(channels: number) {
    this.channels = Array.from({ length: channels }, () => new SlidingSamples<Uint8Array>(Uint8Array));
  }

  get seconds(): number {
    return this.voiced / voiceFramesPerSecond;
  }

  /** The next frames of a channel, 1 for voice. */
  add(channel: number, frames: Uint8Array): void {
    this.channels[channel]!.append(frames);
    const known = Math.min(...this.channels.map(({ length }) => length));
    if (known === this.done) return;
    const views = this.channels.map((each) => each.view(this.done, known));
    for (let at = 0; at < known - this.done; at++) if (views.some((view) => view[at] === 1)) this.voiced++;
    this.done = known;
    for (const each of this.channels) each.dropBefore(known);
  }
}
