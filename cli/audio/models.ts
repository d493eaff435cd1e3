import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Argument, type Command } from 'commander';
import { listedModel } from '../../console/answers/model-answers.ts';
import { AudioStore } from '../../pipelines/audio/store/audio-store.ts';
import { compareModels, type ComparisonResult } from '../../pipelines/audio/drift/compare-models.ts';
import { drawDrift } from '../../pipelines/audio/drift/drift-picture.ts';
import { listDriftReports } from '../../pipelines/audio/drift/drift-record.ts';
import { listDefaultChanges, moveDefault } from '../../pipelines/audio/drift/move-default.ts';
import { readShippedDrift } from '../../pipelines/audio/drift/shipped-drift.ts';
import { addModel } from '../../pipelines/audio/scorers/add-model.ts';
import { FAMILIES, type Family } from '../../pipelines/audio/models/manifest.ts';
import { loadRegistry, type RegistryEntry } from '../../pipelines/audio/models/registry.ts';
import { requireEntry } from '../../pipelines/audio/models/named-model.ts';
import { openScoringPool } from '../../pipelines/audio/scorers/scoring-pool.ts';
import type { Services } from '../../runtime/services/services.ts';
import { formatParagraphs } from '../table.ts';
import { currentActor, interruption, run, runWith, withServices, type Outcome } from '../command.ts';
import { addCalibrateCommand } from './calibrate.ts';
import {
  formatDefault,
  formatDefaultMove,
  formatDrift,
  formatModel,
  formatModels,
  formatShippedDrift,
  type PrintedModel,
  type PrintedModelDetails,
} from './model-tables.ts';
import { parseId } from '../options.ts';
import { formatBar, startProgress } from '../progress.ts';
import { readableLog } from '../readable-log.ts';
import { openOutput, type ResultOutput } from '../result-output.ts';

/** Most drift reports that `models show` lists. */
const reportsShownMax = 20;

interface ActorOptions {
  readonly by?: string;
  readonly reason: string;
}

interface DriftOptions {
  readonly batch: string;
  readonly by?: string;
  readonly picture?: string;
  readonly output?: string;
}

/** `models list|show|add|calibrate|default|drift`. */
export function addModelCommands(models: Command): void {
  addReadingCommands(models);
  addCalibrateCommand(models);
  addChangingCommands(models);
}

function addReadingCommands(models: Command): void {
  models
    .command('list')
    .description('list the models with their states and the defaults')
    .option('--release <release>', 'as of a release; by default the newest')
    .addHelpText('after', '\nExamples:\n  caller-trust models list\n  caller-trust models list --release 2025.11.r1p0')
    .action(runWith(listCommand));
  models
    .command('show')
    .description('show a model: manifest, card, state and history')
    .argument('<model>', 'as phone/v8; a family means its default')
    .addHelpText('after', '\nExample:\n  caller-trust models show phone/v8')
    .action(runWith(showModel));
}

function addChangingCommands(models: Command): void {
  models
    .command('add')
    .description('add your own model; docs/audio-models.md describes its manifest')
    .argument('<manifest>', 'its manifest.json')
    .requiredOption('--weights <file>', 'its weights, ONNX')
    .option('--by <name>', 'who adds it')
    .requiredOption('--reason <text>', 'why, kept with it')
    .addHelpText(
      'after',
      "\nExample:\n  caller-trust models add manifest.json --weights model.onnx --reason 'Trained on our own calls, ticket 4711'",
    )
    .action(runWith(addCommand));
  models
    .command('drift')
    .description('compare two models on the stored audio of a batch; stores the report')
    .argument('<old>', 'the model that is used now')
    .argument('<new>', 'the one that may take its place')
    .requiredOption('--batch <id>', 'the batch whose recordings are compared')
    .option('--picture <file>', 'draw the scores to a new SVG file')
    .option('--output <file>', 'write the whole report to a new JSON file')
    .option('--by <name>', 'who asks')
    .addHelpText(
      'after',
      '\nExample:\n  caller-trust models drift phone/v7 phone/v8 --batch 0b6c4dc2-1f6a-4c2b-9d92-3fbe2d7fa001 --picture drift.svg',
    )
    .action(run((old: string, now: string, options: DriftOptions) => driftCommand({ old, new: now }, options)));
  models
    .command('default')
    .description('set the default of a family, which needs a drift report between the current default and the new one')
    .addArgument(new Argument('<family>', 'the family').choices(FAMILIES))
    .argument('[model]', 'the model that becomes its default; without it the present one is shown, and why')
    .option('--by <name>', 'who sets it')
    .option('--reason <text>', 'why, kept in the record; needed to move it')
    .option('--report <id>', 'the drift report that it rests on; by default the newest that fits', parseId)
    .option('--force', 'change the default without a report, which is recorded')
    .addHelpText(
      'after',
      "\nExample:\n  caller-trust models default phone phone/v8 --reason 'Drift report 3 was read by the fraud team'",
    )
    .action(runWith(defaultCommand));
}

async function listCommand({ db, config }: Services, { release }: { release?: string }): Promise<Outcome> {
  const registry = await loadRegistry(db, config);
  const models = registry.models(release).map(printedModel);
  const text = formatModels(models);
  if (release === undefined || release === registry.newestRelease)
    return { json: { release: registry.newestRelease, models }, text };
  return {
    json: { release, models },
    text: formatParagraphs(
      text,
      `As of ${release}, by the registry alone; today is ${registry.newestRelease}, and defaults that were set here count only for today.`,
    ),
  };
}

async function showModel({ db, config }: Services, name: string): Promise<Outcome> {
  const entry = requireEntry(await loadRegistry(db, config), name);
  const { manifest, manifestSha256, directory, weightsFile } = entry;
  const model: PrintedModelDetails = {
    ...printedModel(entry),
    manifest,
    manifestSha256,
    directory,
    weights: await pathIfThere(weightsFile),
    card: await pathIfThere(directory && join(directory, 'card.md')),
    drift: await readShippedDrift(directory),
    defaults: await listDefaultChanges(db, entry.model),
    reports: await listDriftReports(db, { model: entry.model, limit: reportsShownMax }),
  };
  return { json: model, text: formatModel(model) };
}

function printedModel(entry: RegistryEntry): PrintedModel {
  const { thresholds: _thresholds, ...printed } = listedModel(entry);
  return printed;
}

async function pathIfThere(path: string | null): Promise<string | null> {
  return path === null
    ? null
    : access(path).then(
        () => path,
        () => null,
      );
}

async function addCommand(
  { db, config }: Services,
  manifest: string,
  { weights, by = currentActor(), reason }: ActorOptions & { weights: string },
): Promise<Outcome> {
  const added = await addModel(db, config, {
    manifestFile: resolve(manifest),
    weightsFile: resolve(weights),
    by,
    reason,
  });
  const text = added.isNew
    ? `${added.model} is added. It is used where it is named; \`caller-trust models drift\` compares it with the default.`
    : `${added.model} is there already; nothing was changed.`;
  return { json: added, text };
}

async function driftCommand(
  models: { old: string; new: string },
  { batch, by = currentActor(), picture, output }: DriftOptions,
): Promise<Outcome> {
  return withServices(async (services) => {
    const { result, files } = await withNewFiles([picture, output], async (outputs) => {
      const compared = await compareWithProgress(services, { ...models, batch, by });
      await outputs[0]?.write(drawDrift(compared.report));
      await outputs[1]?.write(`${JSON.stringify(compared.report, null, 2)}\n`);
      return compared;
    });
    const { reportId, madeAt, computed, itemsWithoutAudio } = result;
    return {
      json: { reportId, madeAt, computed, itemsWithoutAudio, files, ...result.report },
      text: formatDrift(result, files),
    };
  });
}

/** Reserves output files before an hour of work; they are written completely, or none of them is. */
async function withNewFiles<Result>(
  paths: readonly (string | undefined)[],
  work: (outputs: readonly (ResultOutput | undefined)[]) => Promise<Result>,
): Promise<{ result: Result; files: string[] }> {
  const outputs: (ResultOutput | undefined)[] = [];
  try {
    for (const path of paths) outputs.push(path === undefined ? undefined : await openOutput(path));
    const result = await work(outputs);
    for (const output of outputs) await output?.end();
    return { result, files: outputs.flatMap((output) => output?.path ?? []) };
  } catch (error) {
    for (const output of outputs) await output?.discard();
    throw error;
  }
}

async function compareWithProgress(
  { db, config, log }: Services,
  request: { old: string; new: string; batch: string; by: string },
): Promise<ComparisonResult> {
  const registry = await loadRegistry(db, config);
  const pool = openScoringPool({ config, log: readableLog(log) });
  const progress = startProgress();
  const onProgress = (done: number, recordings: number) =>
    progress.show(`${formatBar(done / recordings)} ${done} of ${recordings} recordings scored`);
  try {
    return await compareModels(
      {
        db,
        registry,
        pool,
        store: new AudioStore(config.audioDir),
        atOnce: config.audioScorers,
        signal: interruption.signal,
        onProgress,
      },
      request,
    );
  } finally {
    progress.end();
    await pool.close();
  }
}

async function defaultCommand(
  { db, config }: Services,
  family: Family,
  model: string | undefined,
  {
    by = currentActor(),
    reason = '',
    report,
    force = false,
  }: Partial<ActorOptions> & { report?: number; force?: boolean },
): Promise<Outcome> {
  if (model === undefined) {
    const entry = (await loadRegistry(db, config)).defaultOf(family);
    if (entry === undefined) return { json: { family, model: null }, text: `${family} has no default.` };
    const [set] = (await listDefaultChanges(db, entry.model)).filter((change) => change.model === entry.model);
    const { release, note } = entry;
    const drift = await readShippedDrift(entry.directory);
    return {
      json: { family, model: entry.model, release, note, drift, set: set ?? null },
      text: formatParagraphs(formatDefault(entry, set), formatShippedDrift(drift)),
    };
  }
  const move = await moveDefault(db, config, { family, model, by, reason, reportId: report, force });
  return { json: move, text: formatDefaultMove(move) };
}
