import type { LetterPlace } from './letter-reading.ts';

/**
 * The consequence of a finding: `pass` and `note` do not prevent an approval, `review` sends the letter to a person, `reject`
 * refuses it.
 */
export type Severity = 'pass' | 'note' | 'review' | 'reject';

/** The result of one check of a request or a letter. */
export interface Finding {
  /** Id of the rule (see docs/letters.md), or the code of a letter that could not be read. */
  readonly code: string;
  readonly severity: Severity;
  /** For the customer: the result and, unless it passed, what to do. Never text of the letter. */
  readonly message: string;
  /** Its place in the letter. */
  readonly place: LetterPlace | null;
  /** The text that it was read from, at most 200 characters. Kept sealed with the letter; never in the API or a log. */
  readonly excerpt: string | null;
}

/** The outcome of a letter: the worst severity of its findings decides. */
export type LetterOutcome = 'approved' | 'rejected' | 'in_review';
