import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { findEvaluatedModel } from '../../evaluation/audio/evaluated-models.ts';
import { fitCalibration, uncalibrated, type FittedCalibration } from '../../evaluation/audio/fit-calibration.ts';
import { readIndex } from '../../evaluation/audio/index-file.ts';
import {
  digestOfManifest,
  parseManifest,
  type ModelManifest,
  type ScoreCondition,
} from '../../pipelines/audio/models/manifest.ts';
import { loadRegistry } from '../../pipelines/audio/models/registry.ts';
import { sha256Of } from '../../runtime/digest.ts';
import { runWith, type Outcome } from '../command.ts';
import { readableLog } from '../readable-log.ts';
import { openOutput } from '../result-output.ts';
import { scoreWithProgress } from './evaluate.ts';
import type { Services } from '../../runtime/services/services.ts';

interface CalibrateOptions {
  readonly index: string;
  readonly as: string;
  readonly output: string;
}

/** `models calibrate`. */
export function addCalibrateCommand(models: Command): void {
  models
    .command('calibrate')
    .description('fit the calibration of a model on your own labelled recordings; writes a new manifest')
    .argument('<model>', 'a model of the registry, or a directory with a manifest and weights')
    .requiredOption('--index <file>', 'CSV with path, label, channel, speaker, synthesizer, codec (docs/evaluation.md)')
    .requiredOption('--as <model>', 'name of the calibrated model, such as phone/v9-acme.2')
    .requiredOption('--output <file>', 'write the manifest to this new file')
    .addHelpText(
      'after',
      '\nExample:\n  caller-trust models calibrate exported/ --index calls.csv --as phone/v9-acme --output exported/calibrated.json',
    )
    .action(runWith(calibrateCommand));
}

async function calibrateCommand(
  { db, config, log }: Services,
  name: string,
  options: CalibrateOptions,
): Promise<Outcome> {
  const rows = await readIndex(options.index);
  const model = await findEvaluatedModel(await loadRegistry(db, config), name);
  const manifest = uncalibrated(model.manifest);
  const carrying = { ...model, manifest, manifestSha256: digestOfManifest(manifest) };
  const output = await openOutput(options.output);
  try {
    const scoring = { config, log: readableLog(log), models: [carrying], channels: 'apart' } as const;
    const scored = await scoreWithProgress(rows, scoring);
    const fits = manifest.output.layout.map((score) => fitCalibration(scored.set, scored.models[0]!, score));
    const index = { recordings: rows.length, sha256: sha256Of(await readFile(options.index)) };
    const made = calibratedManifest(model.manifest, { fits, index, name: options.as });
    await output.write(`${JSON.stringify(made, null, 2)}\n`);
    await output.end();
    return { json: { model: made.model, file: output.path, fits }, text: describe(fits, output.path) };
  } catch (error) {
    await output.discard();
    throw error;
  }
}

interface Calibrating {
  readonly fits: readonly FittedCalibration[];
  readonly index: { readonly recordings: number; readonly sha256: string };
  readonly name: string;
}

/** The manifest under its new name, checked as `models add` will. */
function calibratedManifest(manifest: ModelManifest, { fits, index, name }: Calibrating): ModelManifest {
  return parseManifest({
    ...manifest,
    conditions: Object.fromEntries(fits.map(({ score, condition }) => [score, [condition]])),
    model: name.trim().toLowerCase(),
    calibration: Object.fromEntries(fits.map(({ score, calibration }) => [score, calibration])),
    thresholds: Object.fromEntries(fits.map(({ score, threshold }) => [score, threshold])),
    training: { ...manifest.training, calibration: { of: manifest.model, index, fits } },
  });
}

function describeLimits({ attackBelow, authenticFrom, falseAlarm, falseAcceptance }: ScoreCondition): string {
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  const attacks = `Attacks below ${attackBelow.toFixed(3)}, which takes ${percent(falseAlarm)} of the genuine held-out ones for attacks`;
  return authenticFrom === null
    ? `${attacks}; no score is authentic, because too many attacks of a held-out kind would pass, or too few were tried.`
    : `${attacks}; authentic from ${authenticFrom.toFixed(3)} on, which ${percent(falseAcceptance!)} of the worst held-out kind of attack reach; undecided between.`;
}

function describe(fits: readonly FittedCalibration[], file: string | undefined): string {
  const lines = fits.map(
    ({ score, calibration: { slope, intercept }, threshold, condition, bonafide, attacks, heldOut }) =>
      [
        `${score}: ${bonafide} genuine recordings and ${attacks} attacks; slope ${slope.toFixed(4)}, intercept ${intercept.toFixed(4)}, threshold ${threshold.toFixed(3)}.`,
        `  On held-out speakers and synthesizers: Cllr ${heldOut.cllr.toFixed(3)} bits (at best ${heldOut.minimumCllr.toFixed(3)}; 1 says nothing), EER ${(heldOut.equalErrorRate * 100).toFixed(1)} %.`,
        `  ${describeLimits(condition)}`,
        ...(heldOut.cllr < 1 ? [] : ['  The scores say less than nothing: do not use this model for decisions.']),
      ].join('\n'),
  );
  return [
    ...lines,
    `The manifest is in ${file}; add it with \`caller-trust models add ${file} --weights <file>\`.`,
  ].join('\n');
}
