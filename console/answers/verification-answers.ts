import { readBatch, type BatchMode } from '../../pipelines/audio/batches/batch.ts';
import { AUDIO_REASONS, type AudioReason } from '../../pipelines/audio/reasons.ts';
import { itemOf, type ItemColumns } from '../../pipelines/audio/batches/verification-record.ts';
import type {
  ChannelScores,
  DecisionLabel,
  ScoredWindow,
  ScoringSettings,
  VerificationState,
} from '../../pipelines/audio/verification.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { pageOf } from '../http/paging.ts';
import { playbackOf } from './playback-formats.ts';
import type { ModelFigures } from './model-figures.ts';

export type { DecisionLabel, ScoredWindow, VerificationState };
export type { ScoreName, Scores, WindowLabel } from '../../pipelines/audio/verification.ts';

/** Why there is no score, in words, and whether another try may help. */
export interface ReasonFacts {
  readonly reason: AudioReason;
  readonly meaning: string;
  readonly retryHelps: boolean;
}

/** What a reason means. */
export function describeReason(reason: AudioReason): ReasonFacts {
  return { reason, meaning: AUDIO_REASONS[reason].meaning, retryHelps: AUDIO_REASONS[reason].retry };
}

/** A verification in a list. */
export type ListedVerification = ReturnType<typeof listedOf>;

interface ListedRow extends ItemColumns {
  readonly batchId: number;
  readonly source: string;
  readonly requestedAt: Date;
  readonly identity: number | null;
  readonly identityThreshold: number | null;
}

function listedOf(row: ListedRow) {
  const { times, ...item } = shownItem(row);
  return {
    ...item,
    line: row.line,
    source: row.source,
    times: { ...times, handedIn: row.requestedAt },
    identity: row.identity === null ? null : { score: row.identity, threshold: row.identityThreshold },
  };
}

/** What lists and details say of an item. */
export function shownItem(row: ItemColumns) {
  return {
    ...itemOf(row),
    why: row.reason === null ? null : describeReason(row.reason),
    times: { queued: row.queuedAt, started: row.startedAt, ended: row.endedAt },
  };
}

/** What a list of verifications is narrowed to. */
export interface VerificationFilter {
  readonly state?: VerificationState | undefined;
  readonly model?: string | undefined;
  readonly mode?: BatchMode | undefined;
  /** Id of a batch, as clients name it. */
  readonly batch?: string | undefined;
  readonly label?: DecisionLabel | undefined;
  /** When it was handed in: from an instant on, and before another. */
  readonly from?: Date | undefined;
  readonly until?: Date | undefined;
  readonly before?: VerificationPlace | undefined;
  readonly limit: number;
}

/** The place of a verification in the list: its batch and its line. */
export interface VerificationPlace {
  readonly batchId: number;
  readonly line: number;
}

const newest: VerificationPlace = { batchId: Number.MAX_SAFE_INTEGER, line: 0 };

/** By how many an id may be out of the order of time: batches that are handed in at the same moment. */
const idsOutOfOrderMax = 1000;

/**
 * Verifications of all clients, the newest first, with the place of the next page.
 * @throws ServiceError `batch_unknown`
 */
export async function listVerifications(
  db: Queryable,
  filter: VerificationFilter,
): Promise<{ verifications: ListedVerification[]; next: string | null }> {
  const { state = null, model = null, mode = null, label = null, from = null, until = null, limit } = filter;
  const { lowest, highest } = await boundsOf(db, filter);
  const start = earlierOf(filter.before ?? newest, { batchId: highest + 1, line: 0 });
  const places = [lowest, start.batchId, start.line, from, until, limit + 1];
  const rows = await queryRows<ListedRow>(
    db,
    mode === 'webDemo' ? sql('console/list_demo_verifications') : sql('console/list_verifications'),
    mode === 'webDemo' ? [state, model, label, ...places] : [state, model, label, mode, ...places],
  );
  const page = pageOf(rows, limit, ({ batchId, line }) => `${batchId}.${line}`);
  return { verifications: page.rows.map(listedOf), next: page.next };
}

function earlierOf(a: VerificationPlace, b: VerificationPlace): VerificationPlace {
  return a.batchId < b.batchId || (a.batchId === b.batchId && a.line <= b.line) ? a : b;
}

/** The batches that can hold what is asked for: an index of ids is a shorter way to a day than a look at every row. */
async function boundsOf(
  db: Queryable,
  { batch, from, until }: VerificationFilter,
): Promise<{ lowest: number; highest: number }> {
  const bounds = { lowest: 0, highest: Number.MAX_SAFE_INTEGER - 1 };
  if (batch !== undefined) {
    const { batchId } = await readBatch(db, batch);
    return { lowest: batchId, highest: batchId };
  }
  if (from === undefined && until === undefined) return bounds;
  const found = (await queryRow<{ lowest: number | null; highest: number | null }>(
    db,
    sql('console/find_batch_bounds'),
    [from ?? null, until ?? null],
  ))!;
  const none = { lowest: 0, highest: -1 };
  if ((from !== undefined && found.lowest === null) || (until !== undefined && found.highest === null)) return none;
  return {
    lowest: found.lowest === null ? bounds.lowest : found.lowest - idsOutOfOrderMax,
    highest: found.highest === null ? bounds.highest : found.highest + idsOutOfOrderMax,
  };
}

/** A comparison of the same audio with a voiceprint. */
export interface IdentityAnswer {
  readonly id: string;
  readonly voiceprint: string;
  readonly subject: string;
  readonly score: number | null;
  readonly threshold: number | null;
  readonly label: string | null;
  readonly reason: string | null;
  readonly at: Date;
}

/** A verification with all that is known of it. */
export type VerificationDetail = ReturnType<typeof detailOf> & { readonly identities: readonly IdentityAnswer[] };

interface DetailRow extends ItemColumns {
  readonly batchName: string;
  readonly owner: string;
  readonly requestedBy: string;
  readonly requestedAt: Date;
  readonly settings: ScoringSettings;
  readonly source: string;
  readonly reasonDetail: string | null;
  readonly reused: boolean;
  readonly channelScores: ChannelScores[] | null;
  readonly notes: string[] | null;
  readonly windows: ScoredWindow[] | null;
  readonly computedMs: number | null;
  readonly bytes: number | null;
  readonly format: string | null;
  readonly codec: string | null;
  readonly storedAt: Date | null;
  readonly deletedAt: Date | null;
  readonly deletedWhy: string | null;
}

/** Comparisons that are shown of one recording. */
const identitiesMax = 10;

/** @throws ServiceError `verification_unknown` */
export async function readVerification(db: Queryable, id: string): Promise<VerificationDetail> {
  const row = idForm.test(id) ? await queryRow<DetailRow>(db, sql('console/find_verification'), [id]) : undefined;
  if (row === undefined)
    throw new ServiceError('verification_unknown', {
      operation: 'read verification',
      hint: 'The list of verifications has those there are.',
    });
  return { ...detailOf(row), identities: row.audioSha256 === null ? [] : await listIdentities(db, row.audioSha256) };
}

const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function detailOf(row: DetailRow) {
  const { times, ...item } = shownItem(row);
  return {
    ...item,
    line: row.line,
    source: row.source,
    batchName: row.batchName,
    owner: row.owner,
    requestedBy: row.requestedBy,
    settings: row.settings,
    times: { ...times, handedIn: row.requestedAt },
    reasonDetail: row.reasonDetail,
    reused: row.reused,
    computedMs: row.computedMs,
    channelScores: row.channelScores ?? [],
    notes: row.notes ?? [],
    windows: row.windows ?? [],
    recording:
      row.audioSha256 === null
        ? null
        : {
            bytes: row.bytes,
            format: row.format,
            codec: row.codec,
            playback: playbackOf(row),
            storedAt: row.storedAt,
            deletedAt: row.deletedAt,
            deletedWhy: row.deletedWhy,
          },
  };
}

interface IdentityRow {
  readonly publicId: string;
  readonly voiceprint: string;
  readonly subject: string;
  readonly identity: number | null;
  readonly decision: { readonly label?: string; readonly identityThreshold?: number } | null;
  readonly reason: string | null;
  readonly verifiedAt: Date;
}

async function listIdentities(db: Queryable, sha256: string): Promise<IdentityAnswer[]> {
  const rows = await queryRows<IdentityRow>(db, sql('console/list_identities'), [sha256, identitiesMax]);
  return rows.map(({ publicId, voiceprint, subject, identity, decision, reason, verifiedAt }) => ({
    id: publicId,
    voiceprint,
    subject,
    score: identity,
    threshold: decision?.identityThreshold ?? null,
    label: decision?.label ?? null,
    reason,
    at: verifiedAt,
  }));
}

/** A verification that is followed until it has ended. */
export interface LiveVerification {
  readonly verification: VerificationDetail & { readonly figures: ModelFigures | null };
  /** Null where no worker is needed any more. */
  readonly workerConnected: boolean | null;
}
