import { instantiate } from '../../../runtime/web-assembly.ts';
import { realFftModule } from './real-fft-module.ts';

/**
 * The powers of the spectra of two frames at once. Write samples to `samples`; after `run(a, b)`,
 * `first` and `second` hold the powers |X|², bins 0 to fftSize / 2, of the windowed frames from samples[a] and samples[b] on.
 */
export interface FramePowers {
  readonly samples: Float32Array;
  readonly first: Float32Array;
  readonly second: Float32Array;
  readonly run: (firstAt: number, secondAt: number) => void;
}

/** Frames of `frameSamples`, windowed, zero padded at their end to `fftSize`. */
interface FrameShape {
  readonly frameSamples: number;
  readonly fftSize: number;
}

/** The largest transform: 4 s at 16 kHz in one frame. */
const fftSizeMax = 65_536;
const fftSizeMin = 4;

/** Room for samples besides those of one frame: 2 s at 16 kHz. */
const roomSamples = 32_768;

/** Shapes in the cache; a registry of models uses a few. A shape takes 0.2 MiB, the largest 4. */
const shapesMax = 16;

const kept = new Map<string, FramePowers>();

/**
 * The transform for frames of a shape, which is shared: read the powers before another caller runs it.
 * @throws RangeError unless fftSize is a power of two from 4 to `fftSizeMax` and the frame fits it
 */
export function framePowers({ frameSamples, fftSize }: FrameShape): FramePowers {
  if (!Number.isInteger(Math.log2(fftSize)) || fftSize < fftSizeMin || fftSize > fftSizeMax)
    throw new RangeError(`An FFT of ${fftSize} is no power of two from ${fftSizeMin} to ${fftSizeMax}.`);
  if (!Number.isInteger(frameSamples) || frameSamples < 1 || frameSamples > fftSize)
    throw new RangeError(`A frame of ${frameSamples} samples does not fit an FFT of ${fftSize}.`);
  const key = `${frameSamples}:${fftSize}`;
  const found = kept.get(key);
  if (found !== undefined) return found;
  if (kept.size >= shapesMax) kept.clear();
  const made = makePowers({ frameSamples, fftSize });
  kept.set(key, made);
  return made;
}

/**
 * assembly/real-fft.wat: the samples of a frame are taken in pairs as fftSize / 2 complex numbers, transformed (radix 2, decimation
 * in time), and taken apart again by the symmetry of a real signal's spectrum (Sorensen, Jones, Heideman and Burrus,
 * "Real-valued fast Fourier transform algorithms", 1987). Two frames fill the two lanes of a vector of 64-bit numbers: a
 * pair of 512 takes 4 µs on one core, and 20 µs or more in JavaScript.
 */
interface FftKernel {
  readonly place: (first: number, second: number, window: number, places: number, frame: number, size: number) => void;
  readonly powers: (
    half: number,
    real: number,
    imaginary: number,
    cosine: number,
    sine: number,
    powers: number,
  ) => void;
}

function makePowers({ frameSamples, fftSize }: FrameShape): FramePowers {
  const half = fftSize / 2;
  const bins = half + 1;
  const sampleRoom = frameSamples + roomSamples;
  // Addresses in bytes; a complex number of both frames has 16 bytes in each part.
  const [real, imaginary, cosine, sine] = [0, 16 * half, 32 * half, 40 * half];
  const window = 48 * half;
  const places = window + 8 * frameSamples;
  const powers = places + 4 * fftSize;
  const samples = powers + 4 * 2 * bins;
  const { memory, functions } = instantiate<FftKernel>(realFftModule, samples + 4 * sampleRoom);

  new Float64Array(memory, cosine, half).set(
    Float64Array.from({ length: half }, (_none, k) => Math.cos((2 * Math.PI * k) / fftSize)),
  );
  new Float64Array(memory, sine, half).set(
    Float64Array.from({ length: half }, (_none, k) => Math.sin((2 * Math.PI * k) / fftSize)),
  );
  new Float64Array(memory, window, frameSamples).set(hannWindow(frameSamples));
  const order = bitReversed(half);
  new Uint32Array(memory, places, fftSize).set(
    Uint32Array.from({ length: fftSize }, (_none, at) => (at % 2 === 0 ? real : imaginary) + 16 * order[at >> 1]!),
  );

  return {
    samples: new Float32Array(memory, samples, sampleRoom),
    first: new Float32Array(memory, powers, bins),
    second: new Float32Array(memory, powers + 4 * bins, bins),
    run: (firstAt, secondAt) => {
      functions.place(samples + 4 * firstAt, samples + 4 * secondAt, window, places, frameSamples, fftSize);
      functions.powers(half, real, imaginary, cosine, sine, powers);
    },
  };
}

/** The periodic Hann window. */
function hannWindow(length: number): Float64Array {
  return Float64Array.from({ length }, (_none, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / length));
}

function bitReversed(length: number): Uint32Array {
  const order = new Uint32Array(length);
  for (let at = 1, bits = Math.log2(length); at < length; at++)
    order[at] = (order[at >> 1]! >> 1) | ((at & 1) << (bits - 1));
  return order;
}
