import type { ListedModel } from '../../console/answers/model-answers.ts';
import type { DefaultChange, DefaultMove } from '../../pipelines/audio/drift/move-default.ts';
import type { ComparisonResult } from '../../pipelines/audio/drift/compare-models.ts';
import type { DriftReportSummary } from '../../pipelines/audio/drift/drift-record.ts';
import type { DriftReport, Flip, NotCompared } from '../../pipelines/audio/drift/drift-report.ts';
import type { ShippedDrift } from '../../pipelines/audio/drift/shipped-drift.ts';
import type { ModelManifest } from '../../pipelines/audio/models/manifest.ts';
import type { RegistryEntry } from '../../pipelines/audio/models/registry.ts';
import { SCORE_NAMES, type Scores } from '../../pipelines/audio/verification.ts';
import { formatParagraphs, formatCount, formatFacts, formatTable, formatTime } from '../table.ts';

/** Most flips, and recordings without a comparison, that are printed; `--json` has all that the report lists. */
const rowsShownMax = 20;

/** A model of the registry as commands print it. */
export type PrintedModel = Omit<ListedModel, 'thresholds'>;

/** A model with all details. */
export interface PrintedModelDetails extends PrintedModel {
  readonly manifest: ModelManifest | null;
  readonly manifestSha256: string | null;
  readonly directory: string | null;
  readonly weights: string | null;
  /** Path of the card. */
  readonly card: string | null;
  /** The drift report with which the registry made it the default. */
  readonly drift: ShippedDrift | null;
  readonly defaults: readonly DefaultChange[];
  readonly reports: readonly DriftReportSummary[];
}

/** Models as a table. */
export function formatModels(models: readonly PrintedModel[]): string {
  return formatTable(models, [
    { title: 'model', value: ({ model }) => model },
    { title: 'release', value: ({ release }) => release ?? 'added here' },
    { title: 'state', value: ({ state, fault }) => (fault === null ? state : 'not usable') },
    { title: 'default', value: ({ isDefault, family }) => (isDefault ? `of ${family}` : null) },
    { title: 'parameters', value: ({ parameters }) => parameters },
    { title: 'replaced by', value: ({ replacedBy }) => replacedBy },
    { title: 'note', value: ({ note, fault, added }) => fault ?? note ?? added?.reason },
  ]);
}

/** A model with its manifest and its history. */
export function formatModel(model: PrintedModelDetails): string {
  const facts = formatFacts([
    ['model', model.model],
    ['family', model.family],
    ['release', model.release ?? 'added here'],
    ['state', model.state],
    ['default', model.isDefault ? `of ${model.family}` : 'no'],
    ['removed in', model.removedIn],
    ['replaced by', model.replacedBy],
    ['note', model.note],
    ['fault', model.fault],
    ['added', model.added && `${formatTime(model.added.at)} by ${model.added.by}: ${model.added.reason}`],
    ['weights', model.weights],
    ['card', model.card],
    ['digest', model.manifestSha256 && `${model.manifestSha256} of the manifest`],
  ]);
  const manifest = model.manifest === null ? '' : `Manifest:\n${JSON.stringify(model.manifest, null, 2)}`;
  return formatParagraphs(
    facts,
    formatShippedDrift(model.drift),
    manifest,
    formatDefaultChanges(model.defaults),
    formatReports(model.reports),
  );
}

function formatDefaultChanges(changes: readonly DefaultChange[]): string {
  if (changes.length === 0) return '';
  return formatTable(changes, [
    { title: 'default since', value: ({ since }) => formatTime(since) },
    { title: 'model', value: ({ model }) => model },
    { title: 'set by', value: ({ setBy }) => setBy },
    { title: 'drift report', value: ({ reportId, forced }) => (forced ? 'forced' : String(reportId)) },
    { title: 'reason', value: ({ reason }) => reason },
  ]);
}

function formatReports(reports: readonly DriftReportSummary[]): string {
  if (reports.length === 0) return '';
  return formatTable(reports, [
    { title: 'drift report', value: ({ reportId }) => String(reportId) },
    { title: 'old', value: ({ old }) => old.model },
    { title: 'new', value: ({ new: now }) => now.model },
    { title: 'compared', value: ({ counts }) => counts.compared },
    { title: 'flips', value: ({ counts }) => counts.flips },
    { title: 'made', value: ({ madeAt }) => formatTime(madeAt) },
    { title: 'batch', value: ({ batch }) => batch },
  ]);
}

/** The default of a family and why it is that: an operator set it, or its release brought it. */
export function formatDefault(
  { family, model, release, note }: Pick<RegistryEntry, 'family' | 'model' | 'release' | 'note'>,
  set: DefaultChange | undefined,
): string {
  const why =
    set === undefined
      ? `by release ${release}.${note === null ? '' : ` ${note}`}`
      : `set by ${set.setBy} at ${formatTime(set.since)} ${basisOf(set)}: ${set.reason}`;
  return `${model} is the default of ${family}, ${why}`;
}

/** What changed when the registry made a model the default; empty without a report. */
export function formatShippedDrift(drift: ShippedDrift | null): string {
  if (drift === null) return '';
  const { recordings, compared, notCompared, flips } = drift.counts;
  return `Drift report against ${drift.old}, the default before: of ${formatCount(recordings)} recordings ${formatCount(compared)} were compared, and ${formatCount(flips)} of them got another decision; ${formatCount(notCompared)} could not be compared. It is ${drift.file}.`;
}

/** What a change of a default rests on. */
function basisOf({ reportId, forced }: Pick<DefaultChange, 'reportId' | 'forced'>): string {
  return forced ? 'without a drift report, by force' : `on drift report ${reportId}`;
}

/** Text for one change of a default. */
export function formatDefaultMove({ family, before, model, since, reportId, forced }: DefaultMove): string {
  if (since === null) return `${model} is the default of ${family} already; nothing was changed.`;
  return `${model} is the default of ${family} since ${formatTime(since)}, ${basisOf({ reportId, forced })}${before === null ? '' : `; before it was ${before}`}. Batches submitted earlier keep their models.`;
}

/** A drift report with its largest flips. */
export function formatDrift(
  { reportId, report, computed, itemsWithoutAudio }: ComparisonResult,
  files: readonly string[],
): string {
  const { counts } = report;
  const facts = formatFacts([
    ['drift report', String(reportId)],
    ['models', `${report.old.model} against ${report.new.model}`],
    ['batch', report.batch],
    ['recordings', counts.recordings],
    ['compared', counts.compared],
    ['not compared', counts.notCompared],
    ['other decision', counts.flips],
    ['scores computed', computed],
    ['items without audio', itemsWithoutAudio === 0 ? null : itemsWithoutAudio],
  ]);
  const next = `To make ${report.new.model} the default: caller-trust models default ${report.new.model.split('/')[0]} ${report.new.model} --report ${reportId} --reason '...'`;
  return formatParagraphs(
    facts,
    formatClasses(report),
    formatShifts(report),
    formatFlips(report.flips, counts.flips),
    formatNotCompared(report),
    files.map((file) => `Written: ${file}`).join('\n'),
    counts.compared === 0 ? 'Nothing was compared, so a default cannot rest on this report.' : next,
  );
}

function formatClasses({ classes }: DriftReport): string {
  return formatTable(classes, [
    { title: 'decision', value: ({ label }) => label },
    { title: 'old', value: ({ old }) => old },
    { title: 'new', value: ({ new: now }) => now },
    { title: 'change', value: ({ change }) => percent(change) },
    {
      title: '95 % interval',
      value: ({ interval }) => interval && `${percent(interval[0])} to ${percent(interval[1])}`,
    },
    { title: 'p', value: ({ p }) => p && formatP(p) },
  ]);
}

function formatShifts({ shifts }: DriftReport): string {
  return formatTable(shifts, [
    { title: 'score', value: ({ score }) => score },
    { title: 'compared', value: ({ compared }) => compared },
    { title: 'mean shift', value: ({ mean }) => signed(mean) },
    { title: '95 % interval', value: ({ interval }) => interval && `${signed(interval[0])} to ${signed(interval[1])}` },
    { title: '5 %', value: ({ fifthPercentile }) => signed(fifthPercentile) },
    { title: 'median', value: ({ median }) => signed(median) },
    { title: '95 %', value: ({ ninetyFifthPercentile }) => signed(ninetyFifthPercentile) },
    { title: 'largest', value: ({ largest }) => signed(largest) },
    { title: 'same order', value: ({ rankCorrelation }) => rankCorrelation?.toFixed(3) },
  ]);
}

function formatFlips(flips: readonly Flip[], total: number): string {
  if (flips.length === 0) return '';
  const table = formatTable(flips.slice(0, rowsShownMax), [
    { title: 'line', value: ({ line }) => String(line) },
    { title: 'old', value: ({ old }) => old.label },
    ...SCORE_NAMES.map((score) => ({ title: score, value: ({ old }: Flip) => scoreText(old.scores, score) })),
    { title: 'new', value: ({ new: now }) => now.label },
    ...SCORE_NAMES.map((score) => ({ title: score, value: ({ new: now }: Flip) => scoreText(now.scores, score) })),
    { title: 'source', value: ({ source }) => source },
  ]);
  return `${table}${moreWords(flips.length, total, 'largest')}`;
}

function formatNotCompared({ notComparedReasons, notCompared, old, new: now, counts }: DriftReport): string {
  if (counts.notCompared === 0) return '';
  const reasons = formatTable(notComparedReasons, [
    { title: 'not compared', value: ({ recordings }) => recordings },
    { title: old.model, value: (row) => row.old ?? 'scored' },
    { title: now.model, value: (row) => row.new ?? 'scored' },
  ]);
  const listed = formatTable(notCompared.slice(0, rowsShownMax), [
    { title: 'line', value: ({ line }: NotCompared) => String(line) },
    { title: old.model, value: (row) => row.old ?? 'scored' },
    { title: now.model, value: (row) => row.new ?? 'scored' },
    { title: 'source', value: ({ source }) => source },
  ]);
  return `${reasons}\n\n${listed}${moreWords(notCompared.length, counts.notCompared, 'first')}`;
}

/** States how many rows of a list are not printed, and how many of these `--json` has. */
function moreWords(listed: number, total: number, which: 'first' | 'largest'): string {
  if (total <= rowsShownMax) return '';
  return `\nThe ${rowsShownMax} ${which} of ${formatCount(total)}; --json gives ${listed === total ? 'all' : formatCount(listed)}.`;
}

function scoreText(scores: Scores, score: keyof Scores): string | null {
  return scores[score]?.toFixed(3) ?? null;
}

function percent(share: number | null): string | null {
  return share === null ? null : `${share > 0 ? '+' : ''}${(100 * share).toFixed(1)} %`;
}

function signed(value: number | null): string | null {
  return value === null ? null : `${value > 0 ? '+' : ''}${value.toFixed(3)}`;
}

function formatP(p: number): string {
  return p < 0.001 ? 'below 0.001' : p.toFixed(3);
}
