import { NUMBER_TRANSITIONS } from '../states.ts';
import type { BrandAction, BrandState, LetterState, NumberAction, NumberState } from '../states.ts';

/** The facts that a brand's next state depends on. */
export interface BrandStanding {
  readonly state: BrandState;
  /** The revision that waits for a decision; null if none does. */
  readonly pending: {
    /** State of the best letter that came with it; null if none did. One whose validity is over is `expired`. */
    readonly letter: LetterState | null;
    /** A finding about the brand itself, or a change of name without a letter, that a person must judge. */
    readonly needsDecision: boolean;
  } | null;
  /** A letter of the published company is approved and valid. */
  readonly letterInForce: boolean;
}

/** One step: an action on the brand, or the end of its pending revision. */
export type BrandStep =
  | { readonly kind: 'brand'; readonly action: BrandAction }
  | { readonly kind: 'revision'; readonly action: 'approve' | 'reject' };

/** The outcome of a pending revision. */
type BrandVerdict = 'waits' | 'review' | 'approve' | 'reject';

/**
 * The next step of a brand after a change, or null if none is due. Call it again after each step.
 * A brand that was approved before keeps its approved revision while another one is decided.
 */
export function nextBrandStep(standing: BrandStanding): BrandStep | null {
  const { state, pending, letterInForce } = standing;
  if (pending !== null && state !== 'withdrawn') {
    const step = stepOfPending(state, verdictOn(pending, state));
    if (step !== null) return step;
  }
  if (state === 'approved' && !letterInForce) return { kind: 'brand', action: 'expire' };
  if (state === 'expired' && letterInForce) return { kind: 'brand', action: 'renew' };
  return null;
}

function verdictOn({ letter, needsDecision }: NonNullable<BrandStanding['pending']>, state: BrandState): BrandVerdict {
  if (letter === 'rejected' || letter === 'withdrawn') return 'reject';
  if (letter === 'submitted' || letter === 'in_review') return 'review';
  if (letter === null && !wasApproved(state)) return 'waits';
  if (needsDecision) return 'review';
  return letter === 'expired' ? 'waits' : 'approve';
}

function stepOfPending(state: BrandState, verdict: BrandVerdict): BrandStep | null {
  if (wasApproved(state))
    return verdict === 'approve' || verdict === 'reject' ? { kind: 'revision', action: verdict } : null;
  if (verdict === 'waits') return null;
  if (state === 'draft' || state === 'rejected') return { kind: 'brand', action: 'submit' };
  if (verdict === 'review') return state === 'submitted' ? { kind: 'brand', action: 'review' } : null;
  return { kind: 'brand', action: verdict };
}

function wasApproved(state: BrandState): boolean {
  return state === 'approved' || state === 'suspended' || state === 'expired';
}

/**
 * The relation of a number to the letters of its brand: `covered` by one in force, `pending` if one that is not decided yet
 * names it or came with it, else `none`; `taken` if another brand has it live, or it was permanently rejected with one.
 */
export type NumberStanding = 'covered' | 'pending' | 'none' | 'taken';

/** A move of all numbers of a brand that are in one of the states and have one of the standings. */
export interface NumberMove {
  readonly action: NumberAction;
  readonly from: readonly NumberState[];
  readonly standing: readonly NumberStanding[];
  /** For the audit trail and the customer. */
  readonly reason: string;
}

export const anyStanding: readonly NumberStanding[] = ['covered', 'pending', 'none', 'taken'];
const undecided: readonly NumberState[] = ['submitted', 'in_review'];

const review = (standing: readonly NumberStanding[], reason: string): NumberMove => ({
  action: 'review',
  from: ['submitted'],
  standing,
  reason,
});
const fail = (standing: readonly NumberStanding[], reason: string): NumberMove => ({
  action: 'fail',
  from: undecided,
  standing,
  reason,
});
const expire = (standing: readonly NumberStanding[], reason: string): NumberMove => ({
  action: 'expire',
  from: ['verified'],
  standing,
  reason,
});

const taken = fail(['taken'], 'Another brand has this number.');

const letterWaits = 'The letter that names it waits for a person.';
const noLetter = 'No letter in force names it.';

const moves: { readonly [State in BrandState]: readonly NumberMove[] } = {
  draft: [],
  submitted: [],
  // A number that no letter names stays submitted: it must not stand against the claim of another brand.
  in_review: [review(['covered', 'pending'], 'The brand waits for a person.'), taken],
  approved: [
    { action: 'verify', from: undecided, standing: ['covered'], reason: 'A letter in force names it.' },
    { action: 'renew', from: ['expired'], standing: ['covered'], reason: 'A new letter in force names it.' },
    review(['pending'], letterWaits),
    fail(['none'], noLetter),
    taken,
    expire(['pending', 'none'], noLetter),
  ],
  rejected: [fail(anyStanding, 'The brand was rejected.')],
  suspended: [],
  expired: [
    review(['pending'], letterWaits),
    fail(['covered', 'none'], noLetter),
    taken,
    expire(anyStanding, noLetter),
  ],
  withdrawn: [
    {
      action: 'remove',
      from: NUMBER_TRANSITIONS.actions.remove.from,
      standing: anyStanding,
      reason: 'The brand was withdrawn.',
    },
  ],
};

/** The moves that bring a brand's numbers to the states that follow from its state and its letters; a number takes one at most. */
export function numberMoves(state: BrandState): readonly NumberMove[] {
  return moves[state];
}
