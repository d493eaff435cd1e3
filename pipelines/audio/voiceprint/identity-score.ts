import { cosine } from './directions.ts';
import { enrolmentLimits, type Voiceprint } from './enrolment.ts';
import type { RecordingEmbedding } from './recording-embedding.ts';

/**
 * From the cosine of two voices to log odds that they are one (`calibration.identity` of a model's manifest): slope * cosine + intercept.
 * `bySeconds` adds to both what they change with the logarithm of the seconds of voice; see {@link comparedSeconds}.
 */
export interface IdentityCalibration {
  readonly slope: number;
  readonly intercept: number;
  readonly bySeconds?:
    | {
        readonly slope: number;
        readonly intercept: number;
        /** The seconds between which it was fitted; fewer or more count as these. */
        readonly from: number;
        readonly to: number;
      }
    | undefined;
}

/** The probability that the speaker is the enrolled person, or why there is none. Prior odds are even. */
type IdentityScore =
  | { readonly score: number; readonly cosine: number; readonly reason: null }
  | { readonly score: null; readonly cosine: null; readonly reason: 'no_voice' | 'insufficient_voice' };

/** Compares a recording with a voiceprint of the same model; null is a recording without voice. */
export function scoreIdentity(
  { centroid, voicedSeconds }: Pick<Voiceprint, 'centroid' | 'voicedSeconds'>,
  recording: RecordingEmbedding | null,
  calibration: IdentityCalibration,
): IdentityScore {
  if (recording === null) return { score: null, cosine: null, reason: 'no_voice' };
  if (recording.voicedSeconds < enrolmentLimits.recordingVoicedSecondsMin)
    return { score: null, cosine: null, reason: 'insufficient_voice' };
  const likeness = cosine(centroid, recording.embedding);
  const { slope, intercept } = calibrationFor(calibration, [voicedSeconds, recording.voicedSeconds]);
  return { score: 1 / (1 + Math.exp(-(slope * likeness + intercept))), cosine: likeness, reason: null };
}

/**
 * The seconds of voice that a comparison rests on: the harmonic mean of both sides, so that the shorter one counts more. The noise of a
 * cosine is the sum of both sides' noise, which falls with the seconds of each.
 */
export function comparedSeconds(sides: readonly [number, number], { from, to }: { from: number; to: number }): number {
  const [a, b] = sides.map((seconds) => Math.min(to, Math.max(from, seconds))) as [number, number];
  return 2 / (1 / a + 1 / b);
}

function calibrationFor(
  { slope, intercept, bySeconds }: IdentityCalibration,
  sides: readonly [number, number],
): { readonly slope: number; readonly intercept: number } {
  if (bySeconds === undefined) return { slope, intercept };
  const length = Math.log(comparedSeconds(sides, bySeconds));
  return { slope: slope + bySeconds.slope * length, intercept: intercept + bySeconds.intercept * length };
}
