import type { AddressInfo } from 'node:net';
import { openQueues } from '../jobs/queues/backend.ts';
import { openScoringPool } from '../pipelines/audio/scorers/scoring-pool.ts';
import { openArtefactStore, storeLimitsOfWaiting } from '../pipelines/caches/store/open-artefact-store.ts';
import { openVault } from '../runtime/secrets/vault.ts';
import { ServiceError } from '../runtime/errors.ts';
import type { Services } from '../runtime/services/services.ts';
import { addressOf, requireOrigin, type ConsoleAddress } from './access/address.ts';
import type { ConsoleWork } from './http/console-work.ts';
import { createConsoleServer } from './server.ts';
import { sweepUploads } from './http/uploads.ts';
import { writeDiscovery } from '../runtime/processes/discovery.ts';

/** A running console. */
interface RunningConsole {
  readonly url: string;
  /** Stops accepting requests, ends live answers, and releases everything. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts the console on its address.
 * @throws ServiceError `setting_invalid` if it would be reachable without TLS, `address_unavailable` if the port is taken
 */
export async function startConsole(services: Services): Promise<RunningConsole> {
  const { config, db, log, database, metrics } = services;
  requireOrigin(config.consoleHost, config.consoleOrigin);
  const stopping = new AbortController();
  await sweepUploads(config.stateDir);
  const queues = await openQueues(config, database.url, log);
  const work: ConsoleWork = {
    config,
    db,
    queues,
    log,
    vault: await openVault(config),
    store: openArtefactStore(config, storeLimitsOfWaiting),
    scoring: openScoringPool({ config, log, metrics }),
    signal: stopping.signal,
  };
  let address: ConsoleAddress | undefined;
  const app = await createConsoleServer({ work, metrics, address: () => address! });
  const { consoleHost: host, consolePort } = config;
  await app.listen({ host, port: consolePort }).catch(async (cause: unknown) => {
    await queues.close();
    throw new ServiceError('address_unavailable', {
      operation: 'listen',
      object: `${host}:${consolePort}`,
      hint: 'Set CONSOLE_PORT to a free port, or to 0.',
      cause,
    });
  });
  const { port } = app.server.address() as AddressInfo;
  address = addressOf(config, port);
  const url = config.consoleOrigin ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const discovery = await writeDiscovery(config.stateDir, 'console.json', { url, pid: process.pid });
  log.info({ url, host, port }, 'listening');
  const close = async () => {
    stopping.abort(new ServiceError('interrupted', { operation: 'run console' }));
    await app.close();
    await work.scoring.close();
    await queues.close();
    await discovery.remove();
  };
  let closing: Promise<void> | undefined;
  return { url, close: () => (closing ??= close()) };
}
