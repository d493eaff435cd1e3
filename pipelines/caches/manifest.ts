import type { FilterFacts } from '../../format/artefact/number-filter.ts';
import { findCache, type Column } from './definition.ts';
import { pageColumns, segmentColumns } from '../../format/artefact/segment-index.ts';
import type { ArtefactFile, Publication, PublishedVersion, StoredDelta } from './artefact-facts.ts';
import type { LevelCounts } from '../phone/reputation-level.ts';

/** Version of the manifest's format. */
const manifestSchema = 'caller-trust/manifest/1';

/** The manifest as it is served. Times are ISO 8601 in UTC. */
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
  readonly index: ManifestIndex;
  readonly filter: ManifestFilter | null;
  readonly status: 'fresh' | 'stale';
  readonly stale: { readonly code: string; readonly reason: string; readonly since: string } | null;
}

/** A delta in a manifest, from version `from` to that of the manifest. */
interface ManifestDelta extends StoredDelta {
  readonly href: string;
}

/** The segment index in a manifest. */
type ManifestIndex = PublishedVersion['index'] & {
  readonly href: string;
  readonly mediaType: string;
  readonly columns: readonly string[];
  readonly directoryColumns: readonly string[];
};

/** The filter of the keys in a manifest. */
interface ManifestFilter {
  readonly href: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly keys: number;
  readonly keyType: FilterFacts['keyType'];
  readonly fingerprintBits: number;
  /** Share of other keys that are found. */
  readonly falsePositiveRate: number;
  /** Null without keys. */
  readonly bitsPerKey: number | null;
}

/** Path and query under which an artefact is downloaded. */
function artefactHref({ cache, country }: { cache: string; country: string }): string {
  const { path, perCountry } = findCache(cache);
  return `/v1/caches/${path}${perCountry ? `?country=${country}` : ''}`;
}

/** Path and query of the delta from a version to the published one. */
function deltaHref({ cache, country, from }: { cache: string; country: string; from: number }): string {
  const { path, perCountry } = findCache(cache);
  return `/v1/caches/${path}/delta?from=${from}${perCountry ? `&country=${country}` : ''}`;
}

/** Path and query of the segment index of an artefact. */
function indexHref({ cache, country }: { cache: string; country: string }): string {
  const { path, perCountry } = findCache(cache);
  return `/v1/caches/${path}/index${perCountry ? `?country=${country}` : ''}`;
}

/** Media type of a segment index. */
export const indexMediaType = 'text/tab-separated-values';

/** Media type of a filter. */
export const filterMediaType = 'application/octet-stream';

function describeFilter(
  cache: string,
  { filter, rows: keys }: Pick<PublishedVersion, 'filter' | 'rows'>,
): ManifestFilter | null {
  const { path, filterKeys: keyType } = findCache(cache);
  if (filter === null || keyType === null) return null;
  const { bytes, sha256, bits } = filter;
  return {
    href: `/v1/caches/${path}/filter`,
    mediaType: filterMediaType,
    bytes,
    sha256,
    keys,
    keyType,
    fingerprintBits: bits,
    falsePositiveRate: 2 ** -bits,
    bitsPerKey: keys === 0 ? null : Math.round((100 * 8 * bytes) / keys) / 100,
  };
}

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
    deltas: deltas.map(({ from, sha256, bytes, ...counts }) => ({
      from,
      href: deltaHref({ cache, country, from }),
      bytes,
      sha256,
      ...counts,
    })),
    index: {
      href: indexHref(publication),
      mediaType: indexMediaType,
      ...index,
      columns: segmentColumns,
      directoryColumns: pageColumns,
    },
    filter: describeFilter(cache, published),
    status: publication.status,
    stale: stale === null ? null : { code: stale.code, reason: stale.reason, since: stale.since.toISOString() },
  };
}
