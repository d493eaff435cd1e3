import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DefaultChange } from '../pipelines/audio/drift/move-default.ts';
import type { DriftReport } from '../pipelines/audio/drift/drift-report.ts';
import type { ModelManifest } from '../pipelines/audio/models/manifest.ts';
import type { RegistryEntry } from '../pipelines/audio/models/registry.ts';
import { queryRow, queryRows, type Queryable } from '../runtime/postgres.ts';
import { ServiceError } from '../runtime/errors.ts';
import { sql } from '../sql/sql.ts';
import { pageOf } from './paging.ts';

/** A model as a row of the registry's table. */
export type ListedModel = Pick<RegistryEntry, 'model' | 'family' | 'release' | 'state' | 'isDefault' | 'removedIn' | 'replacedBy' | 'note' | 'origin' | 'added'> & {
  readonly parameters: number | null;
  readonly bytes: number | null;
  readonly thresholds: ModelManifest['thresholds'] | null;
  /** What keeps it from being used. */
  readonly fault: string | null;
};

/** The row of a model. */
export function listedModel({ model, family, release, state, isDefault, removedIn, replacedBy, note, origin, added, fault, manifest }: RegistryEntry): ListedModel {
  const size = { parameters: manifest?.parameters ?? null, bytes: manifest?.bytes ?? null, thresholds: manifest?.thresholds ?? null };
  return { model, family, release, state, isDefault, removedIn, replacedBy, note, origin, added, ...size, fault: fault?.problem ?? null };
}

/** Largest card that is shown; those that are shipped have some 10 kB. */
const cardBytesMax = 256 * 1024;

/** The text of a file beside a model's manifest, or null if it has none. */
export async function readBeside(directory: string | null, name: 'card.md' | 'det.svg'): Promise<string | null> {
  if (directory === null) return null;
  const text = await readFile(join(directory, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return text === null || text.length > cardBytesMax ? null : text;
}

/** A default that was set here, with the one before; null where that was the registry's. */
export type ListedDefaultChange = DefaultChange & { readonly before: string | null };

/** When defaults were set here, newest first. */
export async function listAllDefaultChanges(db: Queryable, limit: number): Promise<ListedDefaultChange[]> {
  const rows = await queryRows<{ family: DefaultChange['family']; model: string; before: string | null; since: Date; set_by: string; reason: string; report_id: number | null; forced: boolean }>(db, sql('console/list_default_changes'), [limit]);
  return rows.map(({ set_by, report_id, ...change }) => ({ ...change, setBy: set_by, reportId: report_id }));
}

/** A drift report in a list. */
export interface ListedReport {
  readonly reportId: number;
  readonly old: string;
  readonly new: string;
  readonly batch: string;
  readonly madeAt: Date;
  readonly madeBy: string;
  readonly counts: DriftReport['counts'];
}

/** Drift reports, newest first. */
export async function listReports(db: Queryable, { before, model, limit }: { readonly before?: number | undefined; readonly model?: string | undefined; readonly limit: number }): Promise<{ reports: ListedReport[]; next: string | null }> {
  const rows = await queryRows<{ report_id: number; old_model: string; new_model: string; batch: string; made_at: Date; made_by: string; counts: DriftReport['counts'] }>(db, sql('console/list_drift_reports'), [before ?? null, model ?? null, limit + 1]);
  const { rows: shown, next } = pageOf(rows, limit, ({ report_id }) => report_id);
  const reports = shown.map((row) => ({ reportId: row.report_id, old: row.old_model, new: row.new_model, batch: row.batch, madeAt: row.made_at, madeBy: row.made_by, counts: row.counts }));
  return { reports, next };
}

/** A stored drift report. */
export interface StoredReport {
  readonly reportId: number;
  readonly madeAt: Date;
  readonly madeBy: string;
  readonly report: DriftReport;
}

/** @throws ServiceError `drift_report_unknown` if no report has this id */
export async function readReport(db: Queryable, reportId: number): Promise<StoredReport> {
  const row = await queryRow<{ report_id: number; made_at: Date; made_by: string; report: DriftReport }>(db, sql('console/read_drift_report'), [reportId]);
  if (row === undefined) throw new ServiceError('drift_report_unknown', { operation: 'read drift report', object: String(reportId), hint: 'The page of the models lists those there are.' });
  return { reportId: row.report_id, madeAt: row.made_at, madeBy: row.made_by, report: row.report };
}

/** Flips and recordings without a comparison that a page shows; the command prints the whole report. */
const rowsShownMax = 100;

/** A report as its page is told it: without the points of the picture, and with the first of its lists. */
export function shownReport({ report, ...facts }: StoredReport): object {
  const { points, flips, notCompared, ...rest } = report;
  return { ...facts, ...rest, pointsDrawn: points.length, flips: flips.slice(0, rowsShownMax), notCompared: notCompared.slice(0, rowsShownMax) };
}
