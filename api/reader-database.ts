import type { Config } from '../runtime/config.ts';
import { ServiceError } from '../runtime/errors.ts';
import { createPool, queryRow, queryRows, type Pool, type Queryable } from '../runtime/postgres.ts';
import { resolveDatabase } from '../runtime/services.ts';
import { sql } from '../sql/sql.ts';

/** The role of migration 0005 that may read what the API serves, and nothing else. */
const readerRole = 'caller_trust_reader';

/** Polls of keys and publications, and one to spare. */
const connectionsMax = 3;

/** A database that does not answer a statement for this long counts as away. */
const statementMsMax = 10_000;

/** A database that was opened with a role that can only read. */
export interface ReaderDatabase {
  readonly db: Queryable;
  close(): Promise<void>;
}

/** Where the API reads, and with which role. `release` gives an embedded database back. */
export interface ReaderAddress {
  readonly url: string;
  readonly readOnlyRole?: string;
  release(): Promise<void>;
}

/**
 * API_DATABASE_URL, else the reading login of the embedded cluster, which is started if need be, else DATABASE_URL
 * under the reading role.
 * @throws ServiceError `database_unavailable`
 */
export async function resolveReader(config: Config): Promise<ReaderAddress> {
  if (config.apiDatabaseUrl !== undefined) return { url: config.apiDatabaseUrl, release: async () => {} };
  const { url, apiUrl, release } = await resolveDatabase(config);
  return apiUrl === undefined ? { url, readOnlyRole: readerRole, release } : { url: apiUrl, release };
}

/**
 * Opens a database for reading and checks that its role cannot write.
 * @throws ServiceError `database_role_writes` if it can, `database_unsuitable` if the schema is not there yet.
 */
export async function openReaderDatabase({ url, readOnlyRole }: ReaderAddress): Promise<ReaderDatabase> {
  const pool = createPool({ url, readOnlyRole, applicationName: 'caller-trust api', connectionsMax, onIdleError: () => {} }); // the next poll meets the error
  const db = withTimeLimit(pool);
  try {
    await requireReadOnly(db);
    return { db, close: () => pool.end() };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

async function requireReadOnly(db: Queryable): Promise<void> {
  const row = await queryRow<{ migrated: boolean }>(db, sql('api/is_migrated'));
  const privileges = await queryRows<{ privilege: string }>(db, sql('api/find_write_privileges'));
  if (privileges.length > 0) {
    throw new ServiceError('database_role_writes', {
      operation: 'open the database',
      problem: `The role of the API may ${privileges.slice(0, 3).map(({ privilege }) => privilege).join(', ')}${privileges.length > 3 ? ' and more' : ''}.`,
      hint: `Give API_DATABASE_URL a login that has only the role ${readerRole}.`,
    });
  }
  if (row?.migrated !== true) throw new ServiceError('database_unsuitable', { operation: 'open the database', problem: 'The schema is not there yet.', hint: 'Run `caller-trust migrate`.' });
}

/** Statements that end after {@link statementMsMax}: a server behind a cut network would be waited for a quarter of an hour. */
function withTimeLimit(pool: Pool): Queryable {
  const limited = (text: string, values: unknown[]) => ({ text, values, query_timeout: statementMsMax }); // the driver's types lack query_timeout
  return { query: (text: string, values: unknown[]) => pool.query(limited(text, values)) } as unknown as Queryable; // queryRows uses this form of the overloads only
}
