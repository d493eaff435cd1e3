import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError, type ErrorCode } from '../../runtime/errors.ts';
import {
  inTransaction,
  queryRow,
  queryRows,
  untilInterrupted,
  withPoolClient,
  type Pool,
  type PoolClient,
} from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { makeExcerpt } from '../phone/text-cleaning.ts';
import { CopyIn, escapeCopyText, type CopyTarget } from './copy-in.ts';
import { readFeedBytes, throwIfInterrupted } from './feed-bytes.ts';
import { readFeedRows, type FeedRow } from '../rows/feed-rows.ts';
import {
  listSpooled,
  receiveFile,
  removeSpooled,
  spooledPath,
  sweepUnfinished,
  type SpooledFile,
} from './feed-spool.ts';
import { findFeed } from './feed.ts';
import type { Category, FeedDefinition, MeasuredFeed, RowJudge } from './feed-definition.ts';
import { DateObserver, type DateForm } from './feed-dates.ts';
import { checkFeedOptions, shapeOf } from './feed-options.ts';
import { judgeLoad, loadsCompared, type FeedMeasures, type GateBreach, type LoadGateLimits } from './load-gates.ts';
import { decideHeldLoad, readFeedLoad, type EndedFeedLoad, type FeedLoad, type LoadDecision } from './load-record.ts';
import { SeenNumbers } from './seen-numbers.ts';
import { REJECTS, type RejectCode, type Refusal } from '../rows/reject.ts';

export * from './load-record.ts';

/** A load fails if a larger share of its rows is refused: a file that is mostly unreadable is probably not the feed that its name says. */
const rejectPercentMax = 50;

/** Limits of a load: a setting, and those that tests change. */
export interface FeedLimits {
  readonly feedPlainBytesMax: number;
  /** Default: {@link rejectPercentMax}. */
  readonly rejectPercentMax?: number;
  /** Default: those of the gates. */
  readonly gates?: LoadGateLimits;
}

/** Progress of a load. */
interface FeedProgress {
  readonly rowsGiven: number;
  readonly rowsRejected: number;
}

/**
 * Submits a feed file: copies it into the feed directory under its digest and records a queued load. The options describe how
 * the file differs from the usual format ({@link FeedOptions}).
 * @throws ServiceError `feed_unknown`, `feed_option_invalid`, `feed_not_found`, `feed_file_invalid`
 */
export async function submitFeed({
  db,
  feedDir,
  feed,
  path,
  submittedBy,
  fileName = basename(path),
  options: given = {},
  record,
}: {
  db: Pool;
  feedDir: string;
  feed: string;
  path: string;
  submittedBy: string;
  fileName?: string;
  options?: unknown;
  /** Writes further records in the transaction that records the load. */
  record?: (client: PoolClient, loadId: number) => Promise<void>;
}): Promise<SpooledFile & { loadId: number }> {
  const definition = findFeed(feed);
  const { source = '', ...options } = checkFeedOptions(definition, given);
  const file = await receiveFile(feedDir, path);
  try {
    const loadId = await inTransaction(db, async (client) => {
      await client.query(sql('feeds/lock_feed_file'), [file.sha256]);
      await file.keep();
      const row = await queryRow<{ loadId: number }>(client, sql('feeds/add_load'), [
        definition.name,
        makeExcerpt(fileName),
        file.sha256,
        file.bytes,
        submittedBy,
        source,
        options,
      ]);
      await record?.(client, row!.loadId);
      return row!.loadId;
    });
    return { loadId, sha256: file.sha256, bytes: file.bytes };
  } catch (error) {
    await removeUnneeded(db, feedDir, file.sha256).catch(() => {}); // if the database is unavailable, the next sweep does it
    throw error;
  } finally {
    await file.discard();
  }
}

/** Settings and services of a load. */
interface RunFeedLoadOptions {
  db: Pool;
  feedDir: string;
  loadId: number;
  limits: FeedLimits;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: FeedProgress) => void) | undefined;
}

/**
 * Loads a submitted feed in one transaction and returns its counts: done, or held by gates with nothing merged. Safe to run
 * twice, concurrently, or after a crash: an ended load returns its stored counts, an interrupted one starts again.
 * The caller records an error that ends the load, with {@link failFeedLoad}.
 * @throws ServiceError `feed_not_found` if there is no such load; the stored error of a failed load; the error of this attempt.
 */
export async function runFeedLoad(options: RunFeedLoadOptions): Promise<EndedFeedLoad> {
  const { db, feedDir, loadId } = options;
  const ended = await withLoadLock(options, (client) => runLocked(client, options));
  await removeFileOfLoad(db, feedDir, loadId);
  return ended;
}

/** Returns a load that is done, held or discarded. @throws ServiceError the failure of the load */
async function runLocked(client: PoolClient, options: RunFeedLoadOptions): Promise<EndedFeedLoad> {
  const { loadId } = options;
  const before = await readFeedLoad(client, loadId);
  if (hasEnded(before)) return before;
  if (before.failure !== null) throw loadFailed(before.failure, loadId);
  await client.query(sql('feeds/start_load'), [loadId]);
  await loadInTransaction(client, before, options);
  const after = await readFeedLoad(client, loadId);
  if (hasEnded(after)) return after;
  throw loadFailed(after.failure!, loadId);
}

function hasEnded(load: FeedLoad): load is EndedFeedLoad {
  return load.state === 'done' || load.state === 'held' || load.state === 'discarded';
}

/**
 * Ends a held load, and removes its file.
 * @throws ServiceError `feed_not_found`, `feed_not_held`, `reason_required`
 */
export async function discardFeedLoad({
  db,
  feedDir,
  ...decision
}: Omit<LoadDecision, 'db' | 'decision'> & { readonly db: Pool; readonly feedDir: string }): Promise<FeedLoad> {
  const load = await decideHeldLoad({ ...decision, db, decision: 'discard' });
  await removeFileOfLoad(db, feedDir, load.loadId);
  return load;
}

const lockPollMs = 250;

/** Runs `work` on a connection that holds the lock of the load. */
function withLoadLock<Result>(
  { db, loadId, signal }: RunFeedLoadOptions,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  return withPoolClient(db, (client, discard) =>
    untilInterrupted({ pool: db, client, discard, signal }, async () => {
      while (!(await queryRow<{ locked: boolean }>(client, sql('feeds/lock_load'), [loadId]))?.locked)
        await sleep(lockPollMs, undefined, { signal });
      try {
        return await work(client);
      } finally {
        await client.query(sql('feeds/unlock_load'), [loadId]).catch(discard); // the lock ends with the connection
      }
    }),
  );
}

async function loadInTransaction(client: PoolClient, load: FeedLoad, options: RunFeedLoadOptions): Promise<void> {
  const copy = new CopyIn(client);
  const feed = findFeed(load.feed);
  const dateForm = await readDateForm(feed, load, options);
  await client.query('BEGIN');
  try {
    await client.query(sql('feeds/delete_rejects'), [load.loadId]);
    const counts = await stageRows(client, copy, { load, feed, dateForm }, options);
    const end = await decideLoadEnd(client, { load, feed, counts }, options.limits);
    const merged = await end.merge?.();
    await client.query(sql('feeds/finish_load'), [
      load.loadId,
      end.state,
      counts.given,
      counts.accepted,
      counts.given - counts.accepted,
      merged?.rowsSuperseded,
      merged?.rowsChanged,
      counts.rejects,
      merged?.labelsWithheld,
      end.rowsTooOld,
      end.measures,
      JSON.stringify(end.gates),
      dateForm,
      end.failure?.code,
      end.failure?.reason,
    ]);
    throwIfInterrupted(options.signal);
    await client.query('COMMIT');
  } catch (error) {
    await copy.abandon();
    await client.query('ROLLBACK').catch(() => {}); // a broken connection has rolled back
    throw error;
  }
}

/** If these first rows have no date with slashes, the rest of the file is not read for its dates. */
const dateProbeRows = 1000;

/**
 * The order of the parts of a file's dates: as given, else derived from all of them.
 * @throws ServiceError `feed_dates_unclear`
 */
async function readDateForm(
  feed: FeedDefinition,
  load: FeedLoad,
  options: RunFeedLoadOptions,
): Promise<DateForm | null> {
  if (load.options.dates !== undefined || feed.dateColumns.length === 0) return load.options.dates ?? null;
  const observer = new DateObserver();
  let given = 0;
  for await (const rows of readRows(feed, load, options)) {
    for (const row of rows) {
      if (given++ === dateProbeRows && observer.slashed === 0 && observer.serials === 0) return null;
      if ('values' in row) for (const column of feed.dateColumns) observer.observe(row.values[column]!.trim());
    }
  }
  return observer.form();
}

function readRows(
  feed: FeedDefinition,
  { sha256, options }: FeedLoad,
  { feedDir, limits, signal }: RunFeedLoadOptions,
): AsyncGenerator<FeedRow[]> {
  const bytes = readFeedBytes(spooledPath(feedDir, sha256), { plainBytesMax: limits.feedPlainBytesMax, signal });
  return readFeedRows(bytes, { ...feed.format, shape: shapeOf(options) });
}

interface LoadEnd {
  readonly state: 'done' | 'held' | 'failed';
  readonly gates: readonly GateBreach[];
  readonly measures?: FeedMeasures;
  readonly rowsTooOld?: number | undefined;
  readonly merge?: MeasuredFeed['merge'];
  readonly failure?: { readonly code: ErrorCode; readonly reason: string };
}

/** Decides on the staged rows: the load fails if most of them are refused, is held by a gate, or is merged. */
async function decideLoadEnd(
  client: PoolClient,
  { load, feed, counts }: { load: FeedLoad; feed: FeedDefinition; counts: Counts },
  limits: FeedLimits,
): Promise<LoadEnd> {
  const refused = counts.given - counts.accepted;
  const percentMax = limits.rejectPercentMax ?? rejectPercentMax;
  if (refused * 100 > counts.given * percentMax)
    return { state: 'failed', gates: [], failure: mostlyRejected(counts, percentMax) };
  await client.query(sql('feeds/prepare_bulk_work'));
  const { mayRepeat } = counts.numbers;
  const { measures: measured, rowsTooOld, merge } = await feed.measure(client, { ...load, mayRepeat });
  const measures = { given: counts.given, accepted: counts.accepted, ...measured };
  const before = await queryRows<{ measures: FeedMeasures }>(client, sql('feeds/list_measures'), [
    load.feed,
    load.source,
    load.loadId,
    loadsCompared,
  ]);
  const gates = judgeLoad(
    measures,
    before.map((earlier) => earlier.measures),
    limits.gates,
  );
  const end = { gates, measures, rowsTooOld };
  return gates.length > 0 && load.decision === null ? { ...end, state: 'held' } : { ...end, state: 'done', merge };
}

function mostlyRejected({ given, accepted, rejects }: Counts, percentMax: number): NonNullable<LoadEnd['failure']> {
  const [[code, rows]] = Object.entries(rejects).sort(([, a], [, b]) => b - a) as [[RejectCode, number]]; // rows are refused, so there is a code
  return {
    code: 'feed_mostly_rejected',
    reason: `${given - accepted} of ${given} rows are refused, more than ${percentMax} %, so that none of them counts; ${rows} by ${code}: ${REJECTS[code]}`,
  };
}

interface Counts {
  given: number;
  accepted: number;
  readonly rejects: Partial<Record<RejectCode, number>>;
  /** Of the accepted rows. */
  readonly numbers: SeenNumbers;
}

/** Judges every row of the file: accepted rows go to the staging table, refused ones to feed_reject. */
async function stageRows(
  client: PoolClient,
  copy: CopyIn,
  { load, feed, dateForm }: { load: FeedLoad; feed: FeedDefinition; dateForm: DateForm | null },
  options: RunFeedLoadOptions,
): Promise<Counts> {
  await client.query(sql(feed.createStaging));
  const categories = await queryRows<Category>(client, sql('labels/list_categories'));
  const counts: Counts = { given: 0, accepted: 0, rejects: {}, numbers: new SeenNumbers() };
  const judge = feed.makeJudge({
    categories,
    submittedAt: load.requestedAt,
    options: load.options,
    numbers: counts.numbers,
    dateForm,
  });
  const accepted = copy.into(`feed_staging (${feed.stagingColumns.join(', ')}, line_number)`);
  const rejected = copy.into('feed_reject (load_id, line_number, code, reason, excerpt)');
  for await (const rows of readRows(feed, load, options)) {
    await stageBatch(rows, { judge, loadId: load.loadId, counts, accepted, rejected });
    options.onProgress?.({ rowsGiven: counts.given, rowsRejected: counts.given - counts.accepted });
  }
  await accepted.flush();
  await rejected.flush();
  await copy.end();
  return counts;
}

async function stageBatch(
  rows: readonly FeedRow[],
  {
    judge,
    loadId,
    counts,
    accepted,
    rejected,
  }: { judge: RowJudge; loadId: number; counts: Counts; accepted: CopyTarget; rejected: CopyTarget },
): Promise<void> {
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

function loadFailed({ code, reason }: { code: ErrorCode; reason: string }, loadId: number): ServiceError {
  return new ServiceError(code, {
    operation: 'run feed load',
    object: String(loadId),
    problem: reason,
    hint: 'The load failed before; submit the feed again.',
  });
}

/** Removes the file of a load if no load needs it. A remaining file is swept later. */
export async function removeFileOfLoad(db: Pool, feedDir: string, loadId: number): Promise<void> {
  const remove = async () => removeUnneeded(db, feedDir, (await readFeedLoad(db, loadId)).sha256);
  await remove().catch(() => {});
}

/**
 * Removes the files that no load needs: copies of killed submissions, and files whose load was not recorded or has ended.
 * Returns their number.
 */
export async function sweepFeedFiles(db: Pool, feedDir: string): Promise<number> {
  let swept = await sweepUnfinished(feedDir);
  for (const sha256 of await listSpooled(feedDir)) if (await removeUnneeded(db, feedDir, sha256)) swept += 1;
  return swept;
}

/** True if the file was removed. A submission takes the same lock before it gives the file its name. */
async function removeUnneeded(db: Pool, feedDir: string, sha256: string): Promise<boolean> {
  return inTransaction(db, async (client) => {
    await client.query(sql('feeds/lock_feed_file'), [sha256]);
    const row = await queryRow<{ loads: number }>(client, sql('feeds/count_loads_of_file'), [sha256]);
    if (row!.loads > 0) return false;
    await removeSpooled(feedDir, sha256);
    return true;
  });
}
