// A worker of nights in a process of its own whose builds read ranges of as many bytes of text as the first word says, so that
// few rows make several shares. Further words are the jobs that it takes, all without one. Settings come from the environment.
import { openQueues } from '../../jobs/queues/backend.ts';
import { nightHandlers } from '../../jobs/night.ts';
import { startWorker } from '../../jobs/worker.ts';
import { openArtefactStore } from '../../pipelines/caches/store/open-artefact-store.ts';
import { loadConfig } from '../../runtime/config.ts';
import { runProcess, stopSignal, untilAborted } from '../../runtime/processes/shutdown.ts';
import { openServices } from '../../runtime/services/services.ts';

await runProcess('test-worker', async () => {
  const [bytes, ...jobs] = process.argv.slice(2);
  const settings = { ...loadConfig(), rangeBytes: Number(bytes) };
  const services = await openServices(settings, 'test-worker');
  const stopping = stopSignal(services.log);
  const queues = await openQueues(settings, services.database.url, services.log);
  const store = openArtefactStore(settings);
  const handlers = Object.entries(nightHandlers({ ...services, config: settings, queues, store }));
  const worker = await startWorker({
    config: settings,
    databaseUrl: services.database.url,
    log: services.log,
    handlers: Object.fromEntries(handlers.filter(([job]) => jobs.length === 0 || jobs.includes(job))),
  });
  services.log.info('the worker runs');
  await untilAborted(stopping);
  await worker.stop();
  await queues.close();
  await services.close();
});
