import { EnergyDetector } from './energy-detector.ts';
import type { Graph } from '../inference/graph.ts';
import { TelephoneDetector } from './telephone-detector.ts';
import {
  joinFrames,
  summarizeVoice,
  type VoiceFrames,
  type VoiceSampleRate,
  type VoiceSummary,
} from './voice-frames.ts';

/** Every detector of voice activity, as manifests of models name them. */
export const voiceDetectorNames = ['energy/1', 'telephone/2'] as const;

/** Name of a detector. */
export type VoiceDetectorName = (typeof voiceDetectorNames)[number];

/** Says of one channel of a recording, block by block, where there is voice. Memory is bounded whatever the length of the recording. */
export interface VoiceDetector {
  /** Takes the next samples, in [-1, 1]; gives the frames that are decided by now, which lag behind by seconds. Not to be called again before it has answered. */
  push(samples: Float32Array): Promise<VoiceFrames>;
  /** The frames that are open, as they would be decided if the recording ended here; those of the last few milliseconds may lack a part of their samples. Changes nothing. */
  preview(): Promise<VoiceFrames>;
  /** The frames that were still open. All together are the seconds of the recording times 100, rounded down. Nothing may follow. */
  finish(): Promise<VoiceFrames>;
}

/** What a detector listens to: its rate, and for `telephone/2` the opened graph of `models/voice-activity-telephone-2`. */
export type VoiceDetectorSettings =
  | { readonly name: 'energy/1'; readonly sampleRate: VoiceSampleRate }
  | {
      readonly name: 'telephone/2';
      readonly sampleRate: VoiceSampleRate;
      readonly graph: Pick<Graph, 'run'>;
      /** See {@link TelephoneDetector}. */ readonly runFrames?: number | undefined;
    };

/** A fresh detector for one channel of one recording. */
export function makeVoiceDetector(settings: VoiceDetectorSettings): VoiceDetector {
  if (settings.name === 'telephone/2') return new TelephoneDetector(settings);
  const detector = new EnergyDetector(settings.sampleRate);
  return {
    push: async (samples) => detector.push(samples),
    preview: async () => detector.preview(),
    finish: async () => detector.finish(),
  };
}

/** Frames of a recording that is in memory whole, and what they come to. */
export async function detectVoice(
  samples: Float32Array,
  settings: VoiceDetectorSettings,
): Promise<VoiceFrames & VoiceSummary> {
  const detector = makeVoiceDetector(settings);
  const frames = joinFrames([await detector.push(samples), await detector.finish()]);
  return { ...frames, ...summarizeVoice(frames) };
}

export { joinFrames, labelWindow, summarizeVoice, voiceFramesPerSecond } from './voice-frames.ts';
export type { VoiceFrames, VoiceSampleRate, VoiceSummary, WindowLimits } from './voice-frames.ts';
