import { assertSchemaCompatibility, LATEST_SCHEMA_VERSION, runMigrations, SchemaMigrationRequiredError } from 'bullmq';
import type { Config } from '../../runtime/config.ts';
import { errorMessageOf, ServiceError } from '../../runtime/errors.ts';
import { connect, databaseUnavailable, isConnectionLoss, sessionConfig } from '../../runtime/postgres.ts';
import { withMigrationLock } from '../../sql/migrate.ts';
import { sqlWithLiterals } from '../../sql/sql.ts';

/** The schema of the queues in PostgreSQL, and the prefix of their keys in Redis, where two installations take two databases. */
export const queueSchema = 'caller_trust_queue';

/** A query of a queue takes milliseconds; one without an answer for this long has a dead connection. */
const querySecondsMax = 30;

/**
 * Creates or updates the schema of the queues in PostgreSQL. Does nothing if the queues are in Redis.
 * Safe to call from several processes at once.
 * @throws ServiceError `database_unavailable`, `database_unsuitable`
 */
export async function migrateQueues(databaseUrl: string, config: Pick<Config, 'redisUrl'>): Promise<void> {
  if (config.redisUrl !== undefined) return;
  const client = await connect({ url: databaseUrl, applicationName: 'caller-trust migrate' });
  try {
    await withMigrationLock(client, async () => {
      await runMigrations(client, queueSchema);
      await client.query(sqlWithLiterals('access/grant_queue_use', { schema: queueSchema }));
    });
  } catch (error) {
    throw new ServiceError('database_unsuitable', { operation: 'migrate queues', object: queueSchema, cause: error });
  } finally {
    await client.end();
  }
}

/** How a queue or a worker connects to PostgreSQL, with `max` connections. */
export function postgresConnection(databaseUrl: string, max: number) {
  return {
    connectionString: databaseUrl,
    schema: queueSchema,
    max,
    idleTimeoutMillis: 10_000,
    connectionTimeoutMillis: 10_000,
    query_timeout: querySecondsMax * 1000,
    onConnect: reportAtNextStatement,
    ...sessionConfig({ applicationName: 'caller-trust queues' }),
  };
}

/**
 * The library runs several statements on a session of the pool without listening to it. One that ended between two of them, by a
 * restart of the server or because other processes took this one to be frozen, would end the process; so the next statement
 * reports it.
 */
function reportAtNextStatement(session: { on(event: 'error', listener: () => void): unknown }): void {
  session.on('error', () => {});
}

/** Checks the schema of the queues, and creates it if there is none. */
export async function requireQueueSchema(databaseUrl: string, config: Pick<Config, 'redisUrl'>): Promise<void> {
  const version = await readSchemaVersion(databaseUrl, queueSchema);
  if (version === undefined) return migrateQueues(databaseUrl, config);
  if (version < LATEST_SCHEMA_VERSION) {
    throw new ServiceError('database_unsuitable', {
      operation: 'open queues',
      object: queueSchema,
      problem: `The schema of the queues has version ${version}, and ${LATEST_SCHEMA_VERSION} is needed.`,
      hint: 'Run `caller-trust migrate`.',
    });
  }
}

/** The version of the queues' schema, or undefined if there is none. */
async function readSchemaVersion(databaseUrl: string, schema: string): Promise<number | undefined> {
  const client = await connect({ url: databaseUrl, applicationName: 'caller-trust queues' });
  try {
    return await assertSchemaCompatibility(client, schema);
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) return undefined;
    if (isConnectionLoss(error)) throw databaseUnavailable(error);
    throw new ServiceError('database_unsuitable', {
      operation: 'open queues',
      object: schema,
      problem: errorMessageOf(error),
      cause: error,
    });
  } finally {
    await client.end();
  }
}
