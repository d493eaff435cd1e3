import { cosine } from './directions.ts';
import { enrolmentLimits, type Voiceprint } from './enrolment.ts';
import type { RecordingEmbedding } from './recording-embedding.ts';

/** Platt's calibration of a model (`calibration.identity` of its manifest): from the cosine to log odds. */
export interface IdentityCalibration {
  readonly slope: number;
  readonly intercept: number;
}

/** The probability that the speaker is the enrolled person, or why there is none. Prior odds are even. */
export type IdentityScore =
  | { readonly score: number; readonly cosine: number; readonly reason: null }
  | { readonly score: null; readonly cosine: null; readonly reason: 'no_voice' | 'insufficient_voice' };

/** Compares a recording with a voiceprint of the same model; null stands for a recording without voice. */
export function scoreIdentity(
  { centroid }: Pick<Voiceprint, 'centroid'>,
  recording: RecordingEmbedding | null,
  { slope, intercept }: IdentityCalibration,
): IdentityScore {
  if (recording === null) return { score: null, cosine: null, reason: 'no_voice' };
  if (recording.voicedSeconds < enrolmentLimits.recordingVoicedSecondsMin)
    return { score: null, cosine: null, reason: 'insufficient_voice' };
  const likeness = cosine(centroid, recording.embedding);
  return { score: 1 / (1 + Math.exp(-(slope * likeness + intercept))), cosine: likeness, reason: null };
}
