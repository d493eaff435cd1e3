import { cosine, meanDirection } from './directions.ts';
import type { RecordingEmbedding } from './recording-embedding.ts';

/** Limits of an enrolment. */
export const enrolmentLimits = {
  /** Fewest recordings: with fewer, an outlier cannot be identified. */
  recordingsMin: 3,
  /** More recordings add nothing, and each is biometric data. */
  recordingsMax: 20,
  /** Least seconds of voice of one recording, and of all together. */
  recordingVoicedSecondsMin: 1.5,
  voicedSecondsMin: 6,
} as const;

/** A person's voice: the mean direction of the recordings, and their agreement with it. */
export interface Voiceprint {
  readonly centroid: Float32Array;
  /** Cosine of each recording with the mean of the others: minimum and mean. */
  readonly spread: { readonly least: number; readonly mean: number };
  readonly recordings: number;
  readonly voicedSeconds: number;
}

/** Why there is no voiceprint. `recordings` are indexes in the list, from 0. */
export interface EnrolmentFinding {
  readonly code:
    | 'recordings_too_few'
    | 'recordings_too_many'
    | 'recording_voice_too_little'
    | 'voice_too_little'
    | 'recordings_disagree';
  readonly recordings: readonly number[];
  readonly detail: string;
}

/** A voiceprint, or the reasons against one. */
type Enrolment =
  | { readonly voiceprint: Voiceprint; readonly findings: readonly [] }
  | { readonly voiceprint: null; readonly findings: readonly EnrolmentFinding[] };

/**
 * Makes a voiceprint of recordings of one person; null is a recording without voice. `agreementMin` is the least
 * cosine of a recording with the mean of the others (`thresholds.agreement` of the model's manifest): below it another person
 * may be speaking, and nothing is enrolled.
 */
export function enrolVoice(
  recordings: readonly (RecordingEmbedding | null)[],
  { agreementMin }: { readonly agreementMin: number },
): Enrolment {
  const findings = [...countFindings(recordings), ...voiceFindings(recordings)];
  const usable = recordings.filter((recording) => recording !== null);
  if (findings.length > 0) return { voiceprint: null, findings };
  const agreements = usable.map((recording, index) =>
    cosine(
      recording.embedding,
      meanDirection(usable.filter((_other, at) => at !== index).map((other) => other.embedding)),
    ),
  );
  const disagreeing = placesWhere(agreements, (agreement) => agreement < agreementMin);
  if (disagreeing.length > 0) {
    const found = disagreeing.map((at) => agreements[at]!.toFixed(2)).join(', ');
    const detail = `These recordings are too unlike the others to be of one voice (${agreementMin} is needed): ${found}.`;
    return { voiceprint: null, findings: [finding('recordings_disagree', detail, disagreeing)] };
  }
  return { voiceprint: voiceprintOf(usable, agreements), findings: [] };
}

function voiceprintOf(recordings: readonly RecordingEmbedding[], agreements: readonly number[]): Voiceprint {
  return {
    centroid: meanDirection(recordings.map((recording) => recording.embedding)),
    spread: {
      least: Math.min(...agreements),
      mean: agreements.reduce((sum, agreement) => sum + agreement, 0) / agreements.length,
    },
    recordings: recordings.length,
    voicedSeconds: voicedSecondsOf(recordings),
  };
}

/** What is wrong with the number of recordings. */
export function countFindings({ length }: readonly unknown[]): EnrolmentFinding[] {
  const { recordingsMin, recordingsMax } = enrolmentLimits;
  if (length < recordingsMin)
    return [finding('recordings_too_few', `${length} of at least ${recordingsMin} recordings were given.`)];
  return length > recordingsMax
    ? [finding('recordings_too_many', `${length} recordings were given; ${recordingsMax} are the most.`)]
    : [];
}

function voiceFindings(recordings: readonly (RecordingEmbedding | null)[]): EnrolmentFinding[] {
  const { recordingVoicedSecondsMin, voicedSecondsMin } = enrolmentLimits;
  const short = placesWhere(recordings, (recording) => (recording?.voicedSeconds ?? 0) < recordingVoicedSecondsMin);
  const seconds = voicedSecondsOf(recordings);
  const perRecording = `Each recording needs ${recordingVoicedSecondsMin} s of voice.`;
  const inAll = `${seconds.toFixed(1)} of at least ${voicedSecondsMin} s of voice in all.`;
  return [
    ...(short.length > 0 ? [finding('recording_voice_too_little', perRecording, short)] : []),
    ...(seconds < voicedSecondsMin ? [finding('voice_too_little', inAll)] : []),
  ];
}

function finding(code: EnrolmentFinding['code'], detail: string, recordings: readonly number[] = []): EnrolmentFinding {
  return { code, recordings, detail };
}

function placesWhere<Item>(items: readonly Item[], holds: (item: Item) => boolean): number[] {
  return items.flatMap((item, index) => (holds(item) ? [index] : []));
}

function voicedSecondsOf(recordings: readonly (RecordingEmbedding | null)[]): number {
  return recordings.reduce((sum, recording) => sum + (recording?.voicedSeconds ?? 0), 0);
}
