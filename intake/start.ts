import { mkdir } from 'node:fs/promises';
import { startPolling } from '../api/http/poller.ts';
import { openQueues } from '../jobs/queues/backend.ts';
import { findKeySecret } from '../pipelines/access/key-secret.ts';
import { KeyTable } from '../pipelines/access/key-table.ts';
import type { Config } from '../runtime/config.ts';
import { errorCodeOf, isServiceError, ServiceError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { openServer } from '../runtime/open-server.ts';
import type { Pool } from '../runtime/postgres.ts';
import { writeDiscovery } from '../runtime/processes/discovery.ts';
import { serveProcessMetrics } from '../runtime/services/services.ts';
import { openVault } from '../runtime/secrets/vault.ts';
import { requireCompatibleSchema } from '../sql/migrate.ts';
import { openIntakeDatabase } from './database.ts';
import { intakeLimits } from './work/intake-limits.ts';
import type { IntakeWork } from './work/intake-work.ts';
import { createIntakeServer, type IntakeState } from './server.ts';
import { holdUploadDirectory } from './work/upload-directory.ts';
import { UploadWriters } from './work/upload-writers.ts';
import { WorkRoom } from './work/work-room.ts';

/** A running intake. */
interface RunningIntake {
  readonly url: string;
  readonly metricsUrl: string;
  /** Resolves with the error if the intake must not continue: the schema is that of a later version. */
  readonly failed: Promise<ServiceError>;
  /** Stops accepting connections, ends transfers with what has arrived, and releases everything. Idempotent. */
  close(): Promise<void>;
}

/** Pause between two checks that no later version has made the schema incompatible. */
const schemaPollMs = 5000;

/** Milliseconds after which the database counts as unreachable. */
const silenceMsMax = 10_000;

/**
 * Starts the intake on its address. Tests override {@link intakeLimits}.
 * @throws ServiceError `address_unavailable`, `database_unavailable`, `database_unsuitable`, `database_role_writes`, `directory_busy`,
 * `redis_unavailable`, `redis_unsafe`
 */
export async function startIntake(config: Config, options: IntakeOptions): Promise<RunningIntake> {
  const releaseDirectory = await holdUploadDirectory(config.intakeDir);
  return openIntake(config, { ...options, releaseDirectory }).catch(async (error: unknown) => {
    await releaseDirectory();
    throw error;
  });
}

interface IntakeOptions {
  readonly log: Log;
  readonly limits?: Partial<typeof intakeLimits>;
}

async function openIntake(
  config: Config,
  { log, limits: given = {}, releaseDirectory }: IntakeOptions & { readonly releaseDirectory: () => Promise<void> },
): Promise<RunningIntake> {
  const limits = { ...intakeLimits, ...given };
  await mkdir(config.stateDir, { recursive: true });
  const database = await openIntakeDatabase(config, log);
  const queues = await openQueues(config, database.url, log).catch(async (error: unknown) => {
    await database.close();
    throw error;
  });
  const stopping = new AbortController();
  const served = await serveProcessMetrics('intake', { config, log, db: database.db });
  const keys = new KeyTable({ secret: () => findKeySecret(config) });
  const work: IntakeWork = {
    config,
    limits,
    db: database.db,
    queues,
    vault: await openVault(config),
    keys,
    writers: new UploadWriters(),
    room: new WorkRoom(queues, limits),
    metrics: served.metrics,
    log,
    signal: stopping.signal,
  };
  const follower = followDatabase(work);
  const app = await createIntakeServer({
    work,
    state: () => ({ ...follower.state(), stopping: stopping.signal.aborted }),
  });
  await app.ready();
  const release = async () => {
    await served.close();
    await follower.stop();
    await queues.close();
    await work.writers.stop();
    await database.close();
    await releaseDirectory();
  };
  const intake = await openServer(app.server, { host: config.intakeHost, port: config.intakePort }).catch(
    async (error: unknown) => {
      await release();
      throw error;
    },
  );
  const { url } = intake;
  const discovery = await writeDiscovery(config.stateDir, 'intake.json', {
    url,
    metricsUrl: served.url,
    pid: process.pid,
  });
  log.info({ url, metricsUrl: served.url, queues: queues.kind }, 'listening');
  let closing: Promise<void> | undefined;
  const close = async () => {
    stopping.abort(new ServiceError('interrupted', { operation: 'run intake' }));
    void work.writers.stop();
    await intake.end({ graceSeconds: config.shutdownGraceSeconds, close: () => app.close() });
    await release();
    await discovery.remove();
  };
  return { url, metricsUrl: served.url, failed: follower.failed, close: () => (closing ??= close()) };
}

/** Reads keys and the version of the schema repeatedly. */
function followDatabase({ config, db, keys, log }: Pick<IntakeWork, 'config' | 'db' | 'keys' | 'log'>): {
  readonly failed: Promise<ServiceError>;
  state(): Omit<IntakeState, 'stopping'>;
  stop(): Promise<void>;
} {
  let fail: (error: ServiceError) => void = () => {};
  const failed = new Promise<ServiceError>((resolve) => (fail = resolve));
  let readAt = Date.now();
  const follow = (what: string, everyMs: number, read: (from: Pool) => Promise<void>) =>
    startPolling({
      everyMs,
      work: async () => {
        await read(db);
        readAt = Date.now();
      },
      onFailure(error) {
        if (isServiceError(error, 'database_too_new')) fail(error);
        else log.warn({ err: error, code: errorCodeOf(error) }, `the ${what} cannot be read`);
      },
      onRecovery: () => log.info(`the ${what} can be read again`),
    });
  const pollers = [
    follow('keys', config.pollMs, (from) => keys.refresh(from)),
    follow('schema', schemaPollMs, (from) => requireCompatibleSchema(from)),
  ];
  return {
    failed,
    state: () => ({ databaseReachable: Date.now() - readAt <= silenceMsMax, keysKnown: keys.known }),
    async stop() {
      await Promise.all(pollers.map((poller) => poller.stop()));
    },
  };
}
