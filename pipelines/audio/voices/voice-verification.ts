import { ServiceError } from '../../../runtime/errors.ts';
import { readAudioContent } from '../store/audio-store.ts';
import { AudioRefusal, refusalOrThrow } from '../reasons.ts';
import type { ScoringPool } from '../scorers/scoring-pool.ts';
import { defaultSettings, type ScoredRecording, type Scores } from '../verification.ts';
import { embedForEnrolment, type VoiceEmbedder, type VoiceWork } from './voice-enrolment.ts';
import { judgeVoice, type AuthenticityAnswer, type IdentityAnswer, type VoiceJudgement } from './voice-judgement.ts';
import type { Voiceprint } from '../voiceprint/enrolment.ts';
import { scoreIdentity } from '../voiceprint/identity-score.ts';
import { openVoiceprint, readVoiceprint, recordVoiceVerification, type OpenedVoiceprint } from './voiceprint-store.ts';
import type { ModelChoice } from '../models/named-model.ts';

interface VoiceComparison extends VoiceWork {
  readonly pool: VoiceEmbedder & Pick<ScoringPool, 'score'>;
  readonly authenticity: ModelChoice;
}

/** Whether a recording is of the enrolled person, with its synthesis and replay scores. */
export interface VoiceVerificationResult extends VoiceJudgement {
  readonly verificationId: string;
  readonly verifiedAt: Date;
  /** Id of the voiceprint. */
  readonly voiceprint: string;
  readonly subject: string;
  readonly voiceModel: string;
  /** Probability that the voice is the enrolled person's, for the seconds of voice of both sides; null with a reason. */
  readonly identity: number | null;
  /** A match from this on. */
  readonly identityThreshold: number;
  /** A mismatch below this. */
  readonly mismatchThreshold: number;
  /** Seconds of voice of the enrolment, and of the recording; null if the recording has none that could be compared. */
  readonly enrolledSeconds: number;
  readonly voiceSeconds: number | null;
  readonly identityReason: string | null;
  readonly model: string | null;
  /** Higher is authentic, as everywhere. */
  readonly scores: Scores | null;
  readonly thresholds: Scores | null;
  readonly authenticityReason: string | null;
}

/**
 * Compares a recording with a voiceprint, and scores its authenticity. The result is stored with a row of the audit trail;
 * the recording is not kept.
 * @throws ServiceError `voiceprint_unknown`, `document_sealed`, `model_invalid` if the voiceprint is of another model,
 * `recording_refused` if the file cannot be opened, `interrupted`
 */
export async function verifyVoice(
  work: VoiceComparison,
  { id, file, actor }: { id: string; file: string; actor: string },
): Promise<VoiceVerificationResult> {
  const { model, pool } = work;
  const { subject, voiceSeconds: enrolledSeconds } = await readVoiceprint(work.db, id);
  const voiceprint = await openVoiceprint(work, id);
  requireSameModel(work, id, voiceprint);
  const { sha256 } = await readAudioContent(file, work.limits).catch((error: unknown) => {
    throw error instanceof AudioRefusal
      ? new ServiceError('recording_refused', {
          operation: 'verify voice',
          problem: `${error.detail} [${error.reason}]`,
        })
      : error;
  });
  const enrolled = { centroid: voiceprint.embedding, voicedSeconds: enrolledSeconds };
  const [{ voiceSeconds, ...identity }, scored] = await Promise.all([
    answerIdentity(work, enrolled, file),
    pool.score({ file, model: work.authenticity, settings: defaultSettings }, work.signal).catch(refusalOrThrow),
  ]);
  const authenticity = authenticityOf(scored);
  const { identityThreshold, mismatchThreshold } = model;
  const judgement = judgeVoice({
    identity,
    thresholds: { match: identityThreshold, mismatch: mismatchThreshold },
    voice: { enrolled: enrolledSeconds, recording: voiceSeconds },
    authenticity,
  });
  const shown = {
    voiceModel: model.name,
    identityThreshold,
    mismatchThreshold,
    enrolledSeconds,
    voiceSeconds,
    model: scored instanceof AudioRefusal ? null : scored.model,
    scores: scored instanceof AudioRefusal ? null : scored.scores,
    thresholds: scored instanceof AudioRefusal ? null : (scored.decision?.thresholds ?? null),
    authenticityReason: authenticity.reason,
  };
  const { label, undecidedReason } = judgement;
  const decision = { label, undecidedReason, policy: 'voice/2', authenticity: authenticity.label, ...shown };
  const stored = await recordVoiceVerification(work, id, {
    verification: { audioSha256: sha256, identity: identity.score, decision, reason: identity.reason },
    actor,
  });
  return {
    ...stored,
    ...judgement,
    voiceprint: id,
    subject,
    identity: identity.score,
    identityReason: identity.reason,
    ...shown,
  };
}

/** Embeddings of different models cannot be compared. */
function requireSameModel({ model }: VoiceComparison, id: string, voiceprint: OpenedVoiceprint): void {
  if ([model.manifestSha256, ...model.succeeds].includes(voiceprint.modelSha256)) return;
  throw new ServiceError('model_invalid', {
    operation: 'verify voice',
    object: id,
    problem: `The voiceprint was made with ${voiceprint.model} (manifest ${voiceprint.modelSha256.slice(0, 12)}), which is not the voiceprint model in use.`,
    hint: 'Name the directory of that model with --voiceprint-model, or delete the voiceprint and enrol the person again.',
  });
}

async function answerIdentity(
  { pool, model, signal }: VoiceComparison,
  voiceprint: Pick<Voiceprint, 'centroid' | 'voicedSeconds'>,
  file: string,
): Promise<IdentityAnswer & { readonly voiceSeconds: number | null }> {
  try {
    const recording = await embedForEnrolment(pool, { file, directory: model.directory }, signal);
    return {
      ...scoreIdentity(voiceprint, recording, model.calibration),
      voiceSeconds: recording?.voicedSeconds ?? null,
    };
  } catch (error) {
    if (error instanceof AudioRefusal) return { score: null, reason: error.reason, voiceSeconds: null };
    throw error;
  }
}

function authenticityOf(scored: ScoredRecording | AudioRefusal): AuthenticityAnswer {
  if (scored instanceof AudioRefusal) return { label: null, reason: scored.reason };
  return scored.decision === null
    ? { label: null, reason: scored.reason! }
    : { label: scored.decision.label, reason: null };
}
