import { findCache, formatArtefact, type ArtefactName } from '../../pipelines/caches/definition.ts';
import { makeManifest, type Manifest } from '../../pipelines/caches/format/manifest.ts';
import { listPublications } from '../../pipelines/caches/night/publications.ts';
import type { Publication, PublishedVersion } from '../../pipelines/caches/artefact-facts.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { adviceOn } from '../http/error-advice.ts';
import { pageOf } from '../http/paging.ts';
export type { Manifest };

/** An artefact in the list: what readers are given, or why they are given nothing. */
export interface ListedArtefact {
  readonly cache: string;
  readonly country: string;
  readonly title: string;
  readonly status: 'fresh' | 'stale';
  readonly stale: StaleFacts | null;
  readonly version: number | null;
  readonly rows: number | null;
  readonly bytes: number | null;
  readonly confirmedAsOf: Date | null;
  readonly publishedAt: Date | null;
  readonly deltas: number;
}

/** Why readers are given an old version, since when, and what to do about it. */
export interface StaleFacts {
  readonly code: string;
  readonly reason: string;
  readonly since: Date;
  readonly advice: string | null;
}

/** An artefact with its manifest; null while nothing was published. */
export interface ArtefactDetail extends ListedArtefact {
  readonly manifest: Manifest | null;
}

/** A version as the history of sizes shows it. */
export interface ArtefactVersion {
  readonly version: number;
  readonly runId: number;
  readonly asOf: Date;
  readonly publishedAt: Date;
  readonly rows: number;
  readonly bytes: number;
  readonly plainBytes: number;
  readonly sha256: string;
  /** What leads here from the version before; null where there is no delta. */
  readonly delta: {
    readonly bytes: number;
    readonly added: number;
    readonly changed: number;
    readonly removed: number;
  } | null;
}

/** Every artefact that a night was to build, by cache and country: some 250 countries a cache at most, so all at once. */
export async function listArtefacts(db: Queryable): Promise<ListedArtefact[]> {
  return (await listPublications(db)).map(listed);
}

/**
 * One artefact with its manifest.
 * @throws ServiceError `artefact_not_found`
 */
export async function readArtefact(db: Queryable, name: ArtefactName): Promise<ArtefactDetail> {
  const publication = await findPublication(db, name);
  const { published } = publication;
  return { ...listed(publication), manifest: published === null ? null : makeManifest({ ...publication, published }) };
}

/**
 * The version of an artefact that readers are given.
 * @throws ServiceError `artefact_not_found` also if nothing was published yet
 */
export async function readPublished(db: Queryable, name: ArtefactName): Promise<PublishedVersion> {
  const { published } = await findPublication(db, name);
  if (published === null) throw notFound(name);
  return published;
}

async function findPublication(db: Queryable, name: ArtefactName): Promise<Publication> {
  const found = (await listPublications(db)).find(
    ({ cache, country }) => cache === name.cache && country === name.country,
  );
  if (found === undefined) throw notFound(name);
  return found;
}

function notFound(name: ArtefactName): ServiceError {
  return new ServiceError('artefact_not_found', {
    operation: 'find artefact',
    object: formatArtefact(name),
    hint: 'Run a night, which builds it.',
  });
}

function listed({ cache, country, status, stale, published, confirmedAsOf }: Publication): ListedArtefact {
  return {
    cache,
    country,
    title: findCache(cache).title,
    status,
    stale: stale && { ...stale, advice: adviceOn(stale.code) },
    version: published?.version ?? null,
    rows: published?.rows ?? null,
    bytes: published?.file.bytes ?? null,
    confirmedAsOf,
    publishedAt: published?.publishedAt ?? null,
    deltas: published?.deltas.length ?? 0,
  };
}

/** A part of the versions of an artefact, newest first, and the version before which older ones are. */
export async function listArtefactVersions(
  db: Queryable,
  { cache, country }: ArtefactName,
  { before = null, limit }: { readonly before?: number | null; readonly limit: number },
): Promise<{ versions: readonly ArtefactVersion[]; next: string | null }> {
  const rows = await queryRows<ArtefactVersion>(db, sql('console/list_artefact_versions'), [
    cache,
    country,
    before,
    limit + 1,
  ]);
  const page = pageOf(rows, limit, ({ version }) => version);
  return { versions: page.rows, next: page.next };
}
