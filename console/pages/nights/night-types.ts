/** What the routes of nights answer; times are ISO 8601 text. */

/** An artefact on a day. */
export interface GridCell {
  readonly state: 'published' | 'unchanged' | 'stale' | 'failed' | 'running';
  readonly runId: number;
  readonly nights: number;
  readonly failureCode: string | null;
}

/** An artefact with its days, in the order of the days of the grid. */
export interface GridRow {
  readonly cache: string;
  readonly country: string;
  readonly cells: readonly (GridCell | null)[];
}

/** A night as lists of nights have it. */
export interface NightSummary {
  readonly runId: number;
  readonly date: string;
  readonly trigger: 'schedule' | 'operator';
  readonly state: 'due' | 'running' | 'finished';
  readonly outcome: string | null;
  readonly only: string | null;
  readonly acceptShrink: boolean;
  readonly full: boolean;
  readonly requestedBy: string;
  readonly requestedAt: string;
  readonly openedAt: string | null;
  readonly finishedAt: string | null;
  readonly files: number;
  readonly filesEnded: number;
  readonly filesFailed: number;
  readonly rows: number;
  readonly rowsExpected: number;
}

/** The history of nights on some days, the newest day first. */
export interface NightHistory {
  readonly days: readonly string[];
  readonly rows: readonly GridRow[];
  readonly nights: readonly NightSummary[];
  readonly isOpen: boolean;
  readonly next: string | null;
}

/** The instants of a build. */
export interface TimedBuild {
  readonly cache: string;
  readonly country: string;
  readonly startedAt: string | null;
  readonly builtAt: string | null;
}

/** The instants of a night. */
export interface TimedNight {
  readonly requestedAt: string;
  readonly openedAt: string | null;
  readonly asOf: string | null;
  readonly finishedAt: string | null;
}

/** Why something failed, and what to do about it. */
export interface ToldFailure {
  readonly code: string;
  readonly reason: string;
  readonly advice: string | null;
}

/** One build of a night. */
export interface ToldBuild extends TimedBuild {
  readonly state: 'pending' | 'running' | 'built' | 'published' | 'unchanged' | 'failed';
  readonly kind: 'full' | 'incremental' | 'keep';
  readonly version: number | null;
  readonly rowsExpected: number;
  readonly rows: number | null;
  readonly rowsBefore: number | null;
  readonly rowsRead: number | null;
  readonly segmentsDiffering: number | null;
  readonly attempts: number;
  readonly bytes: number | null;
  readonly failure: ToldFailure | null;
}

/** A night with all that is known of it. */
export interface ToldNight {
  readonly night: TimedNight &
    Pick<
      NightSummary,
      'runId' | 'date' | 'trigger' | 'state' | 'outcome' | 'only' | 'acceptShrink' | 'full' | 'requestedBy'
    > & { readonly generation: number; readonly evaluatedAt: string | null; readonly failure: ToldFailure | null };
  readonly builds: readonly ToldBuild[];
  readonly lapsed: readonly { readonly brand: string; readonly validUntil: string; readonly numbers: number }[];
  readonly others: readonly NightSummary[];
}

/** What a night is asked for by. */
export interface NightSettings {
  readonly shrinkPercentMax: number;
}

/** A night that was asked for. */
export interface AskedNight {
  readonly runId: number;
}

/** The names of files that were released. */
export interface ReleasedFiles {
  readonly released: readonly string[];
}
