import { type Queryable, queryRows } from '../../../runtime/postgres.ts';
import type { Publication, LevelCounts, StoredDelta, PublishedVersion } from '../artefact-facts.ts';
import { sql } from '../../../sql/sql.ts';
import { findCache } from '../definition.ts';

/** Every artefact that was built or tried, by cache and country. Needs the reading role only. */
export async function listPublications(db: Queryable): Promise<Publication[]> {
  const rows = await queryRows<PublicationRow>(db, sql('caches/list_publications'));
  return rows.map((row) => ({
    cache: findCache(row.cache).name,
    country: row.country,
    status: row.status,
    stale: row.staleCode === null ? null : { code: row.staleCode, reason: row.staleReason, since: row.staleSince },
    confirmedAsOf: row.confirmedAsOf,
    published: row.version === null ? null : publishedVersion(row, row.version),
    previous:
      row.previousVersion === null ? null : { version: row.previousVersion, plainSha256: row.previousPlainSha256 },
  }));
}

interface PublicationRow {
  cache: string;
  country: string;
  version: number | null;
  status: 'fresh' | 'stale';
  staleCode: string | null;
  staleReason: string;
  staleSince: Date;
  confirmedAsOf: Date | null;
  buildId: number;
  asOf: Date;
  builtAt: Date;
  publishedAt: Date;
  rows: number;
  levels: LevelCounts;
  categoriesVersion: number;
  fileSha256: string;
  fileBytes: number;
  plainSha256: string;
  plainBytes: number;
  indexSha256: string | null;
  indexBytes: number;
  segments: number;
  deltas: StoredDelta[];
  previousVersion: number | null;
  previousPlainSha256: string;
}

function publishedVersion(row: PublicationRow, version: number): PublishedVersion {
  return {
    version,
    buildId: row.buildId,
    asOf: row.asOf,
    builtAt: row.builtAt,
    publishedAt: row.publishedAt,
    rows: row.rows,
    levels: row.levels,
    categoriesVersion: row.categoriesVersion,
    file: { sha256: row.fileSha256, bytes: row.fileBytes, plainSha256: row.plainSha256, plainBytes: row.plainBytes },
    index: row.indexSha256 === null ? null : { sha256: row.indexSha256, bytes: row.indexBytes, segments: row.segments },
    deltas: row.deltas,
  };
}
