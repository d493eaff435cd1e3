import { categoriesVersion } from '../../pipelines/caches/artefact-facts.ts';
import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';

/** The published category ids, as they are served. */
export interface CategoryList {
  readonly categoriesVersion: number;
  readonly categories: readonly Category[];
}

/** One category: an id that never changes its meaning. */
export interface Category {
  readonly id: number;
  readonly name: string;
  readonly level: 'SPAM' | 'FRAUD';
}

/** Reads the published categories, by id. */
export async function readCategories(db: Queryable): Promise<CategoryList> {
  return {
    categoriesVersion,
    categories: await queryRows<{ id: number; name: string; level: Category['level'] }>(db, sql('api/list_categories')),
  };
}
