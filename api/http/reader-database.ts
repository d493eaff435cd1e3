import type { Config } from '../../runtime/config.ts';
import { ServiceError } from '../../runtime/errors.ts';
import {
  createPool,
  queryRow,
  queryRows,
  withPoolClient,
  type Pool,
  type PoolClient,
  type Queryable,
} from '../../runtime/postgres.ts';
import { resolveDatabase } from '../../runtime/services.ts';
import { sql } from '../../sql/sql.ts';

/** The role of migration 0005 that may read what the API serves, and nothing else. */
const readerRole = 'caller_trust_reader';

/** Polls of keys and publications, and one to spare. */
const pollConnectionsMax = 3;

/** Requests have connections of their own, so that they never hold up the polls that keep caches and keys current. */
const requestConnectionsMax = 8;

/** A database that does not answer a statement of a poll for this long counts as away. */
const pollStatementMsMax = 10_000;

/** A statement of a request is ended by the server after this time. A page of 500 numbers takes milliseconds. */
const requestStatementMsMax = 5000;

/** How much longer the end of a statement by the server may take to arrive. */
const networkMsMax = 1000;

/** A database that was opened with a role that can only read. */
export interface ReaderDatabase {
  /** For the polls. */
  readonly db: Queryable;
  /**
   * Runs statements of one request on a connection.
   * @throws ServiceError `database_unavailable`, `database_unsuitable`; and whatever `work` throws.
   */
  readForRequest<Result>(work: (db: Queryable) => Promise<Result>): Promise<Result>;
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
  const open = (applicationName: string, connectionsMax: number) =>
    createPool({ url, readOnlyRole, applicationName, connectionsMax, onIdleError: () => {} }); // the next statement meets the error
  const polls = open('caller-trust api', pollConnectionsMax);
  const requests = open('caller-trust api requests', requestConnectionsMax);
  const db = withTimeLimit(polls, pollStatementMsMax);
  const close = async () => void (await Promise.all([polls.end(), requests.end()]));
  try {
    await requireReadOnly(db);
    return { db, readForRequest: makeRequestReader(requests), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Requests share the connections of a pool; the limit of time is set once on each of them. */
function makeRequestReader(pool: Pool): ReaderDatabase['readForRequest'] {
  const limited = new WeakSet<PoolClient>();
  const limit = async (client: PoolClient, db: Queryable) => {
    if (limited.has(client)) return;
    await queryRows(db, sql('api/limit_statements'), [String(requestStatementMsMax)]);
    limited.add(client);
  };
  return async (work) => {
    let connected = false;
    try {
      return await withPoolClient(pool, async (client, discard) => {
        connected = true;
        const db = withFailures(withTimeLimit(client, requestStatementMsMax + networkMsMax), discard);
        await limit(client, db);
        return work(db);
      });
    } catch (error) {
      throw connected ? error : describeReadFailure(error);
    }
  };
}

/** Statements whose failures are of the closed list. A connection on which one failed is not used again: an answer may still be on its way. */
function withFailures(db: Queryable, discard: () => void): Queryable {
  const query = async (text: string, values: unknown[]) => {
    try {
      return await db.query(text, values);
    } catch (error) {
      discard();
      throw describeReadFailure(error);
    }
  };
  return { query } as unknown as Queryable; // queryRows uses this form of the overloads only
}

async function requireReadOnly(db: Queryable): Promise<void> {
  const row = await queryRow<{ migrated: boolean }>(db, sql('api/is_migrated'));
  const privileges = await queryRows<{ privilege: string }>(db, sql('api/find_write_privileges'));
  if (privileges.length > 0) {
    throw new ServiceError('database_role_writes', {
      operation: 'open the database',
      problem: `The role of the API may ${privileges
        .slice(0, 3)
        .map(({ privilege }) => privilege)
        .join(', ')}${privileges.length > 3 ? ' and more' : ''}.`,
      hint: `Give API_DATABASE_URL a login that has only the role ${readerRole}.`,
    });
  }
  if (row?.migrated !== true)
    throw new ServiceError('database_unsuitable', {
      operation: 'open the database',
      problem: 'The schema is not there yet.',
      hint: 'Run `caller-trust migrate`.',
    });
}

/** Statements that are given up after a time: a server behind a cut network would be waited for a quarter of an hour. */
function withTimeLimit(db: Queryable, statementMsMax: number): Queryable {
  const limited = (text: string, values: unknown[]) => ({ text, values, query_timeout: statementMsMax }); // the driver's types lack query_timeout
  return { query: (text: string, values: unknown[]) => db.query(limited(text, values)) } as unknown as Queryable; // queryRows uses this form of the overloads only
}

/** Classes of SQLSTATE (PostgreSQL's appendix A) that say that the server is away, full, ends the statement, or does not let us in. */
const awayClasses: ReadonlySet<string> = new Set(['08', '28', '3D', '53', '57', '58']);

/** An undefined table, column or function, or a privilege that is missing. */
const unsuitableStates: ReadonlySet<string> = new Set(['42P01', '42703', '42883', '42501']);

/**
 * What a thrown error of a statement or a connection means to a request: `database_unavailable` or `database_unsuitable`
 * (503 both), or the error itself where the statement is wrong, which is a fault of ours.
 */
export function describeReadFailure(error: unknown): unknown {
  const state = sqlStateOfServer(error);
  const operation = 'read for a request';
  if (state === undefined || awayClasses.has(state.slice(0, 2)))
    return new ServiceError('database_unavailable', { operation, cause: error });
  return unsuitableStates.has(state) ? new ServiceError('database_unsuitable', { operation, cause: error }) : error;
}

/** The SQLSTATE of an error that the server sent. A code of a socket, such as EPIPE, is none: only the server names a severity. */
function sqlStateOfServer(error: unknown): string | undefined {
  return error instanceof Error && 'severity' in error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}
