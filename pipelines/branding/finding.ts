import type { LetterPlace } from './letter-reading.ts';

/**
 * What a finding leads to: `pass` and `note` do not hinder an approval, `review` sends the letter to a person, `reject`
 * refuses it.
 */
export type Severity = 'pass' | 'note' | 'review' | 'reject';

/** One thing that was checked in a request or a letter. */
export interface Finding {
  /** Id of the rule (see docs/letters.md), or the code of a refusal to read. */
  readonly code: string;
  readonly severity: Severity;
  /** For the customer: what was found and, unless it passed, what to do. Never text of the letter. */
  readonly message: string;
  /** Where in the letter it was read. */
  readonly place: LetterPlace | null;
  /** The text that it was read from, at most 200 characters. Kept sealed with the letter; never in the API or a log. */
  readonly excerpt: string | null;
}

/** What the findings of one letter amount to: the worst severity decides. */
export type LetterOutcome = 'approved' | 'rejected' | 'in_review';
