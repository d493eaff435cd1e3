import { powerSpectrogram } from '../../pipelines/audio/signal/power-spectrogram.ts';

/** Features of a recording that do not depend on the voice. */
export interface NuisanceFeatures {
  /** RMS of the recording, 0 dBFS for full amplitude. */
  readonly levelDbfs: number;
  readonly durationSeconds: number;
  /** The lowest decile of the levels of frames of 10 ms. */
  readonly noiseFloorDbfs: number;
  /** Highest frequency at which the mean spectrum is within `bandwidthDropDb` of its peak. */
  readonly bandwidthHz: number;
  /** Time before the first and after the last loud frame: within `silenceDropDb` of the loudest. */
  readonly leadingSilenceSeconds: number;
  readonly trailingSilenceSeconds: number;
}

const bandwidthDropDb = 50;
const silenceDropDb = 30;
const frameSeconds = 0.01;
const floorShare = 0.1;
const loudShare = 0.95;
/** Level of digital silence. */
const levelDbfsMin = -100;
const spectrum = { frameSamples: 512, hopSamples: 512, fftSize: 512 } as const;

/** Measures the features of a recording block by block. Keeps one number for each 10 ms. */
export class NuisanceMeter {
  readonly #sampleRate: number;
  readonly #frameSamples: number;
  readonly #levels: number[] = [];
  readonly #powers = new Float64Array(spectrum.fftSize / 2 + 1);
  #frame: { sum: number; samples: number } = { sum: 0, samples: 0 };
  #rest: Float32Array = new Float32Array(0);
  #sum = 0;
  #samples = 0;

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
    this.#frameSamples = Math.max(1, Math.round(sampleRate * frameSeconds));
  }

  /** Takes the next block of one channel, or of the mean of them. */
  take(block: Float32Array): void {
    for (const sample of block) {
      this.#frame.sum += sample * sample;
      if (++this.#frame.samples === this.#frameSamples) this.#endFrame();
    }
    const joined = new Float32Array(this.#rest.length + block.length);
    joined.set(this.#rest);
    joined.set(block, this.#rest.length);
    const { values, frames, bins } = powerSpectrogram(joined, spectrum);
    for (let at = 0; at < values.length; at++) this.#powers[at % bins]! += values[at]!;
    this.#rest = joined.slice(frames * spectrum.hopSamples);
  }

  /** The features; undefined for less than a frame. */
  end(): NuisanceFeatures | undefined {
    if (this.#levels.length === 0) return undefined;
    this.#sum += this.#frame.sum;
    this.#samples += this.#frame.samples;
    const sorted = this.#levels.toSorted((a, b) => a - b);
    const loudest = sorted[Math.floor(sorted.length * loudShare)]!;
    const loud = (level: number) => level >= loudest - silenceDropDb;
    const first = this.#levels.findIndex(loud);
    const last = this.#levels.findLastIndex(loud);
    return {
      levelDbfs: decibels(this.#sum / this.#samples),
      durationSeconds: this.#samples / this.#sampleRate,
      noiseFloorDbfs: sorted[Math.floor(sorted.length * floorShare)]!,
      bandwidthHz: this.#bandwidth(),
      leadingSilenceSeconds: first * frameSeconds,
      trailingSilenceSeconds: (this.#levels.length - 1 - last) * frameSeconds,
    };
  }

  #endFrame(): void {
    const { sum, samples } = this.#frame;
    this.#levels.push(decibels(sum / samples));
    this.#sum += sum;
    this.#samples += samples;
    this.#frame = { sum: 0, samples: 0 };
  }

  #bandwidth(): number {
    const peak = this.#powers.reduce((most, power) => Math.max(most, power), 0);
    const edge = this.#powers.findLastIndex((power) => power > 0 && power >= peak * 10 ** (-bandwidthDropDb / 10));
    return (Math.max(0, edge) * this.#sampleRate) / spectrum.fftSize;
  }
}

function decibels(power: number): number {
  return Math.max(levelDbfsMin, 10 * Math.log10(power));
}
