import type { Config } from '../../runtime/config.ts';
import { isServiceError, ServiceError } from '../../runtime/errors.ts';
import {
  createPool,
  queryRow,
  queryRows,
  withPoolClient,
  type Pool,
  type PoolClient,
  type Queryable,
  type QueryConfig,
} from '../../runtime/postgres.ts';
import { resolveDatabase, type ResolvedDatabase } from '../../runtime/services/services.ts';
import { sql } from '../../sql/sql.ts';

/** The role of sql/access/make_reader.sql, which may only read what the API serves. */
const readerRole = 'caller_trust_reader';

/** Polls of keys and publications, and one spare. */
const pollConnectionsMax = 3;

/** Requests have separate connections, so that they never delay the polls. */
const requestConnectionsMax = 8;

/** A database that does not answer a poll within this time counts as unreachable. */
const pollStatementMsMax = 10_000;

/** The server cancels a statement of a request after this time. A page of 500 numbers takes milliseconds. */
const requestStatementMsMax = 5000;

/** Additional time for the cancellation to arrive. */
const networkMsMax = 1000;

/** A database opened with a read-only role. */
export interface ReaderDatabase {
  /** For the polls. */
  readonly db: Queryable;
  /**
   * Runs statements of one request on a connection.
   * @throws ServiceError `database_unavailable`, `database_unsuitable`; and what `work` throws.
   */
  readForRequest<Result>(work: (db: Queryable) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** The database address of the API and its role. `release` releases an embedded database. */
export interface ReaderAddress {
  readonly url: string;
  readonly readOnlyRole?: string;
  release(): Promise<void>;
}

/**
 * API_DATABASE_URL, else the read-only login of the embedded cluster, which is started if necessary, else DATABASE_URL
 * with the read-only role.
 * @throws ServiceError `database_unavailable`
 */
export async function resolveReader(config: Config): Promise<ReaderAddress> {
  if (config.apiDatabaseUrl !== undefined) return { url: config.apiDatabaseUrl, release: async () => {} };
  const database = await resolveDatabase(config);
  return { ...readerAddress(database), release: () => database.release() };
}

/** The address of the API for a database: its reading login, else the owner's with the role of the API. */
export function readerAddress({
  url,
  apiUrl,
}: Pick<ResolvedDatabase, 'url' | 'apiUrl'>): Pick<ReaderAddress, 'url' | 'readOnlyRole'> {
  return apiUrl === undefined ? { url, readOnlyRole: readerRole } : { url: apiUrl };
}

/**
 * Opens a database for reading and checks that its role cannot write.
 * @throws ServiceError `database_role_writes` if it can, `database_unsuitable` if the schema is not there yet.
 */
export async function openReaderDatabase({
  url,
  readOnlyRole,
}: Pick<ReaderAddress, 'url' | 'readOnlyRole'>): Promise<ReaderDatabase> {
  const open = (applicationName: string, connectionsMax: number) =>
    createPool({ url, readOnlyRole, applicationName, connectionsMax, onIdleError: () => {} }); // the next statement reports the error
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

/** Requests share the connections of a pool; the limits are set once on each connection. */
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
        const db = withMappedErrors(withTimeLimit(client, requestStatementMsMax + networkMsMax), discard);
        await limit(client, db);
        return work(db);
      });
    } catch (error) {
      throw connected ? error : describeReadFailure(error);
    }
  };
}

/** Maps failures of statements to the closed list. A connection with a failed statement is discarded: an answer may still arrive on it. */
function withMappedErrors(db: Queryable, discard: () => void): Queryable {
  const query = async (config: QueryConfig) => {
    try {
      return await db.query(config);
    } catch (error) {
      discard();
      throw describeReadFailure(error);
    }
  };
  return { query } as unknown as Queryable; // queryRows uses this form of the overloads only
}

async function requireReadOnly(db: Queryable): Promise<void> {
  const row = await queryRow<{ migrated: boolean }>(db, sql('api/is_migrated'));
  const privileges = await queryRows<{ privilege: string }>(db, sql('access/find_write_privileges'), [null, []]);
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

/** Statements with a timeout on the client: TCP gives up on a cut network only after about 15 minutes. */
function withTimeLimit(db: Queryable, statementMsMax: number): Queryable {
  const limited = (config: QueryConfig) => ({ ...config, query_timeout: statementMsMax }); // the driver's types lack query_timeout
  return { query: (config: QueryConfig) => db.query(limited(config)) } as unknown as Queryable; // queryRows uses this form of the overloads only
}

/** Why the database of the API is not read. */
export const databaseProblems = [
  'unreachable',
  'login_refused',
  'role_missing',
  'privilege_missing',
  'schema_missing',
] as const;

export type DatabaseProblem = (typeof databaseProblems)[number];

/** The problem of a failed connection or statement. */
export function databaseProblem(error: unknown): DatabaseProblem {
  if (isServiceError(error, 'database_unsuitable')) return 'schema_missing';
  switch (sqlStateOfServer(error)) {
    case '22023': // of the setting `role` at the start of a session
      return 'role_missing';
    case '28000':
    case '28P01':
    case '3D000':
      return 'login_refused';
    case '42501':
      return 'privilege_missing';
    case '42P01':
    case '42703':
    case '42883':
      return 'schema_missing';
    default:
      return 'unreachable';
  }
}

/**
 * Classes of SQLSTATE (PostgreSQL's appendix A) for a server that is unreachable, out of resources, cancels the statement, or
 * refuses the login.
 */
const unavailableClasses: ReadonlySet<string> = new Set(['08', '28', '3D', '53', '57', '58']);

/** A migration has changed the columns of a prepared statement, which the next connection plans again. */
const outdatedPlanState = '0A000';

/** An undefined table, column or function, or a missing privilege. */
const unsuitableStates: ReadonlySet<string> = new Set(['42P01', '42703', '42883', '42501']);

/**
 * Maps an error of a statement or a connection to `database_unavailable` or `database_unsuitable` (503 both); any other
 * error is returned unchanged: the statement is wrong, which is an internal fault.
 */
export function describeReadFailure(error: unknown): unknown {
  const state = sqlStateOfServer(error);
  const operation = 'read for a request';
  if (state === undefined || state === outdatedPlanState || unavailableClasses.has(state.slice(0, 2)))
    return new ServiceError('database_unavailable', { operation, cause: error });
  return unsuitableStates.has(state) ? new ServiceError('database_unsuitable', { operation, cause: error }) : error;
}

/** The SQLSTATE of an error that the server sent. Socket errors such as EPIPE have a code but no severity. */
function sqlStateOfServer(error: unknown): string | undefined {
  return error instanceof Error && 'severity' in error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;
}
