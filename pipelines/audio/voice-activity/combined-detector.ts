import { EnergyDetector } from './energy-detector.ts';
import {
  isVoiceAfter,
  TelephoneNetwork,
  voicedOf,
  type Hysteresis,
  type LogitFrames,
  type TelephoneSettings,
} from './telephone-detector.ts';
import type { VoiceFrames } from './voice-frames.ts';

/** Logits of the network that are voice without more, and those that are voice where the level says so too. */
const alone: Hysteresis = { begin: -2, end: -3 };
const withLevel: Hysteresis = { begin: -3.5, end: -4.5 };

/**
 * `combined/1`: the network of `telephone/2` with lower thresholds, and lower ones still where `energy/1` finds sound. Far, noisy,
 * reverberant and replayed speech is voice for it. `telephone/2` had no score for 35 % of held-out replays of 3 s and more where it
 * refused 5 % of live speech; this one refuses 3 % and 2 %. Tones, keys and noise stay no voice; of hold music it takes more for
 * voice than `telephone/2`, and less than `energy/1`. Measured by bench/window-scores.ts and training/folds.py, and by
 * bench/voice-activity.ts.
 */
export class CombinedDetector {
  readonly #network: TelephoneNetwork;
  readonly #energy: EnergyDetector;
  /** Frames of the energy detector that the network has not decided: it lags less than the network. */
  #loud: Uint8Array = new Uint8Array(0);
  #isVoice = { alone: false, withLevel: false };

  constructor(settings: TelephoneSettings) {
    this.#network = new TelephoneNetwork(settings);
    this.#energy = new EnergyDetector(settings.sampleRate);
  }

  /** Appends samples; resolves to the frames that are decided by now. */
  async push(samples: Float32Array): Promise<VoiceFrames> {
    this.#loud = Buffer.concat([this.#loud, this.#energy.push(samples).voiced]);
    return this.#decide(await this.#network.push(samples));
  }

  /** The undecided frames, decided with the context so far. */
  async preview(): Promise<VoiceFrames> {
    const loud = Buffer.concat([this.#loud, this.#energy.preview().voiced]);
    return this.#judge(await this.#network.preview(), loud).frames;
  }

  /** The remaining frames. Nothing may be pushed afterwards. */
  async finish(): Promise<VoiceFrames> {
    this.#loud = Buffer.concat([this.#loud, this.#energy.finish().voiced]);
    return this.#decide(await this.#network.finish());
  }

  #decide(decided: LogitFrames): VoiceFrames {
    const { frames, isVoice } = this.#judge(decided, this.#loud);
    this.#isVoice = isVoice;
    this.#loud = this.#loud.subarray(decided.logits.length);
    return frames;
  }

  #judge({ logits, levelsDbfs }: LogitFrames, loud: Uint8Array) {
    const sure = voicedOf(logits, alone, this.#isVoice.alone);
    const open = voicedOf(logits, withLevel, this.#isVoice.withLevel);
    return {
      frames: { voiced: sure.map((voice, at) => voice | (open[at]! & loud[at]!)), levelsDbfs },
      isVoice: {
        alone: isVoiceAfter(sure, this.#isVoice.alone),
        withLevel: isVoiceAfter(open, this.#isVoice.withLevel),
      },
    };
  }
}
