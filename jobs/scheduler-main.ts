import { submitFeed } from '../pipelines/feeds/feed-load.ts';
import { loadConfig } from '../runtime/config.ts';
import { openServices } from '../runtime/services/services.ts';
import { runProcess, stopSignal, untilAborted } from '../runtime/processes/shutdown.ts';
import { requireMigrated } from '../sql/migrate.ts';
import { startHeartbeat } from './heartbeat.ts';
import { openQueues } from './queues/backend.ts';
import { startScheduler } from './scheduler.ts';
import { measureService } from './service-metrics.ts';

/** The process of a scheduler: requests the nights, reconciles the queues, watches the drop folder. */
await runProcess('scheduler', async () => {
  const config = loadConfig();
  const services = await openServices(config, 'scheduler');
  const stopping = stopSignal(services.log);
  await requireMigrated(services.db);
  const { db, log, metrics } = services;
  const heartbeat = startHeartbeat({ url: services.database.url, silentSecondsMax: config.jobLockSeconds, log });
  const queues = await openQueues(config, services.database.url, services.log);
  const scheduler = await startScheduler({
    config,
    db,
    queues,
    log,
    metrics,
    submit: (file) => submitFeed({ db, feedDir: config.feedDir, ...file }),
  });
  measureService({ metrics, config, db, queues, log });
  log.info({ queues: queues.kind, schedule: config.nightSchedule }, 'the scheduler runs');
  await untilAborted(AbortSignal.any([stopping, heartbeat.unsuitable]));
  await scheduler.stop();
  await queues.close();
  await heartbeat.stop();
  await services.close();
  heartbeat.unsuitable.throwIfAborted();
});
