import { framePowers, type FramePowers } from './real-fft.ts';

/** How a spectrogram is cut: frames of `frameSamples`, one each `hopSamples`, zero padded at their end to `fftSize`, a power of two. */
export interface SpectrogramSettings {
  readonly frameSamples: number;
  readonly hopSamples: number;
  readonly fftSize: number;
}

/** |X|² of `frames` x `bins`, row by row (a row is a frame). */
interface PowerSpectrogram {
  readonly values: Float32Array;
  readonly frames: number;
  readonly bins: number;
}

/**
 * The power spectrogram that is the input of models: frames = floor((samples - frameSamples) / hopSamples) + 1 without centre padding,
 * periodic Hann window, bins = fftSize / 2 + 1, no log and no filter bank. Fewer samples than a frame give no frame.
 * 4 s at 16 kHz (FFT 512, hop 160) take 0.8 ms on one core.
 * @throws RangeError if the settings fit no spectrogram
 */
export function powerSpectrogram(samples: Float32Array, settings: SpectrogramSettings): PowerSpectrogram {
  const [frames, bins] = [framesOf(samples.length, settings), settings.fftSize / 2 + 1];
  const values = new Float32Array(frames * bins);
  writePowerSpectrogram(samples, settings, values);
  return { values, frames, bins };
}

/** Rows of the spectrogram of some samples. @throws RangeError if the hop is 0 */
export function framesOf(samples: number, { frameSamples, hopSamples }: SpectrogramSettings): number {
  if (!Number.isInteger(hopSamples) || hopSamples < 1)
    throw new RangeError(`A hop of ${hopSamples} samples is no hop.`);
  return Math.max(0, Math.floor((samples - frameSamples) / hopSamples) + 1);
}

/**
 * Writes the values of `powerSpectrogram` to the start of `into`, which has room for them.
 * @throws RangeError as `powerSpectrogram`
 */
export function writePowerSpectrogram(samples: Float32Array, settings: SpectrogramSettings, into: Float32Array): void {
  const { frameSamples, hopSamples, fftSize } = settings;
  const frames = framesOf(samples.length, settings);
  const powers = framePowers({ frameSamples, fftSize });
  const bins = fftSize / 2 + 1;
  const framesAtOnce = Math.max(1, Math.floor((powers.samples.length - frameSamples) / hopSamples) + 1);
  for (let done = 0; done < frames; done += framesAtOnce) {
    const count = Math.min(framesAtOnce, frames - done);
    powers.samples.set(samples.subarray(done * hopSamples, (done + count - 1) * hopSamples + frameSamples));
    writeRows(powers, { values: into.subarray(done * bins), count, hopSamples });
  }
}

interface Rows {
  readonly values: Float32Array;
  readonly count: number;
  readonly hopSamples: number;
}

function writeRows({ run, first, second }: FramePowers, { values, count, hopSamples }: Rows): void {
  for (let row = 0; row < count; row += 2) {
    // An odd last frame is transformed twice.
    const isPair = row + 1 < count;
    run(row * hopSamples, (isPair ? row + 1 : row) * hopSamples);
    values.set(first, row * first.length);
    if (isPair) values.set(second, (row + 1) * first.length);
  }
}
