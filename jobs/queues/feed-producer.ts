import { submitFeed } from '../../pipelines/feeds/feed-load.ts';
import type { Config } from '../../runtime/config.ts';
import type { Log } from '../../runtime/log.ts';
import type { Pool } from '../../runtime/postgres.ts';
import type { Queues } from './backend.ts';
import { enqueueJob } from './enqueue.ts';

/** Services of the producer. */
interface FeedProducer {
  readonly db: Pool;
  readonly config: Pick<Config, 'feedDir'>;
  readonly queues: Queues;
  readonly log: Log;
}

/** A feed to load: the file, what its sender says about it, and the caller's record. */
type FeedSubmission = Omit<Parameters<typeof submitFeed>[0], 'db' | 'feedDir'>;

/**
 * Submits a feed: copies and records it, then queues its load. Used by the CLI, the console and the intake. Read the outcome with
 * `readFeedLoad`.
 * @throws ServiceError `feed_unknown`, `feed_option_invalid`, `feed_not_found`, `feed_file_invalid`, `database_unavailable`
 */
export async function requestFeedLoad(
  { db, config, queues, log }: FeedProducer,
  submission: FeedSubmission,
): Promise<{ loadId: number }> {
  const { loadId } = await submitFeed({ db, feedDir: config.feedDir, ...submission });
  // If this fails the reconciler queues the load.
  await enqueueJob(queues, 'load-feed', { loadId }).catch((error: unknown) =>
    log.warn({ err: error, loadId }, 'the load could not be queued yet'),
  );
  return { loadId };
}
