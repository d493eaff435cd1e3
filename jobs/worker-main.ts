import { openArtefactStore } from '../pipelines/caches/store/open-artefact-store.ts';
import { sweepUnfinishedFiles } from '../pipelines/caches/artefact/night-build.ts';
import { readLetterTrust } from '../pipelines/branding/letter-trust.ts';
import { openVault } from '../runtime/secrets/vault.ts';
import { sweepFeedFiles } from '../pipelines/feeds/feed-load.ts';
import { loadConfig } from '../runtime/config.ts';
import { openServices } from '../runtime/services/services.ts';
import { runProcess, stopSignal, untilAborted } from '../runtime/processes/shutdown.ts';
import { requireMigrated } from '../sql/migrate.ts';
import { startHeartbeat } from './heartbeat.ts';
import { openQueues } from './queues/backend.ts';
import { createHandlers } from './handlers.ts';
import { openLazyScoring } from './lazy-scoring.ts';
import { startWorker } from './worker.ts';

/** The process of a worker: runs jobs of every queue until it is asked to stop. */
await runProcess('worker', async () => {
  const config = loadConfig();
  const services = await openServices(config, 'worker');
  const stopping = stopSignal(services.log);
  await requireMigrated(services.db);
  await Promise.all([openVault(config), readLetterTrust(config)]); // a wrong setting fails now, not at the first letter
  await sweepUnfinishedFiles(services.db, openArtefactStore(config));
  await sweepFeedFiles(services.db, config.feedDir);
  const heartbeat = startHeartbeat({
    url: services.database.url,
    silentSecondsMax: config.jobLockSeconds,
    log: services.log,
  });
  const queues = await openQueues(config, services.database.url, services.log);
  const scoring = openLazyScoring(services);
  const worker = await startWorker({
    config,
    databaseUrl: services.database.url,
    log: services.log,
    metrics: services.metrics,
    handlers: createHandlers({ ...services, queues, scoring }),
  });
  services.log.info({ queues: queues.kind }, 'the worker runs');
  await untilAborted(AbortSignal.any([stopping, heartbeat.unsuitable]));
  // A job that does not react to its signal, such as one on a silent connection, must not keep the process running.
  if (!(await worker.stop())) return services.database.release();
  await scoring.close();
  await queues.close();
  await heartbeat.stop();
  await services.close();
  heartbeat.unsuitable.throwIfAborted();
});
