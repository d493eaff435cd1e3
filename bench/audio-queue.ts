import { join } from 'node:path';
import type { Client } from 'pg';
import { openQueues } from '../jobs/queues/backend.ts';
import { createHandlers } from '../jobs/handlers.ts';
import { requestVerification } from '../jobs/queues/verification-producer.ts';
import { startWorker } from '../jobs/worker.ts';
import { hasEnded, readBatch } from '../pipelines/audio/batches/batch.ts';
import type { ScoringPool } from '../pipelines/audio/scorers/scoring-pool.ts';
import { childEnvironment, loadConfig } from '../runtime/config.ts';
import { openServices } from '../runtime/services/services.ts';
import { connect } from '../runtime/postgres.ts';
import { migrate } from '../sql/migrate.ts';

/** The queue with a database of its own, and a worker in this process that scores through a pool. */
interface QueueBench {
  /** A connection to its database. */
  readonly client: Client;
  /** Directory of its cluster. */
  readonly home: string;
  /** Hands recordings in as one batch and waits for its end. */
  perform(files: readonly string[], model: string): Promise<void>;
  close(): Promise<void>;
}

/** How often the batch is asked whether it has ended. */
const pollMs = 25;

/** Opens it under a directory, which may be removed after `close`. */
export async function openQueueBench(directory: string, pool: Pick<ScoringPool, 'score'>): Promise<QueueBench> {
  const config = {
    ...loadConfig(childEnvironment({ STATE_DIR: join(directory, 'state'), LOG_LEVEL: 'warn' })),
    audioScorers: 1,
  };
  const services = await openServices(config, 'bench');
  const client = await connect({ url: services.database.url, applicationName: 'bench' });
  await migrate(client);
  const { db, log, database } = services;
  const queues = await openQueues(config, database.url, log);
  const scoring = { score: pool.score.bind(pool), close: async () => {} };
  const worker = await startWorker({
    config,
    databaseUrl: database.url,
    log,
    handlers: createHandlers({ ...services, queues, scoring }),
  });
  let batches = 0;
  return {
    client,
    home: database.home!, // no address is given
    async perform(files, model) {
      const key = `bench-${++batches}`;
      const items = files.map((path) => ({ path, source: path }));
      const { batch } = await requestVerification(
        { db, config, queues, log },
        { owner: 'bench', key, name: key, requestedBy: 'bench', model, items },
      );
      for (let now = batch; !hasEnded(now); now = await readBatch(db, batch.id))
        await new Promise((resolve) => setTimeout(resolve, pollMs));
    },
    async close() {
      await worker.stop(0);
      await queues.close();
      await client.end();
      await services.close();
    },
  };
}
