import { ServiceError } from '../../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { AUDIO_REASONS, type AudioReason } from '../reasons.ts';
import { VERIFICATION_STATES, type ScoringSettings, type VerificationState } from '../verification.ts';

/** The states of a batch, in order; the statements of sql/audio have the transitions. `open`: items are still being submitted. */
export const BATCH_STATES = ['open', 'queued', 'performing', 'done', 'cancelled'] as const;

export type BatchState = (typeof BATCH_STATES)[number];

/** How a batch was submitted. */
export type BatchMode = 'api' | 'webDemo';

/** Recordings that were submitted together. */
export interface Batch {
  /** Public id, for clients and commands. */
  readonly id: string;
  /** Id within the database and the queues. */
  readonly batchId: number;
  readonly owner: string;
  readonly key: string;
  readonly name: string;
  readonly mode: BatchMode;
  readonly requestedModel: string;
  /** Newest release of the registry when the batch was made. */
  readonly release: string;
  /** The models of the two families in this batch, fixed when it was made: later changes of the defaults do not count. */
  readonly pinned: { readonly phone: string | null; readonly digital: string | null };
  readonly settings: ScoringSettings;
  readonly settingsSha256: string;
  readonly state: BatchState;
  /** Rises when its jobs are queued again; jobs of an older generation do nothing. */
  readonly generation: number;
  readonly items: number;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly endedAt: Date | null;
}

/** How many items are in each state. */
export type StateCounts = Readonly<Record<VerificationState, number>>;

/** Which batches are listed. */
interface BatchFilter {
  readonly id?: string | undefined;
  readonly batchId?: number | undefined;
  readonly owner?: string | undefined;
  readonly state?: BatchState | undefined;
  /** Only batches that were made before this one. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Batches, the newest first. */
export function listBatches(
  db: Queryable,
  { id, batchId, owner, state, before, limit }: BatchFilter,
): Promise<Batch[]> {
  const values = [id ?? null, batchId ?? null, owner ?? null, state ?? null, before ?? null, limit];
  return queryRows<Batch>(db, sql('audio/list_batches'), values);
}

/**
 * A batch in its present state.
 * @throws ServiceError `batch_unknown`
 */
export async function readBatch(db: Queryable, id: string): Promise<Batch> {
  const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
  const [batch] = isId ? await listBatches(db, { id, limit: 1 }) : [];
  if (batch === undefined)
    throw new ServiceError('batch_unknown', {
      operation: 'read batch',
      object: id,
      hint: '`caller-trust batch list` shows the batches.',
    });
  return batch;
}

/** The batch of a job, or undefined if it no longer exists. */
export async function findBatchOfJob(db: Queryable, batchId: number): Promise<Batch | undefined> {
  const [batch] = await listBatches(db, { batchId, limit: 1 });
  return batch;
}

/** How many items of a batch are in each state. */
export async function countStates(db: Queryable, batchId: number): Promise<StateCounts> {
  const rows = await queryRows<{ state: VerificationState; items: number }>(db, sql('audio/count_states'), [batchId]);
  const counts = Object.fromEntries(VERIFICATION_STATES.map((state) => [state, 0])) as Record<
    VerificationState,
    number
  >;
  for (const { state, items } of rows) counts[state] = items;
  return counts;
}

/** Why items of a batch have no score, the most frequent reason first. */
export function countReasons(db: Queryable, batchId: number): Promise<{ reason: AudioReason; items: number }[]> {
  return queryRows<{ reason: AudioReason; items: number }>(db, sql('audio/count_reasons'), [batchId]);
}

/** True if the batch is done or cancelled. */
export function hasEnded({ state }: Pick<Batch, 'state'>): boolean {
  return state === 'done' || state === 'cancelled';
}

/**
 * Writes the caller's record, with the number of changed items, in the transaction that changes a batch; if it fails, nothing is
 * changed.
 */
export type RecordChange = (client: Queryable, items: number) => Promise<void>;

/**
 * Cancels a batch: items without an outcome end in error at once, and results that a worker still computes are dropped. Returns how many
 * items were cancelled.
 * @throws ServiceError `batch_unknown`, `batch_ended`
 */
export async function cancelBatch(db: Pool, id: string, record?: RecordChange): Promise<{ cancelled: number }> {
  await finishBatch(db, await readBatch(db, id)); // if every item has an outcome by now, there is nothing to cancel
  return inTransaction(db, async (client) => {
    const batch = await readBatch(client, id);
    if ((await queryRow(client, sql('audio/cancel_batch'), [batch.batchId])) === undefined)
      throw actionRefused('cancel batch', await readBatch(client, id));
    const cancelled = await cancelItems(client, batch.batchId);
    await record?.(client, cancelled);
    return { cancelled };
  });
}

async function cancelItems(client: Queryable, batchId: number): Promise<number> {
  const { rowCount } = await client.query(sql('audio/cancel_verifications'), [
    batchId,
    'batch_cancelled' satisfies AudioReason,
  ]);
  return rowCount ?? 0;
}

/** Cancels batches that have been open since before an instant; returns how many. */
export async function cancelAbandonedBatches(db: Pool, before: Date): Promise<number> {
  return inTransaction(db, async (client) => {
    const rows = await queryRows<{ batchId: number }>(client, sql('audio/cancel_abandoned_batches'), [before]);
    for (const { batchId } of rows) await cancelItems(client, batchId);
    return rows.length;
  });
}

/** The reasons that `batch retry` covers: those whose cause may lie in the service, or all errors. */
function reasonsToRetry(all: boolean): AudioReason[] {
  return (Object.keys(AUDIO_REASONS) as AudioReason[]).filter(
    (reason) => AUDIO_REASONS[reason].state === 'error' && (all || AUDIO_REASONS[reason].retry),
  );
}

/**
 * Queues the items of an ended batch that are in error again; with `all` also those whose recording is at fault. Items whose audio is not
 * stored stay as they are. Returns how many were queued; with 0 the batch is unchanged.
 * @throws ServiceError `batch_unknown`, `batch_ended`
 */
export async function retryBatch(
  db: Pool,
  id: string,
  { all, record }: { all: boolean; record?: RecordChange | undefined },
): Promise<{ retried: number }> {
  return inTransaction(db, async (client) => {
    const { batchId } = await readBatch(client, id);
    await client.query(sql('audio/lock_batch'), [batchId]);
    const batch = await readBatch(client, id);
    if (!hasEnded(batch)) throw actionRefused('retry batch', batch);
    const { rowCount } = await client.query(sql('audio/retry_verifications'), [batchId, reasonsToRetry(all)]);
    const retried = rowCount ?? 0;
    if (retried > 0) {
      await client.query(sql('audio/reopen_batch'), [batchId]);
      await record?.(client, retried);
    }
    return { retried };
  });
}

function actionRefused(operation: string, { id, state }: Batch): ServiceError {
  const hint =
    state === 'open'
      ? 'Complete its submission with the same command and key, or cancel it.'
      : `\`caller-trust batch status ${id}\` shows it.`;
  return new ServiceError('batch_ended', { operation, object: id, problem: `The batch is ${state}.`, hint });
}

/** Ends a batch if each of its items has an outcome. `overtaken`: it has ended before, or its jobs were queued again. */
export async function finishBatch(
  db: Queryable,
  { batchId, generation }: { batchId: number; generation: number },
): Promise<'done' | 'missing' | 'overtaken'> {
  if ((await queryRow(db, sql('audio/finish_batch'), [batchId, generation])) !== undefined) return 'done';
  const batch = await findBatchOfJob(db, batchId);
  return batch === undefined || batch.generation !== generation || hasEnded(batch) || batch.state === 'open'
    ? 'overtaken'
    : 'missing';
}

/** The jobs of a batch for the queue. */
export interface DueBatch {
  readonly batchId: number;
  readonly generation: number;
  /** Chunks with an item that has no outcome. */
  readonly chunks: readonly number[];
}

/** Items in each of the first chunks of a batch: about a second of work at 60 files of 8 s a second. */
const chunkItemsMin = 50;

/** Chunks after which the next ones are twice as large: 100,000 items make 675 chunks, 10 million less than 2,000. */
const chunksOfOneSize = 200;

/**
 * The lines of a chunk, which one job performs. Independent of the size of the batch, which is unknown while items arrive; a chunk is
 * larger the later it comes, so that no batch has more jobs than one flow of the queue should hold.
 */
export function linesOfChunk(chunk: number): { readonly first: number; readonly last: number } {
  const growth = 2 ** Math.floor(chunk / chunksOfOneSize);
  const first = chunkItemsMin * (chunksOfOneSize * (growth - 1) + (chunk % chunksOfOneSize) * growth) + 1;
  return { first, last: first + chunkItemsMin * growth - 1 };
}

/** The jobs that a batch needs in its present state. */
export async function readDueBatch(
  db: Queryable,
  { batchId, generation, items }: Pick<Batch, 'batchId' | 'generation' | 'items'>,
): Promise<DueBatch> {
  const chunks = [];
  for (let lines = linesOfChunk(0); lines.first <= items; lines = linesOfChunk(chunks.length)) chunks.push(lines);
  const rows = await queryRows<{ chunk: number }>(db, sql('audio/list_open_chunks'), [
    batchId,
    chunks.map(({ first }) => first),
    chunks.map(({ last }) => last),
  ]);
  return { batchId, generation, chunks: rows.map(({ chunk }) => chunk) };
}

/** The same under a new generation, for a batch whose jobs are lost; undefined if it has ended or another process was faster. */
export async function renewDueBatch(
  db: Queryable,
  { batchId, generation }: { batchId: number; generation: number },
): Promise<DueBatch | undefined> {
  const row = await queryRow<{ generation: number; items: number }>(db, sql('audio/renew_batch'), [
    batchId,
    generation,
  ]);
  return row && readDueBatch(db, { batchId, ...row });
}
