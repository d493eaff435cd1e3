import type { DeltaCounts } from '../../format/artefact/delta-lines.ts';
import type { FingerprintBits } from '../../format/artefact/number-filter.ts';
import type { LevelCounts } from '../../format/artefact/levels.ts';
import type { CacheName } from './definition.ts';

/** Version of the list of categories: rises when one is added. */
export const categoriesVersion = 1;

/** An artefact in the database: its published version, if there is one, and its state. */
export interface Publication {
  readonly cache: CacheName;
  readonly country: string;
  readonly status: 'fresh' | 'stale';
  readonly stale: { readonly code: string; readonly reason: string; readonly since: Date } | null;
  /** Snapshot time of the last night that gave exactly these bytes. */
  readonly confirmedAsOf: Date | null;
  readonly published: PublishedVersion | null;
  readonly previous: { readonly version: number; readonly contentSha256: string | null } | null;
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
  /** Null for a version that was published before there were segments. */
  readonly index: IndexFile | null;
  /** Null in caches without one, and in a version for which none was made yet. */
  readonly filter: FilterFile | null;
  /** Those that lead to this version, newest first. */
  readonly deltas: readonly StoredDelta[];
}

/** The stored filter of a version's keys (docs/filters.md). */
export interface FilterFile {
  readonly sha256: string;
  readonly bytes: number;
  /** Of a fingerprint. */
  readonly bits: FingerprintBits;
}

/** The stored segment index of a version. */
export interface IndexFile {
  readonly sha256: string;
  readonly bytes: number;
  readonly segments: number;
}

/** The bytes of a version: as stored (gzip) and after decompression (plain). */
export interface ArtefactFile {
  readonly bytes: number;
  readonly sha256: string;
  readonly plainBytes: number;
  /** CRC-32 of the text in 8 hex digits, as at the end of the gzip file. Null in versions without a content digest. */
  readonly plainCrc32: string | null;
  /** Digest of the list of segments (content-digest.ts). Null in versions that were published before there was one. */
  readonly contentSha256: string | null;
  /** Rows of a segment at most, by which the text is cut for the content digest. */
  readonly segmentRowsMax: number | null;
  /** SHA-256 of the whole text; null unless all of it was read as one range. */
  readonly plainSha256: string | null;
}

/** What distinguishes texts. */
export type TextDigests = Pick<ArtefactFile, 'contentSha256' | 'plainSha256'>;

/** True if two texts are known to be the same. */
export function isSameText(a: TextDigests, b: TextDigests): boolean {
  return (
    (a.contentSha256 !== null && a.contentSha256 === b.contentSha256) ||
    (a.plainSha256 !== null && a.plainSha256 === b.plainSha256)
  );
}

/** A stored delta from an earlier version. */
export interface StoredDelta extends DeltaCounts {
  readonly from: number;
  readonly sha256: string;
  readonly bytes: number;
}
