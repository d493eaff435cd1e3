import { AUDIO_REASONS, type AudioReason } from '../reasons.ts';
import type { DecisionLabel } from '../verification.ts';

/** Whether the voice is that of the enrolled person: a probability, or why there is none. */
export type IdentityAnswer =
  { readonly score: number; readonly reason: null } | { readonly score: null; readonly reason: AudioReason };

/** Whether the recording is authentic, or why that is unknown. */
export type AuthenticityAnswer =
  { readonly label: DecisionLabel; readonly reason: null } | { readonly label: null; readonly reason: AudioReason };

/**
 * The result of both answers. `match`: the voice is the person's, and the recording is authentic.
 * `copySuspected`: the voice is the person's in a recording that seems synthesized or replayed. `mismatch`: another voice.
 * `undecided`: one of the answers is missing.
 */
export const VOICE_LABELS = ['match', 'copySuspected', 'mismatch', 'undecided'] as const;

export type VoiceLabel = (typeof VOICE_LABELS)[number];

/** A judgement with what a person should do. */
export interface VoiceJudgement {
  readonly label: VoiceLabel;
  readonly advice: string;
}

const shownAs = {
  authentic: 'authentic',
  synthesized: 'synthesized',
  replayed: 'played back',
  synthesizedAndReplayed: 'synthesized and played back',
} as const satisfies Record<DecisionLabel, string>;

/** Combines identity and authenticity: a copied voice sounds like the person, so neither is sufficient alone. */
export function judgeVoice({
  identity,
  identityThreshold,
  authenticity,
}: {
  identity: IdentityAnswer;
  identityThreshold: number;
  authenticity: AuthenticityAnswer;
}): VoiceJudgement {
  if (identity.score === null) return { label: 'undecided', advice: adviceWithoutIdentity(identity.reason) };
  const isAlike = identity.score >= identityThreshold;
  if (!isAlike) return { label: 'mismatch', advice: adviceOnOtherVoice(authenticity) };
  if (authenticity.label === null) {
    return {
      label: 'undecided',
      advice:
        'The voice is like the enrolled person’s, but whether it is synthesized or played back is not known. Do not accept it on the voice alone: ask for another recording, or for another proof.',
    };
  }
  if (authenticity.label === 'authentic') {
    return {
      label: 'match',
      advice:
        'The voice is like the enrolled person’s, and the recording looks authentic. Take it as one proof among others.',
    };
  }
  return {
    label: 'copySuspected',
    advice: `The voice is like the enrolled person’s, but the recording looks ${shownAs[authenticity.label]}. Treat it as a copied voice: do not accept it, and ask for a proof that a recording cannot give, such as a call back.`,
  };
}

/** More voice helps only where the recording could be decoded. */
function adviceWithoutIdentity(reason: AudioReason): string {
  const { state, retry, meaning } = AUDIO_REASONS[reason];
  if (state === 'performedWithoutScore')
    return 'The voice could not be compared. Ask for another recording, with more voice and less noise.';
  if (retry) return `The recording could not be compared: ${meaning} Try again when the cause is mended.`;
  return `The recording cannot be compared: ${meaning} Hand in another file; docs/audio-formats.md says what is read.`;
}

function adviceOnOtherVoice({ label }: AuthenticityAnswer): string {
  if (label === null) return 'The voice is not like the enrolled person’s. Do not accept it.';
  if (label === 'authentic')
    return 'The recording looks authentic, but the voice is not like the enrolled person’s. Do not accept it; if the person insists, ask for another recording or another proof.';
  return `The voice is not like the enrolled person’s, and the recording looks ${shownAs[label]}. Do not accept it.`;
}
