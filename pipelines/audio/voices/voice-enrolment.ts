import { basename } from 'node:path';
import { ServiceError } from '../../../runtime/errors.ts';
import { readAudioContent } from '../store/audio-store.ts';
import { performSeveral } from '../batches/perform-several.ts';
import { AudioRefusal } from '../reasons.ts';
import type { EmbeddedVoice, VoiceFile } from '../scoring/embed-voice.ts';
import type { VoiceModel } from './voice-model.ts';
import {
  countFindings,
  enrolmentLimits,
  enrolVoice,
  type EnrolmentFinding,
  type Voiceprint,
} from '../voiceprint/enrolment.ts';
import type { RecordingEmbedding } from '../voiceprint/recording-embedding.ts';
import {
  checkEnrolment,
  requireNoVoiceprint,
  storeVoiceprint,
  type Consent,
  type VoiceprintStore,
  type VoiceprintSubject,
} from './voiceprint-store.ts';

/** Embeds a voice in a child process; see scoring/scoring-pool.ts. */
export interface VoiceEmbedder {
  /** @throws AudioRefusal */
  embed(request: VoiceFile, signal?: AbortSignal): Promise<Pick<EmbeddedVoice, 'embedding' | 'voiceSeconds'>>;
}

export interface VoiceWork extends VoiceprintStore {
  readonly model: VoiceModel;
  readonly pool: VoiceEmbedder;
  readonly limits: { readonly audioBytesMax: number; readonly audioScorers: number };
  readonly signal: AbortSignal;
  readonly now: () => Date;
}

/** A voiceprint that was made. */
export interface Enrolled extends VoiceprintSubject {
  readonly id: string;
  readonly enrolledAt: Date;
  readonly model: string;
  readonly recordings: number;
  readonly voiceSeconds: number;
  /** Agreement of the recordings: cosine of each with the mean of the others. */
  readonly agreement: Voiceprint['spread'];
  readonly consent: Consent;
}

/**
 * Makes a voiceprint of recordings of one person and stores it sealed. Consent and names are checked before a file is opened.
 * The recordings are not kept.
 * @throws ServiceError `consent_required`, `usage_invalid`, `voiceprint_exists`, `voiceprint_refused` that names the recordings,
 * `interrupted`
 */
export async function enrolVoiceprint(
  work: VoiceWork,
  request: VoiceprintSubject & { consent: Partial<Consent>; files: readonly string[] },
): Promise<Enrolled> {
  const { model } = work;
  const { owner, subject, consent } = checkEnrolment(request, work.now());
  const miscounted = countFindings(request.files);
  if (miscounted.length > 0) throw enrolmentRefused(miscounted, request.files);
  await requireNoVoiceprint(work.db, { owner, subject });
  await requireDifferentRecordings(work, request.files);
  const { voiceprint, findings } = enrolVoice(await embedEach(work, request.files), {
    agreementMin: model.agreementMin,
  });
  if (voiceprint === null) throw enrolmentRefused(findings, request.files);
  const { centroid, recordings, voicedSeconds: voiceSeconds, spread } = voiceprint;
  const stored = await storeVoiceprint(work, {
    owner,
    subject,
    consent,
    model: model.name,
    modelSha256: model.manifestSha256,
    recordings,
    voiceSeconds,
    embedding: centroid,
  });
  return { ...stored, owner, subject, model: model.name, recordings, voiceSeconds, agreement: spread, consent };
}

/** Refuses the same bytes twice, which would agree perfectly. */
async function requireDifferentRecordings({ limits }: VoiceWork, files: readonly string[]): Promise<void> {
  const seen = new Map<string, string>();
  for (const file of files) {
    const { sha256 } = await withFileName(file, () => readAudioContent(file, limits));
    const twin = seen.get(sha256);
    if (twin !== undefined) throw refusedFor(`${basename(file)} is the same recording as ${basename(twin)}.`);
    seen.set(sha256, file);
  }
}

async function embedEach(
  { pool, model, limits, signal }: VoiceWork,
  files: readonly string[],
): Promise<(RecordingEmbedding | null)[]> {
  const embedded: (RecordingEmbedding | null)[] = files.map(() => null);
  await performSeveral(files.entries(), limits.audioScorers, async ([at, file]) => {
    signal.throwIfAborted();
    embedded[at] = await withFileName(file, () =>
      embedForEnrolment(pool, { file, directory: model.directory }, signal),
    );
  });
  return embedded;
}

/**
 * The embedding of a recording's voice, or null if there is none.
 * @throws AudioRefusal if it could not be opened
 */
export async function embedForEnrolment(
  pool: VoiceEmbedder,
  request: VoiceFile,
  signal: AbortSignal,
): Promise<RecordingEmbedding | null> {
  try {
    const { embedding, voiceSeconds } = await pool.embed(request, signal);
    return { embedding, voicedSeconds: voiceSeconds };
  } catch (error) {
    if (error instanceof AudioRefusal && (error.reason === 'no_voice' || error.reason === 'insufficient_voice'))
      return null;
    throw error;
  }
}

/** Names the refused recording in the error. */
async function withFileName<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AudioRefusal) throw refusedFor(`${basename(file)}: ${error.detail} [${error.reason}]`);
    throw error;
  }
}

function enrolmentRefused(findings: readonly EnrolmentFinding[], files: readonly string[]): ServiceError {
  const problems = findings.map(({ recordings, detail }) =>
    recordings.length === 0 ? detail : `${recordings.map((at) => basename(files[at]!)).join(', ')}: ${detail}`,
  );
  return refusedFor(problems.join(' '));
}

function refusedFor(problem: string): ServiceError {
  const { recordingsMin, recordingVoicedSecondsMin, voicedSecondsMin } = enrolmentLimits;
  return new ServiceError('voiceprint_refused', {
    operation: 'enrol voice',
    problem,
    hint: `Give at least ${recordingsMin} recordings of this person alone, each with ${recordingVoicedSecondsMin} s of voice, ${voicedSecondsMin} s in all.`,
  });
}
