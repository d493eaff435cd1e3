import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ServiceError } from '../../../runtime/errors.ts';
import { readManifest } from '../../../pipelines/audio/models/manifest.ts';
import { shippedModelsDirectory } from '../../../pipelines/audio/models/shipped-models.ts';
import { renderCard, reportOf } from './card.ts';
import { curvesOf, drawDetCurves } from './det-picture.ts';
import type { EvaluationReport } from '../evaluation-report.ts';
import { evaluationFileName, formatEvaluation, readStoredEvaluation } from '../stored-evaluation.ts';
import { readUnseenEvaluation } from '../unseen-evaluation.ts';
import { readTrainingData } from './training-data.ts';
import { ifExists } from '../../../runtime/files/if-exists.ts';

/** The files of an evaluation in the directory of a model, by name. */
type CardFiles = Readonly<Record<typeof evaluationFileName | 'det.svg' | 'card.md', string>>;

/** Writes the part of a report about the model of a directory: the stored evaluation, the picture and the card. */
export async function writeCard(
  directory: string,
  { model, report }: { readonly model: { readonly name: string }; readonly report: EvaluationReport },
): Promise<void> {
  await writeFile(join(directory, evaluationFileName), formatEvaluation(reportOf(report, model.name)));
  const files = await renderCardFiles(directory);
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
}

/**
 * The card and the picture of a directory, from its stored evaluation, its manifest and about.md.
 * @throws ServiceError `model_invalid` if it has no evaluation, or one of other weights
 */
export async function renderCardFiles(directory: string): Promise<CardFiles> {
  const manifest = await readManifest(directory);
  const report = await readStoredEvaluation(directory);
  const isOfThese = report?.models.some(
    ({ model, weightsSha256 }) => model === manifest.model && weightsSha256 === manifest.sha256,
  );
  if (report === undefined || isOfThese !== true) {
    throw new ServiceError('model_invalid', {
      operation: 'make card',
      object: manifest.model,
      problem: 'The stored evaluation is missing or of other weights.',
      hint: 'Run `npm run evaluate` with --card.',
    });
  }
  const data =
    typeof manifest.training?.['data'] === 'string'
      ? await readTrainingData(join(dirname(shippedModelsDirectory), manifest.training['data']))
      : undefined;
  return {
    [evaluationFileName]: formatEvaluation(report),
    'det.svg': drawDetCurves(curvesOf(report), `${manifest.model} on ${report.index.name}; replays are simulated`),
    'card.md': renderCard({
      manifest,
      report,
      about: (await ifExists(readFile(join(directory, 'about.md'), 'utf8'))) ?? '',
      data,
      unseen: await readUnseenEvaluation(directory),
    }),
  };
}
