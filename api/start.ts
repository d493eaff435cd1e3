import { mkdir } from 'node:fs/promises';
import { findKeySecret } from '../pipelines/access/key-secret.ts';
import { KeyTable } from '../pipelines/access/key-table.ts';
import { openArtefactStore, storeLimitsOfWaiting } from '../pipelines/caches/store/open-artefact-store.ts';
import { listFeedArrivals, type ArrivalLimits, type FeedArrival } from '../pipelines/feeds/feed-arrivals.ts';
import type { Config } from '../runtime/config.ts';
import { requireCompatibleSchema } from '../sql/migrate.ts';
import { errorCodeOf, isServiceError, ServiceError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import type { Queryable } from '../runtime/postgres.ts';
import { createMetrics } from './http/metrics.ts';
import { startPolling, type Poller } from './http/poller.ts';
import { PublicationIndex } from './downloads/publication-index.ts';
import { SignedDocuments } from './downloads/signed-documents.ts';
import { serveMetrics } from '../runtime/metrics/serve-metrics.ts';
import { openServer } from '../runtime/open-server.ts';
import {
  databaseProblem,
  openReaderDatabase,
  resolveReader,
  type DatabaseProblem,
  type ReaderAddress,
  type ReaderDatabase,
} from './http/reader-database.ts';
import { decideReadiness, type Readiness } from './readiness.ts';
import { RequestReads } from './http/request-reads.ts';
import { createServer, type serverLimits } from './server.ts';
import { writeDiscovery } from '../runtime/processes/discovery.ts';

/** A running API. */
export interface RunningApi {
  readonly url: string;
  readonly metricsUrl: string;
  /** Resolves with the error if the API must not continue: its database role can write. */
  readonly failed: Promise<ServiceError>;
  /** Stops accepting connections, lets running answers end within the grace period, and releases everything. Idempotent. */
  close(): Promise<void>;
}

/** Pause between two checks that no later version has made the schema incompatible. */
const schemaPollMs = 5000;

/** The database counts as unreachable after this many failed polls in a row, and not before this time. */
const missedPollsMax = 3;
const silenceMsMin = 3000;

/**
 * Starts the API: it listens immediately, and answers 503 until the database has been read. It keeps trying to reach it.
 * @throws ServiceError `address_unavailable` if a port is taken.
 */
export async function startApi(
  config: Config & Partial<typeof serverLimits>,
  { log, now = Date.now }: { log: Log; now?: () => number },
): Promise<RunningApi> {
  await mkdir(config.stateDir, { recursive: true });
  const state: ApiState = {
    publications: new PublicationIndex({ store: openArtefactStore(config, storeLimitsOfWaiting), log, now }),
    signed: new SignedDocuments(),
    feeds: new FeedWatch({ limits: config, now }),
    keys: new KeyTable({ secret: () => findKeySecret(config), now }),
    stopping: false,
  };
  const connection = new Connection(config);
  const served = await serveMetrics('api', { config, log });
  const metrics = createMetrics({ metrics: served.metrics, publications: state.publications, now });
  const reads = new RequestReads({ opened: () => connection.opened, metrics });
  const app = await createServer({
    limits: config,
    ...state,
    reads,
    modelDir: config.modelDir,
    metrics,
    readiness: () => readReadiness(state, { config, problem: connection.problem, now: now() }),
    log,
    now,
  });
  await app.ready();
  const api = await openServer(app.server, { host: config.apiHost, port: config.apiPort }).catch(
    async (error: unknown) => {
      await app.close();
      await served.close();
      throw error;
    },
  );
  const discovery = await writeDiscovery(config.stateDir, 'api.json', {
    url: api.url,
    metricsUrl: served.url,
    pid: process.pid,
  });
  const follower = followDatabase({ config, connection, log, ...state });
  const fileChecks = startFileChecks(state.publications, config, log);
  log.info(
    { url: api.url, metricsUrl: served.url, host: config.apiHost, port: Number(new URL(api.url).port) },
    'listening',
  );

  let closing: Promise<void> | undefined;
  const close = async () => {
    state.stopping = true;
    await api.end({ graceSeconds: config.shutdownGraceSeconds, close: () => app.close() });
    await served.close();
    await Promise.all([follower.stop(), fileChecks.stop()]);
    state.publications.close();
    await discovery.remove();
  };
  return { url: api.url, metricsUrl: served.url, failed: follower.failed, close: () => (closing ??= close()) };
}

/** The state of the process. */
interface ApiState {
  readonly publications: PublicationIndex;
  readonly signed: SignedDocuments;
  readonly feeds: FeedWatch;
  readonly keys: KeyTable;
  stopping: boolean;
}

/** The last arrival of each feed, as of the last refresh. */
class FeedWatch {
  readonly #limits: ArrivalLimits;
  readonly #now: () => number;
  #arrivals: readonly FeedArrival[] = [];

  constructor({ limits, now }: { limits: ArrivalLimits; now: () => number }) {
    this.#limits = limits;
    this.#now = now;
  }

  get arrivals(): readonly FeedArrival[] {
    return this.#arrivals;
  }

  async refresh(db: Queryable): Promise<void> {
    this.#arrivals = await listFeedArrivals(db, this.#limits, new Date(this.#now()));
  }
}

function readReadiness(
  { publications, signed, feeds, keys, stopping }: ApiState,
  { config, problem, now }: { config: Config; problem: DatabaseProblem | undefined; now: number },
): Readiness {
  return decideReadiness({
    now,
    snapshot: publications.known ? publications.snapshot : undefined,
    databaseReadAt: publications.refreshedAt,
    databaseProblem: problem,
    databaseSilenceMsMax: Math.max(missedPollsMax * config.pollMs, silenceMsMin),
    feeds: feeds.arrivals,
    signatures: signed.expiries,
    keysKnown: keys.known,
    stopping,
    ageHoursMax: config.artefactAgeHoursMax,
  });
}

interface FollowOptions {
  readonly config: Config;
  readonly connection: Connection;
  readonly publications: PublicationIndex;
  readonly signed: SignedDocuments;
  readonly feeds: FeedWatch;
  readonly keys: KeyTable;
  readonly log: Log;
}

/** Polls keys and publications, over a connection that is reopened after each failure. */
function followDatabase({ config, connection, publications, signed, feeds, keys, log }: FollowOptions): {
  failed: Promise<ServiceError>;
  stop(): Promise<void>;
} {
  let fail: (error: ServiceError) => void = () => {};
  const failed = new Promise<ServiceError>((resolve) => (fail = resolve));
  const follow = (what: string, everyMs: number, read: (reader: ReaderDatabase) => Promise<void>) =>
    startPolling({
      everyMs,
      work: () => connection.use(read),
      onFailure(error) {
        if (isServiceError(error, 'database_role_writes') || isServiceError(error, 'database_too_new')) fail(error);
        else log.warn({ err: error, code: errorCodeOf(error) }, `the ${what} cannot be read; what is known is served`);
      },
      onRecovery: () => log.info(`the ${what} can be read again`),
    });
  const pollers = [
    follow('publications', config.pollMs, ({ db }) => publications.refresh(db)),
    follow('signed documents', config.pollMs, ({ db }) => signed.refresh(db)),
    follow('schema', schemaPollMs, ({ db }) => requireCompatibleSchema(db)),
    follow('keys', config.pollMs, ({ db }) => keys.refresh(db)),
    follow('arrivals of feeds', config.pollMs, ({ db }) => feeds.refresh(db)),
  ];
  return {
    failed,
    async stop() {
      await Promise.all(pollers.map((poller) => poller.stop()));
      await connection.close();
    },
  };
}

/** Compares the published files with their digests in the background. */
function startFileChecks(publications: PublicationIndex, { pollMs: everyMs }: Config, log: Log): Poller {
  const stopping = new AbortController();
  const poller = startPolling({
    everyMs,
    work: () => publications.checkFiles(stopping.signal),
    onFailure: (error) => log.warn({ err: error, code: errorCodeOf(error) }, 'the published files cannot be checked'),
    onRecovery: () => log.info('the published files can be checked again'),
  });
  return {
    stop() {
      const stopped = poller.stop();
      stopping.abort();
      return stopped;
    },
  };
}

/**
 * The database of the polls, which the requests share: opened by the first poll, and reopened after a failure. An embedded
 * database is resolved again each time and released only at the end, so that a failure never stops it.
 */
class Connection {
  readonly #config: Config;
  #address: ReaderAddress | undefined;
  #reader: Promise<ReaderDatabase> | undefined;
  #opened: ReaderDatabase | undefined;
  #problem: DatabaseProblem | undefined;

  constructor(config: Config) {
    this.#config = config;
  }

  /** The database, while the polls can reach it. */
  get opened(): ReaderDatabase | undefined {
    return this.#opened;
  }

  /** Why the last poll failed. */
  get problem(): DatabaseProblem | undefined {
    return this.#problem;
  }

  async use(read: (reader: ReaderDatabase) => Promise<void>): Promise<void> {
    const opening = (this.#reader ??= this.#open());
    try {
      await read(await opening);
      this.#problem = undefined;
    } catch (error) {
      if (this.#reader === opening && !isServiceError(error, 'key_secret_differs')) await this.#drop();
      this.#problem = isServiceError(error, 'key_secret_differs') ? undefined : databaseProblem(error);
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#drop();
    await this.#address?.release();
  }

  async #open(): Promise<ReaderDatabase> {
    const before = this.#address;
    this.#address = await resolveReader(this.#config);
    await before?.release(); // after the new hold, so that the server is not stopped in between
    const reader = await openReaderDatabase(this.#address);
    this.#opened = reader;
    return reader;
  }

  async #drop(): Promise<void> {
    const dropped = this.#reader;
    this.#reader = undefined;
    this.#opened = undefined;
    await dropped?.then((reader) => reader.close()).catch(() => {}); // it never opened, or is already closed
  }
}
