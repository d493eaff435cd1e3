import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { readFeedLoad, type FeedLoad } from '../../pipelines/intake/feed-load.ts';
import { FEEDS, type FeedName } from '../../pipelines/intake/feed.ts';
import type { Config } from '../../runtime/config.ts';
import { isServiceError, ServiceError } from '../../runtime/errors.ts';
import type { Log } from '../../runtime/log.ts';
import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { Queues } from '../queues/backend.ts';
import type { Inbox, Sight } from './drop-folder.ts';
import type { TakenEntry } from './put-away.ts';
import { enqueueFeedLoad } from '../queues/enqueue.ts';
import { describeKind, putFileAway, statOrUndefined, type DropResult } from './put-away.ts';

/** Hands a file to the intake, which copies it and records its load; `submittedBy` is kept with the load. */
export type SubmitDropped = (file: {
  feed: FeedName;
  path: string;
  submittedBy: string;
}) => Promise<{ loadId: number }>;

/** What the inboxes of feeds work with. */
export interface FeedInboxOptions {
  readonly config: Pick<Config, 'dropDir' | 'dropSettleSeconds'>;
  readonly queues: Queues;
  readonly log: Log;
  readonly submit: SubmitDropped;
}

/** An inbox for each feed: a file is loaded, and lies in `done/` or `rejected/` beside `<name>.result.json` when its load has ended. */
export function feedInboxes(options: FeedInboxOptions): Inbox[] {
  return FEEDS.map(({ name }) => ({
    name,
    sight: (path) => sightOfFile(path, options.config),
    advance: (client, entry) => advanceFile(options, client, { ...entry, feed: name }),
  }));
}

/** What is seen of a single file. */
export async function sightOfFile(
  path: string,
  { dropSettleSeconds }: Pick<Config, 'dropSettleSeconds'>,
): Promise<Sight | null> {
  const stats = await statOrUndefined(path);
  return stats === undefined
    ? null
    : { seen: `${stats.size} ${stats.mtimeMs} ${stats.ino}`, settleSeconds: dropSettleSeconds };
}

interface TakenFile extends TakenEntry {
  readonly feed: FeedName;
}

async function advanceFile(options: FeedInboxOptions, client: Queryable, file: TakenFile): Promise<void> {
  const load = await findLoad(client, file);
  if (load === undefined) await submit(options, file);
  else if (load.state === 'done' || load.state === 'failed' || load.state === 'discarded')
    await putAway(options, file, resultOf(file, load));
}

async function findLoad(client: Queryable, file: TakenFile): Promise<FeedLoad | undefined> {
  const row = await queryRow<{ loadId: number }>(client, sql('jobs/find_dropped_load'), [submitterOf(file)]);
  return row === undefined ? undefined : readFeedLoad(client, row.loadId);
}

/** Kept with the load, so that a watcher that was killed after the submission finds it again. */
function submitterOf({ id }: TakenFile): string {
  return `drop folder ${id}`;
}

async function submit(options: FeedInboxOptions, file: TakenFile): Promise<void> {
  try {
    await requireRegularFile(file);
    const { loadId } = await options.submit({ feed: file.feed, path: file.path, submittedBy: submitterOf(file) });
    options.log.info({ feed: file.feed, file: file.name, loadId }, 'a dropped file is queued');
    // If this fails the reconciler queues the load.
    await enqueueFeedLoad(options.queues, { loadId }).catch((error: unknown) =>
      options.log.warn({ err: error, loadId }, 'the load could not be queued yet'),
    );
  } catch (error) {
    if (!isServiceError(error) || error.facts.retry) throw error;
    await putAway(options, file, {
      id: file.id,
      outcome: 'rejected',
      feed: file.feed,
      file: file.name,
      failure: { code: error.code, reason: error.problem },
      load: null,
    });
  }
}

async function requireRegularFile({ path, name }: TakenFile): Promise<void> {
  const stats = await lstat(path);
  if (stats.isFile()) return;
  throw new ServiceError('feed_file_invalid', {
    operation: 'take dropped file',
    object: name,
    problem: `The feed is ${describeKind(stats)}, and must be a regular file.`,
  });
}

/** What `<name>.result.json` says: of a file that was refused at once there is no load. */
interface FeedDropResult extends DropResult {
  readonly outcome: 'done' | 'rejected';
  readonly feed: FeedName;
  readonly file: string;
  readonly failure: { readonly code: string; readonly reason: string } | null;
  readonly load: FeedLoad | null;
}

function resultOf({ id, feed, name }: TakenFile, load: FeedLoad): FeedDropResult {
  return { id, outcome: load.state === 'done' ? 'done' : 'rejected', feed, file: name, failure: load.failure, load };
}

async function putAway({ config, log }: FeedInboxOptions, file: TakenFile, result: FeedDropResult): Promise<void> {
  const name = await putFileAway(join(config.dropDir, result.outcome), file, result);
  log.info(
    { feed: file.feed, file: name, outcome: result.outcome, failure: result.failure?.code },
    'a dropped file is put away',
  );
}
