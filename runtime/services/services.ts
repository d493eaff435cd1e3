import { access, constants, mkdir } from 'node:fs/promises';
import type { Config } from '../config.ts';
import { acquireEmbeddedDatabase, holdEmbeddedDatabase } from './embedded-postgres.ts';
import { ServiceError } from '../errors.ts';
import { createLog, type Log } from '../log.ts';
import type { ServedMetrics } from '../metrics/serve-metrics.ts';
import { unmeasured, type Metrics } from '../metrics/metrics.ts';
import type { MetricsProcess } from '../metrics/metric-table.ts';
import { startTracing } from '../tracing/tracing.ts';
import { createPool, databaseUnavailable, type Pool } from '../postgres.ts';

/** The database of this process. */
export interface ResolvedDatabase {
  readonly url: string;
  /** For the API: a login that can only read; undefined if the owner's URL is used with a read-only role. */
  readonly apiUrl: string | undefined;
  /** For the intake: a login that can only submit work; undefined if the owner's URL is used with its role. */
  readonly intakeUrl?: string | undefined;
  readonly kind: 'given' | 'embedded';
  /** Home of the embedded cluster. */
  readonly home: string | undefined;
  release(): Promise<void>;
}

/**
 * Finds the database: DATABASE_URL, else the embedded cluster of the state directory, which is started if necessary. A process
 * that `start` has given the address of the embedded cluster holds it too.
 * @throws ServiceError `database_unavailable`
 */
export async function resolveDatabase(config: Config): Promise<ResolvedDatabase> {
  if (config.databaseUrl !== undefined) {
    return {
      url: config.databaseUrl,
      apiUrl: config.apiDatabaseUrl,
      intakeUrl: config.intakeDatabaseUrl,
      kind: 'given',
      home: undefined,
      release: (await holdEmbeddedDatabase(config.stateDir, config.databaseUrl)) ?? (async () => {}),
    };
  }
  const embedded = await acquireEmbeddedDatabase(config.stateDir);
  return {
    url: embedded.url,
    apiUrl: config.apiDatabaseUrl ?? embedded.apiUrl,
    intakeUrl: config.intakeDatabaseUrl ?? embedded.intakeUrl,
    kind: 'embedded',
    home: embedded.home,
    release: () => embedded.release(),
  };
}

/** The services of each process except the API. */
export interface Services {
  readonly config: Config;
  readonly log: Log;
  readonly db: Pool;
  readonly database: ResolvedDatabase;
  /** Served on a port of their own in the processes of {@link metricsProcesses}. */
  readonly metrics: Metrics;
  close(): Promise<void>;
}

/** The processes of the service that this module opens; a command, a bench and a test serve no metrics. */
const metricsProcesses: readonly string[] = ['worker', 'scheduler', 'console', 'intake'] satisfies MetricsProcess[];

/**
 * Opens log and database for a process, and serves its metrics if it is one of {@link metricsProcesses}. `close` releases them,
 * the embedded database last.
 * @throws ServiceError `database_unavailable`, `setting_invalid` if the state directory cannot be created or written,
 * `address_unavailable` if `METRICS_HOST` is no address of this machine
 */
export async function openServices(config: Config, process: string): Promise<Services> {
  const log = createLog({ level: config.logLevel, process });
  await makeStateDirectory(config);
  const database = await resolveDatabase(config);
  const db = createPool({
    url: database.url,
    applicationName: `caller-trust ${process}`,
    connectionsMax: config.databaseConnectionsMax,
    onIdleError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
  });
  const tracing = await startTracing(config, { process, log });
  const close = async () => {
    await tracing.stop();
    await db.end();
    await database.release();
  };
  try {
    await db.query('SELECT 1');
  } catch (error) {
    await close();
    throw databaseUnavailable(error);
  }
  const served = metricsProcesses.includes(process)
    ? await serveProcessMetrics(process as MetricsProcess, { config, log, db }).catch(async (error: unknown) => {
        await close();
        throw error;
      })
    : undefined;
  return {
    config,
    log,
    db,
    database,
    metrics: served?.metrics ?? unmeasured,
    async close() {
      await served?.close();
      await close();
    },
  };
}

/** Serves the metrics of a process, with those of its pool. */
export async function serveProcessMetrics(
  process: MetricsProcess,
  { config, log, db }: Pick<Services, 'config' | 'log' | 'db'>,
): Promise<ServedMetrics> {
  const { serveMetrics } = await import('../metrics/serve-metrics.ts'); // commands never load it
  const served = await serveMetrics(process, { config, log });
  const names = ['caller_trust_database_pool_connections', 'caller_trust_database_pool_waiting'] as const;
  served.metrics.atScrape(names, (set) => {
    set('caller_trust_database_pool_connections', { state: 'idle' }, db.idleCount);
    set('caller_trust_database_pool_connections', { state: 'busy' }, db.totalCount - db.idleCount);
    set('caller_trust_database_pool_waiting', {}, db.waitingCount);
  });
  return served;
}

async function makeStateDirectory({ stateDir, databaseUrl }: Config): Promise<void> {
  try {
    await mkdir(stateDir, { recursive: true });
    if (databaseUrl === undefined) await access(stateDir, constants.W_OK); // for the embedded database
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ServiceError('setting_invalid', {
      operation: 'make state directory',
      problem: `STATE_DIR cannot be created or written (${code ?? 'unknown'}).`,
      hint: 'Name a directory that this user may write.',
      cause: error,
    });
  }
}
