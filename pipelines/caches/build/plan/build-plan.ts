import type { ErrorCode } from '../../../../runtime/errors.ts';
import type { ArtefactName } from '../../definition.ts';
import type { StoredDelta } from '../../artefact-facts.ts';
import type { ArtefactFile, FilterFile } from '../../artefact-facts.ts';
import type { LevelCounts } from '../../../../format/artefact/levels.ts';
import type { Changes } from './dirty-regions.ts';

/** A published version that a build can start from. */
export interface Basis {
  readonly version: number;
  readonly rows: number;
  readonly levels: LevelCounts;
  readonly file: ArtefactFile;
  readonly index: { readonly sha256: string; readonly bytes: number };
  /** Absent in plans that an older process made. */
  readonly filter?: FilterFile | null;
  /** The deltas to this version. */
  readonly deltas: readonly StoredDelta[];
}

/** Rows, and those of each level. */
export interface RowCounts {
  readonly rows: number;
  readonly levels: LevelCounts;
}

/**
 * What a build reads: all rows; the rows of some regions and keys, with the others copied from the basis; or nothing, since
 * nothing changed. A full build that the marks did not require checks them: outside the regions `unchangedExcept`, its
 * segments must be those of the basis.
 */
export type BuildPlan =
  | { readonly kind: 'full'; readonly basis: Basis | null; readonly unchangedExcept: readonly string[] | null }
  | { readonly kind: 'incremental'; readonly basis: Basis; readonly changes: Changes }
  | { readonly kind: 'keep'; readonly basis: Basis };

/** Codes of the errors of a basis that is missing or damaged. */
export const unusableBasis: readonly ErrorCode[] = ['basis_unusable', 'segment_index_invalid'];

/** A full build without a comparison. */
export const noBasis: Extract<BuildPlan, { kind: 'full' }> = { kind: 'full', basis: null, unchangedExcept: null };

/** A planned build with SQL's row counts. Patched segments count as in the basis: which keys had rows is not known yet. */
export interface PlannedBuild extends ArtefactName, RowCounts {
  readonly plan: BuildPlan;
}
