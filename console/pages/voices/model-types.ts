import type { ShownScores } from './voice-types.ts';

/** What the routes of models answer; times are ISO 8601 text. */

/** A model of the registry, as the console answers it. */
export interface ListedModel {
  readonly model: string;
  readonly family: string;
  readonly release: string | null;
  readonly state: 'available' | 'removed';
  readonly isDefault: boolean;
  readonly removedIn: string | null;
  readonly replacedBy: string | null;
  readonly note: string | null;
  readonly added: { readonly at: string; readonly by: string; readonly reason: string } | null;
  readonly parameters: number | null;
  readonly bytes: number | null;
  readonly thresholds: Readonly<Record<string, number>> | null;
  readonly fault: string | null;
}

/** A change of the default of a family. */
export interface DefaultChange {
  readonly model: string;
  readonly since: string;
  readonly setBy: string;
  readonly reason: string;
  readonly reportId: number | null;
  readonly forced: boolean;
}

/** One in the list of all families, with the default before; null where that was the registry's. */
export interface ListedDefaultChange extends DefaultChange {
  readonly family: string;
  readonly before: string | null;
}

/** The models of the registry, as of a release. */
export interface ModelList {
  readonly release: string;
  readonly newestRelease: string;
  readonly models: readonly ListedModel[];
}

/** The registry, with the model that voices are compared by, and the defaults that were set here. */
export interface Registry extends ModelList {
  readonly voiceprint: { readonly model: string };
  readonly changes: readonly ListedDefaultChange[];
}

/** A model with its card. */
export interface ModelFacts extends ListedModel {
  readonly manifestSha256: string | null;
  readonly manifest: {
    readonly voiceActivity: string;
    readonly minimumVoiceSeconds: number;
    readonly input: { readonly sampleRate: number; readonly sampleRateMin: number; readonly windowSeconds: number };
  } | null;
  readonly card: string | null;
  readonly defaults: readonly DefaultChange[];
}

/** The model that voices are compared by. */
export interface VoiceprintModel {
  readonly model: string;
  readonly identityThreshold: number;
  readonly agreementMin: number;
  readonly card: string | null;
}

/** A drift report in a list. */
export interface ListedReport {
  readonly reportId: number;
  readonly old: string;
  readonly new: string;
  readonly batch: string;
  readonly madeAt: string;
  readonly madeBy: string;
  readonly counts: { readonly compared: number; readonly notCompared: number; readonly flips: number };
}

/** A page of the list. */
export interface ReportPage {
  readonly reports: readonly ListedReport[];
  readonly next: string | null;
}

/** An interval of 95 %; null where too few recordings were compared. */
export type Interval = readonly [low: number, high: number] | null;

/** A decision with the scores that it was made by. */
export interface Judged {
  readonly label: string;
  readonly scores: ShownScores;
}

/** What changes if one model takes the place of another. */
export interface DriftReport {
  readonly reportId: number;
  readonly madeAt: string;
  readonly madeBy: string;
  readonly batch: string;
  readonly old: { readonly model: string };
  readonly new: { readonly model: string };
  readonly counts: {
    readonly items: number;
    readonly recordings: number;
    readonly compared: number;
    readonly notCompared: number;
    readonly flips: number;
  };
  readonly classes: readonly {
    readonly label: string;
    readonly old: number;
    readonly new: number;
    readonly change: number | null;
    readonly interval: Interval;
    readonly p: number | null;
  }[];
  readonly moves: readonly { readonly old: string; readonly new: string; readonly recordings: number }[];
  readonly shifts: readonly {
    readonly score: string;
    readonly compared: number;
    readonly mean: number | null;
    readonly interval: Interval;
    readonly fifthPercentile: number | null;
    readonly median: number | null;
    readonly ninetyFifthPercentile: number | null;
    readonly largest: number | null;
    readonly rankCorrelation: number | null;
  }[];
  readonly flips: readonly {
    readonly line: number;
    readonly source: string;
    readonly old: Judged;
    readonly new: Judged;
  }[];
  readonly notComparedReasons: readonly {
    readonly old: string | null;
    readonly new: string | null;
    readonly recordings: number;
  }[];
  readonly pointsDrawn: number;
}
