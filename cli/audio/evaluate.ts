import { setMaxListeners } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { renderCardFiles, writeCard } from '../../evaluation/audio/card/card-files.ts';
import { curvesOf, drawDetCurves } from '../../evaluation/audio/card/det-picture.ts';
import { familiesOf, findEvaluatedModel, type EvaluatedModel } from '../../evaluation/audio/evaluated-models.ts';
import { makeReport, type EvaluationReport } from '../../evaluation/audio/evaluation-report.ts';
import { readIndex, type IndexRow } from '../../evaluation/audio/index-file.ts';
import { scoreIndex } from '../../evaluation/audio/score-index.ts';
import { formatScores } from '../../evaluation/audio/score-list.ts';
import { formatEvaluation } from '../../evaluation/audio/stored-evaluation.ts';
import { loadShippedRegistry } from '../../pipelines/audio/models/registry.ts';
import { decodeLimitsOf, openScoringPool } from '../../pipelines/audio/scorers/scoring-pool.ts';
import { CHANNEL_MODES, type ChannelMode } from '../../pipelines/audio/verification.ts';
import { ServiceError } from '../../runtime/errors.ts';
import { createLog } from '../../runtime/log.ts';
import { commandConfig, interruption, runCommand, type Outcome } from '../command.ts';
import { addEvaluateLabelsCommand } from '../labels/evaluate-labels.ts';
import { formatReport } from './evaluation-tables.ts';
import { parseCount } from '../options.ts';
import { formatBar, startProgress } from '../progress.ts';
import { sha256Of } from '../../runtime/digest.ts';

interface EvaluateOptions {
  readonly index?: string;
  readonly model: readonly string[];
  readonly name?: string;
  readonly note: string;
  readonly channels: ChannelMode;
  readonly resamples: number;
  readonly seed: number;
  readonly report?: string;
  readonly det?: string;
  readonly scores?: string;
  readonly card?: boolean;
  readonly cardFrom: readonly string[];
}

/** `evaluate`: measures models on a test set. It needs no database. */
export function defineEvaluate(command: Command): void {
  command
    .option('--index <file>', 'CSV with path, label, channel, speaker, synthesizer, codec (docs/evaluation.md)')
    .option(
      '--model <name>',
      'model, family or directory with a manifest; several are compared, each with the one before (default: the default of each channel)',
      collect,
      [],
    )
    .option('--name <text>', 'name of the set in the report (default: the folder of the index)')
    .option('--note <text>', 'a note on the set, for the report and the cards', '')
    .option('--channels <mode>', `how the channels of a recording are scored: ${CHANNEL_MODES.join(' or ')}`, 'apart')
    .option('--resamples <count>', 'resamples for the intervals', parseCount, 1000)
    .option('--seed <number>', 'seed of the resamples', parseCount, 1)
    .option('--report <file>', 'write the report as JSON')
    .option('--det <file>', 'write the curves as an SVG picture')
    .option('--scores <file>', 'write the score of each recording as CSV')
    .option('--card', 'write evaluation.json, det.svg and card.md next to the manifest of each model')
    .option(
      '--card-from <directory>',
      'write det.svg and card.md of a model again from its evaluation.json; measures nothing',
      collect,
      [],
    );
  addEvaluateLabelsCommand(command);
  command.action((options: EvaluateOptions) => runCommand(command, () => evaluate(options)));
}

function collect(value: string, values: readonly string[]): readonly string[] {
  return [...values, value];
}

async function evaluate(options: EvaluateOptions): Promise<Outcome> {
  if (options.cardFrom.length > 0) return writeAgain(options.cardFrom);
  const { index } = options;
  if (index === undefined)
    throw new ServiceError('usage_invalid', { operation: 'evaluate', problem: 'Give --index, or --card-from.' });
  if (!CHANNEL_MODES.includes(options.channels))
    throw new ServiceError('usage_invalid', {
      operation: 'evaluate',
      problem: `--channels is one of ${CHANNEL_MODES.join(', ')}.`,
    });
  const rows = await readIndex(index);
  const models = await chooseModels(rows, options.model);
  const config = commandConfig();
  const log = createLog({ level: config.logLevel, process: 'evaluate' });
  const { channels } = options;
  const { set, models: outcomes } = await scoreWithProgress(rows, { config, log, models, channels });
  const report = makeReport({
    index: {
      name: options.name ?? basename(dirname(resolve(index))),
      note: options.note,
      sha256: sha256Of(await readFile(index)),
      recordings: rows.length,
    },
    set,
    models: outcomes,
    evaluatedAt: new Date(),
    bootstrap: { resamples: options.resamples, seed: options.seed },
  });
  if (options.report !== undefined) await writeFile(options.report, formatEvaluation(report));
  if (options.det !== undefined) await writeFile(options.det, drawDetCurves(curvesOf(report), report.index.name));
  if (options.scores !== undefined) await writeFile(options.scores, formatScores(rows, outcomes));
  const cards = options.card === true ? await writeCards(models, report) : [];
  return { json: report, text: [formatReport(report), ...cards.map((card) => `written: ${card}`)].join('\n') };
}

async function chooseModels(rows: readonly IndexRow[], names: readonly string[]): Promise<EvaluatedModel[]> {
  const registry = await loadShippedRegistry();
  const models = await Promise.all(
    (names.length === 0 ? familiesOf(rows) : names).map((name) => findEvaluatedModel(registry, name)),
  );
  const twice = models.find(({ name }, at) => models.findIndex((each) => each.name === name) < at);
  if (twice !== undefined)
    throw new ServiceError('usage_invalid', {
      operation: 'evaluate',
      object: twice.name,
      problem: 'The model is named twice.',
    });
  return models;
}

/** Scores the recordings of an index in processes of the command's own, and shows the progress. */
export async function scoreWithProgress(
  rows: readonly IndexRow[],
  {
    config,
    log,
    ...scoring
  }: Parameters<typeof openScoringPool>[0] & { models: readonly EvaluatedModel[]; channels: ChannelMode },
): ReturnType<typeof scoreIndex> {
  const pool = openScoringPool({ config, log });
  const progress = startProgress();
  setMaxListeners(0, interruption.signal); // each queued recording adds a listener
  try {
    return await scoreIndex(rows, {
      ...scoring,
      pool,
      limits: decodeLimitsOf(config),
      concurrency: config.audioScorers * 2, // one recording is read while another is scored
      onProgress: (done, total) => progress.show(`${formatBar(done / total)} ${done} of ${total} recordings`),
      signal: interruption.signal,
    });
  } finally {
    progress.end();
    await pool.close();
  }
}

async function writeAgain(directories: readonly string[]): Promise<Outcome> {
  for (const directory of directories)
    for (const [name, text] of Object.entries(await renderCardFiles(directory)))
      await writeFile(join(directory, name), text);
  const cards = directories.map((directory) => join(directory, 'card.md'));
  return { json: { cards }, text: cards.map((card) => `written: ${card}`).join('\n') };
}

async function writeCards(models: readonly EvaluatedModel[], report: EvaluationReport): Promise<string[]> {
  const homeless = models.find(({ directory }) => directory === null);
  if (homeless !== undefined)
    throw new ServiceError('usage_invalid', {
      operation: 'write card',
      object: homeless.name,
      problem: 'The model has no directory.',
    });
  await Promise.all(models.map((model) => writeCard(model.directory!, { model, report })));
  return models.map(({ directory }) => join(basename(directory!), 'card.md'));
}
