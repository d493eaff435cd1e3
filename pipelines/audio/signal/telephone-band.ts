import { powerSpectrogram } from './power-spectrogram.ts';
import { Resampler } from './resample.ts';
import { SlidingSamples } from './sliding-samples.ts';

/** Sample rate of the analysis, and the frames: 32 ms, one each 16 ms. */
const rate = 16_000;
const frame = { frameSamples: 512, hopSamples: 256, fftSize: 512 } as const;

/** The first bin at or above a frequency in Hz. */
const binOf = (hertz: number) => Math.ceil((hertz * frame.fftSize) / rate);

/** Bands in bins. The upper one ends below the edges of Opus's medium band (6 kHz) and of AMR-WB (6.4 kHz), which are no telephone's. */
const speechBand = { from: binOf(300), to: binOf(3400) } as const;
const edgeBand = { from: binOf(2200), to: binOf(3400) } as const;
const upperBand = { from: binOf(4300), to: binOf(5800) } as const;
/** Bins that are compared with their mirror images at 4 kHz. */
const mirroredBand = { from: binOf(2400), to: binOf(3600) } as const;
const mirror = frame.fftSize / 2;

/** Power in the speech band below which a frame is silence: noise at -70 dBFS. */
const silencePower = 2e-3;

/** Frames with sound that are analysed: 30 s. Fewest for an answer: half a second. */
const framesMax = 1875;
const framesMin = 31;

/** Frames down to 25 dB below the loud ones are speech. */
const speechShare = 10 ** -2.5;

/** Least level at the upper edge of a telephone's band, in dB over the loud frames: below it there is nothing to compare with. */
const edgeLevelDbMin = -45;

/**
 * Each of these counts 1: 20 dB less above 4 kHz than below its edge, even in the frames that have most there, and a correlation of
 * 0.35 with the mirror image. A telephone has a sum of 0.9 or more, chosen on half of the speakers of the training corpus by
 * training/telephone_band.py; docs/audio.md has the figures of the other half.
 */
const evidence = { dropDb: 20, correlation: 0.35, least: 0.9 } as const;

/** Added to powers, so that digital silence has a logarithm. */
const tiny = 1e-12;

/** The measures of a frame. */
interface MeasuredFrame {
  readonly speech: number;
  readonly edge: number;
  /** Power above 4 kHz over that at the edge, each per bin, in dB. */
  readonly aboveDb: number;
  readonly mirrored: number;
}

/**
 * Looks in one channel at 16 kHz or more for speech that came over a telephone, or another channel of 4 kHz, and was converted to a
 * higher rate. Such speech has next to nothing above 4 kHz, or, after a plain resampler, the mirror image of what is below. Without
 * speech up to that edge the answer is undetermined. The first 30 s with sound are analysed.
 */
export class TelephoneBand {
  private readonly resampler: Resampler;
  private readonly samples = new SlidingSamples<Float32Array>(Float32Array);
  private readonly frames: MeasuredFrame[] = [];
  private place = 0;

  /** @throws RangeError for a rate that is not resampled */
  constructor(sampleRate: number) {
    this.resampler = new Resampler(sampleRate, rate);
  }

  /** True if more samples change nothing. */
  get isComplete(): boolean {
    return this.frames.length >= framesMax;
  }

  /** Analyses the next samples. */
  push(block: Float32Array): void {
    if (this.isComplete) return;
    this.samples.append(this.resampler.push(block));
    const spectra = powerSpectrogram(this.samples.view(this.place, this.samples.length), frame);
    for (let row = 0; row < spectra.frames && !this.isComplete; row++) {
      const measured = measureFrame(spectra.values.subarray(row * spectra.bins, (row + 1) * spectra.bins));
      if (measured.speech >= silencePower) this.frames.push(measured);
    }
    this.place += spectra.frames * frame.hopSamples;
    this.samples.dropBefore(this.place);
  }

  /** Whether the speech so far is of a telephone; null if there is too little of it. */
  isTelephone(): boolean | null {
    const loud = percentile(
      this.frames.map(({ speech }) => speech),
      95,
    );
    const spoken = this.frames.filter(({ speech }) => speech > loud * speechShare);
    if (spoken.length < framesMin) return null;
    const edge = percentile(
      spoken.map((each) => each.edge),
      97,
    );
    if (10 * Math.log10(edge / loud) < edgeLevelDbMin) return null;
    const above = percentile(
      spoken.map(({ aboveDb }) => aboveDb),
      97,
    );
    const mirrored = spoken.reduce((sum, each) => sum + each.mirrored, 0) / spoken.length;
    return mirrored / evidence.correlation - above / evidence.dropDb >= evidence.least;
  }
}

/** True if each channel with an answer is of a telephone, and one has an answer. */
export function areOfTelephone(channels: readonly TelephoneBand[]): boolean {
  const answers = channels.map((channel) => channel.isTelephone()).filter((answer) => answer !== null);
  return answers.length > 0 && !answers.includes(false);
}

function measureFrame(powers: Float32Array): MeasuredFrame {
  const edge = sumOf(powers, edgeBand);
  const above = sumOf(powers, upperBand) / (upperBand.to - upperBand.from);
  return {
    speech: sumOf(powers, speechBand),
    edge,
    aboveDb: 10 * Math.log10((above * (edgeBand.to - edgeBand.from)) / edge),
    mirrored: mirrorCorrelation(powers),
  };
}

function sumOf(powers: Float32Array, { from, to }: { readonly from: number; readonly to: number }): number {
  let sum = tiny;
  for (let bin = from; bin < to; bin++) sum += powers[bin]!;
  return sum;
}

/** Correlation of the logarithms of the powers below 4 kHz with those of their mirror images above. */
function mirrorCorrelation(powers: Float32Array): number {
  const count = mirroredBand.to - mirroredBand.from;
  let [sumA, sumB, squaresA, squaresB, products] = [0, 0, 0, 0, 0];
  for (let bin = mirroredBand.from; bin < mirroredBand.to; bin++) {
    const [a, b] = [Math.log(powers[bin]! + tiny), Math.log(powers[mirror - bin]! + tiny)];
    sumA += a;
    sumB += b;
    squaresA += a * a;
    squaresB += b * b;
    products += a * b;
  }
  const variances = (squaresA - (sumA * sumA) / count) * (squaresB - (sumB * sumB) / count);
  return variances <= 0 ? 0 : (products - (sumA * sumB) / count) / Math.sqrt(variances);
}

/** A percentile; 0 of no values. */
function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(((sorted.length - 1) * percent) / 100)] ?? 0;
}
