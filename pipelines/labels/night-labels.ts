import { ServiceError } from '../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { complaintRule } from './complaint-rule.ts';
import type { Label } from './label-history.ts';
import { computeScores, scoringDefaults, type ScoringSettings } from './scoring.ts';

/** A number that had a label. */
export interface LabelledNumber extends Label {
  readonly phone: string;
}

/** What the rule makes of a number's complaints. */
export type RecomputedLabel = Omit<LabelledNumber, 'source'>;

/** What a night was built from: its snapshot, and the scoring before it. Snapshots are pg_snapshot as text. */
export interface NightBasis {
  readonly snapshot: string;
  /** Null for a night before which nothing was scored. */
  readonly scoring: { readonly evaluatedAt: Date; readonly ruleVersion: string; readonly saw: string } | null;
}

/**
 * What a night was built from.
 * @throws ServiceError `night_unknown`; `snapshot_gone` for a night without a snapshot, or of another database cluster: transactions are
 * numbered by cluster
 */
export async function readNightBasis(db: Queryable, runId: number): Promise<NightBasis> {
  const row = await queryRow<{
    transactions: string | null;
    evaluatedAt: Date | null;
    ruleVersion: string;
    scoringSaw: string;
  }>(db, sql('intake/find_night_scoring'), [runId]);
  if (row === undefined) throw new ServiceError('night_unknown', { operation: 'read night', object: String(runId) });
  if (row.transactions === null) {
    throw new ServiceError('snapshot_gone', {
      operation: 'read night',
      object: String(runId),
      problem: 'The night has no snapshot that this database could compare with.',
      hint: 'It never opened, or the database was restored into another cluster since.',
    });
  }
  return {
    snapshot: row.transactions,
    scoring:
      row.evaluatedAt === null
        ? null
        : { evaluatedAt: row.evaluatedAt, ruleVersion: row.ruleVersion, saw: row.scoringSaw },
  };
}

/**
 * The labels that a snapshot saw, by phone, replayed from the history. What was committed later is left out, whatever the instants in it:
 * the transactions decide. Complete for snapshots since the history began, and within its retention.
 */
export async function replayLabels(db: Queryable, snapshot: string): Promise<LabelledNumber[]> {
  return queryRows<LabelledNumber>(db, sql('intake/list_labels_as_of'), [snapshot]);
}

/**
 * The labels that the rule gives the complaints which a scoring of the past saw, by phone: its very statement, at its instant, over what it
 * saw of loads and clearings. What came in later is left out, whatever the dates in it. Complaints that were pruned since are missing.
 * @throws ServiceError `basis_unusable` for a scoring by another rule version than this one: a version of the service that has it computes it
 */
export async function recomputeComplaintLabels(
  db: Pool,
  { evaluatedAt, ruleVersion, saw }: NonNullable<NightBasis['scoring']>,
  settings: ScoringSettings = scoringDefaults,
): Promise<RecomputedLabel[]> {
  if (ruleVersion !== complaintRule.version) {
    throw new ServiceError('basis_unusable', {
      operation: 'compute labels again',
      problem: `That scoring was by ${ruleVersion}; this version of the service has ${complaintRule.version}.`,
    });
  }
  return inTransaction(db, async (client) => {
    await computeScores(client, evaluatedAt, settings, saw);
    return queryRows<RecomputedLabel>(client, sql('intake/list_scored_labels'));
  });
}
