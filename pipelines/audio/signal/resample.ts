import { instantiate } from '../../../runtime/web-assembly.ts';
import { resampleKernelModule } from './resample-kernel-module.ts';

/** Supported rates, in Hz. The bounds keep a filter under 6,000 taps. */
export const resampleRates = { min: 4_000, max: 192_000 } as const;

/**
 * The filter: a sinc under a Kaiser window, flat to `passBand` of the lower Nyquist frequency and down by
 * `attenuationDb` from that frequency on (86, so that 80 are kept with room for rounding).
 */
const filterShape = { passBand: 0.9, attenuationDb: 86 } as const;

/** Taps of a table of exact phases: 512 KiB. 44.1 kHz to 16 kHz has 49,000; a ratio like 44,099 to 16,000 would have 5 million. */
const exactTapsMax = 131_072;

/**
 * Phases a sample of the lower rate where a ratio has too many: between two of them the taps are interpolated, with an error below
 * -100 dB.
 */
const interpolatedPhases = 256;

/** Filters in the cache: those used last. */
const filtersMax = 8;

/** Samples that are copied into a filter's memory at once. */
const stepSamplesMax = 8_192;

/**
 * The samples at another rate: ceil(length * to / from) of them, the first at the time of the first.
 * @throws RangeError for a rate outside `resampleRates`
 */
export function resample(samples: Float32Array, from: number, to: number): Float32Array {
  const resampler = new Resampler(from, to);
  const parts = [resampler.push(samples), resampler.end()];
  const whole = new Float32Array(parts[0]!.length + parts[1]!.length);
  whole.set(parts[0]!);
  whole.set(parts[1]!, parts[0]!.length);
  return whole;
}

/** Resamples in blocks; the concatenated output is that of `resample` for the whole. */
export class Resampler {
  private readonly filter: ResampleFilter | undefined;
  /** Samples that later outputs need: those under the filter, with zeros before the first sample. */
  private held: Float32Array;
  /** Offset of the next output's filter from held[0], in 1 / up of a sample. */
  private part = 0;
  private taken = 0;
  private given = 0;

  /** @throws RangeError for a rate outside `resampleRates` */
  constructor(from: number, to: number) {
    for (const rate of [from, to]) {
      if (!Number.isInteger(rate) || rate < resampleRates.min || rate > resampleRates.max)
        throw new RangeError(`A rate of ${rate} Hz is not resampled.`);
    }
    this.filter = from === to ? undefined : filterFor(from, to);
    this.held = new Float32Array(this.filter?.halfSamples ?? 0);
  }

  /** The outputs that the samples so far determine. */
  push(block: Float32Array): Float32Array {
    if (this.filter === undefined) return block.slice();
    this.taken += block.length;
    return this.run(this.filter, block);
  }

  /** The rest, as if zeros followed. */
  end(): Float32Array {
    if (this.filter === undefined) return new Float32Array(0);
    const { up, down, taps } = this.filter;
    const left = Math.ceil((this.taken * up) / down) - this.given;
    return this.run(this.filter, new Float32Array(taps)).slice(0, left);
  }

  private run(filter: ResampleFilter, block: Float32Array): Float32Array {
    const outputs = new Float32Array(countOutputs(filter, this.part, this.held.length + block.length));
    let written = 0;
    for (let at = 0; at < block.length; at += stepSamplesMax) {
      const decided = this.step(filter, block.subarray(at, at + stepSamplesMax));
      outputs.set(decided, written);
      written += decided.length;
    }
    this.given += written;
    return outputs;
  }

  /** Appends samples and returns the outputs that they determine: a view that is valid until the next step. */
  private step(filter: ResampleFilter, samples: Float32Array): Float32Array {
    const { up, down, work } = filter;
    work.set(this.held);
    work.set(samples, this.held.length);
    const available = this.held.length + samples.length;
    const count = countOutputs(filter, this.part, available);
    const outputs = filter.outputs(this.part, count);
    const moved = count * down - this.part; // in 1 / up of a sample
    const index = Math.ceil(moved / up);
    this.held = work.slice(index, available);
    this.part = index * up - moved;
    return outputs;
  }
}

/** The outputs whose samples have arrived; the filter of the first is over the first sample, offset by part / up. */
function countOutputs({ up, down, taps }: ResampleFilter, part: number, available: number): number {
  return available < taps ? 0 : Math.floor(((available - taps) * up + part) / down) + 1;
}

interface ResampleFilter {
  /** The ratio in lowest terms: `up` outputs for `down` samples. */
  readonly up: number;
  readonly down: number;
  /** Samples under the filter, a multiple of 16, and those before its middle. */
  readonly taps: number;
  readonly halfSamples: number;
  /** Where `outputs` finds the samples. */
  readonly work: Float32Array;
  /**
   * The next `count` outputs, the first by the filter from work[0] on, offset by part / up of a sample: a view that is valid until
   * the next call.
   */
  readonly outputs: (part: number, count: number) => Float32Array;
}

const filters = new Map<string, ResampleFilter>();

function filterFor(from: number, to: number): ResampleFilter {
  const key = `${from}:${to}`;
  const filter = filters.get(key) ?? makeFilter(from, to);
  filters.delete(key);
  if (filters.size >= filtersMax) filters.delete(filters.keys().next().value!);
  filters.set(key, filter);
  return filter;
}

function makeFilter(from: number, to: number): ResampleFilter {
  const divisor = greatestCommonDivisor(from, to);
  const [up, down] = [to / divisor, from / divisor];
  const halfSamples = Math.ceil(halfWidth(from, to));
  const taps = Math.ceil((2 * halfSamples + 1) / 16) * 16;
  const isExact = up * taps <= exactTapsMax;
  const rows = isExact ? up : Math.ceil((interpolatedPhases * Math.min(from, to)) / from);
  const table = filterTable({ from, to, rows, taps, halfSamples });

  // In memory: the table, the samples of a step with those held and those that `decimate` reads beyond, and its outputs.
  const [workAt, workLength] = [table.length, stepSamplesMax + 2 * taps + outputsBeyond * down];
  const outputsMax = Math.ceil(((stepSamplesMax + taps) * up) / down) + outputsBeyond;
  const kernel = makeResampleKernel(workAt + workLength + outputsMax);
  kernel.numbers.set(table);
  const place = { kernel, taps, up, down, workAt: workAt * bytes, out: (workAt + workLength) * bytes };
  const write = !isExact ? interpolatedOutputs(place, rows) : up === 1 ? decimatedOutputs(place) : phasedOutputs(place);
  return {
    up,
    down,
    taps,
    halfSamples,
    work: kernel.numbers.subarray(workAt, workAt + workLength),
    outputs(part, count) {
      if (count > 0) write(part, count);
      return kernel.numbers.subarray(workAt + workLength, workAt + workLength + count);
    },
  };
}

/** Outputs behind the last one that `decimate` may write. */
const outputsBeyond = 3;

const bytes = Float32Array.BYTES_PER_ELEMENT;

interface FilterPlace {
  readonly kernel: ResampleKernel;
  readonly taps: number;
  readonly up: number;
  readonly down: number;
  /** Addresses of the samples and of the outputs. */
  readonly workAt: number;
  readonly out: number;
}

/** Writes `count` outputs, at least one, from `out` on. */
type Write = (part: number, count: number) => void;

function decimatedOutputs({ kernel, taps, down, workAt, out }: FilterPlace): Write {
  return (_part, count) => kernel.decimate(0, workAt, taps, down * bytes, out, out + count * bytes);
}

function phasedOutputs({ kernel, taps, up, down, workAt, out }: FilterPlace): Write {
  return (part, count) =>
    kernel.phases(0, workAt, taps, part, up, Math.floor(down / up) * bytes, down % up, out, out + count * bytes);
}

function interpolatedOutputs(
  { kernel: { numbers, dot }, taps, up, down, workAt, out }: FilterPlace,
  rows: number,
): Write {
  return (part, count) => {
    for (let at = 0; at < count; at++) {
      const index = Math.ceil((at * down - part) / up);
      const place = ((index * up - at * down + part) * rows) / up;
      const [row, way] = [Math.floor(place), place - Math.floor(place)];
      const samples = workAt + index * bytes;
      numbers[out / bytes + at] =
        (1 - way) * dot(row * taps * bytes, samples, taps) + way * dot((row + 1) * taps * bytes, samples, taps);
    }
  };
}

/**
 * Samples on each side of the filter's middle, by Kaiser's formula for attenuation and transition (Oppenheim and Schafer,
 * "Discrete-Time Signal Processing", 7.5.3).
 */
function halfWidth(from: number, to: number): number {
  const transition = (Math.PI * (1 - filterShape.passBand) * Math.min(from, to)) / from;
  return (filterShape.attenuationDb - 7.95) / (2.285 * transition) / 2;
}

/** rows + 1 phases of `taps`, each the filter moved by 1 / rows of a sample; on average a phase adds up to 1. */
function filterTable({
  from,
  to,
  rows,
  taps,
  halfSamples,
}: {
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  readonly taps: number;
  readonly halfSamples: number;
}): Float32Array {
  const width = halfWidth(from, to);
  const cutOff = (((1 + filterShape.passBand) / 2) * Math.min(from, to)) / from; // in half cycles a sample
  const beta = 0.1102 * (filterShape.attenuationDb - 8.7);
  const table = Float64Array.from({ length: (rows + 1) * taps }, (_none, at) => {
    const time = (at % taps) + Math.floor(at / taps) / rows - halfSamples;
    return Math.abs(time) >= width ? 0 : sinc(cutOff * time) * bessel(beta * Math.sqrt(1 - (time / width) ** 2));
  });
  const sum = table.subarray(0, rows * taps).reduce((total, tap) => total + tap, 0);
  return Float32Array.from(table, (tap) => (tap * rows) / sum);
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** The modified Bessel function of order 0, by its series. */
function bessel(x: number): number {
  let [sum, term] = [1, 1];
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/**
 * The inner loops of resampling in WebAssembly (assembly/resample-kernel.wat): a product in a vector loop is 5 to 9 times as fast
 * as in JavaScript (320 taps: 72 ns against 406, on a busy machine). So is the loop over the outputs, which computes four at a time where
 * they share their taps: a second of 48 kHz to 16 kHz takes 0.47 ms against 0.95 with a call per output. Addresses are in bytes;
 * `length` is a number of taps, a multiple of 16.
 */
interface ResampleKernel {
  /** Zero at first; `length` of them, at least. */
  readonly numbers: Float32Array;
  /** The sum of `numbers[taps / 4 + i] * numbers[samples / 4 + i]` for i below `length`. */
  readonly dot: (taps: number, samples: number, length: number) => number;
  /**
   * Writes the outputs from `out` to `end`, each by the row of `table` for its `part`; from one to the next the samples move by
   * `whole` bytes and `step` / `up` of a sample.
   */
  readonly phases: (
    table: number,
    samples: number,
    length: number,
    part: number,
    up: number,
    whole: number,
    step: number,
    out: number,
    end: number,
  ) => void;
  /**
   * The same by one row of taps, where each output is `down` bytes of samples behind the one before. Reads and writes for up to
   * three outputs behind `end`.
   */
  readonly decimate: (row: number, samples: number, length: number, down: number, out: number, end: number) => void;
}

/** A kernel with memory for `length` numbers. */
export function makeResampleKernel(length: number): ResampleKernel {
  const { memory, functions } = instantiate<Omit<ResampleKernel, 'numbers'>>(resampleKernelModule, length * bytes);
  return { numbers: new Float32Array(memory), ...functions };
}
