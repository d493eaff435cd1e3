import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { Publication } from './artefact-facts.ts';
import { findCache } from './definition.ts';

/** All artefacts that were built or failed, by cache and country. Needs the reading role only. */
export async function listPublications(db: Queryable): Promise<Publication[]> {
  const publications = await queryRows<Publication>(db, sql('caches/list_publications'));
  return publications.map((publication) => ({ ...publication, cache: findCache(publication.cache).name }));
}
