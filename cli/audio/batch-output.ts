import type { Command } from 'commander';
import {
  countReasons,
  countStates,
  hasEnded,
  type Batch,
  type StateCounts,
} from '../../pipelines/audio/batches/batch.ts';
import { describeUnseenSystems, readUnseenSystems } from '../../evaluation/audio/unseen-systems.ts';
import { formatResults, resultsHeader } from '../../pipelines/audio/batches/batch-results.ts';
import { isOfTelephone } from '../../pipelines/audio/decode/recording.ts';
import { loadRegistry } from '../../pipelines/audio/models/registry.ts';
import { nextStepOf } from '../../pipelines/audio/next-step.ts';
import { AUDIO_REASONS } from '../../pipelines/audio/reasons.ts';
import type { VerificationState } from '../../pipelines/audio/verification.ts';
import {
  measureSources,
  readVerifications,
  type VerificationRecord,
} from '../../pipelines/audio/batches/stored-verifications.ts';
import { ServiceError } from '../../runtime/errors.ts';
import type { Pool } from '../../runtime/postgres.ts';
import { commandConfig, type Outcome } from '../command.ts';
import { openOutput, type ResultOutput } from '../result-output.ts';
import { formatCount } from '../table.ts';

/** Options of the commands that print results. */
export interface OutputOptions {
  readonly csv?: boolean;
  readonly output?: string;
}

/** The form in which results are printed. */
export type OutputForm = 'table' | 'json' | 'csv';

/** Adds the options for printing results. */
export function addOutputOptions(command: Command): Command {
  return command
    .option('--csv', 'print results as CSV')
    .option('--output <file>', 'write results to a new file instead');
}

/** The form that the options select. @throws ServiceError `usage_invalid` */
export function outputForm(command: Command, { csv = false }: OutputOptions): OutputForm {
  const { json = false } = command.optsWithGlobals<{ json?: boolean }>();
  if (csv && json)
    throw new ServiceError('usage_invalid', { operation: 'print results', problem: 'Give one of --csv and --json.' });
  return csv ? 'csv' : json ? 'json' : 'table';
}

/** Refuses output options without `--wait`: there are no results to print. @throws ServiceError `usage_invalid` */
export function requireWait(
  operation: string,
  { csv, output, wait }: OutputOptions & { readonly wait?: boolean },
): void {
  if (wait === true || (csv !== true && output === undefined)) return;
  const option = output === undefined ? '--csv' : '--output';
  throw new ServiceError('usage_invalid', {
    operation,
    problem: `${option} needs --wait.`,
    hint: 'Or print the results later with `caller-trust batch results`.',
  });
}

/** A batch with its counts, for `--json`. */
export function batchFacts(
  { batchId: _batchId, settingsSha256: _settings, generation: _generation, ...batch }: Batch,
  counts: StateCounts,
) {
  return { ...batch, counts };
}

/** Options for printing the outcome of a batch. */
interface ResultRequest {
  readonly form: OutputForm;
  readonly output: ResultOutput;
  readonly states?: readonly VerificationState[] | undefined;
}

/**
 * Prints the items of a batch page by page, so that memory does not grow with the batch. With an output file, standard output gets
 * a summary.
 */
export async function printResults(db: Pool, batch: Batch, { form, output, states }: ResultRequest): Promise<Outcome> {
  const counts = await countStates(db, batch.batchId);
  try {
    for await (const text of resultTexts(db, batch, { form, counts, states })) await output.write(text);
  } catch (error) {
    await output.discard();
    throw error;
  }
  await output.end();
  const text = `${describeCounts(batch, counts)}${output.path === undefined ? '' : ` Results are in ${output.path}.`}`;
  if (output.path === undefined && form === 'table') await output.write(`\n${text}\n`);
  return { json: { batch: batchFacts(batch, counts), output: output.path }, text, written: output.path === undefined };
}

interface TextRequest {
  readonly form: OutputForm;
  readonly counts: StateCounts;
  readonly states: readonly VerificationState[] | undefined;
}

async function* resultTexts(db: Pool, batch: Batch, { form, counts, states }: TextRequest): AsyncGenerator<string> {
  const pages = readVerifications(db, batch.batchId, { states, windows: form === 'json' });
  if (form === 'json') return yield* jsonTexts(batchFacts(batch, counts), pages);
  const line = form === 'csv' ? undefined : tableLine(await measureSources(db, batch.batchId));
  yield line === undefined ? resultsHeader : `${line(titles)}\n`;
  const ofTelephone = new Map<string, number>();
  const scoredBy = new Set<string>();
  for await (const page of pages) {
    yield line === undefined ? formatResults(page) : page.map((record) => `${line(cells(record))}\n`).join('');
    for (const { model, notes, scores } of page) {
      if (model !== null && isOfTelephone(notes)) ofTelephone.set(model, (ofTelephone.get(model) ?? 0) + 1);
      if (model !== null && scores?.synthesis != null) scoredBy.add(model);
    }
  }
  if (line === undefined) return;
  for (const [model, items] of ofTelephone) yield `\n${describeTelephone(model, items)}\n`;
  for (const text of await describeWorth(db, scoredBy)) yield `\n${text}\n`;
}

/** What the synthesis score of each model is worth, where that was measured. */
async function describeWorth(db: Pool, models: Iterable<string>): Promise<string[]> {
  const registry = await loadRegistry(db, commandConfig());
  const texts = await Promise.all(
    [...models].sort().map(async (model) => {
      const directory = registry.models().find((entry) => entry.model === model)?.directory;
      return directory == null ? '' : describeUnseenSystems(model, await readUnseenSystems(directory));
    }),
  );
  return texts.filter((text) => text !== '');
}

/** Speech of a telephone at a higher rate: which model scored it, and where another is meant. */
export function describeTelephone(model: string, items: number): string {
  const found = `${formatCount(items)} ${items === 1 ? 'recording' : 'recordings'} of ${model}: speech of a telephone at a higher sample rate (telephone_band).`;
  return model.startsWith('digital/') ? `${found} A model of phone is meant for it: --model phone.` : found;
}

async function* jsonTexts(batch: unknown, pages: AsyncIterable<VerificationRecord[]>): AsyncGenerator<string> {
  yield `{\n"batch": ${JSON.stringify(batch, null, 2)},\n"items": [`;
  let separator = '\n';
  for await (const page of pages) {
    yield separator + page.map((record) => JSON.stringify({ ...record, nextStep: nextStepOf(record) })).join(',\n');
    separator = ',\n';
  }
  yield '\n]\n}\n';
}

const titles = ['source', 'model', 'state', 'synthesis', 'replay', 'decision', 'next step', 'reason'];

function cells(record: VerificationRecord): string[] {
  const { source, model, requestedModel, state, scores, decision, reason, reasonDetail } = record;
  const score = (value: number | null | undefined) => value?.toFixed(3) ?? '-';
  return [
    printable(source),
    model ?? requestedModel,
    state,
    score(scores?.synthesis),
    score(scores?.replay),
    decision?.label ?? '-',
    nextStepOf(record) ?? '-',
    reasonDetail === null ? (reason ?? '-') : `${reason}: ${printable(reasonDetail)}`,
  ];
}

/** File names can contain terminal control sequences. */
function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '\uFFFD');
}

/** Column widths are the same on all pages; source and model are as wide as the widest value of the batch. */
function tableLine(widest: { source: number; model: number }): (texts: readonly string[]) => string {
  const widths = [
    Math.max(6, Math.min(widest.source, 80)),
    Math.max(5, widest.model),
    'performedWithoutScore'.length,
    9,
    6,
    'synthesizedAndReplayed'.length,
    'verify_otherwise'.length,
    0,
  ];
  return (texts) =>
    texts
      .map((text, at) => (at === 3 || at === 4 ? text.padStart(widths[at]!) : text.padEnd(widths[at]!)))
      .join('  ')
      .trimEnd();
}

function describeCounts({ items, state }: Batch, counts: StateCounts): string {
  const present = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${formatCount(count)}`);
  return `${formatCount(items)} ${items === 1 ? 'recording' : 'recordings'}, batch ${state}: ${present.join(', ') || 'nothing yet'}.`;
}

/** Prints the outcome of an ended batch. @throws ServiceError `items_failed` if an item ended in error */
export async function printEnd(db: Pool, batch: Batch, request: ResultRequest): Promise<Outcome> {
  const outcome = await printResults(db, batch, request);
  const { error } = await countStates(db, batch.batchId);
  if (!hasEnded(batch) || error === 0) return outcome;
  if (request.output.path !== undefined) process.stderr.write(`${outcome.text}\n`);
  const reasons = (await countReasons(db, batch.batchId)).filter(
    ({ reason }) => AUDIO_REASONS[reason].state === 'error',
  );
  throw new ServiceError('items_failed', {
    operation: 'verify',
    object: batch.id,
    problem: `${formatCount(error)} of ${formatCount(batch.items)} recordings could not be scored: ${reasons.map(({ reason, items }) => `${reason} ${formatCount(items)}`).join(', ')}.`,
    hint: failureHint(
      batch.id,
      reasons.some(({ reason }) => AUDIO_REASONS[reason].retry),
    ),
  });
}

function failureHint(id: string, retryHelps: boolean): string {
  const retry = retryHelps
    ? `; \`caller-trust batch retry ${id}\` tries those again that may succeed`
    : '; the cause lies in the files, so submit them again when it is fixed';
  return `\`caller-trust batch results ${id} --failed\` lists them${retry}.`;
}

/** Opens the output of results before any request is made. */
export function openResultOutput({ output }: OutputOptions): Promise<ResultOutput> {
  return openOutput(output);
}
