// A worker of nights in a process of its own whose builds read ranges of so many bytes of text (the first word), so that
// few rows make several shares. Settings come from the environment.
import { openQueues } from '../../jobs/queues/backend.ts';
import { nightHandlers } from '../../jobs/night.ts';
import { startWorker } from '../../jobs/worker.ts';
import { openArtefactStore } from '../../pipelines/caches/store/open-artefact-store.ts';
import { loadConfig } from '../../runtime/config.ts';
import { runProcess, stopSignal, untilAborted } from '../../runtime/processes/shutdown.ts';
import { openServices } from '../../runtime/services/services.ts';

await runProcess('test-worker', async () => {
  const settings = { ...loadConfig(), rangeBytes: Number(process.argv[2]) };
  const services = await openServices(settings, 'test-worker');
  const stopping = stopSignal(services.log);
  const queues = await openQueues(settings, services.database.url, services.log);
  const store = openArtefactStore(settings);
  const worker = await startWorker({
    config: settings,
    databaseUrl: services.database.url,
    log: services.log,
    handlers: nightHandlers({ ...services, config: settings, queues, store }),
  });
  services.log.info('the worker runs');
  await untilAborted(stopping);
  await worker.stop();
  await queues.close();
  await services.close();
});
