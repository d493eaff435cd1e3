import { inputShape, windowSamples, type ModelInput } from '../models/manifest.ts';
import { writePowerSpectrogram } from './power-spectrogram.ts';
import { pad, setLevel } from './level.ts';

/** Makes the input of a graph from one window of samples. Its buffers are reused: one instance per model, and one call at a time. */
export class InputMaker {
  /** Numbers of one window. */
  readonly values: number;
  /** Shape of one window, without the batch. */
  readonly shape: readonly number[];
  private readonly input: ModelInput;
  private readonly window: Float32Array;

  constructor(input: ModelInput) {
    this.input = input;
    this.shape = inputShape(input);
    this.values = this.shape.reduce((product, size) => product * size, 1);
    this.window = new Float32Array(windowSamples(input));
  }

  /** Writes the input for `samples`, at most a window of them, to `into` from `at`. */
  write(samples: Float32Array, into: Float32Array, at: number): void {
    const { input, window } = this;
    const given = window.subarray(0, samples.length);
    given.set(samples);
    setLevel(given, input.level);
    pad(window, samples.length, input.padding);
    if (input.kind === 'waveform') into.set(window, at);
    else writePowerSpectrogram(window, input, into.subarray(at, at + this.values));
  }
}
