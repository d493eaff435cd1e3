import { databaseProblem } from '../api/http/reader-database.ts';
import { queueSchema } from '../jobs/queues/queue-schema.ts';
import type { Config } from '../runtime/config.ts';
import { ServiceError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { createPool, databaseUnavailable, queryRows, type Pool } from '../runtime/postgres.ts';
import { resolveDatabase } from '../runtime/services/services.ts';
import { requireMigrated } from '../sql/migrate.ts';
import { sql } from '../sql/sql.ts';

/** The role of the intake, which can only submit work. */
const submitterRole = 'caller_trust_submitter';

/** The database of the intake. */
interface IntakeDatabase {
  readonly db: Pool;
  /** For the queues, where they are in PostgreSQL. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Opens INTAKE_DATABASE_URL, else the submitting login of the embedded cluster, else DATABASE_URL with the role set on each connection.
 * @throws ServiceError `database_unavailable`, `database_unsuitable`, `database_role_writes` for a role that may do more
 */
export async function openIntakeDatabase(config: Config, log: Log): Promise<IntakeDatabase> {
  const { url, role, release } = await resolveSubmitter(config);
  const db = createPool({
    url,
    role,
    applicationName: 'caller-trust intake',
    connectionsMax: config.databaseConnectionsMax,
    onIdleError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
  });
  const close = async () => {
    await db.end();
    await release();
  };
  try {
    await db.query('SELECT 1').catch((error: unknown) => {
      throw databaseProblem(error) === 'role_missing' ? roleMissing(error) : databaseUnavailable(error);
    });
    await requireMigrated(db);
    await requireNarrowRole(db);
  } catch (error) {
    await close();
    throw error;
  }
  return { db, url, close };
}

function roleMissing(cause: unknown): ServiceError {
  return new ServiceError('database_unsuitable', {
    operation: 'open the database',
    problem: `The role ${submitterRole} is missing, or the login of DATABASE_URL is not in it.`,
    hint: `Have an administrator run \`CREATE ROLE ${submitterRole} NOLOGIN\` and grant it to the login, then run \`caller-trust migrate\`.`,
    cause,
  });
}

async function resolveSubmitter(
  config: Config,
): Promise<{ url: string; role: string | undefined; release(): Promise<void> }> {
  if (config.intakeDatabaseUrl !== undefined)
    return { url: config.intakeDatabaseUrl, role: undefined, release: async () => {} };
  const { url, intakeUrl, release } = await resolveDatabase(config);
  return intakeUrl === undefined ? { url, role: submitterRole, release } : { url: intakeUrl, role: undefined, release };
}

/** Tables that the intake writes to, besides those of the queues. */
const writtenTables = [
  'upload',
  'issued_form',
  'intake_request',
  'verification_batch',
  'verification',
  'recording',
  'branding_operation',
  'document',
  'feed_load',
  'number_dispute',
];

async function requireNarrowRole(db: Pool): Promise<void> {
  const allowed = [queueSchema, writtenTables];
  const excess = await queryRows<{ privilege: string }>(db, sql('access/find_write_privileges'), allowed);
  if (excess.length === 0) return;
  const named = excess.slice(0, 3).map(({ privilege }) => privilege);
  throw new ServiceError('database_role_writes', {
    operation: 'open the database',
    problem: `The role of the intake may ${named.join(', ')}${excess.length > 3 ? ' and more' : ''}.`,
    hint: `Give INTAKE_DATABASE_URL a login that has only the role ${submitterRole}.`,
  });
}
