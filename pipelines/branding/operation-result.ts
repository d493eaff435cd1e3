import type { Severity, LetterOutcome } from './finding.ts';
import type { BrandState, LetterState, NumberState } from './states.ts';

/** A finding as customers see it: without the text that it was read from. */
export interface PublicFinding {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  readonly page: number | null;
  readonly line: number | null;
}

/** The outcomes of a request's numbers. accepted + known + rejected = given. */
export interface NumbersResult {
  readonly given: number;
  /** New with the brand, or submitted again. */
  readonly accepted: number;
  /** With the brand already: not verified again. */
  readonly known: number;
  readonly rejected: number;
  /** Accepted and known numbers by their state. */
  readonly states: Partial<Record<NumberState, number>>;
  /** The first refused rows, at most {@link rejectsShownMax}; the operation's rows have all. */
  readonly rejects: readonly {
    readonly line: number;
    readonly phone: string | null;
    readonly code: string;
    readonly reason: string;
  }[];
}

export const rejectsShownMax = 100;

/** The answer to a request: each resource with its state, and each finding. Kept with the operation. */
export interface OperationResult {
  readonly schema: 'caller-trust/branding-result/1';
  /** `approved`: nothing is left to do. `in_review`: a person decides. `rejected`: see the findings. `accepted`: it waits for a letter. */
  readonly outcome: LetterOutcome | 'accepted';
  readonly brand: {
    readonly handle: string;
    readonly state: BrandState;
    readonly approvedRevision: number | null;
    readonly pendingRevision: number | null;
    readonly findings: readonly PublicFinding[];
  };
  readonly letter: {
    readonly letterId: number;
    readonly state: LetterState;
    readonly ruleVersion: string;
    readonly signedOn: string | null;
    readonly validUntil: string | null;
    readonly findings: readonly PublicFinding[];
  } | null;
  readonly numbers: NumbersResult | null;
}
