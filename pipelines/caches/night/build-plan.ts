import type { ArtefactName } from '../definition.ts';
import type { StoredDelta } from '../artefact-facts.ts';
import type { ArtefactFile, LevelCounts } from '../artefact-facts.ts';

/** A published version that a build can start from. */
export interface Basis {
  readonly version: number;
  readonly rows: number;
  readonly levels: LevelCounts;
  readonly file: ArtefactFile;
  readonly index: { readonly sha256: string; readonly bytes: number };
  /** The deltas that lead to it. */
  readonly deltas: readonly StoredDelta[];
}

/**
 * What a build reads: all rows; the rows of some regions, copying the other segments from the basis; or nothing, since
 * nothing changed. A full build that was not needed proves the marks: outside `unchangedExcept` it must find the segments of
 * its basis.
 */
export type BuildPlan =
  | { readonly kind: 'full'; readonly basis: Basis | null; readonly unchangedExcept: readonly string[] | null }
  | { readonly kind: 'incremental'; readonly basis: Basis; readonly regions: readonly string[] }
  | { readonly kind: 'keep'; readonly basis: Basis };

/** All rows, and nothing to compare with. */
export const noBasis: BuildPlan = { kind: 'full', basis: null, unchangedExcept: null };

/** A build to come, with what SQL counted for it. */
export interface PlannedBuild extends ArtefactName {
  readonly plan: BuildPlan;
  readonly rows: number;
  readonly levels: LevelCounts;
}
