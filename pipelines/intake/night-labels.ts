import { ServiceError } from '../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../runtime/postgres.ts';
import { sql } from '../../sql/sql.ts';
import type { Label } from './label-history.ts';

/** A number that had a label. */
export interface LabelledNumber extends Label {
  readonly phone: string;
}

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
  const row = await queryRow<{ transactions: string | null; evaluated_at: Date | null; rule_version: string; scoring_saw: string }>(db, sql('intake/find_night_scoring'), [runId]);
  if (row === undefined) throw new ServiceError('night_unknown', { operation: 'read night', object: String(runId) });
  if (row.transactions === null) {
    throw new ServiceError('snapshot_gone', { operation: 'read night', object: String(runId), problem: 'The night has no snapshot that this database could compare with.', hint: 'It never opened, or the database was restored into another cluster since.' });
  }
  return { snapshot: row.transactions, scoring: row.evaluated_at === null ? null : { evaluatedAt: row.evaluated_at, ruleVersion: row.rule_version, saw: row.scoring_saw } };
}

/**
 * The labels that a snapshot saw, by phone, replayed from the history. What was committed later is left out, whatever the instants in it:
 * the transactions decide. Complete for snapshots since the history began, and within its retention.
 */
export async function replayLabels(db: Queryable, snapshot: string): Promise<LabelledNumber[]> {
  return queryRows<LabelledNumber & { [column: string]: unknown }>(db, sql('intake/list_labels_as_of'), [snapshot]);
}
