import { loadConfig } from '../runtime/config.ts';
import { openServices } from '../runtime/services/services.ts';
import { runProcess, stopSignal, untilAborted } from '../runtime/processes/shutdown.ts';
import { requireMigrated } from '../sql/migrate.ts';
import { startHeartbeat } from '../jobs/heartbeat.ts';
import { startConsole } from './start.ts';

/** The process of the console: serves its pages until it is stopped. */
await runProcess('console', async () => {
  const config = loadConfig();
  const services = await openServices(config, 'console');
  const stopping = stopSignal(services.log);
  await requireMigrated(services.db);
  const { url } = services.database;
  const heartbeat = startHeartbeat({ url, silentSecondsMax: config.jobLockSeconds, log: services.log });
  const running = await startConsole(services);
  await untilAborted(AbortSignal.any([stopping, heartbeat.unsuitable]));
  await running.close();
  await heartbeat.stop();
  await services.close();
  heartbeat.unsuitable.throwIfAborted();
});
