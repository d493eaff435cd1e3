import { ERRORS, ServiceError, type ErrorCode, type Failure } from '../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { DateForm } from './feed-dates.ts';
import type { FeedOptions } from './feed-options.ts';
import { findFeed, type FeedName } from './feed.ts';
import type { FeedMeasures, GateBreach } from './load-gates.ts';
import type { RejectCode } from '../rows/reject.ts';
import { cleanText } from '../phone/text-cleaning.ts';
import { requireAnotherPerson, type EyesPolicy } from '../access/two-pairs-of-eyes.ts';

/** The closed list of states of a load. */
export const LOAD_STATES = ['queued', 'running', 'held', 'done', 'failed', 'discarded'] as const;

/** A load: a submitted feed file with its outcome. Counts are null until it is done. */
export interface FeedLoad {
  readonly loadId: number;
  readonly feed: FeedName;
  readonly fileName: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly submittedBy: string;
  /** Its provider; '' if not given. */
  readonly source: string;
  readonly options: FeedOptions;
  readonly state: (typeof LOAD_STATES)[number];
  readonly requestedAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly rowsGiven: number | null;
  readonly rowsAccepted: number | null;
  readonly rowsRejected: number | null;
  /** Accepted rows that a later row of the file overrides. */
  readonly rowsSuperseded: number | null;
  /** Rows of the database that were inserted or changed. */
  readonly rowsChanged: number | null;
  /** Labels for protected numbers, which are not published. */
  readonly labelsWithheld: number | null;
  /** Accepted complaints that are too old to count. */
  readonly rowsTooOld: number | null;
  /** Order of the parts of its dates, as given or derived from all of them; null if not needed. */
  readonly dateForm: DateForm | null;
  readonly measures: FeedMeasures | null;
  /** The gates that it did not pass, also after its release. */
  readonly gates: readonly GateBreach[];
  readonly decision: {
    readonly kind: 'release' | 'discard';
    readonly by: string;
    readonly at: Date;
    readonly reason: string;
  } | null;
  readonly rejectsByCode: Readonly<Partial<Record<RejectCode, number>>>;
  readonly failure: { readonly code: ErrorCode; readonly reason: string } | null;
}

/** A load whose file was read completely: rowsAccepted + rowsRejected = rowsGiven. Only a done load was merged. */
export interface EndedFeedLoad extends FeedLoad {
  readonly state: 'done' | 'held' | 'discarded';
  readonly finishedAt: Date;
  readonly rowsGiven: number;
  readonly rowsAccepted: number;
  readonly rowsRejected: number;
}

/** A refused row. The excerpt has unprintable characters escaped and contains no fields of a complainant. */
export interface FeedReject {
  readonly line: number;
  readonly code: RejectCode;
  readonly reason: string;
  readonly excerpt: string;
}

/** Marks a load as failed that is not tried again. A load that has ended keeps its end. */
export async function failFeedLoad(db: Queryable, loadId: number, { code, reason }: Failure): Promise<void> {
  await db.query(sql('feeds/fail_load'), [loadId, code, reason]);
}

/** @throws ServiceError `feed_not_found` */
export async function readFeedLoad(db: Queryable, loadId: number): Promise<FeedLoad> {
  const [load] = await listFeedLoads(db, { loadId, limit: 1 });
  if (load === undefined)
    throw new ServiceError('feed_not_found', { operation: 'read feed load', object: String(loadId) });
  return load;
}

/** An operator's decision on a held load. */
export interface LoadDecision {
  readonly db: Queryable;
  readonly loadId: number;
  /** `release` merges it despite its gates. */
  readonly decision: 'release' | 'discard';
  readonly reason: string;
  readonly actor: string;
  readonly eyes: EyesPolicy;
}

/**
 * Decides on a held load. A released load is queued again and must be enqueued; a discarded one is never merged.
 * @throws ServiceError `feed_not_found`, `feed_not_held`, `reason_required`, `decided_by_requester` for a release
 */
export async function decideHeldLoad({
  db,
  loadId,
  decision,
  reason: reasonText,
  actor,
  eyes,
}: LoadDecision): Promise<FeedLoad> {
  const reason = cleanText(reasonText);
  if (reason === null) throw new ServiceError('reason_required', { operation: `${decision} load`, hint: 'Say why.' });
  if (decision === 'release') await requireAnotherPerson(db, { eyes, actor, of: { kind: 'load', loadId } });
  const decided = await queryRow(db, sql('feeds/decide_load'), [
    loadId,
    decision,
    cleanText(actor) ?? 'unknown',
    reason,
  ]);
  const load = await readFeedLoad(db, loadId);
  if (decided === undefined)
    throw new ServiceError('feed_not_held', {
      operation: `${decision} load`,
      object: String(loadId),
      problem: `The load is ${load.state}, and not held.`,
    });
  return load;
}

/** Loads, newest first: at most `limit`, of one state, older than `before`; with `loadId` that one alone. */
export async function listFeedLoads(
  db: Queryable,
  {
    loadId,
    state,
    before,
    limit = 100,
  }: { loadId?: number; state?: FeedLoad['state']; before?: number; limit?: number } = {},
): Promise<FeedLoad[]> {
  const values = [loadId ?? null, state ?? null, before ?? null, limit];
  const loads = await queryRows<FeedLoad>(db, sql('feeds/list_loads'), values);
  return loads.map((load) => ({
    ...load,
    feed: findFeed(load.feed).name,
    failure: load.failure && { ...load.failure, code: knownCode(load.failure.code) },
  }));
}

/** A stored code; an unknown one, of a newer version, counts as internal. */
function knownCode(code: ErrorCode): ErrorCode {
  return code in ERRORS ? code : 'internal';
}

/** Refused rows of a load in the order of its file: at most `limit`, after line `after`. */
export async function listFeedRejects(
  db: Queryable,
  loadId: number,
  { after = 0, limit = 100 }: { after?: number; limit?: number } = {},
): Promise<FeedReject[]> {
  return queryRows<FeedReject>(db, sql('feeds/list_rejects'), [loadId, after, limit]);
}
