import { isDeepStrictEqual } from 'node:util';
import { ServiceError } from '../../../runtime/errors.ts';
import { inTransaction, queryRow, queryRows, type Pool, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import type { Family } from '../models/manifest.ts';
import { loadRegistry, type RegistryEntry, type RegistrySources, type ResolvedModel } from '../models/registry.ts';
import { requireModel, type NamedModel } from '../models/named-model.ts';
import { findDriftReport, readDriftSummary } from './drift-record.ts';

/** The default of a family that is to move. */
interface DefaultRequest {
  readonly family: Family;
  readonly model: string;
  readonly by: string;
  readonly reason: string;
  /** The drift report that justifies it; default: the newest that fits. */
  readonly reportId?: number | undefined;
  /** Moves it without a report; the row records that. */
  readonly force: boolean;
}

/** The outcome of a request. */
export interface DefaultMove {
  readonly family: Family;
  readonly before: string | null;
  readonly model: string;
  /** Null where the model was the default already, and nothing was written. */
  readonly since: Date | null;
  readonly reportId: number | null;
  readonly forced: boolean;
}

/** A default that was set, as it stays in the record. */
export interface DefaultChange {
  readonly family: Family;
  readonly model: string;
  readonly since: Date;
  readonly setBy: string;
  readonly reason: string;
  readonly reportId: number | null;
  readonly forced: boolean;
}

/** A default that was set here, with the one before; null where that was the registry's. */
export type ListedDefaultChange = DefaultChange & { readonly before: string | null };

/** The facts of a report that the decision depends on. */
interface ReportFacts {
  readonly reportId: number;
  /** True if it is of the present default and the wanted model, both as they are now. */
  readonly fits: boolean;
  readonly compared: number;
}

export interface DefaultFacts {
  readonly before: string | null;
  readonly model: string;
  readonly report: ReportFacts | undefined;
  readonly force: boolean;
}

export type DefaultDecision =
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'move'; readonly reportId: number | null; readonly forced: boolean }
  | { readonly kind: 'refused'; readonly problem: string };

/**
 * Whether a default may move: to the same model always, and nothing is written; to another one with a report of the
 * two that compared something, or by force. With a report that fits, `force` is not recorded.
 */
export function decideDefault({ before, model, report, force }: DefaultFacts): DefaultDecision {
  if (before === model) return { kind: 'unchanged' };
  const problem = reportProblem(report, { before, model });
  if (problem === null) return { kind: 'move', reportId: report!.reportId, forced: false };
  return force ? { kind: 'move', reportId: null, forced: true } : { kind: 'refused', problem };
}

function reportProblem(
  report: ReportFacts | undefined,
  { before, model }: { before: string | null; model: string },
): string | null {
  if (before === null) return 'The family has no default that a report could compare it with.';
  if (report === undefined) return `There is no drift report of ${before} and ${model} as they are now.`;
  if (!report.fits) return `Drift report ${report.reportId} is not of ${before} and ${model} as they are now.`;
  return report.compared === 0 ? `Drift report ${report.reportId} compared no recording.` : null;
}

/**
 * Moves the default of a family, if a drift report compares the present default with the new one, or by force. The row is
 * added, never changed; batches that were submitted before keep their models.
 * @throws ServiceError `drift_report_missing`, `model_unknown`, `model_removed`, `model_invalid`, `usage_invalid`, `reason_required`
 */
export async function moveDefault(db: Pool, sources: RegistrySources, request: DefaultRequest): Promise<DefaultMove> {
  const { family, by, reason, force } = request;
  if (!/\S/.test(reason) || !/\S/.test(by))
    throw new ServiceError('reason_required', { operation: 'set default model', object: family });
  return inTransaction(db, async (client) => {
    await client.query(sql('audio/lock_model_defaults'));
    const registry = await loadRegistry(client, sources);
    const model = requireModel(registry, request.model);
    if (model.family !== family) throw ofOtherFamily(model, family);
    const present = registry.defaultOf(family);
    const report = present && (await readReportFacts(client, { old: present, new: model, reportId: request.reportId }));
    const move = { family, before: present?.model ?? null, model: model.name };
    const decision = decideDefault({ ...move, report, force });
    if (decision.kind === 'refused') throw reportMissing(move, decision.problem);
    if (decision.kind === 'unchanged') return { ...move, since: null, reportId: null, forced: false };
    const { reportId, forced } = decision;
    const row = await queryRow<{ since: Date }>(client, sql('audio/insert_model_default'), [
      family,
      model.name,
      by,
      reason,
      reportId,
      forced,
    ]);
    return { ...move, since: row!.since, reportId, forced };
  });
}

/** When defaults were set here, newest first. */
export function listAllDefaultChanges(db: Queryable, limit: number): Promise<ListedDefaultChange[]> {
  return queryRows<ListedDefaultChange>(db, sql('audio/list_model_default_changes'), [null, limit]);
}

/** Each time that a model became a default or ceased to be one, newest first. */
export async function listDefaultChanges(db: Queryable, model: string): Promise<DefaultChange[]> {
  const changes = await queryRows<ListedDefaultChange>(db, sql('audio/list_model_default_changes'), [model, null]);
  return changes.map(({ before: _before, ...change }) => change);
}

/** Facts of the report that was named, else of the newest that fits. Nothing fits a present default whose weights are gone. */
async function readReportFacts(
  db: Queryable,
  { old, new: now, reportId }: { old: RegistryEntry; new: ResolvedModel; reportId: number | undefined },
): Promise<ReportFacts | undefined> {
  const models = {
    old: { model: old.model, manifestSha256: old.manifestSha256 ?? '' },
    new: { model: now.name, manifestSha256: now.manifestSha256 },
  };
  if (reportId === undefined) {
    const found = await findDriftReport(db, models);
    return found && { ...found, fits: true };
  }
  const { counts, ...summary } = await readDriftSummary(db, reportId);
  return {
    reportId,
    fits: isDeepStrictEqual({ old: summary.old, new: summary.new }, models),
    compared: counts.compared,
  };
}

function ofOtherFamily({ name }: NamedModel, family: Family): ServiceError {
  return new ServiceError('usage_invalid', {
    operation: 'set default model',
    object: name,
    problem: `It is not of the family ${family}.`,
  });
}

function reportMissing({ before, model }: { before: string | null; model: string }, problem: string): ServiceError {
  const report = `\`caller-trust models drift ${before} ${model} --batch ID\``;
  const hint =
    before === null
      ? 'Set it with --force.'
      : `Make one with ${report}, where ID is a batch whose audio is stored; --force goes without.`;
  return new ServiceError('drift_report_missing', { operation: 'set default model', object: model, problem, hint });
}
