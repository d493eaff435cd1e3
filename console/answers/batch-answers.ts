import type { Queues } from '../../jobs/queues/backend.ts';
import {
  countReasons,
  countStates,
  listBatches,
  readBatch,
  type Batch,
  type BatchState,
  type StateCounts,
} from '../../pipelines/audio/batches/batch.ts';
import { formatResults, resultsHeader } from '../../pipelines/audio/batches/batch-results.ts';
import {
  listVerifications,
  readVerifications,
  type VerificationRecord,
} from '../../pipelines/audio/batches/stored-verifications.ts';
import type { VerificationState } from '../../pipelines/audio/verification.ts';
import { queryRows, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { pageOf } from '../http/paging.ts';
import { describeReason, type ReasonFacts } from './verification-answers.ts';
import { isWorkerConnected } from './queue-answers.ts';
import type { requestRetry } from '../../jobs/queues/verification-producer.ts';
import type { Listed } from './json.ts';

export type { BatchState };

/** A batch, as pages read it. */
type BatchAnswer = ReturnType<typeof batchOf>;

function batchOf({ settingsSha256: _settings, batchId: _batchId, ...batch }: Batch) {
  return batch;
}

/** A batch in a list, with the number of its items without an outcome. */
export type ListedBatch = BatchAnswer & { readonly open: number };

/** Batches of all clients, the newest first. */
export async function listAllBatches(
  db: Queryable,
  {
    state,
    before,
    limit,
  }: { readonly state?: BatchState | undefined; readonly before?: number | undefined; readonly limit: number },
): Promise<{ batches: ListedBatch[]; next: string | null }> {
  const found = await listBatches(db, { state, before, limit: limit + 1 });
  const { rows: shown, next } = pageOf(found, limit, ({ batchId }) => batchId);
  const running = shown.filter((batch) => batch.endedAt === null).map(({ batchId }) => batchId);
  const open = new Map(
    (await queryRows<{ batchId: number; items: number }>(db, sql('console/count_open_items'), [running])).map(
      ({ batchId, items }) => [batchId, items],
    ),
  );
  return { batches: shown.map((batch) => ({ ...batchOf(batch), open: open.get(batch.batchId) ?? 0 })), next };
}

/** The current state of a batch. */
export interface LiveBatch {
  readonly batch: BatchAnswer;
  readonly counts: StateCounts;
  readonly reasons: readonly (ReasonFacts & { readonly items: number })[];
  /** Null once no worker is needed. */
  readonly workerConnected: boolean | null;
}

/** @throws ServiceError `batch_unknown` */
export async function readLiveBatch(
  { db, queues }: { readonly db: Queryable; readonly queues: Queues },
  id: string,
): Promise<LiveBatch> {
  const batch = await readBatch(db, id);
  const [counts, reasons] = [await countStates(db, batch.batchId), await countReasons(db, batch.batchId)];
  const isWaiting = batch.state === 'queued' || batch.state === 'performing';
  return {
    batch: batchOf(batch),
    counts,
    reasons: reasons.map(({ reason, items }) => ({ ...describeReason(reason), items })),
    workerConnected: isWaiting ? await isWorkerConnected(queues) : null,
  };
}

/** An item of a batch, with the meaning of its reason. */
export type ListedItem = VerificationRecord & { readonly why: ReasonFacts | null };

/**
 * Items of a batch in order, after a line; with `state` only those in it.
 * @throws ServiceError `batch_unknown`
 */
export async function listItems(
  db: Queryable,
  id: string,
  {
    state,
    after,
    limit,
  }: { readonly state?: VerificationState | undefined; readonly after: number; readonly limit: number },
): Promise<{ items: ListedItem[]; next: string | null }> {
  const { batchId } = await readBatch(db, id);
  const found = await listVerifications(db, batchId, {
    states: state === undefined ? undefined : [state],
    after,
    limit: limit + 1,
    windows: false,
  });
  const { rows, next } = pageOf(found, limit, ({ line }) => line);
  return {
    items: rows.map((item) => ({ ...item, why: item.reason === null ? null : describeReason(item.reason) })),
    next,
  };
}

/** The results of a batch as CSV with a header, page by page, as `batch results --csv` prints them. */
export async function* writeResults(
  db: Pool,
  batchId: number,
  states: readonly VerificationState[] | undefined,
): AsyncGenerator<string> {
  yield resultsHeader;
  for await (const page of readVerifications(db, batchId, { states, windows: false })) yield formatResults(page);
}

/** The number of items queued again. */
export type RetriedBatch = Awaited<ReturnType<typeof requestRetry>>;

/** Recordings of a batch, in its order. */
export type ListedItemPage = Listed & { readonly items: readonly ListedItem[] };

/** Batches, newest first. */
export type ListedBatchPage = Listed & { readonly batches: readonly ListedBatch[] };
