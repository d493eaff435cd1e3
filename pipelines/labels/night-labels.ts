import { ServiceError } from '../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import { complaintRule } from './complaint-rule.ts';
import type { Label } from './label-history.ts';
import { computeScores, scoringDefaults, type ScoringSettings } from './scoring.ts';

/** A number that had a label. */
interface LabelledNumber extends Label {
  readonly phone: string;
}

/** The label of a number by the rule on complaints. */
type RecomputedLabel = Omit<LabelledNumber, 'source'>;

/** The snapshot of a night and the scoring before it. Snapshots are pg_snapshot as text. */
export interface NightBasis {
  readonly snapshot: string;
  /** Null if nothing was scored before the night. */
  readonly scoring: { readonly evaluatedAt: Date; readonly ruleVersion: string; readonly saw: string } | null;
}

/**
 * The snapshot and scoring of a night.
 * @throws ServiceError `night_unknown`; `snapshot_gone` for a night without a snapshot, or of another database cluster, whose
 * transaction ids differ
 */
export async function readNightBasis(db: Queryable, runId: number): Promise<NightBasis> {
  const row = await queryRow<{
    transactions: string | null;
    evaluatedAt: Date | null;
    ruleVersion: string;
    scoringSaw: string;
  }>(db, sql('labels/find_night_scoring'), [runId]);
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
 * The labels that a snapshot saw, by phone, replayed from the history. Later commits are left out by their transactions, not by
 * their timestamps. Complete for snapshots within the retention of the history.
 */
export async function replayLabels(db: Queryable, snapshot: string): Promise<LabelledNumber[]> {
  return queryRows<LabelledNumber>(db, sql('labels/list_labels_as_of'), [snapshot]);
}

/**
 * The labels of a past scoring, by phone, computed again: by the same statement and instant, over the loads and clearings that
 * it saw. Later ones are left out, whatever their dates. Complaints that were pruned since are missing.
 * @throws ServiceError `scoring_rule_differs` for a scoring by another rule version, which needs a version of the service with that rule
 */
export async function recomputeComplaintLabels(
  db: Pool,
  { evaluatedAt, ruleVersion, saw }: NonNullable<NightBasis['scoring']>,
  settings: ScoringSettings = scoringDefaults,
): Promise<RecomputedLabel[]> {
  if (ruleVersion !== complaintRule.version) {
    throw new ServiceError('scoring_rule_differs', {
      operation: 'compute labels again',
      problem: `That scoring was by ${ruleVersion}; this version of the service has ${complaintRule.version}.`,
    });
  }
  return inTransaction(db, async (client) => {
    await computeScores(client, evaluatedAt, settings, { seen: saw });
    return queryRows<RecomputedLabel>(client, sql('labels/list_scored_labels'));
  });
}
