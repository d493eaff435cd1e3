import { Resampler } from '../signal/resample.ts';
import { framesOf, writePowerSpectrogram } from '../signal/power-spectrogram.ts';
import type { Graph } from '../inference/graph.ts';
import { FrameLevels, withoutNotFinite } from './frame-levels.ts';
import type { VoiceFrames, VoiceSampleRate } from './voice-frames.ts';

/**
 * Sample rate of the graph in Hz; a recording at 16 kHz is resampled to it: what distinguishes voice from a line's other sounds is
 * below 4 kHz.
 */
const graphRate = 8000;

/** Spectrogram that the graph was trained on: windows of 25 ms, one every 10 ms. */
const spectrogram = { frameSamples: 200, hopSamples: 80, fftSize: 256 };

/** Samples of a window before and after its frame of 10 ms, so that the frame is in the middle. */
const marginSamples = (spectrogram.frameSamples - spectrogram.hopSamples) / 2;

/** The number of frames in a run must be a multiple of this (`framesMultiple` of the manifest). */
const framesMultiple = 4;

/** Default number of frames that one run of the graph decides: 20 s, long in comparison with the context. */
const longRunFrames = 2000;

/** Frames of context on each side: more than the 246 that the graph sees, so that logits do not depend on where runs begin. */
const contextFrames = 256;

/** Where voice begins and ends, as logits: two thresholds (hysteresis), so that one uncertain frame does not split a word. */
export interface Hysteresis {
  readonly begin: number;
  readonly end: number;
}

const voiceLogits: Hysteresis = { begin: 0.5, end: -0.5 };

/** What the network says of frames that follow one another, and their levels. */
export interface LogitFrames {
  readonly logits: Float32Array;
  readonly levelsDbfs: Float32Array;
}

/** The opened graph of `models/voice-activity-telephone-2` and how it is run. */
export interface TelephoneSettings {
  readonly graph: Pick<Graph, 'run'>;
  readonly sampleRate: VoiceSampleRate;
  /** Frames that are decided at a time, a multiple of 4. Fewer lag less and cost more: each run includes 512 frames of context. */
  readonly runFrames?: number | undefined;
}

/**
 * `telephone/2`: a small trained network over the spectrum of the 2.5 s before and after each frame (training/voice_activity).
 * It knows the sounds of a telephone line that are no voice: music on hold, dial and ring tones, keys, hum, comfort noise.
 * It takes far and replayed speech for such a sound too often: combined-detector.ts has the figures.
 */
export class TelephoneDetector {
  readonly #network: TelephoneNetwork;
  #isVoice = false;

  constructor(settings: TelephoneSettings) {
    this.#network = new TelephoneNetwork(settings);
  }

  /** Appends samples; resolves to the frames that are decided by now. */
  async push(samples: Float32Array): Promise<VoiceFrames> {
    return this.#decided(await this.#network.push(samples));
  }

  /** The undecided frames, decided with the context so far. */
  async preview(): Promise<VoiceFrames> {
    const { logits, levelsDbfs } = await this.#network.preview();
    return { voiced: voicedOf(logits, voiceLogits, this.#isVoice), levelsDbfs };
  }

  /** The remaining frames. Nothing may be pushed afterwards. */
  async finish(): Promise<VoiceFrames> {
    return this.#decided(await this.#network.finish());
  }

  #decided({ logits, levelsDbfs }: LogitFrames): VoiceFrames {
    const voiced = voicedOf(logits, voiceLogits, this.#isVoice);
    this.#isVoice = isVoiceAfter(voiced, this.#isVoice);
    return { voiced, levelsDbfs };
  }
}

/**
 * The logits of the network of `telephone/2`, frame by frame. Lags `runFrames` and 2.6 s behind the samples, by default up to
 * 23 s, and keeps 2 s more of them than that.
 */
export class TelephoneNetwork {
  readonly #graph: Pick<Graph, 'run'>;
  readonly #runFrames: number;
  readonly #levels: FrameLevels;
  readonly #resampler: Resampler;
  /** Samples at the graph's rate, from the first frame of context before the undecided ones on, in parts. */
  #samples: Float32Array[] = [new Float32Array(marginSamples)];
  #framesBefore = 0;
  #openLevels: Float32Array[] = [];

  constructor({ graph, sampleRate, runFrames = longRunFrames }: TelephoneSettings) {
    this.#graph = graph;
    this.#runFrames = runFrames;
    this.#levels = new FrameLevels(sampleRate);
    this.#resampler = new Resampler(sampleRate, graphRate);
  }

  /** Appends samples; resolves to the frames that are decided by now. */
  async push(samples: Float32Array): Promise<LogitFrames> {
    const decided: LogitFrames[] = [];
    for (let at = 0; at < samples.length; at += this.#runFrames * spectrogram.hopSamples) {
      const block = silenceNotFinite(samples.subarray(at, at + this.#runFrames * spectrogram.hopSamples));
      this.#openLevels.push(this.#levels.push(block));
      this.#samples.push(this.#resampler.push(block));
      while (framesIn(this.#samples) >= this.#framesBefore + this.#runFrames + contextFrames)
        decided.push(await this.#decide(this.#runFrames));
    }
    return joinedFrames(decided);
  }

  /** The undecided frames, decided with the context so far. */
  async preview(): Promise<LogitFrames> {
    const [before, levelsDbfs] = [this.#framesBefore, joined(this.#openLevels)];
    if (levelsDbfs.length === 0) return { logits: new Float32Array(0), levelsDbfs };
    const samples = new Float32Array(samplesOf(before + levelsDbfs.length)); // zeros where the resampler and the window of the last frame lack samples
    const there = joined(this.#samples);
    samples.set(there.subarray(0, samples.length));
    const logits = await this.#logits(samples);
    return { logits: logits.subarray(before, before + levelsDbfs.length), levelsDbfs };
  }

  /** The remaining frames. Nothing may be pushed afterwards. */
  async finish(): Promise<LogitFrames> {
    this.#samples.push(this.#resampler.end(), new Float32Array(marginSamples));
    const decided: LogitFrames[] = [];
    for (let open = lengthOf(this.#openLevels); open > 0; open = lengthOf(this.#openLevels))
      decided.push(await this.#decide(Math.min(this.#runFrames, open)));
    return joinedFrames(decided);
  }

  async #decide(frames: number): Promise<LogitFrames> {
    const [before, samples, levels] = [this.#framesBefore, joined(this.#samples), joined(this.#openLevels)];
    const logits = await this.#logits(samples.subarray(0, samplesOf(before + frames + contextFrames)));
    this.#framesBefore = Math.min(contextFrames, before + frames);
    this.#samples = [samples.slice((before + frames - this.#framesBefore) * spectrogram.hopSamples)];
    this.#openLevels = [levels.slice(frames)];
    return { logits: logits.slice(before, before + frames), levelsDbfs: levels.slice(0, frames) };
  }

  async #logits(samples: Float32Array): Promise<Float32Array> {
    const [frames, bins] = [framesOf(samples.length, spectrogram), spectrogram.fftSize / 2 + 1];
    const rows = Math.ceil(frames / framesMultiple) * framesMultiple;
    const input = new Float32Array(rows * bins);
    writePowerSpectrogram(samples, spectrogram, input);
    return this.#graph.run(input, [1, rows, bins]);
  }
}

/** Voice of each frame by its logit, which depends on the frame before. */
export function voicedOf(logits: Float32Array, { begin, end }: Hysteresis, wasVoice: boolean): Uint8Array {
  let isVoice = wasVoice;
  return Uint8Array.from(logits, (logit) => {
    isVoice = logit > (isVoice ? end : begin);
    return isVoice ? 1 : 0;
  });
}

/** Whether the last of the frames is voice; as before if there is none. */
export function isVoiceAfter(voiced: Uint8Array, before: boolean): boolean {
  return voiced.length === 0 ? before : voiced[voiced.length - 1] === 1;
}

function joinedFrames(parts: readonly LogitFrames[]): LogitFrames {
  return {
    logits: joined(parts.map(({ logits }) => logits)),
    levelsDbfs: joined(parts.map(({ levelsDbfs }) => levelsDbfs)),
  };
}

/** The samples with NaN and infinity as silence: one of them would spoil all frames of its context. */
function silenceNotFinite(samples: Float32Array): Float32Array {
  // The sum of 20 s of float32 is finite exactly if all of them are; a test of each sample took ten times as long.
  let sum = 0;
  for (let at = 0; at < samples.length; at++) sum += samples[at]!;
  return Number.isFinite(sum) ? samples : withoutNotFinite(samples);
}

function samplesOf(frames: number): number {
  return (frames - 1) * spectrogram.hopSamples + spectrogram.frameSamples;
}

function framesIn(parts: readonly Float32Array[]): number {
  return framesOf(lengthOf(parts), spectrogram);
}

function lengthOf(parts: readonly Float32Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(lengthOf(parts));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
