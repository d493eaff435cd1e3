import type { AudioReason } from './reasons.ts';

/** The scores of a model: probabilities that the voice is NOT synthesized, and NOT replayed; higher is authentic. */
export const SCORE_NAMES = ['synthesis', 'replay'] as const;

export type ScoreName = (typeof SCORE_NAMES)[number];

/** Scores between 0 and 1; null where the model has no such output. */
export type Scores = Readonly<Record<ScoreName, number | null>>;

/** The states of a verification. */
export const VERIFICATION_STATES = ['queued', 'performing', 'performed', 'performedWithoutScore', 'error'] as const;

export type VerificationState = (typeof VERIFICATION_STATES)[number];

/** How the channels of a recording are scored: each on its own (the two sides of a call), or mixed into one. */
export const CHANNEL_MODES = ['apart', 'mixed'] as const;

export type ChannelMode = (typeof CHANNEL_MODES)[number];

/** Settings of a batch besides the model; results are reused only under the same settings. */
export interface ScoringSettings {
  readonly channels: ChannelMode;
}

/** Default: the two sides of a call are scored apart. */
export const defaultSettings: ScoringSettings = { channels: CHANNEL_MODES[0] };

export const WINDOW_LABELS = ['validVoice', 'insufficientVoice', 'excessiveNoise'] as const;

export type WindowLabel = (typeof WINDOW_LABELS)[number];

/** A window of a recording, in seconds from its start, with scores only if the label is `validVoice`. */
export interface ScoredWindow {
  /** From 0; null where the channels were mixed. */
  readonly channel: number | null;
  readonly start: number;
  readonly end: number;
  readonly label: WindowLabel;
  readonly scores: Scores | null;
}

/** The scores of one channel, where channels are scored apart. */
export interface ChannelScores {
  readonly channel: number;
  readonly voiceSeconds: number;
  readonly scores: Scores | null;
  /** Why it has none. */
  readonly reason: AudioReason | null;
}

export const DECISION_LABELS = ['authentic', 'synthesized', 'replayed', 'synthesizedAndReplayed', 'undecided'] as const;

export type DecisionLabel = (typeof DECISION_LABELS)[number];

/** Why a decision is open. */
export const UNDECIDED_REASONS = {
  between_thresholds: 'A score lies where genuine recordings and attacks are both frequent.',
  acceptance_unknown:
    'How many attacks of a kind never seen the model would accept is not known, or too many to say authentic.',
} as const;

export type UndecidedReason = keyof typeof UNDECIDED_REASONS;

/**
 * The comparison of scores with thresholds: a score below its threshold is not authentic, one that reaches `authenticFrom` is, and
 * between them the decision is open.
 */
export interface VerificationDecision {
  readonly label: DecisionLabel;
  readonly thresholds: Scores;
  readonly policy: 'thresholds/2';
  /** Why it is undecided; null for other labels. */
  readonly reason: UndecidedReason | null;
  /** Null where no score is known to be enough. */
  readonly authenticFrom: Scores;
  /** Share of attacks of a kind never seen that reach `authenticFrom`, as measured. */
  readonly falseAcceptance: Scores;
}

/** Facts of the audio that was opened. */
export interface AudioFacts {
  readonly format: string;
  readonly codec: string;
  readonly sampleRate: number;
  readonly channels: number;
  readonly durationSeconds: number;
}

/** The result of scoring one recording. */
export interface ScoredRecording {
  readonly state: 'performed' | 'performedWithoutScore';
  readonly model: string;
  readonly audio: AudioFacts;
  readonly voiceSeconds: number;
  /** Of the whole recording; with channels apart, the lower score of its channels. */
  readonly scores: Scores | null;
  readonly decision: VerificationDecision | null;
  readonly reason: AudioReason | null;
  readonly channelScores: readonly ChannelScores[];
  readonly windows: readonly ScoredWindow[];
  /** Anomalies that did not prevent scoring, such as `truncated`. */
  readonly notes: readonly string[];
  readonly computedMs: number;
}
