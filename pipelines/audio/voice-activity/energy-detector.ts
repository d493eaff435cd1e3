import { FrameLevels } from './frame-levels.ts';
import { joinFrames, silenceDbfs, type VoiceFrames, type VoiceSampleRate } from './voice-frames.ts';

/** Frames that are decided together: 300 ms. The noise floor is one number for each such part. */
const partFrames = 30;

/**
 * Parts before and after the present one whose softest moment is the noise floor: 3 s before and 0.9 s after, longer than a breath
 * and shorter than a change of the line.
 */
const partsBefore = 10;
const partsAhead = 3;

/** Frames over which the softest moment is averaged: a single frame of 10 ms may be low by chance. */
const softFrames = 8;

/**
 * Distance from the noise floor, in dB, from which on a frame is voice. Steady pink noise stays below it, speech at 10 dB over the
 * noise mostly above.
 */
const overFloorDb = 8;

/** No frame below this level, in dBFS, is voice: comfort noise and the steps of A-law are about -70. */
const voiceDbfsMin = -58;

/** Frames that stay voice after the last loud one: soft ends of words, and the pauses inside them. */
const hangoverFrames = 15;

/** Consecutive loud frames that are required: a click is shorter. */
const onsetFrames = 3;

/**
 * `energy/1`: voice is what is louder than the line. The noise floor is the softest moment of the seconds around
 * (minimum statistics, after Martin, "Noise power spectral density estimation based on optimal smoothing and minimum
 * statistics", 2001); speech has such moments, too, so that the floor is the noise during speech as well. It mistakes
 * intermittent sounds for voice: music, ringing, keys.
 */
export class EnergyDetector {
  readonly #sampleRate: VoiceSampleRate;
  readonly #levels: FrameLevels;
  /** Levels of undecided frames, oldest first. */
  #open: number[] = [];
  /** Softest moments of the parts that are decided, and of those that are complete and undecided, oldest first. */
  #softBefore: number[] = [];
  #softOpen: number[] = [];
  #loudInRow = 0;
  #hangover = 0;

  constructor(sampleRate: VoiceSampleRate) {
    this.#sampleRate = sampleRate;
    this.#levels = new FrameLevels(sampleRate);
  }

  /** Appends samples; returns the frames that are decided by now, 0.9 to 1.2 s behind the samples. */
  push(samples: Float32Array): VoiceFrames {
    const decided: VoiceFrames[] = [];
    for (const level of this.#levels.push(samples)) {
      this.#open.push(level);
      if (this.#open.length % partFrames === 0) this.#softOpen.push(softestMoment(this.#open.slice(-partFrames)));
      if (this.#softOpen.length > partsAhead) decided.push(this.#decide(partFrames));
    }
    return joinFrames(decided);
  }

  /** The undecided frames, as `finish` would decide them now. */
  preview(): VoiceFrames {
    const copy = new EnergyDetector(this.#sampleRate);
    copy.#open = [...this.#open];
    copy.#softBefore = [...this.#softBefore];
    copy.#softOpen = [...this.#softOpen];
    copy.#loudInRow = this.#loudInRow;
    copy.#hangover = this.#hangover;
    return copy.finish();
  }

  /** The remaining frames. Nothing may be pushed afterwards. */
  finish(): VoiceFrames {
    const rest = this.#open.length % partFrames;
    const isAlone = this.#softBefore.length + this.#softOpen.length === 0;
    if (rest > 0)
      this.#softOpen.push(rest < softFrames && !isAlone ? Infinity : softestMoment(this.#open.slice(-rest)));
    const decided: VoiceFrames[] = [];
    while (this.#open.length > 0) decided.push(this.#decide(Math.min(partFrames, this.#open.length)));
    return joinFrames(decided);
  }

  #decide(frames: number): VoiceFrames {
    const floorDbfs = Math.min(...this.#softBefore, ...this.#softOpen);
    const levelsDbfs = Float32Array.from(this.#open.splice(0, frames));
    this.#softBefore.push(this.#softOpen.shift()!);
    if (this.#softBefore.length > partsBefore) this.#softBefore.shift();
    return { voiced: this.#voicedAbove(levelsDbfs, Math.max(voiceDbfsMin, floorDbfs + overFloorDb)), levelsDbfs };
  }

  #voicedAbove(levelsDbfs: Float32Array, thresholdDbfs: number): Uint8Array {
    return Uint8Array.from(levelsDbfs, (level) => {
      this.#loudInRow = level >= thresholdDbfs ? this.#loudInRow + 1 : 0;
      if (this.#loudInRow >= onsetFrames) this.#hangover = hangoverFrames;
      else if (this.#hangover > 0) this.#hangover--;
      return this.#hangover > 0 ? 1 : 0;
    });
  }
}

/** Least mean level, in dBFS, of `softFrames` consecutive frames. A shorter part is averaged as a whole. */
function softestMoment(levels: readonly number[]): number {
  const width = Math.min(softFrames, levels.length);
  const powers = levels.map((level) => 10 ** (level / 10));
  let sum = powers.slice(0, width).reduce((total, power) => total + power, 0);
  let least = sum;
  for (let at = width; at < powers.length; at++) {
    sum += powers[at]! - powers[at - width]!;
    least = Math.min(least, sum);
  }
  return Math.max(silenceDbfs, 10 * Math.log10(Math.max(least, 0) / width));
}
