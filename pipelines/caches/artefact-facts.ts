import { z } from 'zod';
import type { CacheName } from './definition.ts';

/** Version of the list of categories: rises when one is added. */
export const categoriesVersion = 1;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().min(0);
/** A stored file. Digests are SHA-256 in lower-case hex. */
const storedFile = { sha256, bytes: count };

/**
 * The facts of a version, as its build records them and its publication copies them (`facts` of build and artefact_version). A new
 * fact is a field here and what makes it; SQL reads only the digest of the text and the number of rows.
 */
export const versionFacts = z.strictObject({
  rows: count,
  levels: z.strictObject({ NEUTRAL: count.optional(), SPAM: count.optional(), FRAUD: count.optional() }),
  categoriesVersion: count,
  /** As stored (gzip) and after decompression (plain). */
  file: z.strictObject({ ...storedFile, plainBytes: count, plainSha256: sha256 }),
  index: z.strictObject({
    ...storedFile,
    segments: count,
    blockBytesMax: count,
    directory: z.strictObject({ offset: count, bytes: count, sha256 }),
  }),
  /** Null in caches without a filter, and where it could not be made. */
  filter: z.strictObject({ ...storedFile, bits: z.union([z.literal(8), z.literal(16)]) }).nullable(),
  /** Those that lead to this version, newest first. */
  deltas: z.array(z.strictObject({ from: count, ...storedFile, added: count, changed: count, removed: count })),
});

export type VersionFacts = Readonly<z.infer<typeof versionFacts>>;

/** The bytes of a version. */
export type ArtefactFile = VersionFacts['file'];
/** The stored filter of a version's keys (docs/filters.md). */
export type FilterFile = NonNullable<VersionFacts['filter']>;
/** A stored delta from an earlier version. */
export type StoredDelta = VersionFacts['deltas'][number];

/** A published version. */
export interface PublishedVersion extends VersionFacts {
  readonly version: number;
  readonly buildId: number;
  readonly asOf: Date;
  readonly builtAt: Date;
  readonly publishedAt: Date;
}

/** An artefact in the database: its published version, if there is one, and its state. */
export interface Publication {
  readonly cache: CacheName;
  readonly country: string;
  readonly status: 'fresh' | 'stale';
  readonly stale: { readonly code: string; readonly reason: string; readonly since: Date } | null;
  /** Snapshot time of the last night that gave exactly these bytes. */
  readonly confirmedAsOf: Date | null;
  readonly published: PublishedVersion | null;
  readonly previous: { readonly version: number; readonly plainSha256: string } | null;
}
