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

  /** Levels in dBFS, without the frame's own offset, of the frames that `block` completes. NaN counts as silence. */
  push(block: Float32Array): Float32Array {
    const levels = new Float32Array(Math.floor((this.#samples + block.length) / this.#frameSamples));
    for (let at = 0, frame = 0; at < block.length;) {
      const end = Math.min(block.length, at + this.#frameSamples - this.#samples);
      this.#add(block, at, end);
      at = end;
      if (this.#samples === this.#frameSamples) levels[frame++] = this.#takeLevel();
    }
    return levels;
  }

  /** Adds samples of one frame. With a test of each sample the loop took six times as long. */
  #add(block: Float32Array, from: number, to: number): void {
    let sum = this.#sum;
    let squares = this.#squares;
    for (let at = from; at < to; at++) {
      const sample = block[at]!;
      sum += sample;
      squares += sample * sample;
    }
    if (!Number.isFinite(sum)) return this.#add(withoutNotFinite(block.subarray(from, to)), 0, to - from);
    this.#samples += to - from;
    this.#sum = sum;
    this.#squares = squares;
  }

  #takeLevel(): number {
    const level = levelOfPower(this.#squares / this.#samples - (this.#sum / this.#samples) ** 2);
    this.#samples = 0;
    this.#sum = 0;
    this.#squares = 0;
    return level;
  }
}

/** The samples with NaN and infinity as silence. */
export function withoutNotFinite(samples: Float32Array): Float32Array {
  return samples.map((sample) => (Number.isFinite(sample) ? sample : 0));
}

function levelOfPower(power: number): number {
  return power <= silencePower ? silenceDbfs : 10 * Math.log10(power);
}
