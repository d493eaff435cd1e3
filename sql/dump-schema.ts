import type { ClientBase } from 'pg';
import { queryRows } from '../runtime/postgres.ts';
import { sql } from './sql.ts';

/** One object of the schema: its kind, its name, and its definition in SQL or close to it. */
interface SchemaObject {
  readonly kind: string;
  readonly name: string;
  readonly definition: string;
}

/**
 * The schema of the service as text, in an order that does not depend on how it was made: every domain, table with its
 * columns, constraint, index, view, function, trigger and grant. `sql/schema.sql` holds it for readers and reviews, and a test
 * compares the two.
 */
export async function dumpSchema(client: ClientBase): Promise<string> {
  const objects = await queryRows<SchemaObject>(client, sql('describe_schema'));
  const parts = objects.map(({ kind, name, definition }) => `-- ${kind} ${name}\n${definition};\n`);
  return `-- The schema that the migrations make. Written by \`caller-trust migrate --dump\`; a test compares it.\n\n${parts.join('\n')}`;
}
