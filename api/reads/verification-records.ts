import type { BatchState } from '../../pipelines/audio/batches/batch.ts';
import {
  answerOf,
  findVerification,
  type VerificationAnswer,
  type VerificationDetailAnswer,
} from '../../pipelines/audio/batches/verification-answer.ts';
import type { ItemColumns } from '../../pipelines/audio/batches/verification-record.ts';
import { VERIFICATION_STATES, type VerificationState } from '../../pipelines/audio/verification.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { BatchAnswer, BatchCounts } from './verification-schemas.ts';

/** A batch or a verification by the id that one client has for it. */
export interface OwnedId {
  readonly client: string;
  readonly id: string;
}

/** Where a verification stands among those of its client. */
export interface VerificationPlace {
  readonly batchId: number;
  readonly line: number;
}

/** Before the newest: where the first page of a list from the newest down begins. */
export const newestPlace: VerificationPlace = { batchId: Number.MAX_SAFE_INTEGER, line: 2 ** 31 - 1 };

/** A row of a list: what is answered, and the place that a cursor keeps. */
export interface Placed<Answer, Place> {
  readonly answer: Answer;
  readonly place: Place;
}

interface VerificationRow extends ItemColumns {
  batchId: number;
}

interface BatchRow {
  batchId: number;
  publicId: string;
  name: string;
  state: BatchState;
  mode: BatchAnswer['mode'];
  requestedModel: string;
  release: string;
  pinnedPhone: string | null;
  pinnedDigital: string | null;
  settings: { channels: BatchAnswer['channels'] };
  items: number;
  requestedAt: Date;
  endedAt: Date | null;
}

/** Which verifications of a client to list; without a filter all of them. */
export interface VerificationsAsked {
  readonly client: string;
  readonly state: VerificationState | undefined;
  readonly model: string | undefined;
  readonly batch: string | undefined;
  readonly after: VerificationPlace;
  readonly rows: number;
}

/** Verifications of a client from the newest down, after a place. */
export async function listVerifications(
  db: Queryable,
  { client, state, model, batch, after, rows }: VerificationsAsked,
): Promise<Placed<VerificationAnswer, VerificationPlace>[]> {
  const found = await queryRows<VerificationRow>(db, sql('api/list_verifications'), [
    client,
    state ?? null,
    model ?? null,
    batch ?? null,
    after.batchId,
    after.line,
    rows,
  ]);
  return found.map((row) => ({ answer: answerOf(row), place: { batchId: row.batchId, line: row.line } }));
}

/** A verification with its windows. @throws ServiceError `verification_unknown` if the client has none of this id, whoever else has it. */
export async function readVerification(db: Queryable, { client, id }: OwnedId): Promise<VerificationDetailAnswer> {
  const verification = await findVerification(db, { client, id });
  if (verification === undefined) throw unknownVerification();
  return verification;
}

/** Batches of a client from the newest down, before the id given. */
export async function listBatches(
  db: Queryable,
  { client, state, before, rows }: { client: string; state: BatchState | undefined; before: number; rows: number },
): Promise<Placed<BatchAnswer, number>[]> {
  const found = await queryRows<BatchRow>(db, sql('api/list_batches'), [client, state ?? null, before, rows]);
  return found.map((row) => ({ answer: batchOf(row), place: row.batchId }));
}

/** A batch that was found, for the reads of its items. */
export interface FoundBatch {
  readonly batchId: number;
  readonly batch: BatchAnswer;
}

/** Finds a batch. @throws ServiceError `batch_unknown` if the client has none of this id, whoever else has it. */
export async function findBatch(db: Queryable, { client, id }: OwnedId): Promise<FoundBatch> {
  const row = await queryRow<BatchRow>(db, sql('api/find_batch'), [id, client]);
  if (row === undefined) throw unknownBatch();
  return { batchId: row.batchId, batch: batchOf(row) };
}

/** How many verifications of a batch are in each state; every state is there. */
export async function countStates(db: Queryable, batchId: number): Promise<BatchCounts> {
  const rows = await queryRows<{ state: VerificationState; count: number }>(db, sql('api/count_batch_states'), [
    batchId,
  ]);
  return Object.fromEntries(
    VERIFICATION_STATES.map((state) => [state, rows.find((row) => row.state === state)?.count ?? 0]),
  ) as BatchCounts; // the states are its keys
}

/** Verifications of a batch by line, after the one given (0 for the first). */
export async function listBatchVerifications(
  db: Queryable,
  batchId: number,
  { state, after, rows }: { state: VerificationState | undefined; after: number; rows: number },
): Promise<Placed<VerificationAnswer, number>[]> {
  const found = await queryRows<VerificationRow>(db, sql('api/list_batch_verifications'), [
    batchId,
    state ?? null,
    after,
    rows,
  ]);
  return found.map((row) => ({ answer: answerOf(row), place: row.line }));
}

/** The error of an id that names no verification of the client. */
export function unknownVerification(): ServiceError {
  return new ServiceError('verification_unknown', { operation: 'find verification' });
}

/** The error of an id that names no batch of the client. */
export function unknownBatch(): ServiceError {
  return new ServiceError('batch_unknown', { operation: 'find batch' });
}

function batchOf(row: BatchRow): BatchAnswer {
  return {
    id: row.publicId,
    name: row.name,
    state: row.state,
    mode: row.mode,
    requestedModel: row.requestedModel,
    release: row.release,
    models: { phone: row.pinnedPhone, digital: row.pinnedDigital },
    channels: row.settings.channels,
    items: row.items,
    times: { requested: row.requestedAt.toISOString(), ended: timeOrNull(row.endedAt) },
    links: { self: `/v1/batches/${row.publicId}`, verifications: `/v1/verifications?batch=${row.publicId}` },
  };
}

function timeOrNull(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}
