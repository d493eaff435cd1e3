import { ServiceError } from '../../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { ComparedModel, DriftReport } from './drift-report.ts';

/** A model at the time of the report; its name may refer to another one now. */
type ModelVersion = Pick<ComparedModel, 'model' | 'manifestSha256'>;

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

/** Stores a report; returns its id. */
export async function storeDriftReport(
  db: Queryable,
  report: DriftReport,
  { batchId, madeBy }: { batchId: number; madeBy: string },
): Promise<{ reportId: number; madeAt: Date }> {
  const values = [
    report.old.model,
    report.new.model,
    batchId,
    madeBy,
    report.counts.recordings,
    JSON.stringify(report),
  ];
  const row = await queryRow<{ reportId: number; madeAt: Date }>(db, sql('audio/insert_drift_report'), values);
  return row!; // the statement returns one row
}

/** Reports, newest first; of a model those that compare it with another one. */
export function listDriftReports(
  db: Queryable,
  { model, before, limit }: { model?: string | undefined; before?: number | undefined; limit: number },
): Promise<DriftReportSummary[]> {
  const values = [null, model ?? null, before ?? null, limit];
  return queryRows<DriftReportSummary>(db, sql('audio/list_drift_reports'), values);
}

/** @throws ServiceError `drift_report_missing` if no report has this id */
export async function readDriftSummary(db: Queryable, reportId: number): Promise<DriftReportSummary> {
  const values = [reportId, null, null, 1];
  const summary = await queryRow<DriftReportSummary>(db, sql('audio/list_drift_reports'), values);
  if (summary !== undefined) return summary;
  throw new ServiceError('drift_report_missing', {
    operation: 'read drift report',
    object: String(reportId),
    problem: 'No drift report has this id.',
    hint: '`caller-trust models show MODEL` lists those of a model.',
  });
}

/** The newest report of two models as they are now: one that was made with other weights or another manifest does not count. */
export async function findDriftReport(
  db: Queryable,
  { old, new: now }: { old: ModelVersion; new: ModelVersion },
): Promise<{ reportId: number; compared: number } | undefined> {
  const values = [old.model, old.manifestSha256, now.model, now.manifestSha256];
  return queryRow<{ reportId: number; compared: number }>(db, sql('audio/find_drift_report'), values);
}
