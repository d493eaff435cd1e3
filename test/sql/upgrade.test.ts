import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dumpSchema } from '../../sql/dump-schema.ts';
import { listMigrations, migrate } from '../../sql/migrate.ts';
import { sql, sqlDirectory } from '../../sql/sql.ts';
import { sha256Of } from '../../runtime/digest.ts';
import { useTestDatabase } from '../support/database.ts';
import { firstVersionRows } from './first-version-rows.ts';

const { db } = await useTestDatabase();

/** The last migration of the first version that had caches, branding, audio and the console. */
const firstVersion = 9;

type Row = Record<string, unknown>;

async function listTables(): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY relname",
  );
  return rows.map(({ name }) => name).filter((name) => name !== 'schema_migration');
}

async function readTable(table: string): Promise<Row[]> {
  const { rows } = await db.query<{ row: Row }>(`SELECT to_jsonb(t) AS row FROM ${table} AS t ORDER BY t::text`);
  return rows.map(({ row }) => row);
}

describe('an upgrade from the first version', () => {
  it('keeps every row of every table, and makes the newest schema', async () => {
    await db.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await db.query(sql('migrations/create_ledger'));
    for (const { number, name } of listMigrations().slice(0, firstVersion)) {
      await db.query(sql(`migrations/${name}`));
      await db.query('INSERT INTO schema_migration (number, name, sha256) VALUES ($1, $2, $3)', [
        number,
        name,
        sha256Of(sql(`migrations/${name}`)),
      ]);
    }
    await db.query(firstVersionRows);
    const before = new Map<string, Row[]>();
    for (const table of await listTables()) before.set(table, await readTable(table));
    expect([...before].filter(([, rows]) => rows.length === 0).map(([table]) => table)).toEqual([]);

    const client = await db.connect();
    try {
      await migrate(client);
      expect(await dumpSchema(client)).toBe(readFileSync(join(sqlDirectory, 'schema.sql'), 'utf8'));
    } finally {
      client.release(true);
    }

    for (const [table, rows] of before) {
      const now = await readTable(table);
      expect(now, table).toHaveLength(rows.length);
      expect(
        rows.filter((row) => !now.some((after) => isKept(row, after))),
        table,
      ).toEqual([]);
    }
  });
});

/** Every column of a row is there with its value; the upgrade may have added others. */
function isKept(row: Row, after: Row): boolean {
  return Object.entries(row).every(([column, value]) => JSON.stringify(after[column]) === JSON.stringify(value));
}
