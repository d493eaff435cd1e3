import { sql } from '../../../sql/sql.ts';
import { findCache, type CacheName } from '../definition.ts';
import { categoriesVersion } from '../artefact-facts.ts';
import { rowDeflateVersion, type BuildProfile } from './row-deflate.ts';
import { sha256Of } from '../../../runtime/digest.ts';

/** The settings that the bytes of an artefact depend on, besides its rows. */
export interface FormatSettings {
  readonly segmentRowsMax: number;
  readonly buildProfile: BuildProfile;
}

/** Rises when the code cuts or compresses differently. */
const layout = 2;

/**
 * Identifies all that the bytes of an artefact depend on besides the data: a digest of the selection of rows, and one of how
 * they are cut and compressed. A build copies segments of the published version only if both are equal.
 */
export function buildFormat(cache: CacheName, settings: FormatSettings): string {
  return `${contentFormat(cache)}-${digest([layout, settings.segmentRowsMax, settings.buildProfile, rowDeflateVersion])}`;
}

/** True if a format selects rows as the current one does, so that unchanged data means unchanged rows. */
export function sameContent(format: string | null, cache: CacheName): boolean {
  return format?.split('-')[0] === contentFormat(cache);
}

function contentFormat(cache: CacheName): string {
  const { columns, copyStatement, unbrandedCopyStatement } = findCache(cache);
  const statements = [copyStatement, ...(unbrandedCopyStatement === null ? [] : [unbrandedCopyStatement])];
  return digest([categoriesVersion, columns.map(({ name }) => name), ...statements.map(sql)]);
}

function digest(parts: readonly unknown[]): string {
  return sha256Of(JSON.stringify(parts)).slice(0, 16);
}
