import { silenceDbfs, voiceFramesPerSecond, type VoiceSampleRate } from './voice-frames.ts';

const silencePower = 10 ** (silenceDbfs / 10);

/** Measures the level of each 10 ms of a recording that arrives in blocks of any length. Keeps less than a frame of it. */
export class FrameLevels {
  readonly #frameSamples: number;
  #samples = 0;
  #sum = 0;
  #squares = 0;

  constructor(sampleRate: VoiceSampleRate) {
    this.#frameSamples = sampleRate / voiceFramesPerSecond;
  }

  /** Levels in dBFS, without the frame's own offset, of the frames that `block` completes. A sample that is no number counts as silence. */
  push(block: Float32Array): Float32Array {
    const levels = new Float32Array(Math.floor((this.#samples + block.length) / this.#frameSamples));
    let [written, samples, sum, squares] = [0, this.#samples, this.#sum, this.#squares];
    for (let at = 0; at < block.length; at++) {
      const sample = block[at]!;
      if (Math.abs(sample) < Infinity) {
        sum += sample;
        squares += sample * sample;
      }
      if (++samples < this.#frameSamples) continue;
      levels[written++] = levelOf(squares / samples - (sum / samples) ** 2);
      [samples, sum, squares] = [0, 0, 0];
    }
    [this.#samples, this.#sum, this.#squares] = [samples, sum, squares];
    return levels;
  }
}

function levelOf(power: number): number {
  return power <= silencePower ? silenceDbfs : 10 * Math.log10(power);
}
