import { CombinedDetector } from './combined-detector.ts';
import { EnergyDetector } from './energy-detector.ts';
import type { Graph } from '../inference/graph.ts';
import type { VoiceDetectorName } from '../models/manifest.ts';
import { TelephoneDetector } from './telephone-detector.ts';
import {
  joinFrames,
  summarizeVoice,
  type VoiceFrames,
  type VoiceSampleRate,
  type VoiceSummary,
} from './voice-frames.ts';

/** Finds voice in one channel of a recording that arrives in blocks, with bounded memory. */
export interface VoiceDetector {
  /**
   * Appends samples, in [-1, 1]; resolves to the frames that are decided by now, which lag by seconds. Call it again only after it
   * has resolved.
   */
  push(samples: Float32Array): Promise<VoiceFrames>;
  /**
   * The undecided frames, decided as if the recording ended here; the last few milliseconds may lack a part of their samples.
   * Changes nothing.
   */
  preview(): Promise<VoiceFrames>;
  /** The remaining frames. In total there are floor(seconds * 100). Nothing may be pushed afterwards. */
  finish(): Promise<VoiceFrames>;
}

/** Settings of a detector: its rate, and for those with a network the opened graph of `models/voice-activity-telephone-2`. */
type VoiceDetectorSettings =
  | { readonly name: 'energy/1'; readonly sampleRate: VoiceSampleRate }
  | {
      readonly name: Exclude<VoiceDetectorName, 'energy/1'>;
      readonly sampleRate: VoiceSampleRate;
      readonly graph: Pick<Graph, 'run'>;
      /** Frames that the network decides at a time. */ readonly runFrames?: number | undefined;
    };

/** A fresh detector for one channel of one recording. */
export function makeVoiceDetector(settings: VoiceDetectorSettings): VoiceDetector {
  if (settings.name === 'telephone/2') return new TelephoneDetector(settings);
  if (settings.name === 'combined/1') return new CombinedDetector(settings);
  const detector = new EnergyDetector(settings.sampleRate);
  return {
    push: async (samples) => detector.push(samples),
    preview: async () => detector.preview(),
    finish: async () => detector.finish(),
  };
}

/** The frames of a complete recording in memory. */
export async function detectVoice(
  samples: Float32Array,
  settings: VoiceDetectorSettings,
): Promise<VoiceFrames & VoiceSummary> {
  const detector = makeVoiceDetector(settings);
  const frames = joinFrames([await detector.push(samples), await detector.finish()]);
  return { ...frames, ...summarizeVoice(frames) };
}

export { voiceDetectorNames, type VoiceDetectorName } from '../models/manifest.ts';
export { joinFrames, labelWindow, summarizeVoice, voiceFramesPerSecond } from './voice-frames.ts';
export type { VoiceFrames, VoiceSampleRate, VoiceSummary, WindowLimits } from './voice-frames.ts';
