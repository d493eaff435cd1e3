import { AUDIO_REASONS, type AudioReason } from '../reasons.ts';
import type { DecisionLabel } from '../verification.ts';

/** Thresholds of an identity score: a match from the first on, a mismatch below the second, undecided in between. */
interface IdentityThresholds {
  readonly match: number;
  readonly mismatch: number;
}

/** Seconds of voice of both sides; null of a recording whose voice is not known. */
interface ComparedVoice {
  readonly enrolled: number;
  readonly recording: number | null;
}

/** Whether the voice is that of the enrolled person: a probability, or why there is none. */
export type IdentityAnswer =
  { readonly score: number; readonly reason: null } | { readonly score: null; readonly reason: AudioReason };

/** Whether the recording is authentic, or why that is unknown. */
export type AuthenticityAnswer =
  { readonly label: DecisionLabel; readonly reason: null } | { readonly label: null; readonly reason: AudioReason };

/**
 * The result of both answers. `match`: the voice is the person's, and the recording is authentic.
 * `copySuspected`: the voice is the person's in a recording that seems synthesized or replayed. `mismatch`: another voice.
 * `undecided`: the voice is neither like the person's nor unlike it, or one of the answers is missing.
 */
export const VOICE_LABELS = ['match', 'copySuspected', 'mismatch', 'undecided'] as const;

export type VoiceLabel = (typeof VOICE_LABELS)[number];

/** Why a comparison is undecided. */
const UNDECIDED_REASONS = {
  identity_unknown: 'The voice could not be compared.',
  identity_between: 'The voice is neither like enough nor unlike enough for the seconds of voice there are.',
  authenticity_unknown: 'Whether the recording is synthesized or played back is not known.',
} as const;

type UndecidedReason = keyof typeof UNDECIDED_REASONS;

/** A judgement with what a person should do. */
export interface VoiceJudgement {
  readonly label: VoiceLabel;
  /** Null unless undecided. */
  readonly undecidedReason: UndecidedReason | null;
  readonly advice: string;
}

const shownAs = {
  authentic: 'authentic',
  synthesized: 'synthesized',
  replayed: 'played back',
  synthesizedAndReplayed: 'synthesized and played back',
} as const satisfies Record<Exclude<DecisionLabel, 'undecided'>, string>;

/** Combines identity and authenticity: a copied voice sounds like the person, so neither is sufficient alone. */
export function judgeVoice({
  identity,
  thresholds,
  voice,
  authenticity,
}: {
  identity: IdentityAnswer;
  thresholds: IdentityThresholds;
  voice: ComparedVoice;
  authenticity: AuthenticityAnswer;
}): VoiceJudgement {
  if (identity.score === null) return undecided('identity_unknown', adviceWithoutIdentity(identity.reason));
  if (identity.score < thresholds.mismatch) return decided('mismatch', adviceOnOtherVoice(authenticity));
  if (identity.score < thresholds.match) return undecided('identity_between', adviceBetween(voice, authenticity));
  if (authenticity.label === null || authenticity.label === 'undecided') {
    return undecided(
      'authenticity_unknown',
      'The voice is like the enrolled person’s, but whether it is synthesized or played back is not known. Do not accept it on the voice alone: ask for another recording, or for another proof.',
    );
  }
  if (authenticity.label === 'authentic') {
    return decided(
      'match',
      'The voice is like the enrolled person’s, and the recording looks authentic. Take it as one proof among others.',
    );
  }
  return decided(
    'copySuspected',
    `The voice is like the enrolled person’s, but the recording looks ${shownAs[authenticity.label]}. Treat it as a copied voice: do not accept it, and ask for a proof that a recording cannot give, such as a call back.`,
  );
}

function decided(label: VoiceLabel, advice: string): VoiceJudgement {
  return { label, undecidedReason: null, advice };
}

function undecided(undecidedReason: UndecidedReason, advice: string): VoiceJudgement {
  return { label: 'undecided', undecidedReason, advice };
}

/** Seconds of voice beyond which more adds little. */
const enoughSeconds = 30;

function adviceBetween({ enrolled, recording }: ComparedVoice, { label }: AuthenticityAnswer): string {
  const looks =
    label === null || label === 'authentic' || label === 'undecided' ? '' : ` The recording looks ${shownAs[label]}.`;
  const sides = `${recording === null ? 'The recording' : `${recording.toFixed(1)} s of voice`} against ${enrolled.toFixed(1)} s of the enrolment`;
  const more =
    recording !== null && recording < enoughSeconds
      ? 'ask for a longer recording, or for another proof'
      : enrolled < enoughSeconds
        ? 'ask for another proof, and enrol the person again with more voice'
        : 'ask for another proof';
  return `${sides} is too little to decide whether this is the enrolled person.${looks} Do not accept it on the voice: ${more}.`;
}

/** More voice helps only where the recording could be decoded. */
function adviceWithoutIdentity(reason: AudioReason): string {
  const { state, retry, meaning } = AUDIO_REASONS[reason];
  if (state === 'performedWithoutScore')
    return 'The voice could not be compared. Ask for another recording, with more voice and less noise.';
  if (retry) return `The recording could not be compared: ${meaning} Try again when the cause is fixed.`;
  return `The recording cannot be compared: ${meaning} Submit another file; docs/audio-formats.md says what is read.`;
}

function adviceOnOtherVoice({ label }: AuthenticityAnswer): string {
  if (label === null || label === 'undecided') return 'The voice is not like the enrolled person’s. Do not accept it.';
  if (label === 'authentic')
    return 'The recording looks authentic, but the voice is not like the enrolled person’s. Do not accept it; if the person insists, ask for another recording or another proof.';
  return `The voice is not like the enrolled person’s, and the recording looks ${shownAs[label]}. Do not accept it.`;
}
