import type { ModelInput } from '../models/manifest.ts';

/** Below this rms nothing is made louder: it is digital silence, -140 dBFS, which 16 bits cannot hold. */
const rmsMin = 1e-7;

/**
 * Brings samples to a model's level, in place: the mean is taken out, then the rms becomes `targetDbfs` (an rms of 1.0 is
 * 0 dBFS). `none` leaves them as they are.
 */
export function setLevel(samples: Float32Array, level: ModelInput['level']): void {
  if (level.kind === 'none' || samples.length === 0) return;
  let [sum, squares] = [0, 0];
  for (let at = 0; at < samples.length; at++) {
    const value = samples[at]!;
    sum += value;
    squares += value * value;
  }
  const mean = sum / samples.length;
  const rms = Math.sqrt(Math.max(0, squares / samples.length - mean * mean));
  const gain = rms < rmsMin ? 1 : 10 ** (level.targetDbfs / 20) / rms;
  for (let at = 0; at < samples.length; at++) samples[at] = (samples[at]! - mean) * gain;
}

/** Fills `samples` from `length` on: with what is before, from its start, again and again, or with zeros. */
export function pad(samples: Float32Array, length: number, padding: ModelInput['padding']): void {
  if (padding === 'zero' || length === 0) samples.fill(0, length);
  else for (let at = length; at < samples.length; at++) samples[at] = samples[at - length]!;
}
