import { lstat } from 'node:fs/promises';
import { readFeedLoad, type FeedLoad } from '../../pipelines/feeds/feed-load.ts';
import { FEEDS, type FeedName } from '../../pipelines/feeds/feed.ts';
import type { Config } from '../../runtime/config.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { Log } from '../../runtime/log.ts';
import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { Queues } from '../queues/backend.ts';
import { openInbox, requesterOf, observeFile, type DropResult, type Inbox, type InboxDefinition } from './inbox.ts';
import type { TakenEntry } from './taken-entry.ts';
import { enqueueJob } from '../queues/enqueue.ts';
import { describeKind } from './taken-entry.ts';

/** Submits a file as a feed: copies it and records its load with `submittedBy`. */
export type SubmitDropped = (file: {
  feed: FeedName;
  path: string;
  submittedBy: string;
}) => Promise<{ loadId: number }>;

/** Settings and services of the inboxes of feeds. */
interface FeedInboxOptions {
  readonly config: Pick<Config, 'dropDir' | 'dropSettleSeconds'>;
  readonly queues: Queues;
  readonly log: Log;
  readonly submit: SubmitDropped;
}

/** An inbox for each feed. When the load of a file has ended, it is moved to `done/` or `rejected/`, next to `<name>.result.json`. */
export function feedInboxes(options: FeedInboxOptions): Inbox[] {
  const { config, log } = options;
  return FEEDS.map(({ name: feed }) => {
    const definition: InboxDefinition<FeedLoad, FeedDropResult> = {
      name: feed,
      answersInside: false,
      observe: (path) => observeFile(path, config),
      find: findLoad,
      submit: (entry) => submitFeedFile(options, feed, entry),
      end: async (_client, { id, name }, load) => {
        if (load.state !== 'done' && load.state !== 'failed' && load.state !== 'discarded') return undefined;
        const outcome = load.state === 'done' ? 'done' : 'rejected';
        return { id, outcome, feed, file: name, failure: load.failure, load };
      },
      refuse: ({ id, name }, { code, problem }) => ({
        id,
        outcome: 'rejected',
        feed,
        file: name,
        failure: { code, reason: problem },
        load: null,
      }),
    };
    return openInbox(definition, { dropDir: config.dropDir, log });
  });
}

async function findLoad(client: Queryable, entry: TakenEntry): Promise<FeedLoad | undefined> {
  const row = await queryRow<{ loadId: number }>(client, sql('jobs/find_dropped_load'), [requesterOf(entry)]);
  return row === undefined ? undefined : readFeedLoad(client, row.loadId);
}

async function submitFeedFile(options: FeedInboxOptions, feed: FeedName, entry: TakenEntry): Promise<undefined> {
  await requireFeedFile(entry);
  const { loadId } = await options.submit({ feed, path: entry.path, submittedBy: requesterOf(entry) });
  options.log.info({ feed, file: entry.name, loadId }, 'a dropped file is queued');
  // If this fails the reconciler queues the load.
  await enqueueJob(options.queues, 'load-feed', { loadId }).catch((error: unknown) =>
    options.log.warn({ err: error, loadId }, 'the load could not be queued yet'),
  );
}

async function requireFeedFile({ path, name }: TakenEntry): Promise<void> {
  const stats = await lstat(path);
  if (stats.isFile()) return;
  throw new ServiceError('feed_file_invalid', {
    operation: 'take dropped file',
    object: name,
    problem: `The feed is ${describeKind(stats)}, and must be a regular file.`,
  });
}

/** The content of `<name>.result.json`. A file that is refused at once has no load. */
interface FeedDropResult extends DropResult {
  readonly outcome: 'done' | 'rejected';
  readonly feed: FeedName;
  readonly file: string;
  readonly load: FeedLoad | null;
}
