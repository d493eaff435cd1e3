import { AUDIO_REASONS, type AudioReason } from './reasons.ts';
import type { DecisionLabel, VerificationState } from './verification.ts';

/**
 * What to do with a recording whose verification has ended. Closed list; docs/audio.md is checked against it both ways. Nothing but
 * `proceed` is a pass: an attack that ends without a score, or undecided, has not passed.
 */
export const NEXT_STEPS = {
  proceed: 'No sign of an attack. Proceed, and take it as one sign among others.',
  verify_otherwise: 'Neither a pass nor an attack. Verify the person by another means.',
  refuse: 'Signs of an attack. Do not act on the voice; verify the person by another means, or have a person listen.',
  record_again: 'Not a pass: there was too little to score. Ask for another recording, or verify by another means.',
  submit_again:
    'Not a pass: it was not scored. Fix what the reason names and submit it again, or verify by another means.',
} as const;

export type NextStep = keyof typeof NEXT_STEPS;

const afterDecision = {
  authentic: 'proceed',
  undecided: 'verify_otherwise',
  synthesized: 'refuse',
  replayed: 'refuse',
  synthesizedAndReplayed: 'refuse',
} as const satisfies Record<DecisionLabel, NextStep>;

/** What to do with a verification; null while it has not ended. */
export function nextStepOf({
  state,
  decision,
  reason,
}: {
  readonly state: VerificationState;
  readonly decision: { readonly label: DecisionLabel } | null;
  readonly reason: AudioReason | null;
}): NextStep | null {
  if (state === 'queued' || state === 'performing') return null;
  if (decision !== null) return afterDecision[decision.label];
  return reason !== null && AUDIO_REASONS[reason].state === 'performedWithoutScore' ? 'record_again' : 'submit_again';
}
