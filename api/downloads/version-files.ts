import type { StoredName } from '../../pipelines/caches/store/stored-name.ts';
import { filterMediaType, indexMediaType } from '../../pipelines/caches/format/manifest.ts';
import type { FilterFile, IndexFile, PublishedVersion } from '../../pipelines/caches/artefact-facts.ts';
import type { StoredDelta } from '../../pipelines/caches/artefact-facts.ts';
import type { Representation } from './download-plan.ts';

/** A delta that leads to a version, or the segment index or filter of a version. Opened on request. */
export interface VersionFile {
  readonly stored: StoredName;
  readonly representation: Representation;
}

export interface VersionFiles {
  /** By the version that each starts from. */
  readonly deltas: ReadonlyMap<number, VersionFile>;
  readonly index: VersionFile | undefined;
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
  return {
    deltas: new Map(deltas.map((delta) => [delta.from, describeDeltaFile(version, delta, artefact)])),
    index: index === null ? undefined : describeIndexFile(version, index, artefact),
    filter: filter === null ? undefined : describeFilterFile(version, filter, artefact),
  };
}

function describeDeltaFile(
  version: ServedVersion,
  { from, sha256, bytes }: StoredDelta,
  artefact: Representation,
): VersionFile {
  const name = `v${from}-v${version.published.version}.delta.tsv.gz`;
  const described = describeVersionFile(
    { version, sha256, bytes, kind: 'delta', name, mediaType: 'application/gzip' },
    artefact,
  );
  const { representation } = described;
  return {
    ...described,
    representation: { ...representation, versionHeaders: { ...representation.versionHeaders, 'X-Cache-From': from } },
  };
}

function describeIndexFile(
  version: ServedVersion,
  { sha256, bytes }: IndexFile,
  artefact: Representation,
): VersionFile {
  return describeVersionFile(
    {
      version,
      sha256,
      bytes,
      kind: 'index',
      name: `v${version.published.version}.index.tsv`,
      mediaType: indexMediaType,
    },
    artefact,
  );
}

function describeFilterFile(
  version: ServedVersion,
  { sha256, bytes }: FilterFile,
  artefact: Representation,
): VersionFile {
  return describeVersionFile(
    {
      version,
      sha256,
      bytes,
      kind: 'filter',
      name: `v${version.published.version}.filter.bin`,
      mediaType: filterMediaType,
    },
    artefact,
  );
}

interface FileFacts {
  readonly version: ServedVersion;
  readonly sha256: string;
  readonly bytes: number;
  readonly kind: 'delta' | 'index' | 'filter';
  readonly name: string;
  readonly mediaType: string;
}

function describeVersionFile(
  { version: { cache, country }, sha256, bytes, kind, name, mediaType }: FileFacts,
  artefact: Representation,
): VersionFile {
  const etag = `"${sha256}"`;
  const { 'X-Cache-Rows': _rows, ...versionHeaders } = artefact.versionHeaders;
  return {
    stored: { cache, country, sha256, kind },
    representation: {
      ...artefact,
      size: bytes,
      etag,
      versionHeaders: { ...versionHeaders, ETag: etag },
      contentHeaders: {
        'Content-Type': mediaType,
        'Content-Disposition': `attachment; filename="${[cache, country, name].filter((part) => part !== '').join('-')}"`,
        'Repr-Digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
        'Accept-Ranges': 'bytes',
      },
    },
  };
}
