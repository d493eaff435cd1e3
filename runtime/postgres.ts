import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { ClientBase, ClientConfig, Pool, PoolClient } from 'pg';
import { recognizeError, ServiceError } from './errors.ts';

export type { ClientBase, Pool, PoolClient, QueryConfig } from 'pg';

/** A statement; with a name, the server plans it once for each connection. */
export type Statement = string | { readonly name: string; readonly text: string };

/** Anything that runs one statement: a pool, a client, or a client inside a transaction. */
export type Queryable = Pick<ClientBase, 'query'>;

const int8 = 20;
const date = 1082;

/**
 * Parses int8 as number (rows and bytes are far below 2^53) and dates as `YYYY-MM-DD`.
 * Set for these connections only: the queue library shares the driver and expects its defaults.
 */
const types: ClientConfig['types'] = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (format === 'binary') return pg.types.getTypeParser(oid, 'binary');
    if (oid === int8) return Number;
    if (oid === date) return (value: string) => value;
    return pg.types.getTypeParser(oid, 'text');
  }) as NonNullable<ClientConfig['types']>['getTypeParser'],
};

/** The parameters of a connection. */
interface ConnectionOptions {
  url: string;
  /** Shown in pg_stat_activity. */
  applicationName: string;
  /** A role that each connection takes, with read-only transactions. */
  readOnlyRole?: string | undefined;
  /** A role that each connection takes. */
  role?: string | undefined;
  /** Seconds without a statement after which the server ends a transaction; 0: never. Default: 60. */
  idleTransactionSecondsMax?: number;
}

const connectSecondsMax = 10;

/** The name of this process in the application names of its sessions, by which others end them if it falls silent. */
const processTag = randomBytes(4).toString('hex');

/**
 * Settings by which the server ends the session of a client that is gone, with its locks: one that is silent within a
 * transaction, and one whose machine answers no probe any more (after 10 s, 4 probes 5 s apart).
 */
const sessionSettings = {
  timezone: 'UTC',
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 4,
  tcp_user_timeout: 30_000,
  client_connection_check_interval: 10_000,
};

/** The part of a connection's parameters that all sessions of this process share, those of the queue library too. */
export function sessionConfig({
  applicationName,
  readOnlyRole,
  role = readOnlyRole,
  idleTransactionSecondsMax = 60,
}: Omit<ConnectionOptions, 'url'>): Pick<
  ClientConfig,
  'application_name' | 'options' | 'keepAlive' | 'keepAliveInitialDelayMillis'
> {
  const settings = {
    ...sessionSettings,
    idle_in_transaction_session_timeout: idleTransactionSecondsMax * 1000,
    ...(role === undefined ? {} : { role }),
    ...(readOnlyRole === undefined ? {} : { default_transaction_read_only: 'on' }),
  };
  return {
    application_name: `${applicationName} #${processTag}`,
    keepAlive: true,
    keepAliveInitialDelayMillis: sessionSettings.tcp_keepalives_idle * 1000,
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  };
}

function clientConfig({ url, ...options }: ConnectionOptions): ClientConfig {
  return { connectionString: url, connectionTimeoutMillis: connectSecondsMax * 1000, types, ...sessionConfig(options) };
}

/** A pool of connections. An idle connection that breaks is replaced by the pool and reported to `onIdleError`. */
export function createPool(
  options: ConnectionOptions & { connectionsMax: number; onIdleError: (error: Error) => void },
): Pool {
  const pool = new pg.Pool({ ...clientConfig(options), max: options.connectionsMax, idleTimeoutMillis: 30_000 });
  pool.on('error', options.onIdleError);
  return pool;
}

/**
 * A connection outside the pool: for a snapshot or a COPY stream.
 * @throws ServiceError `database_unavailable`
 */
export async function connect(options: ConnectionOptions): Promise<pg.Client> {
  const client = new pg.Client(clientConfig(options));
  client.on('error', () => {}); // reported by the next query
  try {
    await client.connect();
  } catch (error) {
    throw databaseUnavailable(error);
  }
  return client;
}

/** Closes a connection in an unknown state at once. */
export function destroy(client: pg.Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy(): void } } }; // the driver's socket
  connection.stream.destroy();
}

/**
 * Runs `work` in a transaction: committed when it returns, rolled back when it throws. When the signal fires, the server ends the
 * statement that runs, however long it would take.
 * @throws ServiceError `interrupted` if the signal fired before the commit
 */
export function inTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  return withPoolClient(pool, (client, discard) =>
    untilInterrupted({ pool, client, discard, signal }, async () => {
      await client.query('BEGIN');
      try {
        const result = await work(client);
        await client.query('COMMIT');
        return result;
      } catch (error) {
        if (signal?.aborted !== true) await client.query('ROLLBACK').catch(() => {}); // a broken connection has rolled back
        throw error;
      }
    }),
  );
}

/** A connection of a pool whose statements end when a signal fires. */
interface Interruptible {
  readonly pool: Pool;
  readonly client: PoolClient;
  /** Of the connection: after a signal nothing is known of its state. */
  readonly discard: () => void;
  readonly signal: AbortSignal | undefined;
}

/** Between two attempts to end the statement of an interrupted connection: work of many short statements may be between two of them. */
const cancelPauseMs = 50;

/**
 * Runs `work` on a connection; when the signal fires, the server ends each statement of it, so that the work fails.
 * @throws ServiceError `interrupted` in place of the error of `work`, if the signal fired
 */
export async function untilInterrupted<Result>(
  { pool, client, discard, signal }: Interruptible,
  work: () => Promise<Result>,
): Promise<Result> {
  if (signal === undefined) return work();
  if (signal.aborted) throw interrupted();
  const backend = (await queryRow<{ pid: number }>(client, 'SELECT pg_backend_pid() AS pid'))!.pid;
  let isRunning = true;
  let cancelled = Promise.resolve();
  const cancel = () => {
    discard();
    cancelled = cancelStatements(pool, { backend, isRunning: () => isRunning }).catch(() => {}); // the work ends by itself
  };
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await work();
  } catch (error) {
    throw signal.aborted ? interrupted() : error;
  } finally {
    isRunning = false;
    signal.removeEventListener('abort', cancel);
    await cancelled;
  }
}

/** On a connection of its own: those of the pool may all be at work. */
async function cancelStatements(
  { options }: Pool,
  { backend, isRunning }: { backend: number; isRunning: () => boolean },
): Promise<void> {
  const canceller = new pg.Client(options);
  canceller.on('error', () => {});
  await canceller.connect();
  try {
    while (isRunning()) {
      await canceller.query('SELECT pg_cancel_backend($1)', [backend]);
      await sleep(cancelPauseMs);
    }
  } finally {
    await canceller.end();
  }
}

function interrupted(): ServiceError {
  return new ServiceError('interrupted', { operation: 'run transaction' });
}

/**
 * Runs `work` on a connection of the pool, which is not reused after `discard` or if it breaks; the next statement reports the
 * break. (The pool listens to idle connections only: without a listener here, a lost server would end the process.)
 */
export async function withPoolClient<Result>(
  pool: Pool,
  work: (client: PoolClient, discard: () => void) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken = false;
  const discard = () => {
    broken = true;
  };
  client.on('error', discard);
  try {
    return await work(client, discard);
  } finally {
    client.off('error', discard);
    client.release(broken);
  }
}

/**
 * The rows of a statement with columns in camelCase: `batch_id` is `batchId`. A column `"file.plain_bytes"` is `plainBytes` of an
 * object `file`, which is null if a preceding column `file` is false or NULL. JSON values are not changed.
 */
export async function queryRows<Row extends object>(
  db: Queryable,
  statement: Statement,
  values: unknown[] = [],
): Promise<Row[]> {
  const config = typeof statement === 'string' ? { text: statement } : statement;
  const { rows } = await db.query<Record<string, unknown>>({ ...config, values });
  return rows.map(toRecord) as Row[];
}

/** The first row of a statement, or undefined; columns as in {@link queryRows}. */
export async function queryRow<Row extends object>(
  db: Queryable,
  statement: Statement,
  values: unknown[] = [],
): Promise<Row | undefined> {
  const rows = await queryRows<Row>(db, statement, values);
  return rows[0];
}

function toRecord(row: Readonly<Record<string, unknown>>): object {
  const record: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    const names = toNames(column);
    let part: Record<string, unknown> | null = record;
    for (const name of names.slice(0, -1)) part &&= openPart(part, name);
    if (part) part[names.at(-1)!] = value;
  }
  return record;
}

/** The nested object of a record, created for its first column; null if the column of its name is false or NULL. */
function openPart(record: Record<string, unknown>, name: string): Record<string, unknown> | null {
  const present = record[name];
  if (present === undefined || present === true) record[name] = {};
  else if (present === false) record[name] = null;
  return record[name] as Record<string, unknown> | null;
}

/** Cache of column names, which are a closed list like the statements. */
const namesOfColumns = new Map<string, readonly string[]>();

function toNames(column: string): readonly string[] {
  const known = namesOfColumns.get(column);
  if (known !== undefined) return known;
  const names = column.replace(/_([a-z0-9])/g, (_, first: string) => first.toUpperCase()).split('.');
  namesOfColumns.set(column, names);
  return names;
}

/** The error for an unreachable database. */
export function databaseUnavailable(cause: unknown): ServiceError {
  return new ServiceError('database_unavailable', {
    operation: 'connect to PostgreSQL',
    hint: 'Check DATABASE_URL, or leave it empty to use the embedded database. `caller-trust doctor` shows what was resolved.',
    cause,
  });
}

/** The SQLSTATE of a database error; undefined for other errors. */
export function sqlStateOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && error.code.length === 5
    ? error.code
    : undefined;
}

/** True for a value that no table takes, however often it is sent: a data exception, or one against a constraint (classes 22 and 23). */
export function isRefusedValue(error: unknown): boolean {
  return /^2[23]/.test(sqlStateOf(error) ?? '');
}

/** The constraint that a statement violates; undefined for other errors. */
export function violatedConstraintOf(error: unknown): string | undefined {
  return sqlStateOf(error)?.startsWith('23') === true ? (error as pg.DatabaseError).constraint : undefined;
}

/** True if the server ended the session or the socket was closed. */
export function isConnectionLoss(error: unknown): boolean {
  const state = sqlStateOf(error);
  return (
    state?.startsWith('08') === true ||
    state?.startsWith('57P') === true ||
    (error instanceof Error &&
      /^Connection terminated|connection error|ECONNREFUSED|ECONNRESET|EPIPE/.test(error.message))
  );
}

/**
 * The error of the closed list for what work with the database has thrown: as {@link recognizeError}, and `database_unavailable` where
 * the connection was lost or the server is starting or stopping; undefined for others.
 */
export function recognizeDatabaseError(thrown: unknown): ServiceError | undefined {
  return recognizeError(thrown) ?? (isConnectionLoss(thrown) ? databaseUnavailable(thrown) : undefined);
}
