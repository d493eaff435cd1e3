import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { BatchMode } from './batch.ts';
import type { AudioReason } from '../reasons.ts';
import {
  type DecisionLabel,
  type ChannelScores,
  type ScoredWindow,
  type Scores,
  type VerificationDecision,
  type VerificationState,
} from '../verification.ts';

/** A verification in a list. */
export interface VerificationItem {
  readonly id: string;
  readonly batch: string;
  readonly state: VerificationState;
  readonly mode: BatchMode;
  readonly requestedModel: string;
  readonly model: string | null;
  readonly release: string;
  /** Null for a refused file; fields that are unknown until it is opened are null, too. Durations are in seconds. */
  readonly audio: {
    readonly sha256: string;
    readonly sampleRate: number | null;
    readonly channels: number | null;
    readonly duration: number | null;
    readonly voiceDuration: number | null;
  } | null;
  readonly scores: Scores | null;
  readonly scoreDirection: 'higher-is-authentic';
  readonly decision: VerificationDecision | null;
  readonly reason: AudioReason | null;
  readonly attempts: number;
  /** Its place in the batch, from 1. */
  readonly line: number;
  readonly source: string;
  readonly times: { readonly queued: Date; readonly started: Date | null; readonly ended: Date | null };
}

/** One item of a batch with its outcome. */
export interface VerificationRecord extends VerificationItem {
  readonly reasonDetail: string | null;
  /** True if an earlier result was used, so that nothing was computed. */
  readonly reused: boolean;
  readonly channelScores: readonly ChannelScores[];
  readonly notes: readonly string[];
  /** Null unless requested. */
  readonly windows: readonly ScoredWindow[] | null;
}

/** The place of a verification in a list with the newest first: its batch and its line. */
export interface VerificationPlace {
  readonly batchId: number;
  readonly line: number;
}

/** A verification among those of several batches. */
export interface PlacedVerification extends VerificationItem, VerificationPlace {
  readonly times: VerificationItem['times'] & { readonly requested: Date };
}

/** Which items are listed. */
interface VerificationFilter {
  /** Default: all. */
  readonly states?: readonly VerificationState[] | undefined;
  /** Line after which to begin. */
  readonly after: number;
  readonly limit: number;
  readonly windows: boolean;
}

/** Items of a batch in its order. */
export function listVerifications(
  db: Queryable,
  batchId: number,
  { states, after, limit, windows }: VerificationFilter,
): Promise<VerificationRecord[]> {
  const one = states?.length === 1 ? states[0] : null; // an index finds the lines of one state in order
  const values = [batchId, null, null, one, states ?? null, after, limit, windows];
  return queryRows<VerificationRecord>(db, sql('audio/list_verifications'), values);
}

/** A verification of an owner with its windows, or undefined; `id` is a UUID. */
export function findVerificationRecord(
  db: Queryable,
  { id, owner }: { readonly id: string; readonly owner: string },
): Promise<VerificationRecord | undefined> {
  return queryRow<VerificationRecord>(db, sql('audio/list_verifications'), [null, id, owner, null, null, 0, 1, true]);
}

/** Which verifications are listed with the newest first; by default all. */
export interface NewestFilter {
  readonly owner?: string | undefined;
  /** Public id of a batch; looked for among those of the owner. */
  readonly batch?: string | undefined;
  readonly state?: VerificationState | undefined;
  readonly model?: string | undefined;
  readonly mode?: BatchMode | undefined;
  readonly label?: DecisionLabel | undefined;
  /** When it was submitted: from an instant on, and before another. */
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
  /** The lowest id of a batch. */
  readonly lowest?: number | undefined;
  readonly before: VerificationPlace;
  readonly limit: number;
}

/** Verifications of several batches, the newest first. */
export function listNewestVerifications(db: Queryable, filter: NewestFilter): Promise<PlacedVerification[]> {
  const { owner, batch, state, model, mode, label, from, until, lowest = 0, before, limit } = filter;
  const optional = (value: unknown) => value ?? null;
  const place = [lowest, before.batchId, before.line];
  const values = [...[state, model, label, mode].map(optional), ...place, ...[from, until].map(optional), limit];
  return owner !== undefined || mode === 'webDemo'
    ? queryRows(db, sql('audio/list_newest_verifications_by_batch'), [...values, ...[owner, batch].map(optional)])
    : queryRows(db, sql('audio/list_newest_verifications'), values);
}

/** Records in memory at a time; one of a call of four hours has 14,400 windows. */
const pageItems = { plain: 1000, windows: 5 } as const;

/** Items of a batch in its order, page by page: memory does not grow with the batch. */
export async function* readVerifications(
  db: Queryable,
  batchId: number,
  { states, windows }: Pick<VerificationFilter, 'states' | 'windows'>,
): AsyncGenerator<VerificationRecord[]> {
  const limit = windows ? pageItems.windows : pageItems.plain;
  for (let after = 0; ;) {
    const page = await listVerifications(db, batchId, { states, after, limit, windows });
    if (page.length > 0) yield page;
    if (page.length < limit) return;
    after = page.at(-1)!.line;
  }
}

/** Characters of the longest source and model of a batch. */
export async function measureSources(db: Queryable, batchId: number): Promise<{ source: number; model: number }> {
  return (await queryRow<{ source: number; model: number }>(db, sql('audio/measure_sources'), [batchId]))!;
}
