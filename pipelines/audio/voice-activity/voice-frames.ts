import type { voiceSampleRates } from '../models/manifest.ts';
import type { WindowLabel } from '../verification.ts';

/**
 * The output of a voice activity detector, in frames of 10 ms, and the summary and label of a window by them.
 */

/** Frames a second: each frame is 10 ms, frame `i` covers the samples from `i * rate / 100` on. An incomplete last frame is not counted. */
export const voiceFramesPerSecond = 100;

/** Sample rates, in Hz, that the detectors support. */
export type VoiceSampleRate = (typeof voiceSampleRates)[number];

/** Level of digital silence, in dBFS (rms 1.0 is 0 dBFS), the lowest that is measured: a step below what 16 bits can hold. */
export const silenceDbfs = -100;

/** Consecutive frames: whether there is voice in each (1 or 0), and its level in dBFS. */
export interface VoiceFrames {
  readonly voiced: Uint8Array;
  readonly levelsDbfs: Float32Array;
}

/** A part of a recording: seconds of voice, and the levels of the voice and of the noise between; null where there is none. */
export interface VoiceSummary {
  readonly voicedSeconds: number;
  readonly speechDbfs: number | null;
  readonly noiseDbfs: number | null;
}

/** Fewest frames without voice whose mean counts as the noise. */
const noiseFramesMin = 10;

/** Share of the frames that counts as the softest, where there are no pauses. */
const softestShare = 0.05;

/**
 * Voiced seconds and levels of frames. Levels are means of power. Noise is the
 * mean of the frames without voice, or the level that the softest twentieth of the frames does not exceed if that is lower: what lies
 * between the voice of a clip that was cut inside speech is soft speech, and says nothing of the noise.
 */
export function summarizeVoice({ voiced, levelsDbfs }: VoiceFrames, from = 0, to = voiced.length): VoiceSummary {
  const [loud, soft] = [powerOver(1), powerOver(0)];
  const between = soft.frames >= noiseFramesMin ? meanLevel(soft)! : Infinity;
  const noiseDbfs =
    to > from ? Math.max(silenceDbfs, Math.min(between, softestLevel(levelsDbfs.slice(from, to)))) : null;
  return { voicedSeconds: loud.frames / voiceFramesPerSecond, speechDbfs: meanLevel(loud), noiseDbfs };

  function powerOver(kind: 0 | 1): { readonly frames: number; readonly power: number } {
    let [frames, power] = [0, 0];
    for (let frame = from; frame < to; frame++) {
      if (voiced[frame] !== kind) continue;
      frames++;
      power += 10 ** (levelsDbfs[frame]! / 10);
    }
    return { frames, power };
  }
}

function meanLevel({ frames, power }: { readonly frames: number; readonly power: number }): number | null {
  return frames === 0 ? null : Math.max(silenceDbfs, 10 * Math.log10(power / frames));
}

function softestLevel(levels: Float32Array): number {
  return levels.sort()[Math.floor(levels.length * softestShare)]!;
}

/** Least voice, in seconds, and least distance from noise to voice, in dB, of a window that is scored. */
export interface WindowLimits {
  readonly voicedSecondsMin: number;
  readonly signalToNoiseDbMin: number;
}

/** Label of a window. Voice is checked first: without it a distance from noise to voice means nothing. */
export function labelWindow({ voicedSeconds, speechDbfs, noiseDbfs }: VoiceSummary, limits: WindowLimits): WindowLabel {
  if (speechDbfs === null || voicedSeconds < limits.voicedSecondsMin) return 'insufficientVoice';
  return noiseDbfs !== null && speechDbfs - noiseDbfs < limits.signalToNoiseDbMin ? 'excessiveNoise' : 'validVoice';
}

/** Joins frames that follow one another. */
export function joinFrames(parts: readonly VoiceFrames[]): VoiceFrames {
  const length = parts.reduce((sum, part) => sum + part.voiced.length, 0);
  const joined = { voiced: new Uint8Array(length), levelsDbfs: new Float32Array(length) };
  let at = 0;
  for (const part of parts) {
    joined.voiced.set(part.voiced, at);
    joined.levelsDbfs.set(part.levelsDbfs, at);
    at += part.voiced.length;
  }
  return joined;
}
