import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { BatchMode } from './batch.ts';
import type { AudioReason } from '../reasons.ts';
import {
  VERIFICATION_STATES,
  type ChannelScores,
  type ScoredWindow,
  type Scores,
  type VerificationDecision,
  type VerificationState,
} from '../verification.ts';

/** One item of a batch with what became of it. */
export interface VerificationRecord {
  readonly id: string;
  readonly batch: string;
  /** Its place in the batch, from 1. */
  readonly line: number;
  readonly source: string;
  readonly state: VerificationState;
  readonly mode: BatchMode;
  readonly requestedModel: string;
  readonly model: string | null;
  readonly release: string;
  /** Null where the file was refused; what is not known until it was opened is null too. Durations are in seconds. */
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
  readonly reasonDetail: string | null;
  /** True if the result had been made before, so that nothing was computed. */
  readonly reused: boolean;
  readonly attempts: number;
  readonly times: { readonly queued: Date; readonly started: Date | null; readonly ended: Date | null };
  readonly channelScores: readonly ChannelScores[];
  readonly notes: readonly string[];
  /** Null where they were not asked for. */
  readonly windows: readonly ScoredWindow[] | null;
}

/** Which items are listed. */
export interface VerificationFilter {
  /** Default: all. */
  readonly states?: readonly VerificationState[] | undefined;
  /** Line after which to begin. */
  readonly after: number;
  readonly limit: number;
  readonly windows: boolean;
}

/** Columns of an item that every list of items has, that of the API too. */
export interface ItemColumns {
  readonly batch: string;
  readonly publicId: string;
  readonly line: number;
  readonly state: VerificationState;
  readonly mode: BatchMode;
  readonly requestedModel: string;
  readonly model: string | null;
  readonly release: string;
  readonly audioSha256: string | null;
  readonly sampleRate: number | null;
  readonly channels: number | null;
  readonly durationSeconds: number | null;
  readonly voiceSeconds: number | null;
  readonly synthesis: number | null;
  readonly replay: number | null;
  readonly decision: VerificationDecision | null;
  readonly reason: AudioReason | null;
  readonly attempts: number;
  readonly queuedAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
}

interface VerificationRow extends ItemColumns {
  source: string;
  reasonDetail: string | null;
  reused: boolean;
  channelScores: ChannelScores[] | null;
  notes: string[] | null;
  windows: ScoredWindow[] | null;
}

/** Items of a batch in its order. */
export async function listVerifications(
  db: Queryable,
  batchId: number,
  { states = VERIFICATION_STATES, after, limit, windows }: VerificationFilter,
): Promise<VerificationRecord[]> {
  return (
    await queryRows<VerificationRow>(db, sql('audio/list_verifications'), [batchId, states, after, limit, windows])
  ).map(toRecord);
}

/** Records that are held at a time; one of a call of four hours has 14,400 windows. */
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

function toRecord(row: VerificationRow): VerificationRecord {
  return {
    ...itemOf(row),
    line: row.line,
    source: row.source,
    reasonDetail: row.reasonDetail,
    reused: row.reused,
    times: { queued: row.queuedAt, started: row.startedAt, ended: row.endedAt },
    channelScores: row.channelScores ?? [],
    notes: row.notes ?? [],
    windows: row.windows,
  };
}

/** What every list of items says of one. */
export function itemOf(row: ItemColumns) {
  return {
    id: row.publicId,
    batch: row.batch,
    state: row.state,
    mode: row.mode,
    requestedModel: row.requestedModel,
    model: row.model,
    release: row.release,
    audio:
      row.audioSha256 === null
        ? null
        : {
            sha256: row.audioSha256,
            sampleRate: row.sampleRate,
            channels: row.channels,
            duration: row.durationSeconds,
            voiceDuration: row.voiceSeconds,
          },
    scores: row.state === 'performed' ? { synthesis: row.synthesis, replay: row.replay } : null,
    scoreDirection: 'higher-is-authentic' as const,
    decision: row.state === 'performed' ? row.decision : null,
    reason: row.reason,
    attempts: row.attempts,
  };
}
