/** Scores between 0 and 1, higher is authentic; null where the model has no such score. */
export interface ShownScores {
  readonly synthesis: number | null;
  readonly replay: number | null;
}

/** A voiceprint as the console answers it: everything but the voice. */
export interface Voiceprint {
  readonly id: string;
  readonly owner: string;
  readonly subject: string;
  readonly model: string;
  readonly modelSha256: string;
  readonly recordings: number;
  readonly voiceSeconds: number;
  readonly consent: { readonly reference: string; readonly at: string; readonly recordedBy: string };
  readonly enrolledAt: string;
  readonly deletedAt: string | null;
  readonly deletedWhy: string | null;
  readonly verifications: number;
}

/** A row of its history. */
export interface VoiceprintEvent {
  readonly eventId: number;
  readonly at: string;
  readonly action: string;
  readonly actor: string;
  readonly reason: string;
}

/** A voiceprint with its history, newest first, and how many older rows are not among it. */
export interface VoiceprintHistory extends Voiceprint {
  readonly events: readonly VoiceprintEvent[];
  readonly eventsLeftOut: number;
}

/** A page of the list. */
export interface VoiceprintPage {
  readonly voiceprints: readonly Voiceprint[];
  readonly next: string | null;
}

/** What enrolment takes. */
export interface EnrolmentLimits {
  readonly recordingsMin: number;
  readonly recordingsMax: number;
  readonly recordingVoicedSecondsMin: number;
  readonly voicedSecondsMin: number;
  readonly fileBytesMax: number;
  readonly model: string;
  readonly identityThreshold: number;
}

/** A voice that was enrolled now. */
export interface Enrolled {
  readonly id: string;
  readonly subject: string;
  readonly recordings: number;
  readonly voiceSeconds: number;
  readonly agreement: { readonly mean: number; readonly least: number };
}

/** What came of comparing a recording with a voiceprint. */
export interface ComparisonResult {
  readonly verificationId: string;
  readonly label: string;
  readonly advice: string;
  readonly identity: number | null;
  readonly identityThreshold: number;
  readonly identityReason: string | null;
  readonly voiceModel: string;
  readonly model: string | null;
  readonly scores: ShownScores | null;
  readonly thresholds: ShownScores | null;
  readonly authenticityReason: string | null;
}

/** A comparison as it was stored. */
export interface StoredComparison {
  readonly verificationId: string;
  readonly verifiedAt: string;
  readonly verifiedBy: string;
  readonly identity: number | null;
  readonly reason: string | null;
  readonly decision: {
    readonly label: string;
    readonly identityThreshold: number;
    readonly model: string | null;
    readonly scores: ShownScores | null;
    readonly thresholds: ShownScores | null;
    readonly authenticityReason: string | null;
  } | null;
}

/** Comparisons, newest first. */
export interface ComparisonPage {
  readonly comparisons: readonly StoredComparison[];
  readonly next: string | null;
}
