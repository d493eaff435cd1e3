import { readBatch } from '../../pipelines/audio/batches/batch.ts';
import { AUDIO_REASONS, type AudioReason } from '../../pipelines/audio/reasons.ts';
import {
  listNewestVerifications,
  type NewestFilter,
  type PlacedVerification,
  type VerificationPlace,
  type VerificationRecord,
} from '../../pipelines/audio/batches/stored-verifications.ts';
import type {
  ScoredWindow,
  ScoringSettings,
  DecisionLabel,
  VerificationState,
} from '../../pipelines/audio/verification.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { pageOf } from '../http/paging.ts';
import type { ModelFigures } from './model-figures.ts';
import type { Listed } from './json.ts';

export type { DecisionLabel, ScoredWindow, VerificationState };
export type { RecordingWaveform } from '../../pipelines/audio/scoring/recording-waveform.ts';
export type { ScoreName, Scores, WindowLabel } from '../../pipelines/audio/verification.ts';

/** Why there is no score, in words, and whether a retry may help. */
export interface ReasonFacts {
  readonly reason: AudioReason;
  readonly meaning: string;
  readonly retryHelps: boolean;
}

/** The meaning of a reason. */
export function describeReason(reason: AudioReason): ReasonFacts {
  return { reason, meaning: AUDIO_REASONS[reason].meaning, retryHelps: AUDIO_REASONS[reason].retry };
}

/** A verification in a list, with its latest comparison with a voiceprint. */
export type ListedVerification = Omit<PlacedVerification, 'batchId'> & {
  readonly why: ReasonFacts | null;
  readonly identity: { readonly score: number; readonly threshold: number | null } | null;
};

/** Filters of a list of verifications. */
type VerificationFilter = Omit<NewestFilter, 'owner' | 'lowest' | 'before'> & {
  readonly before?: VerificationPlace | undefined;
};

const newest: VerificationPlace = { batchId: Number.MAX_SAFE_INTEGER, line: 0 };

/** How far ids may deviate from the order of time, for batches submitted at the same moment. */
const idsOutOfOrderMax = 1000;

/**
 * Verifications of all clients, newest first, with the cursor of the next page.
 * @throws ServiceError `batch_unknown`
 */
export async function listVerifications(
  db: Queryable,
  filter: VerificationFilter,
): Promise<{ verifications: ListedVerification[]; next: string | null }> {
  const { lowest, highest } = await boundsOf(db, filter);
  const before = earlierOf(filter.before ?? newest, { batchId: highest + 1, line: 0 });
  const found = await listNewestVerifications(db, {
    ...filter,
    batch: undefined,
    lowest,
    before,
    limit: filter.limit + 1,
  });
  const { rows, next } = pageOf(found, filter.limit, ({ batchId, line }) => `${batchId}.${line}`);
  const digests = rows.flatMap(({ audio }) => audio?.sha256 ?? []);
  const identities = await listIdentities(db, digests, { each: 1, scored: true });
  const verifications = rows.map(({ batchId: _batch, ...item }) => {
    const [latest] = identities.get(item.audio?.sha256 ?? '') ?? [];
    const { score = null, threshold = null } = latest ?? {};
    const identity = score === null ? null : { score, threshold };
    return { ...item, why: item.reason && describeReason(item.reason), identity };
  });
  return { verifications, next };
}

function earlierOf(a: VerificationPlace, b: VerificationPlace): VerificationPlace {
  return a.batchId < b.batchId || (a.batchId === b.batchId && a.line <= b.line) ? a : b;
}

/** The range of batch ids that can match the filter: an index range instead of a scan of every row. */
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

/** A verification with all details. */
export interface VerificationDetail extends StoredVerification {
  readonly why: ReasonFacts | null;
  readonly recording: (StoredRecording & { readonly playback: Playback | null }) | null;
  readonly identities: readonly IdentityAnswer[];
}

/** The columns of sql/console/find_verification.sql. */
interface StoredVerification extends Omit<VerificationRecord, 'windows' | 'times'>, Pick<PlacedVerification, 'times'> {
  readonly batchName: string;
  readonly owner: string;
  readonly requestedBy: string;
  readonly settings: ScoringSettings;
  readonly computedMs: number | null;
  readonly windows: readonly ScoredWindow[];
  readonly recording: StoredRecording | null;
}

interface StoredRecording {
  readonly bytes: number | null;
  readonly format: string | null;
  readonly codec: string | null;
  readonly storedAt: Date | null;
  readonly deletedAt: Date | null;
  readonly deletedWhy: string | null;
}

/** Most comparisons that are shown for a recording. */
const identitiesMax = 10;

/** @throws ServiceError `verification_unknown` */
export async function readVerification(db: Queryable, id: string): Promise<VerificationDetail> {
  const stored = idForm.test(id)
    ? await queryRow<StoredVerification>(db, sql('console/find_verification'), [id])
    : undefined;
  if (stored === undefined)
    throw new ServiceError('verification_unknown', {
      operation: 'read verification',
      hint: 'The list of verifications shows the existing ones.',
    });
  const { audio, reason, recording } = stored;
  const digests = audio === null ? [] : [audio.sha256];
  const [identities = []] = (await listIdentities(db, digests, { each: identitiesMax, scored: false })).values();
  return {
    ...stored,
    why: reason && describeReason(reason),
    recording: recording && { ...recording, playback: playbackOf(recording) },
    identities,
  };
}

const idForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Comparisons of recordings with voiceprints, by the digest of the audio, newest first. */
async function listIdentities(
  db: Queryable,
  digests: readonly string[],
  { each, scored }: { readonly each: number; readonly scored: boolean },
): Promise<Map<string, IdentityAnswer[]>> {
  if (digests.length === 0) return new Map();
  const values = [[...new Set(digests)], each, scored];
  const rows = await queryRows<IdentityAnswer & { audioSha256: string }>(db, sql('console/list_identities'), values);
  return rows.reduce(
    (all, { audioSha256, ...identity }) => all.set(audioSha256, [...(all.get(audioSha256) ?? []), identity]),
    new Map<string, IdentityAnswer[]>(),
  );
}

/** A verification, followed until it has ended. */
export interface LiveVerification {
  readonly verification: VerificationDetail & { readonly figures: ModelFigures | null };
  /** Null once no worker is needed. */
  readonly workerConnected: boolean | null;
}

/** How a recording is played: the original file, or decoded to WAV. */
type Playback = 'original' | 'converted';

/**
 * Codecs that Chromium, Firefox and Safari all play, by the decoder's container name (docs/audio-formats.md). Others are
 * converted: WAV with GSM, IMA ADPCM, or samples of 32-bit integers or 64 bits, FLAC in Ogg, and MP4 with anything but AAC.
 */
const played: Readonly<Record<string, readonly string[]>> = {
  wav: ['pcm_u8', 'pcm_s16le', 'pcm_s24le', 'pcm_f32le', 'pcm_mulaw', 'pcm_alaw'],
  flac: ['flac'],
  mp3: ['mp3'],
  ogg: ['opus', 'vorbis'],
  mp4: ['aac'],
};

/** How a recording is played; null while its format is unknown because it has not been opened. */
export function playbackOf({
  format,
  codec,
}: {
  readonly format: string | null;
  readonly codec: string | null;
}): Playback | null {
  if (format === null || codec === null) return null;
  return Object.hasOwn(played, format) && played[format]!.includes(codec) ? 'original' : 'converted';
}

/** Verifications, newest first. */
export type ListedVerificationPage = Listed & { readonly verifications: readonly ListedVerification[] };
