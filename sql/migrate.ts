import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientBase } from 'pg';
import { errorMessageOf, ServiceError } from '../runtime/errors.ts';
import { sqlStateOf } from '../runtime/postgres.ts';
import { sql, sqlDirectory } from './sql.ts';
import { sha256Of } from '../runtime/digest.ts';

/** PostgreSQL 15 brought UNIQUE NULLS NOT DISTINCT, which keeps a complaint from being stored twice. */
const serverVersionMin = 150_000;

const lockKey = 7_224_201; // any constant: one migration at a time in a database

interface Migration {
  readonly number: number;
  readonly name: string;
}

/** The migrations of this version in order, from the file names `NNNN_purpose.sql`. */
export function listMigrations(): Migration[] {
  return readdirSync(join(sqlDirectory, 'migrations'))
    .filter((file) => /^\d{4}_\w+\.sql$/.test(file))
    .sort()
    .map((file) => ({ number: Number(file.slice(0, 4)), name: file.slice(0, -'.sql'.length) }));
}

/**
 * Applies the migrations that a database lacks, each in a transaction of its own, and returns their names.
 * Safe to call from several processes at once.
 * @throws ServiceError `database_unsuitable` if the server is too old or a migration that was applied has changed since.
 */
export async function migrate(client: ClientBase): Promise<string[]> {
  await requireServerVersion(client);
  await client.query('SELECT pg_advisory_lock($1)', [lockKey]);
  try {
    await client.query(sql('migrations/create_ledger'));
    const applied = await readLedger(client);
    const done: string[] = [];
    for (const migration of listMigrations()) {
      const text = sql(`migrations/${migration.name}`);
      const digest = sha256Of(text);
      const before = applied.get(migration.number);
      if (before === undefined) {
        await apply(client, migration, text, digest);
        done.push(migration.name);
      } else if (before !== digest) {
        throw new ServiceError('database_unsuitable', {
          operation: 'migrate',
          object: migration.name,
          problem: 'This migration was applied with another text.',
          hint: 'Run the version of the service that made this database, or a newer one.',
        });
      }
    }
    return done;
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [lockKey]);
  }
}

/**
 * Checks that a database has every migration of this version.
 * @throws ServiceError `database_unsuitable` if it lacks one.
 */
export async function requireMigrated(client: Pick<ClientBase, 'query'>): Promise<void> {
  const { rows } = await client.query<{ ledger: string | null }>(
    "SELECT to_regclass('schema_migration')::text AS ledger",
  );
  const applied = rows[0]?.ledger === null ? new Map<number, string>() : await readLedger(client);
  const missing = listMigrations().filter(({ number }) => !applied.has(number));
  if (missing.length > 0) {
    throw new ServiceError('database_unsuitable', {
      operation: 'check schema',
      problem: `The database lacks ${missing.map(({ name }) => name).join(', ')}.`,
      hint: 'Run `caller-trust migrate`.',
    });
  }
}

async function requireServerVersion(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ server_version_num: string }>('SHOW server_version_num');
  const version = Number(rows[0]?.server_version_num);
  if (version < serverVersionMin) {
    throw new ServiceError('database_unsuitable', {
      operation: 'migrate',
      problem: `PostgreSQL ${Math.floor(version / 10_000)} is too old.`,
      hint: 'Version 15 or later is needed.',
    });
  }
}

async function readLedger(client: Pick<ClientBase, 'query'>): Promise<Map<number, string>> {
  const { rows } = await client.query<{ number: number; sha256: string }>(
    'SELECT number, sha256 FROM schema_migration',
  );
  return new Map(rows.map(({ number, sha256 }) => [number, sha256]));
}

async function apply(client: ClientBase, { number, name }: Migration, text: string, digest: string): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(text);
    await client.query('INSERT INTO schema_migration (number, name, sha256) VALUES ($1, $2, $3)', [
      number,
      name,
      digest,
    ]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw sqlStateOf(error) === insufficientPrivilege ? lacksPrivilege(name, error) : error;
  }
}

const insufficientPrivilege = '42501';

function lacksPrivilege(name: string, cause: unknown): ServiceError {
  return new ServiceError('database_unsuitable', {
    operation: 'migrate',
    object: name,
    problem: `The login of DATABASE_URL may not do this: ${errorMessageOf(cause)}.`,
    hint: 'It must own the database, and needs CREATEROLE unless an administrator has run `CREATE ROLE caller_trust_reader NOLOGIN` and granted it to the login.',
    cause,
  });
}
