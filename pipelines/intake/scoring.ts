import { inTransaction, queryRow, type Pool } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { setLabelCause } from './label-history.ts';

/**
 * The rule by which complaints become a reputation. A change of any figure is a new version.
 * docs/scoring.md explains it with worked examples.
 */
export const complaintRule = {
  version: 'complaints/1',
  /** Older complaints do not count. */
  windowDays: 365,
  /** A report weighs half as much after this many days. */
  halfLifeDays: 30,
  /** A level needs this many reports that differ in state or day. */
  independentReportsMin: 3,
  /** A level needs this sum of weights. */
  scoreMin: 1.5,
  /** Category of a complaint whose subject says nothing: robocaller if a recording was played, else general_spam. */
  recordedCategory: 10,
  otherCategory: 1,
} as const;

/** What a scoring did: numbers with complaints, and published rows that were made or changed. */
export interface ScoringReport {
  readonly scored: number;
  readonly changed: number;
}

/** Scores all numbers with complaints as of an instant and publishes the scores, in one transaction. */
export async function scoreComplaints(db: Pool, evaluatedAt: Date): Promise<ScoringReport> {
  const { version, windowDays, halfLifeDays, independentReportsMin, scoreMin, recordedCategory, otherCategory } = complaintRule;
  return inTransaction(db, async (client) => {
    await client.query(sql('intake/prepare_bulk_work'));
    const scored = await queryRow<{ scored: number; transactions: string }>(client, sql('intake/score_complaints'), [
      evaluatedAt, version, windowDays, halfLifeDays, independentReportsMin, scoreMin, recordedCategory, otherCategory,
    ]);
    const { scored: numbers, transactions } = scored!; // each statement returns one row
    await client.query(sql('intake/record_scoring'), [evaluatedAt, version, transactions]);
    await setLabelCause(client, { cause: 'complaints', ruleVersion: version, evaluatedAt });
    const applied = await queryRow<{ changed: number }>(client, sql('intake/apply_scores'));
    return { scored: numbers, changed: applied!.changed };
  });
}
