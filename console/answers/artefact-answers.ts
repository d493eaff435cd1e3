import { findCache, formatArtefact, type ArtefactName } from '../../pipelines/caches/definition.ts';
import { makeManifest, type Manifest } from '../../pipelines/caches/manifest.ts';
import { listPublications } from '../../pipelines/caches/publications.ts';
import type { Publication, PublishedVersion } from '../../pipelines/caches/artefact-facts.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { adviceOn } from '../http/error-advice.ts';
import { pageOf } from '../http/paging.ts';
import type { Listed } from './json.ts';
export type { Manifest };

/** An artefact in the list: its published version, or why it has none. */
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

/** Why the published version is stale, since when, and what to do about it. */
interface StaleFacts {
  readonly code: string;
  readonly reason: string;
  readonly since: Date;
  readonly advice: string | null;
}

/** An artefact with its manifest; null before its first publication. */
export interface ArtefactDetail extends ListedArtefact {
  readonly manifest: Manifest | null;
}

/** A version in the history of sizes. */
export interface ArtefactVersion {
  readonly version: number;
  readonly runId: number;
  readonly asOf: Date;
  readonly publishedAt: Date;
  readonly rows: number;
  readonly bytes: number;
  readonly plainBytes: number;
  readonly sha256: string;
  /** The delta from the previous version; null if there is none. */
  readonly delta: {
    readonly bytes: number;
    readonly added: number;
    readonly changed: number;
    readonly removed: number;
  } | null;
}

/** Every artefact that any night has built, by cache and country. Not paged: at most about 250 countries a cache. */
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
 * The published version of an artefact.
 * @throws ServiceError `artefact_not_found`, also before its first publication
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

/** A page of the versions of an artefact, newest first, and the cursor of the next page. */
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

/** The last build of an artefact on a day. */
interface BuildDay {
  readonly day: string;
  readonly seconds: number | null;
  readonly rows: number | null;
  readonly bytes: number | null;
}

/** The builds of an artefact in the last 30 days, oldest first. */
export interface BuildTrend {
  readonly days: readonly BuildDay[];
}

const trendDays = 30;

/** Reads the {@link BuildTrend} of an artefact. */
export async function readBuildTrend(db: Queryable, { cache, country }: ArtefactName): Promise<BuildTrend> {
  const since = new Date(Date.now() - (trendDays - 1) * 86_400_000).toISOString().slice(0, 10);
  return { days: await queryRows<BuildDay>(db, sql('console/list_artefact_builds'), [cache, country, since]) };
}

/** Versions of an artefact, newest first. */
export type ArtefactVersionPage = Listed & { readonly versions: readonly ArtefactVersion[] };

/** The published artefacts. */
export type ListedArtefactPage = { readonly artefacts: readonly ListedArtefact[] };
