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
  readonly reportId: number;
  readonly oldModel: string;
  readonly newModel: string;
  readonly oldManifestSha256: string;
  readonly newManifestSha256: string;
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
  return { reportId: row!.reportId, madeAt: row!.madeAt };
}

/** Reports that compare a model with another one, newest first. */
export async function listDriftReports(
  db: Queryable,
  { model, limit }: { model: string; limit: number },
): Promise<DriftReportSummary[]> {
  return (await queryRows<SummaryRow>(db, sql('audio/list_drift_reports'), [null, model, limit])).map(summaryOf);
}

/** @throws ServiceError `drift_report_missing` if no report has this id */
export async function readDriftSummary(db: Queryable, reportId: number): Promise<DriftReportSummary> {
  const row = await queryRow<SummaryRow>(db, sql('audio/list_drift_reports'), [reportId, null, 1]);
  if (row !== undefined) return summaryOf(row);
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
  const row = await queryRow<{ reportId: number; compared: number }>(db, sql('audio/find_drift_report'), values);
  return row && { reportId: row.reportId, compared: row.compared };
}

function summaryOf(row: SummaryRow): DriftReportSummary {
  return {
    reportId: row.reportId,
    old: { model: row.oldModel, manifestSha256: row.oldManifestSha256 },
    new: { model: row.newModel, manifestSha256: row.newManifestSha256 },
    batch: row.batch,
    madeAt: row.madeAt,
    madeBy: row.madeBy,
    counts: row.counts,
  };
}
