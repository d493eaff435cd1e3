import type { ModelInput } from '../models/manifest.ts';
import { makeLevelKernel, type LevelKernel } from './level-kernel.ts';

/** Below this rms nothing is made louder: it is digital silence, -140 dBFS, which 16 bits cannot hold. */
const rmsMin = 1e-7;

/**
 * Brings samples to a model's level, in place: the mean is taken out, then the rms becomes `targetDbfs` (an rms of 1.0 is
 * 0 dBFS). `none` leaves them as they are.
 */
export function setLevel(samples: Float32Array, level: ModelInput['level']): void {
  if (level.kind === 'none' || samples.length === 0) return;
  const { numbers, sum, sumSquares, scale } = kernelFor(samples.length);
  const end = Math.ceil(samples.length / lanes) * lanes;
  numbers.set(samples);
  numbers.fill(0, samples.length, end);
  const mean = sum(0, end * bytes) / samples.length;
  const rms = Math.sqrt(Math.max(0, sumSquares(0, end * bytes) / samples.length - mean * mean));
  scale(0, end * bytes, mean, rms < rmsMin ? 1 : 10 ** (level.targetDbfs / 20) / rms);
  samples.set(numbers.subarray(0, samples.length));
}

const bytes = Float32Array.BYTES_PER_ELEMENT;

/** Numbers that the kernel takes at a time. */
const lanes = 4;

let kept: LevelKernel | undefined;

/** The kernel, whose memory is used again and again: it grows to that of the longest window. */
function kernelFor(length: number): LevelKernel {
  if (kept === undefined || kept.numbers.length < length + lanes) kept = makeLevelKernel(length + lanes);
  return kept;
}

/** Fills `samples` from `length` on: with what is before, from its start, again and again, or with zeros. */
export function pad(samples: Float32Array, length: number, padding: ModelInput['padding']): void {
  if (padding === 'zero' || length === 0) samples.fill(0, length);
  else for (let at = length; at < samples.length; at++) samples[at] = samples[at - length]!;
}
