import type { StoredName } from '../../pipelines/caches/store/stored-name.ts';
import { filterMediaType, indexMediaType } from '../../pipelines/caches/manifest.ts';
import type { PublishedVersion } from '../../pipelines/caches/artefact-facts.ts';
import type { Representation } from './download-plan.ts';

/** A delta that leads to a version, or the segment index or filter of a version. Opened on request. */
export interface VersionFile {
  readonly stored: StoredName;
  readonly representation: Representation;
}

export interface VersionFiles {
  /** By the version that each starts from. */
  readonly deltas: ReadonlyMap<number, VersionFile>;
  readonly index: VersionFile;
  readonly filter: VersionFile | undefined;
}

interface ServedVersion {
  readonly cache: string;
  readonly country: string;
  readonly published: PublishedVersion;
}

/** Facts and headers of a version's deltas, index and filter; what they share with the artefact comes from its representation. */
export function describeVersionFiles(version: ServedVersion, artefact: Representation): VersionFiles {
  const { deltas, index, filter } = version.published;
  const describe = (facts: FileFacts) => describeVersionFile(version, facts, artefact);
  return {
    deltas: new Map(deltas.map((delta) => [delta.from, describe({ ...delta, kind: 'delta' })])),
    index: describe({ ...index, kind: 'index' }),
    filter: filter === null ? undefined : describe({ ...filter, kind: 'filter' }),
  };
}

/**
 * The file of each kind of an artefact: how a download is named after its version, what it is, and whether the date of the version
 * says which bytes it has: a night makes the filter of a version again with another FILTER_BITS.
 */
const fileKinds = {
  delta: { ending: 'delta.tsv.gz', mediaType: 'application/gzip', isDated: true },
  index: { ending: 'index.tsv', mediaType: indexMediaType, isDated: true },
  filter: { ending: 'filter.bin', mediaType: filterMediaType, isDated: false },
} as const;

interface FileFacts {
  readonly sha256: string;
  readonly bytes: number;
  readonly kind: keyof typeof fileKinds;
  /** The version that a delta starts from. */
  readonly from?: number;
}

function describeVersionFile(
  { cache, country, published: { version } }: ServedVersion,
  { sha256, bytes, kind, from }: FileFacts,
  artefact: Representation,
): VersionFile {
  const { ending, mediaType, isDated } = fileKinds[kind];
  const name = `${from === undefined ? '' : `v${from}-`}v${version}.${ending}`;
  const etag = `"${sha256}"`;
  const { 'X-Cache-Rows': _rows, 'Last-Modified': date, ...versionHeaders } = artefact.versionHeaders;
  return {
    stored: { cache, country, sha256, kind },
    representation: {
      ...artefact,
      size: bytes,
      etag,
      lastModified: isDated ? artefact.lastModified : undefined,
      versionHeaders: {
        ...versionHeaders,
        ETag: etag,
        ...(isDated && date !== undefined ? { 'Last-Modified': date } : {}),
        ...(from === undefined ? {} : { 'X-Cache-From': from }),
      },
      contentHeaders: {
        'Content-Type': mediaType,
        'Content-Disposition': `attachment; filename="${[cache, country, name].filter((part) => part !== '').join('-')}"`,
        'Repr-Digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
        'Accept-Ranges': 'bytes',
      },
    },
  };
}
