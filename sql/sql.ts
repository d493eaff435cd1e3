import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../runtime/package-root.ts';
import type { Statement } from '../runtime/postgres.ts';

const statements = new Map<string, string>();

/** The directory of the `.sql` files, the same from source and from dist. */
export const sqlDirectory = join(packageRoot, 'sql');

/**
 * The text of one statement of `sql/`, by its path without ending: `sql('caches/list_countries')`.
 * Files are read once.
 */
export function sql(name: string): string {
  let statement = statements.get(name);
  if (statement === undefined) {
    statement = readFileSync(join(sqlDirectory, `${name}.sql`), 'utf8');
    statements.set(name, statement);
  }
  return statement;
}

/**
 * The same statement, to be planned once for each connection instead of each time. For those that run often and whose best plan is
 * the same for all parameters: after five runs the server plans without them.
 */
export function prepared(name: string): Statement {
  return { name, text: sql(name) };
}

/**
 * A statement with its `:'name'` places filled by quoted literals. Only for COPY and DO, which take no parameters;
 * every other statement uses $1.
 * @throws Error if a place has no value.
 */
export function sqlWithLiterals(name: string, values: Record<string, string | null>): string {
  return sql(name).replace(/:'(\w+)'/g, (_place, key: string) => {
    const value = values[key];
    if (value === undefined) throw new Error(`sql/${name}.sql needs a value for :'${key}'`);
    return value === null ? 'NULL' : quoteLiteral(value);
  });
}

/** A string as an SQL literal; valid under either setting of standard_conforming_strings. */
export function quoteLiteral(value: string): string {
  const quoted = `'${value.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`;
  return value.includes('\\') ? ` E${quoted}` : quoted;
}
