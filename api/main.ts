import { loadConfig } from '../runtime/config.ts';
import { createLog } from '../runtime/log.ts';
import { runProcess, stopSignal, untilAborted } from '../runtime/processes/shutdown.ts';
import { startApi } from './start.ts';

/** The process of the API: serves until it is stopped, or until it finds that its database role can write. */
await runProcess('api', async () => {
  const config = loadConfig();
  const log = createLog({ level: config.logLevel, process: 'api' });
  const stopping = stopSignal(log);
  const api = await startApi(config, { log });
  const failure = await Promise.race([api.failed, untilAborted(stopping)]);
  await api.close();
  if (failure !== undefined) throw failure;
});
