/** What the routes of artefacts answer; times are ISO 8601 text. */

/** An artefact in the list. */
export interface ListedArtefact {
  readonly cache: string;
  readonly country: string;
  readonly title: string;
  readonly status: 'fresh' | 'stale';
  readonly stale: {
    readonly code: string;
    readonly reason: string;
    readonly since: string;
    readonly advice: string | null;
  } | null;
  readonly version: number | null;
  readonly rows: number | null;
  readonly bytes: number | null;
  readonly confirmedAsOf: string | null;
  readonly publishedAt: string | null;
  readonly deltas: number;
}

/** A delta that leads to a version. */
export interface Delta {
  readonly from: number;
  readonly bytes: number;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** What is said of a published file. */
export interface Manifest {
  readonly version: number;
  readonly buildId: number;
  readonly asOf: string;
  readonly builtAt: string;
  readonly levels: Readonly<Record<string, number>>;
  readonly categoriesVersion: number;
  readonly columns: readonly { readonly name: string; readonly meaning: string }[];
  readonly file: {
    readonly href: string;
    readonly bytes: number;
    readonly sha256: string;
    readonly plainBytes: number;
    readonly plainSha256: string;
  };
  readonly previous: { readonly version: number } | null;
  readonly deltas: readonly Delta[];
  readonly index: { readonly bytes: number; readonly segments: number } | null;
}

/** An artefact with its manifest; null while nothing was published. */
export interface ToldArtefact extends ListedArtefact {
  readonly manifest: Manifest | null;
}

/** A version in the history of sizes; the delta leads to it from the version before. */
export interface ToldVersion {
  readonly version: number;
  readonly runId: number;
  readonly asOf: string;
  readonly publishedAt: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  readonly delta: Omit<Delta, 'from'> | null;
}

/** The verdict on one version. */
export interface Verdict {
  readonly artefact: string;
  readonly version: number;
  readonly verdict: 'ok' | 'missing' | 'damaged' | 'different';
  readonly detail: string;
  readonly rows: number;
  readonly bytes: number;
}

/** A check of stored files, as it stands. */
export interface ArtefactCheckFacts {
  readonly state: 'running' | 'finished' | 'failed';
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly versions: number;
  readonly verdicts: readonly Verdict[];
  readonly problem: string | null;
}
