import { WasmKernel } from './wasm-kernel.ts';

/**
 * The powers of the spectra of two frames at once, in memory of its own. Write samples to `samples`; after `run(a, b)`,
 * `first` and `second` hold the powers |X|², bins 0 to fftSize / 2, of the windowed frames from samples[a] and samples[b] on.
 */
export interface FramePowers {
  readonly samples: Float32Array;
  readonly first: Float32Array;
  readonly second: Float32Array;
  readonly run: (firstAt: number, secondAt: number) => void;
}

/** Frames of `frameSamples`, windowed, zero padded at their end to `fftSize`. */
export interface FrameShape {
  readonly frameSamples: number;
  readonly fftSize: number;
}

/** The largest transform: 4 s at 16 kHz in one frame. */
export const fftSizeMax = 65_536;
const fftSizeMin = 4;

/** Room for samples besides those of one frame: 2 s at 16 kHz. */
const roomSamples = 32_768;

/** Shapes that are kept; a registry of models uses a handful. A shape takes 0.2 MiB, the largest 4. */
const shapesMax = 16;

const kept = new Map<string, FramePowers>();

/**
 * The transform for frames of a shape, which is made once: whoever writes samples has to read the powers before anybody else runs it.
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
 * real-fft.wat: the samples of a frame are taken in pairs as fftSize / 2 complex numbers, transformed (radix 2, decimation
 * in time), and taken apart again by the symmetry of a real signal's spectrum (Sorensen, Jones, Heideman and Burrus,
 * "Real-valued fast Fourier transform algorithms", 1987). Two frames fill the two lanes of a vector of 64-bit numbers: a
 * pair of 512 takes 4 µs on one core, and 20 µs or more in JavaScript.
 */
const kernel = new WasmKernel<{
  readonly place: (first: number, second: number, window: number, places: number, frame: number, size: number) => void;
  readonly powers: (
    half: number,
    real: number,
    imaginary: number,
    cosine: number,
    sine: number,
    powers: number,
  ) => void;
}>(
  '0061736d01000000010a0160067f7f7f7f7f7f0003030200000503010001071b03066d656d6f7279020005706c616365000006706f7765727300' +
    '010aef06028c0101017f200320044102746a21060340200328020020002a0200bbfd1420012a0200bbfd22012002fd0a0300fdf201fd0b040020' +
    '0041046a2100200141046a2101200241086a2102200341046a22032006490d000b2006200520046b4102746a210602400340200320064f0d0120' +
    '03280200440000000000000000fd14fd0b0400200341046a21030c000b0b0bde0502097f087b20004104742107200220016b210e411021080340' +
    '200720086e410374210b410021094100210a03402003200a6afd0a0300210f2004200a6afd0a03002110200120096a210c0340200c20086a210d' +
    '200dfd0004002111200d200e6afd00040021122011200ffdf20120122010fdf201fdf00121132012200ffdf20120112010fdf201fdf101211420' +
    '0cfd0004002111200c200e6afd0004002112200d20112013fdf101fd0b0400200d200e6a20122014fdf101fd0b0400200c20112013fdf001fd0b' +
    '0400200c200e6a20122014fdf001fd0b0400200d20086a220c200120076a490d000b200a200b6a210a200941106a22092008490d000b20084101' +
    '7422082007490d000b2001fd00040021112002fd000400211220112012fdf001210f20112012fdf10121102005200041016a4102746a2106200f' +
    '200ffdf201fd5e211120052011fd5a02000020062011fd5a02000120102010fdf201fd5e2112200520004102746a2012fd5a0200002006200041' +
    '02746a2012fd5a02000141102109200741106b210d4108210a0340200120096afd00040021112001200d6afd000400211220112012fdf0012115' +
    '20122011fdf1012114200220096afd00040021112002200d6afd000400211220112012fdf101211620112012fdf00121132003200a6afd0a0300' +
    '210f2004200a6afd0a030021102013200ffdf20120142010fdf201fdf00121112014200ffdf20120132010fdf201fdf101211220152011fdf001' +
    '211320162012fdf001211444000000000000d03ffd1420132013fdf20120142014fdf201fdf001fdf201fd5e210f200520094102766a200ffd5a' +
    '020000200620094102766a200ffd5a02000120152011fdf101211320122016fdf101211444000000000000d03ffd1420132013fdf20120142014' +
    'fdf201fdf001fdf201fd5e210f2005200d4102766a200ffd5a0200002006200d4102766a200ffd5a020001200a41086a210a200d41106b210d20' +
    '0941106a2209200d4d0d000b0b',
);

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
  const { memory, functions } = kernel.instance(samples + 4 * sampleRoom);

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
