import { ERRORS, ServiceError, type ErrorCode } from '../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { findFeed, type FeedName } from './feed.ts';
import type { RejectCode } from '../reject.ts';

/** A submitted feed file and what became of it. Counts are null until it is done. */
export interface FeedLoad {
  readonly loadId: number;
  readonly feed: FeedName;
  readonly fileName: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly submittedBy: string;
  readonly state: 'queued' | 'running' | 'done' | 'failed';
  readonly requestedAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly rowsGiven: number | null;
  readonly rowsAccepted: number | null;
  readonly rowsRejected: number | null;
  /** Accepted rows that a later row of the file overrules. */
  readonly rowsSuperseded: number | null;
  /** Rows of the database that were made or changed. */
  readonly rowsChanged: number | null;
  /** Labels that the file gave to numbers which are protected from labels; they are not published. */
  readonly labelsWithheld: number | null;
  readonly rejectsByCode: Readonly<Partial<Record<RejectCode, number>>>;
  readonly failure: { readonly code: ErrorCode; readonly reason: string } | null;
}

/** A load that is done: rowsAccepted + rowsRejected = rowsGiven. */
export interface FeedLoadReport extends FeedLoad {
  readonly state: 'done';
  readonly finishedAt: Date;
  readonly rowsGiven: number;
  readonly rowsAccepted: number;
  readonly rowsRejected: number;
  readonly rowsSuperseded: number;
  readonly rowsChanged: number;
}

/** A refused row. The excerpt has unprintable characters escaped, and never a complainant's fields. */
export interface FeedReject {
  readonly line: number;
  readonly code: RejectCode;
  readonly reason: string;
  readonly excerpt: string;
}

/**
 * Marks a load as failed for good: for a caller that gives up after errors that a retry could have cured.
 * Has no effect on a load that is done.
 */
export async function failFeedLoad(db: Queryable, loadId: number, { code, reason }: { code: ErrorCode; reason: string }): Promise<void> {
  await db.query(sql('intake/fail_load'), [loadId, code, reason]);
}

/** @throws ServiceError `feed_not_found` */
export async function readFeedLoad(db: Queryable, loadId: number): Promise<FeedLoad> {
  const row = await queryRow<LoadRow>(db, sql('intake/read_load'), [loadId]);
  if (row === undefined) throw new ServiceError('feed_not_found', { operation: 'read feed load', object: String(loadId) });
  return feedLoad(row);
}

/** Loads, newest first: at most `limit`, of one state, older than `before`. */
export async function listFeedLoads(db: Queryable, { state, before, limit = 100 }: { state?: FeedLoad['state']; before?: number; limit?: number } = {}): Promise<FeedLoad[]> {
  const rows = await queryRows<LoadRow>(db, sql('intake/list_loads'), [state ?? null, before ?? null, limit]);
  return rows.map(feedLoad);
}

/** Refused rows of a load in the order of its file: at most `limit`, after line `after`. */
export async function listFeedRejects(db: Queryable, loadId: number, { after = 0, limit = 100 }: { after?: number; limit?: number } = {}): Promise<FeedReject[]> {
  const rows = await queryRows<{ line_number: number; code: RejectCode; reason: string; excerpt: string }>(db, sql('intake/list_rejects'), [loadId, after, limit]);
  return rows.map(({ line_number: line, code, reason, excerpt }) => ({ line, code, reason, excerpt }));
}

interface LoadRow {
  load_id: number;
  feed: string;
  file_name: string;
  file_sha256: string;
  file_bytes: number;
  submitted_by: string;
  state: FeedLoad['state'];
  requested_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  rows_given: number | null;
  rows_accepted: number | null;
  rows_rejected: number | null;
  rows_superseded: number | null;
  rows_changed: number | null;
  labels_withheld: number | null;
  rejects_by_code: FeedLoad['rejectsByCode'];
  failure_code: string | null;
  failure_reason: string | null;
}

function feedLoad(row: LoadRow): FeedLoad {
  return {
    loadId: row.load_id,
    feed: findFeed(row.feed).name,
    fileName: row.file_name,
    sha256: row.file_sha256,
    bytes: row.file_bytes,
    submittedBy: row.submitted_by,
    state: row.state,
    requestedAt: row.requested_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    rowsGiven: row.rows_given,
    rowsAccepted: row.rows_accepted,
    rowsRejected: row.rows_rejected,
    rowsSuperseded: row.rows_superseded,
    rowsChanged: row.rows_changed,
    labelsWithheld: row.labels_withheld,
    rejectsByCode: row.rejects_by_code,
    failure: row.failure_code === null ? null : { code: knownCode(row.failure_code), reason: row.failure_reason ?? '' },
  };
}

/** A stored code; one that a newer version wrote counts as internal. */
function knownCode(code: string): ErrorCode {
  return code in ERRORS ? (code as ErrorCode) : 'internal';
}
