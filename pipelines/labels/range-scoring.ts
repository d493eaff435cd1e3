import { inTransaction, queryRow, type Pool } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';

/**
 * Numbers assigned to customers in the United States at the end of 2006 (FCC, Numbering Resource Utilization, February 2008).
 * There are more today, so shares of it are upper limits.
 */
export const numbersInService = { country: 'US', numbers: 616_000_000 } as const;

/**
 * The rule that finds ranges at risk from reported numbers. A change of any figure is a new version. docs/scoring.md explains
 * it and its measurement.
 */
export const rangeRule = {
  version: 'ranges/1',
  /** Numbers whose last report is older do not count. */
  windowDays: 42,
  /** Days after which a reported number weighs half. */
  halfLifeDays: 7,
  /** A range needs this many reported numbers. */
  numbersReportedMin: 3,
  /** A range needs this sum of weights. */
  scoreMin: 1,
  /** Ranges of one country, those with the greatest sums: 3,080,000 numbers are 0.5 % of `numbersInService`. */
  rangesMax: 3_080,
  /** The risk from a score on, and the least lift of its ranges in both halves of the measured history. */
  risks: [
    { scoreMin: 0, risk: 'ELEVATED', lift: 20 },
    { scoreMin: 4, risk: 'HIGH', lift: 35 },
    { scoreMin: 16, risk: 'SEVERE', lift: 80 },
  ],
} as const;

/** The result of a scoring of ranges: listed ranges, and those that were inserted or changed, or removed. */
interface RangeReport {
  readonly listed: number;
  readonly written: number;
  readonly removed: number;
}

/** Finds the ranges at risk as of an instant, in one transaction. */
export async function scoreRanges(db: Pool, evaluatedAt: Date, signal?: AbortSignal): Promise<RangeReport> {
  const { version, windowDays, halfLifeDays, numbersReportedMin, scoreMin, rangesMax, risks } = rangeRule;
  return inTransaction(
    db,
    async (client) => {
      await client.query(sql('feeds/prepare_bulk_work'));
      const report = await queryRow<RangeReport>(client, sql('labels/score_ranges'), [
        evaluatedAt,
        version,
        windowDays,
        halfLifeDays,
        numbersReportedMin,
        scoreMin,
        rangesMax,
        risks.slice(1).map((each) => each.scoreMin),
        risks.map(({ risk }) => risk),
        risks.map(({ lift }) => lift),
      ]);
      return report!; // the statement returns one row
    },
    signal,
  );
}
