/** Scores between 0 and 1, higher is authentic; null where the model has no such score. */
export interface Scores {
  readonly synthesis: number | null;
  readonly replay: number | null;
}

export type ScoreName = keyof Scores;

export type VerificationState = 'queued' | 'performing' | 'performed' | 'performedWithoutScore' | 'error';

export type DecisionLabel = 'authentic' | 'synthesized' | 'replayed' | 'synthesizedAndReplayed';

export type WindowLabel = 'validVoice' | 'insufficientVoice' | 'excessiveNoise';

export interface Decision {
  readonly label: DecisionLabel;
  readonly thresholds: Scores;
  readonly policy: string;
}

export interface ReasonFacts {
  readonly reason: string;
  readonly meaning: string;
  readonly retryHelps: boolean;
}

/** A stretch of a recording with its scores. */
export interface ScoredWindow {
  readonly channel: number | null;
  readonly start: number;
  readonly end: number;
  readonly label: WindowLabel;
  readonly scores: Scores | null;
}

/** What lists and details have in common. */
export interface ShownVerification {
  readonly id: string;
  readonly batch: string;
  readonly state: VerificationState;
  readonly mode: 'api' | 'webDemo';
  readonly requestedModel: string;
  readonly model: string | null;
  readonly release: string;
  readonly audio: {
    readonly sha256: string;
    readonly sampleRate: number | null;
    readonly channels: number | null;
    readonly duration: number | null;
    readonly voiceDuration: number | null;
  } | null;
  readonly scores: Scores | null;
  readonly decision: Decision | null;
  readonly why: ReasonFacts | null;
  readonly attempts: number;
  readonly source: string;
  readonly line: number;
}

/** A verification in a list. */
export interface ListedVerification extends ShownVerification {
  readonly times: {
    readonly handedIn: string;
    readonly queued: string;
    readonly started: string | null;
    readonly ended: string | null;
  };
  readonly identity: { readonly score: number; readonly threshold: number | null } | null;
}

/** How often a score errs, by the card of its model. */
export interface ScoreFigures {
  readonly score: ScoreName;
  readonly equalError: {
    readonly rate: number;
    readonly interval: { readonly low: number; readonly high: number } | null;
  };
  readonly atThreshold: { readonly threshold: number; readonly miss: number; readonly falseAlarm: number } | null;
  readonly bonafide: number;
  readonly attacks: number;
}

export interface ModelFigures {
  readonly model: string;
  readonly recordings: number;
  readonly evaluatedAt: string;
  readonly scores: readonly ScoreFigures[];
}

/** A comparison of the recording with a voiceprint. */
export interface IdentityAnswer {
  readonly id: string;
  readonly voiceprint: string;
  readonly subject: string;
  readonly score: number | null;
  readonly threshold: number | null;
  readonly label: string | null;
  readonly reason: string | null;
  readonly at: string;
}

/** A verification with all that is known of it. */
export interface VerificationDetail extends ShownVerification {
  readonly batchName: string;
  readonly owner: string;
  readonly requestedBy: string;
  readonly settings: { readonly channels: 'apart' | 'mixed' };
  readonly times: ListedVerification['times'];
  readonly reasonDetail: string | null;
  readonly reused: boolean;
  readonly computedMs: number | null;
  readonly channelScores: readonly {
    readonly channel: number;
    readonly voiceSeconds: number;
    readonly scores: Scores | null;
    readonly reason: string | null;
  }[];
  readonly notes: readonly string[];
  readonly windows: readonly ScoredWindow[];
  readonly recording: {
    readonly bytes: number | null;
    readonly format: string | null;
    readonly codec: string | null;
    readonly playback: 'original' | 'converted' | null;
    readonly storedAt: string | null;
    readonly deletedAt: string | null;
    readonly deletedWhy: string | null;
  } | null;
  readonly identities: readonly IdentityAnswer[];
  readonly figures: ModelFigures | null;
}

/** A verification that is followed until it has ended. */
export interface LiveVerification {
  readonly verification: VerificationDetail;
  readonly workerConnected: boolean | null;
}

/** A recording as it is drawn. */
export interface Waveform {
  readonly durationSeconds: number;
  readonly bucketSeconds: number;
  readonly channels: readonly {
    readonly channel: number | null;
    readonly lows: readonly number[];
    readonly highs: readonly number[];
    readonly voice: readonly (readonly [number, number])[] | null;
  }[];
}

/** The models that can be asked for, and what may be handed in. */
export interface DetectionFacts {
  readonly families: readonly ('phone' | 'digital')[];
  readonly models: readonly {
    readonly model: string;
    readonly family: 'phone' | 'digital';
    readonly release: string | null;
    readonly state: 'available' | 'removed';
    readonly isDefault: boolean;
    readonly replacedBy: string | null;
    readonly isUsable: boolean;
    readonly voiceSecondsMin: number | null;
  }[];
  readonly limits: { readonly bytesMax: number; readonly secondsMax: number };
  readonly workerConnected: boolean;
}
