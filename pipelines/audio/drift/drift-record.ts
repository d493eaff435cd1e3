import { ServiceError } from '../../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { ComparedModel, DriftReport } from './drift-report.ts';

/** A model as it was, whatever its name means now. */
export type ModelVersion = Pick<ComparedModel, 'model' | 'manifestSha256'>;

/** What is known of a stored report without reading its lists. */
export interface DriftReportSummary {
  readonly reportId: number;
  readonly old: ModelVersion;
  readonly new: ModelVersion;
  /** Public id of the batch. */
  readonly batch: string;
  readonly madeAt: Date;
  readonly madeBy: string;
  readonly counts: DriftReport['counts'];
}

interface SummaryRow extends Record<string, unknown> {
  readonly report_id: number;
  readonly old_model: string;
  readonly new_model: string;
  readonly old_manifest_sha256: string;
  readonly new_manifest_sha256: string;
  readonly batch: string;
  readonly made_at: Date;
  readonly made_by: string;
  readonly counts: DriftReport['counts'];
}

/** Stores a report; returns its id. */
export async function storeDriftReport(db: Queryable, report: DriftReport, { batchId, madeBy }: { batchId: number; madeBy: string }): Promise<{ reportId: number; madeAt: Date }> {
  const values = [report.old.model, report.new.model, batchId, madeBy, report.counts.recordings, JSON.stringify(report)];
  const row = await queryRow<{ report_id: number; made_at: Date }>(db, sql('audio/insert_drift_report'), values);
  return { reportId: row!.report_id, madeAt: row!.made_at };
}

/** Reports that compare a model with another one, newest first. */
export async function listDriftReports(db: Queryable, { model, limit }: { model: string; limit: number }): Promise<DriftReportSummary[]> {
  return (await queryRows<SummaryRow>(db, sql('audio/list_drift_reports'), [null, model, limit])).map(summaryOf);
}

/** @throws ServiceError `drift_report_missing` if no report has this id */
export async function readDriftSummary(db: Queryable, reportId: number): Promise<DriftReportSummary> {
  const row = await queryRow<SummaryRow>(db, sql('audio/list_drift_reports'), [reportId, null, 1]);
  if (row !== undefined) return summaryOf(row);
  throw new ServiceError('drift_report_missing', { operation: 'read drift report', object: String(reportId), problem: 'No drift report has this id.', hint: '`caller-trust models show MODEL` lists those of a model.' });
}

/** The newest report of two models as they are now: one that was made with other weights or another manifest does not count. */
export async function findDriftReport(db: Queryable, { old, new: now }: { old: ModelVersion; new: ModelVersion }): Promise<{ reportId: number; compared: number } | undefined> {
  const values = [old.model, old.manifestSha256, now.model, now.manifestSha256];
  const row = await queryRow<{ report_id: number; compared: number }>(db, sql('audio/find_drift_report'), values);
  return row && { reportId: row.report_id, compared: row.compared };
}

function summaryOf(row: SummaryRow): DriftReportSummary {
  return {
    reportId: row.report_id,
    old: { model: row.old_model, manifestSha256: row.old_manifest_sha256 },
    new: { model: row.new_model, manifestSha256: row.new_manifest_sha256 },
    batch: row.batch,
    madeAt: row.made_at,
    madeBy: row.made_by,
    counts: row.counts,
  };
}
