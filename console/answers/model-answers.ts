import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listDriftReports } from '../../pipelines/audio/drift/drift-record.ts';
import {
  listAllDefaultChanges,
  listDefaultChanges,
  type DefaultChange,
  type ListedDefaultChange,
} from '../../pipelines/audio/drift/move-default.ts';
import type { DriftReport } from '../../pipelines/audio/drift/drift-report.ts';
import type { ModelManifest } from '../../pipelines/audio/models/manifest.ts';
import type { ModelRegistry, RegistryEntry } from '../../pipelines/audio/models/registry.ts';
import { openVoiceModel, type VoiceModel } from '../../pipelines/audio/voices/voice-model.ts';
import { queryRow, type Queryable } from '../../runtime/postgres.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { sql } from '../../sql/sql.ts';
import { pageOf } from '../http/paging.ts';
import { ifExists } from '../../runtime/files/if-exists.ts';
export type { DefaultChange, ListedDefaultChange };

/** A model as a row of the registry's table. */
export type ListedModel = Pick<
  RegistryEntry,
  'model' | 'family' | 'release' | 'state' | 'isDefault' | 'removedIn' | 'replacedBy' | 'note' | 'origin' | 'added'
> & {
  readonly parameters: number | null;
  readonly bytes: number | null;
  readonly thresholds: ModelManifest['thresholds'] | null;
  /** Why it cannot be used. */
  readonly fault: string | null;
};

export function listedModel({
  model,
  family,
  release,
  state,
  isDefault,
  removedIn,
  replacedBy,
  note,
  origin,
  added,
  fault,
  manifest,
}: RegistryEntry): ListedModel {
  const size = {
    parameters: manifest?.parameters ?? null,
    bytes: manifest?.bytes ?? null,
    thresholds: manifest?.thresholds ?? null,
  };
  return {
    model,
    family,
    release,
    state,
    isDefault,
    removedIn,
    replacedBy,
    note,
    origin,
    added,
    ...size,
    fault: fault?.problem ?? null,
  };
}

/** Largest card that is shown; shipped cards have about 10 kB. */
const cardBytesMax = 256 * 1024;

/** The text of a file next to a model's manifest, or null if there is none. */
export async function readNextToManifest(
  directory: string | null,
  name: 'card.md' | 'det.svg',
): Promise<string | null> {
  if (directory === null) return null;
  const text = await ifExists(readFile(join(directory, name), 'utf8'));
  return text === undefined || text.length > cardBytesMax ? null : text;
}

/** Changes of defaults on the models page. */
const changesShownMax = 50;

/** The registry as of a release, with the voiceprint model and the changes of defaults. */
export interface ShownRegistry {
  readonly release: string;
  readonly newestRelease: string;
  readonly models: readonly ListedModel[];
  readonly voiceprint: { readonly model: string; readonly identityThreshold: number };
  readonly changes: readonly ListedDefaultChange[];
}

/** @throws ServiceError `release_unknown` */
export async function readRegistry(db: Queryable, registry: ModelRegistry, release?: string): Promise<ShownRegistry> {
  const { newestRelease } = registry;
  const { name, identityThreshold } = await openVoiceModel();
  return {
    release: release ?? newestRelease,
    newestRelease,
    models: registry.models(release).map(listedModel),
    voiceprint: { model: name, identityThreshold },
    changes: await listAllDefaultChanges(db, changesShownMax),
  };
}

/** A model with its card, and its history as a default. */
export type ShownModel = ListedModel &
  Pick<RegistryEntry, 'manifest' | 'manifestSha256'> & {
    readonly card: string | null;
    /** True if it has a picture of its error rates. */
    readonly hasCurve: boolean;
    readonly defaults: readonly DefaultChange[];
  };

export async function readModel(db: Queryable, entry: RegistryEntry): Promise<ShownModel> {
  const { model, manifest, manifestSha256, directory } = entry;
  return {
    ...listedModel(entry),
    manifest,
    manifestSha256,
    card: await readNextToManifest(directory, 'card.md'),
    hasCurve: (await readNextToManifest(directory, 'det.svg')) !== null,
    defaults: await listDefaultChanges(db, model),
  };
}

/** The voiceprint model with its card. */
export type ShownVoiceModel = Pick<VoiceModel, 'identityThreshold' | 'mismatchThreshold' | 'agreementMin'> & {
  readonly model: string;
  readonly card: string | null;
};

/** @throws ServiceError `model_invalid` */
export async function readVoiceModel(): Promise<ShownVoiceModel> {
  const { name, directory, identityThreshold, mismatchThreshold, agreementMin } = await openVoiceModel();
  return {
    model: name,
    identityThreshold,
    mismatchThreshold,
    agreementMin,
    card: await readNextToManifest(directory, 'card.md'),
  };
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
export async function listReports(
  db: Queryable,
  {
    before,
    model,
    limit,
  }: { readonly before?: number | undefined; readonly model?: string | undefined; readonly limit: number },
): Promise<{ reports: ListedReport[]; next: string | null }> {
  const found = await listDriftReports(db, { before, model, limit: limit + 1 });
  const { rows, next } = pageOf(found, limit, ({ reportId }) => reportId);
  const reports = rows.map((report) => ({ ...report, old: report.old.model, new: report.new.model }));
  return { reports, next };
}

/** A stored drift report. */
interface StoredReport {
  readonly reportId: number;
  readonly madeAt: Date;
  readonly madeBy: string;
  readonly report: DriftReport;
}

/** @throws ServiceError `drift_report_unknown` if no report has this id */
export async function readReport(db: Queryable, reportId: number): Promise<StoredReport> {
  const report = await queryRow<StoredReport>(db, sql('console/read_drift_report'), [reportId]);
  if (report === undefined)
    throw new ServiceError('drift_report_unknown', {
      operation: 'read drift report',
      object: String(reportId),
      hint: 'The page of the models lists the existing ones.',
    });
  return report;
}

/** Most flips, and recordings without a comparison, on a page; the command prints the whole report. */
const rowsShownMax = 100;

/** A report without the points of its picture, and with shortened lists. */
export type ShownReport = Omit<StoredReport, 'report'> & Omit<DriftReport, 'points'> & { readonly pointsDrawn: number };

export function shownReport({ report, ...facts }: StoredReport): ShownReport {
  const { points, flips, notCompared, ...rest } = report;
  return {
    ...facts,
    ...rest,
    pointsDrawn: points.length,
    flips: flips.slice(0, rowsShownMax),
    notCompared: notCompared.slice(0, rowsShownMax),
  };
}

/** A page of drift reports. */
export type ReportPage = Awaited<ReturnType<typeof listReports>>;
