import { loadConfig } from '../runtime/config.ts';
import { openServices } from '../runtime/services.ts';
import { runProcess, stopSignal, untilAborted } from '../runtime/shutdown.ts';
import { requireMigrated } from '../sql/migrate.ts';
import { startConsole } from './start.ts';

/** The process of the console: serves its pages until it is stopped. */
await runProcess('console', async () => {
  const services = await openServices(loadConfig(), 'console');
  const stopping = stopSignal(services.log);
  await requireMigrated(services.db);
  const running = await startConsole(services);
  await untilAborted(stopping);
  await running.close();
  await services.close();
});
