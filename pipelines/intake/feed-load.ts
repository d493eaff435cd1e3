import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError, isServiceError, type ErrorCode } from '../../runtime/errors.ts';
import { inTransaction, isConnectionLoss, queryRow, queryRows, unavailable, withPoolClient, type Pool, type PoolClient } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { makeExcerpt } from '../text-cleaning.ts';
import { CopyIn, escapeCopyText, type CopyTarget } from './copy-in.ts';
import { readFeedBytes, throwIfInterrupted } from './feed-bytes.ts';
import { readFeedRows, type FeedRow } from '../feed-rows.ts';
import { receiveFile, removeSpooled, spooledPath, type SpooledFile } from './feed-spool.ts';
import { findFeed, type Category, type FeedDefinition, type RowJudge } from './feed.ts';
import { failFeedLoad, readFeedLoad, type FeedLoad, type FeedLoadReport } from './load-record.ts';
import type { RejectCode, Refusal } from '../reject.ts';

export * from './load-record.ts';

/** Limits of a load; settings of the same names. */
export interface FeedLimits {
  readonly feedLineBytesMax: number;
  readonly feedPlainBytesMax: number;
}

/** How far a load is. */
export interface FeedProgress {
  readonly rowsGiven: number;
  readonly rowsRejected: number;
}

/**
 * Takes a feed file for loading: copies it into the feed directory under its digest and notes the load as queued.
 * @throws ServiceError `feed_unknown`, `feed_not_found`, `feed_file_invalid`
 */
export async function submitFeed({ db, feedDir, feed, path, submittedBy }: {
  db: Pool;
  feedDir: string;
  feed: string;
  path: string;
  submittedBy: string;
}): Promise<SpooledFile & { loadId: number }> {
  const { name } = findFeed(feed);
  const file = await receiveFile(feedDir, path);
  try {
    const loadId = await inTransaction(db, async (client) => {
      await client.query(sql('intake/lock_feed_file'), [file.sha256]);
      await file.keep();
      const row = await queryRow<{ load_id: number }>(client, sql('intake/add_load'), [name, makeExcerpt(basename(path)), file.sha256, file.bytes, submittedBy]);
      return row!.load_id;
    });
    return { loadId, sha256: file.sha256, bytes: file.bytes };
  } finally {
    await file.discard();
  }
}

/** What a load is run with. */
export interface RunFeedLoadOptions {
  db: Pool;
  feedDir: string;
  loadId: number;
  limits: FeedLimits;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: FeedProgress) => void) | undefined;
}

/**
 * Loads a submitted feed in one transaction and returns its counts. Safe to run twice, at the same time, or after a
 * crash: a load that is done gives its stored counts, one that was left running is run again from its start.
 * @throws ServiceError `feed_not_found` if there is no such load; the stored error if it failed for good;
 * an error that no second try can cure (it is stored first); any other, and the load can be run again.
 */
export async function runFeedLoad(options: RunFeedLoadOptions): Promise<FeedLoadReport> {
  const { db, feedDir, loadId } = options;
  const load = await withLoadLock(options, async (client) => {
    const before = await readFeedLoad(client, loadId);
    if (before.state === 'done') return before;
    if (before.failure !== null) throw failureOf(before.failure, loadId);
    await client.query(sql('intake/start_load'), [loadId]);
    await loadInTransaction(client, before, options).catch(async (error: unknown) => {
      await storeIfFinal(client, loadId, error);
      throw error;
    });
    return readFeedLoad(client, loadId);
  }).catch((error: unknown) => {
    throw isConnectionLoss(error) ? unavailable(error) : error;
  }).finally(() => removeFileIfUnneeded(db, feedDir, loadId));
  return load as FeedLoadReport; // a load comes back done, or not at all
}

const lockPollMs = 250;

/** Runs `work` on a connection of the pool that alone holds the load's lock. */
function withLoadLock<Result>({ db, loadId, signal }: RunFeedLoadOptions, work: (client: PoolClient) => Promise<Result>): Promise<Result> {
  return withPoolClient(db, async (client, discard) => {
    while (!(await queryRow<{ locked: boolean }>(client, sql('intake/lock_load'), [loadId]))?.locked) {
      throwIfInterrupted(signal);
      await sleep(lockPollMs);
    }
    try {
      return await work(client);
    } finally {
      await client.query(sql('intake/unlock_load'), [loadId]).catch(discard); // the lock falls with the connection
    }
  });
}

async function loadInTransaction(client: PoolClient, load: FeedLoad, options: RunFeedLoadOptions): Promise<void> {
  const copy = new CopyIn(client);
  await client.query('BEGIN');
  try {
    const counts = await stageRows(client, copy, load, options);
    const { rows_superseded, rows_changed, labels_withheld } = await merge(client, findFeed(load.feed), load.loadId);
    await client.query(sql('intake/finish_load'), [
      load.loadId, counts.given, counts.accepted, counts.given - counts.accepted, rows_superseded, rows_changed, counts.rejects, labels_withheld,
    ]);
    throwIfInterrupted(options.signal);
    await client.query('COMMIT');
  } catch (error) {
    await copy.abandon();
    await client.query('ROLLBACK').catch(() => {}); // a broken connection has rolled back
    throw error;
  }
}

interface Counts {
  given: number;
  accepted: number;
  readonly rejects: Partial<Record<RejectCode, number>>;
}

/** Judges every row of the file: accepted ones go to the staging table, refused ones to feed_reject. */
async function stageRows(client: PoolClient, copy: CopyIn, load: FeedLoad, { feedDir, limits, signal, onProgress }: RunFeedLoadOptions): Promise<Counts> {
  const feed = findFeed(load.feed);
  await client.query(sql(feed.createStaging));
  const categories = await queryRows<Category & { [column: string]: unknown }>(client, sql('intake/list_categories'));
  const judge = feed.makeJudge({ categories, submittedAt: load.requestedAt });
  const accepted = copy.into(`${feed.stagingTable} (${feed.stagingColumns.join(', ')}, line_number)`);
  const rejected = copy.into('feed_reject (load_id, line_number, code, reason, excerpt)');
  const counts: Counts = { given: 0, accepted: 0, rejects: {} };
  const bytes = readFeedBytes(spooledPath(feedDir, load.sha256), { plainBytesMax: limits.feedPlainBytesMax, signal });
  for await (const rows of readFeedRows(bytes, feed.format, limits.feedLineBytesMax)) {
    await stageBatch(rows, { judge, loadId: load.loadId, counts, accepted, rejected });
    onProgress?.({ rowsGiven: counts.given, rowsRejected: counts.given - counts.accepted });
  }
  await accepted.flush();
  await rejected.flush();
  await copy.end();
  return counts;
}

async function stageBatch(rows: readonly FeedRow[], { judge, loadId, counts, accepted, rejected }: {
  judge: RowJudge;
  loadId: number;
  counts: Counts;
  accepted: CopyTarget;
  rejected: CopyTarget;
}): Promise<void> {
  let acceptedLines = '';
  let rejectedLines = '';
  for (const row of rows) {
    const judged = 'values' in row ? judge(row.values) : row.refusal;
    if (typeof judged === 'string') {
      acceptedLines += `${judged}\t${row.line}\n`;
      counts.accepted++;
    } else {
      rejectedLines += rejectLine(loadId, row, judged);
      counts.rejects[judged.code] = (counts.rejects[judged.code] ?? 0) + 1;
    }
  }
  counts.given += rows.length;
  await accepted.write(acceptedLines);
  await rejected.write(rejectedLines);
}

function rejectLine(loadId: number, row: FeedRow, { code, reason }: Refusal): string {
  const excerpt = 'excerpt' in row ? row.excerpt : makeExcerpt(row.values.join(','));
  return `${loadId}\t${row.line}\t${code}\t${escapeCopyText(reason)}\t${escapeCopyText(excerpt)}\n`;
}

interface MergedRow {
  rows_superseded: number;
  rows_changed: number;
  labels_withheld: number;
}

async function merge(client: PoolClient, feed: FeedDefinition, loadId: number): Promise<MergedRow> {
  await client.query(sql('intake/prepare_bulk_work'));
  // Without it the planner takes 200 numbers for granted, and a feed of a million rows that says nothing new takes 1.8 s instead of 1.0.
  await client.query(`ANALYZE ${feed.stagingTable} (phone)`);
  const row = await queryRow<MergedRow>(client, sql(feed.merge), [loadId]);
  return row!; // the statement returns one row
}

/** Stores an error that no second try can cure. */
async function storeIfFinal(client: PoolClient, loadId: number, error: unknown): Promise<void> {
  if (isServiceError(error) && !error.facts.retry) await failFeedLoad(client, loadId, { code: error.code, reason: error.problem });
}

function failureOf({ code, reason }: { code: ErrorCode; reason: string }, loadId: number): ServiceError {
  return new ServiceError(code, { operation: 'run feed load', object: String(loadId), problem: reason, hint: 'The load failed before; submit the feed again.' });
}

/** Removes the spooled file of a load when no load needs it any more. A file that stays behind does no harm. */
async function removeFileIfUnneeded(db: Pool, feedDir: string, loadId: number): Promise<void> {
  await inTransaction(db, async (client) => {
    const { sha256 } = await readFeedLoad(client, loadId);
    await client.query(sql('intake/lock_feed_file'), [sha256]);
    const row = await queryRow<{ loads: number }>(client, sql('intake/count_loads_of_file'), [sha256]);
    if (row?.loads === 0) await removeSpooled(feedDir, sha256);
  }).catch(() => {});
}
