import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientBase } from 'pg';
import { errorMessageOf, ServiceError } from '../runtime/errors.ts';
import { queryRow, queryRows, sqlStateOf, type Queryable } from '../runtime/postgres.ts';
import { sql, sqlDirectory } from './sql.ts';
import { sha256Of } from '../runtime/digest.ts';

/** PostgreSQL 15 brought UNIQUE NULLS NOT DISTINCT, which keeps a complaint from being stored twice. */
const serverVersionMin = 150_000;

const lockKey = 7_224_201; // any constant: one migration at a time in a database

/** A step to a newer schema. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly text: string;
}

let migrations: readonly Migration[] | undefined;

/** The migrations of this version in order, from the file names `NNNN_purpose.sql`; those at the start of the process. */
export function listMigrations(): readonly Migration[] {
  return (migrations ??= readdirSync(join(sqlDirectory, 'migrations'))
    .filter((file) => /^\d{4}_\w+\.sql$/.test(file))
    .sort()
    .map((file) => file.slice(0, -'.sql'.length))
    .map((name) => ({ number: Number(name.slice(0, 4)), name, text: sql(`migrations/${name}`) })));
}

/**
 * Applies the migrations that a database lacks, each in a transaction of its own, and returns their names. The roles of the API and
 * of the intake and their privileges are made again if they are missing.
 * Safe to call from several processes at once.
 * @throws ServiceError `database_unsuitable` if the server is too old, the encoding is not UTF8, or a migration that was applied
 * has changed since; `database_too_new`
 */
export async function migrate(client: ClientBase, known = listMigrations()): Promise<string[]> {
  await requireServerVersion(client);
  await requireUnicode(client);
  return withMigrationLock(client, async () => {
    await client.query(sql('migrations/create_ledger'));
    const applied = await readLedger(client);
    requireCompatible(applied.values(), known);
    await runForReader(client, sql('access/make_reader'));
    await client.query(sql('access/make_submitter'));
    const done: string[] = [];
    for (const migration of known) {
      const before = applied.get(migration.number);
      if (before === undefined) {
        await apply(client, migration);
        done.push(migration.name);
      } else if (before.sha256 !== sha256Of(migration.text)) {
        throw new ServiceError('database_unsuitable', {
          operation: 'migrate',
          object: migration.name,
          problem: 'This migration was applied with another text.',
          hint: 'Run the version of the service that made this database, or a newer one.',
        });
      }
    }
    await runForReader(client, sql('access/grant_reader'));
    await client.query(sql('access/grant_submitter'));
    return done;
  });
}

/** Does something that changes the schema or its privileges while no other process does so in the same database. */
export async function withMigrationLock<Result>(client: ClientBase, work: () => Promise<Result>): Promise<Result> {
  await client.query('SELECT pg_advisory_lock($1)', [lockKey]);
  try {
    return await work();
  } finally {
    await client.query('SELECT pg_advisory_unlock($1)', [lockKey]);
  }
}

/**
 * Checks that this version can run on a database.
 * @throws ServiceError `database_unsuitable` if it lacks a migration, `database_too_new`
 */
export async function requireMigrated(client: Queryable, known = listMigrations()): Promise<void> {
  const row = await queryRow<{ ledger: string | null }>(
    client,
    "SELECT to_regclass('schema_migration')::text AS ledger",
  );
  const applied = row!.ledger === null ? new Map<number, AppliedMigration>() : await readLedger(client);
  const missing = known.filter(({ number }) => !applied.has(number));
  if (missing.length > 0) {
    throw new ServiceError('database_unsuitable', {
      operation: 'check schema',
      problem: `The database lacks ${missing.map(({ name }) => name).join(', ')}.`,
      hint: 'Run `caller-trust migrate`.',
    });
  }
  requireCompatible(applied.values(), known);
}

/**
 * Checks that no later version has made the schema incompatible with this one, as long as a process runs.
 * @throws ServiceError `database_too_new`
 */
export async function requireCompatibleSchema(db: Queryable): Promise<void> {
  requireCompatible((await readLedger(db)).values(), listMigrations());
}

function requireCompatible(applied: Iterable<AppliedMigration>, known: readonly Migration[]): void {
  const numbers = new Set(known.map(({ number }) => number));
  const later = [...applied].filter(({ number, compatible }) => !numbers.has(number) && !compatible);
  if (later.length === 0) return;
  throw new ServiceError('database_too_new', {
    operation: 'check schema',
    object: later.map(({ name }) => name).join(', '),
    hint: 'Run the later version, or restore the backup of the database from before it.',
  });
}

/** Makes the role of the API and its privileges if they are missing, as after a restore. */
async function runForReader(client: ClientBase, statement: string): Promise<void> {
  try {
    await client.query(statement);
  } catch (error) {
    throw sqlStateOf(error) === insufficientPrivilege ? lacksPrivilege('caller_trust_reader', error) : error;
  }
}

/** What the first line of a migration says about processes of older versions. */
function isCompatible(text: string): boolean {
  return /^-- Compatible with older workers: yes\b/.test(text);
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

/** Texts of every script are stored, and artefacts are UTF-8. */
async function requireUnicode(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ server_encoding: string }>('SHOW server_encoding');
  const encoding = rows[0]!.server_encoding;
  if (encoding === 'UTF8') return;
  throw new ServiceError('database_unsuitable', {
    operation: 'migrate',
    problem: `The database has the encoding ${encoding}.`,
    hint: "Create it with `CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0`.",
  });
}

interface AppliedMigration extends Omit<Migration, 'text'> {
  readonly sha256: string;
  readonly compatible: boolean;
}

async function readLedger(client: Queryable): Promise<Map<number, AppliedMigration>> {
  const rows = await queryRows<AppliedMigration>(client, sql('migrations/list_ledger'));
  return new Map(rows.map((row) => [row.number, row]));
}

async function apply(client: ClientBase, { number, name, text }: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(text);
    await client.query('INSERT INTO schema_migration (number, name, sha256, compatible) VALUES ($1, $2, $3, $4)', [
      number,
      name,
      sha256Of(text),
      isCompatible(text),
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
