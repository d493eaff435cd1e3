import type { VoiceLabel } from '../../pipelines/audio/voices/voice-judgement.ts';
import type { Scores } from '../../pipelines/audio/verification.ts';
import { openVoiceModel } from '../../pipelines/audio/voices/voice-model.ts';
import { enrolmentLimits } from '../../pipelines/audio/voiceprint/enrolment.ts';
import {
  listVoiceprintPage,
  readVoiceprint,
  type VoiceprintEvent,
  type VoiceprintFilter,
  type VoiceprintRecord,
} from '../../pipelines/audio/voices/voiceprint-store.ts';
import type { Config } from '../../runtime/config.ts';
import { queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { pageOf } from '../http/paging.ts';
export type { Scores, VoiceprintRecord };
export type { Enrolled } from '../../pipelines/audio/voices/voice-enrolment.ts';
export type { VoiceVerificationResult } from '../../pipelines/audio/voices/voice-verification.ts';

/** Most comparisons in a history; the list of comparisons has all of them. */
const comparisonsInHistoryMax = 50;

/** Most other events in a history: an enrolment, and a deletion. */
const othersInHistoryMax = 50;

/** The history of a voiceprint, newest first; older comparisons are only counted. */
export async function readVoiceHistory(
  db: Queryable,
  voiceprint: string,
): Promise<{ events: VoiceprintEvent[]; eventsLeftOut: number }> {
  const rows = await queryRows<Omit<VoiceprintEvent, 'eventId'> & { eventId: number; events: number }>(
    db,
    sql('console/list_voiceprint_events'),
    [voiceprint, comparisonsInHistoryMax, othersInHistoryMax],
  );
  return {
    events: rows.map(({ eventId, events: _all, ...event }) => ({ eventId, ...event })),
    eventsLeftOut: (rows[0]?.events ?? 0) - rows.length,
  };
}

/** A page of voiceprints, and the cursor of the next one. */
export async function listVoiceprints(
  db: Queryable,
  filter: VoiceprintFilter,
): Promise<{ voiceprints: VoiceprintRecord[]; next: string | null }> {
  const { voiceprints, next } = await listVoiceprintPage(db, filter);
  return { voiceprints, next: next === null ? null : String(next) };
}

/** A voiceprint with its history. */
export type ShownVoiceprint = VoiceprintRecord & Awaited<ReturnType<typeof readVoiceHistory>>;

/** @throws ServiceError `voiceprint_unknown` */
export async function readShownVoiceprint(db: Queryable, id: string): Promise<ShownVoiceprint> {
  return { ...(await readVoiceprint(db, id)), ...(await readVoiceHistory(db, id)) };
}

/** The limits of an enrolment, and its model. */
export type ShownEnrolmentLimits = typeof enrolmentLimits & {
  readonly fileBytesMax: number;
  readonly model: string;
  readonly identityThreshold: number;
};

/** @throws ServiceError `model_invalid` */
export async function readEnrolmentLimits({
  audioBytesMax,
}: Pick<Config, 'audioBytesMax'>): Promise<ShownEnrolmentLimits> {
  const { name, identityThreshold } = await openVoiceModel();
  return { ...enrolmentLimits, fileBytesMax: audioBytesMax, model: name, identityThreshold };
}

/** The stored outcome of a comparison of a recording with a voiceprint. */
export interface StoredComparison {
  readonly verificationId: string;
  readonly verifiedAt: Date;
  readonly verifiedBy: string;
  /** Null if there is a reason. */
  readonly identity: number | null;
  readonly reason: string | null;
  readonly decision: {
    readonly label: VoiceLabel;
    readonly identityThreshold: number;
    readonly mismatchThreshold: number;
    readonly model: string | null;
    readonly voiceModel: string;
    readonly scores: Scores | null;
    readonly thresholds: Scores | null;
    readonly authenticityReason: string | null;
  } | null;
}

interface ComparisonRow extends Record<string, unknown> {
  readonly voiceVerificationId: number;
  readonly publicId: string;
  readonly verifiedAt: Date;
  readonly verifiedBy: string;
  readonly identity: number | null;
  readonly reason: string | null;
  readonly decision: StoredComparison['decision'];
}

/** Comparisons with a voiceprint, newest first. */
export async function listComparisons(
  db: Queryable,
  voiceprint: string,
  { before, limit }: { readonly before?: number | undefined; readonly limit: number },
): Promise<{ comparisons: StoredComparison[]; next: string | null }> {
  const rows = await queryRows<ComparisonRow>(db, sql('console/list_voice_comparisons'), [
    voiceprint,
    before ?? null,
    limit + 1,
  ]);
  const page = pageOf(rows, limit, ({ voiceVerificationId }) => voiceVerificationId);
  return { comparisons: page.rows.map(comparisonOf), next: page.next };
}

function comparisonOf({
  publicId,
  verifiedAt,
  verifiedBy,
  identity,
  reason,
  decision,
}: ComparisonRow): StoredComparison {
  return { verificationId: publicId, verifiedAt, verifiedBy, identity, reason, decision };
}

/** A page of voiceprints. */
export type VoiceprintPage = Awaited<ReturnType<typeof listVoiceprints>>;

/** A page of comparisons. */
export type ComparisonPage = Awaited<ReturnType<typeof listComparisons>>;
