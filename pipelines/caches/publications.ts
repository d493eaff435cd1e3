import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { versionFacts, type Publication, type PublishedVersion, type VersionFacts } from './artefact-facts.ts';
import { findCache } from './definition.ts';

/** A published version as the database has it. */
type VersionRow = Omit<PublishedVersion, keyof VersionFacts> & { readonly facts: unknown };

/** All artefacts that were built or failed, by cache and country. Needs the reading role only. */
export async function listPublications(db: Queryable): Promise<Publication[]> {
  const rows = await queryRows<Omit<Publication, 'published'> & { readonly published: VersionRow | null }>(
    db,
    sql('caches/list_publications'),
  );
  return rows.map(({ published, ...publication }) => ({
    ...publication,
    cache: findCache(publication.cache).name,
    published: published && flatten(published),
  }));
}

function flatten({ facts, ...version }: VersionRow): PublishedVersion {
  return { ...version, ...versionFacts.parse(facts) };
}
