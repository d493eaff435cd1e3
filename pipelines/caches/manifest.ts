import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { findCache, type CacheName, type Column } from './definition.ts';
import type { StoredDelta } from './delta-files.ts';
import { segmentColumns } from './segment-index.ts';

/** Version of the manifest's own form. */
export const manifestSchema = 'caller-trust/manifest/1';

/** Version of the list of categories: rises when one is added. */
export const categoriesVersion = 1;

/** An artefact as the database knows it: the published version, if there is one, and its state. */
export interface Publication {
  readonly cache: CacheName;
  readonly country: string;
  readonly status: 'fresh' | 'stale';
  readonly stale: { readonly code: string; readonly reason: string; readonly since: Date } | null;
  /** Snapshot time of the last night whose rows gave exactly these bytes. */
  readonly confirmedAsOf: Date | null;
  readonly published: PublishedVersion | null;
  readonly previous: { readonly version: number; readonly plainSha256: string } | null;
}

/** The facts of one published version. Digests are SHA-256 in lower-case hex. */
export interface PublishedVersion {
  readonly version: number;
  readonly buildId: number;
  readonly asOf: Date;
  readonly builtAt: Date;
  readonly publishedAt: Date;
  readonly rows: number;
  readonly levels: LevelCounts;
  readonly categoriesVersion: number;
  readonly file: ArtefactFile;
  /** Null for a version from before there were segments. */
  readonly index: IndexFile | null;
  /** Those that lead to this version, newest first. */
  readonly deltas: readonly StoredDelta[];
}

/** The stored segment index of a version. */
export interface IndexFile {
  readonly sha256: string;
  readonly bytes: number;
  readonly segments: number;
}

/** The bytes of a version: as stored (gzip) and after decompression (plain). */
export interface ArtefactFile {
  readonly sha256: string;
  readonly bytes: number;
  readonly plainSha256: string;
  readonly plainBytes: number;
}

/** Rows a reputation level. A cache without reputation has none. */
export type LevelCounts = Partial<Record<'NEUTRAL' | 'SPAM' | 'FRAUD', number>>;

/** The manifest as it is served, PRODUCT's field names. Times are ISO 8601 in UTC. */
export interface Manifest {
  readonly schema: string;
  readonly cache: string;
  readonly country: string | null;
  readonly version: number;
  readonly buildId: number;
  readonly asOf: string;
  readonly confirmedAsOf: string;
  readonly builtAt: string;
  readonly publishedAt: string;
  readonly rows: number;
  readonly levels: LevelCounts;
  readonly columns: readonly Column[];
  readonly order: string;
  readonly notice: string | null;
  readonly categoriesVersion: number;
  readonly file: { readonly href: string; readonly mediaType: string } & ArtefactFile;
  readonly previous: { readonly version: number; readonly plainSha256: string } | null;
  readonly deltas: readonly ManifestDelta[];
  readonly index: ManifestIndex | null;
  readonly status: 'fresh' | 'stale';
  readonly stale: { readonly code: string; readonly reason: string; readonly since: string } | null;
}

/** A delta in a manifest: it makes the file of the manifest from that of version `from`. */
export interface ManifestDelta extends StoredDelta {
  readonly href: string;
}

/** The segment index in a manifest. */
export interface ManifestIndex extends IndexFile {
  readonly href: string;
  readonly mediaType: string;
  readonly columns: readonly string[];
}

interface PublicationRow {
  cache: string;
  country: string;
  version: number | null;
  status: 'fresh' | 'stale';
  stale_code: string | null;
  stale_reason: string;
  stale_since: Date;
  confirmed_as_of: Date | null;
  build_id: number;
  as_of: Date;
  built_at: Date;
  published_at: Date;
  rows: number;
  levels: LevelCounts;
  categories_version: number;
  file_sha256: string;
  file_bytes: number;
  plain_sha256: string;
  plain_bytes: number;
  index_sha256: string | null;
  index_bytes: number;
  segments: number;
  deltas: StoredDelta[];
  previous_version: number | null;
  previous_plain_sha256: string;
}

/** Every artefact that was built or tried, by cache and country. Needs the reading role only. */
export async function listPublications(db: Queryable): Promise<Publication[]> {
  const rows = await queryRows<PublicationRow>(db, sql('caches/list_publications'));
  return rows.map((row) => ({
    cache: findCache(row.cache).name,
    country: row.country,
    status: row.status,
    stale: row.stale_code === null ? null : { code: row.stale_code, reason: row.stale_reason, since: row.stale_since },
    confirmedAsOf: row.confirmed_as_of,
    published: row.version === null ? null : publishedVersion(row, row.version),
    previous: row.previous_version === null ? null : { version: row.previous_version, plainSha256: row.previous_plain_sha256 },
  }));
}

function publishedVersion(row: PublicationRow, version: number): PublishedVersion {
  return {
    version,
    buildId: row.build_id,
    asOf: row.as_of,
    builtAt: row.built_at,
    publishedAt: row.published_at,
    rows: row.rows,
    levels: row.levels,
    categoriesVersion: row.categories_version,
    file: { sha256: row.file_sha256, bytes: row.file_bytes, plainSha256: row.plain_sha256, plainBytes: row.plain_bytes },
    index: row.index_sha256 === null ? null : { sha256: row.index_sha256, bytes: row.index_bytes, segments: row.segments },
    deltas: row.deltas,
  };
}

/** Path and query under which an artefact is downloaded. */
export function artefactHref({ cache, country }: { cache: string; country: string }): string {
  const { path, perCountry } = findCache(cache);
  return `/v1/caches/${path}${perCountry ? `?country=${country}` : ''}`;
}

/** Path and query of the delta from a version to the published one. */
export function deltaHref({ cache, country, from }: { cache: string; country: string; from: number }): string {
  const { path, perCountry } = findCache(cache);
  return `/v1/caches/${path}/delta?from=${from}${perCountry ? `&country=${country}` : ''}`;
}

/** Path and query of the segment index of an artefact. */
export function indexHref({ cache, country }: { cache: string; country: string }): string {
  const { path, perCountry } = findCache(cache);
  return `/v1/caches/${path}/index${perCountry ? `?country=${country}` : ''}`;
}

/** Media type of a segment index. */
export const indexMediaType = 'text/tab-separated-values';

/** The manifest of an artefact that has a published version. */
export function makeManifest(publication: Publication & { readonly published: PublishedVersion }): Manifest {
  const { cache, country, published, stale } = publication;
  const { index, deltas } = published;
  const { columns, notice } = findCache(cache);
  return {
    schema: manifestSchema,
    cache,
    country: country === '' ? null : country,
    version: published.version,
    buildId: published.buildId,
    asOf: published.asOf.toISOString(),
    confirmedAsOf: (publication.confirmedAsOf ?? published.asOf).toISOString(),
    builtAt: published.builtAt.toISOString(),
    publishedAt: published.publishedAt.toISOString(),
    rows: published.rows,
    levels: published.levels,
    columns,
    order: `${columns[0]!.name} ascending in byte order`,
    notice,
    categoriesVersion: published.categoriesVersion,
    file: { href: artefactHref(publication), mediaType: 'application/gzip', ...published.file },
    previous: publication.previous,
    deltas: deltas.map(({ from, sha256, bytes, ...counts }) => ({ from, href: deltaHref({ cache, country, from }), bytes, sha256, ...counts })),
    index: index === null ? null : { href: indexHref(publication), mediaType: indexMediaType, ...index, columns: segmentColumns },
    status: publication.status,
    stale: stale === null ? null : { code: stale.code, reason: stale.reason, since: stale.since.toISOString() },
  };
}
