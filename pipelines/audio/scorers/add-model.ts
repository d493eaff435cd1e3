import { mkdir, mkdtemp, readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../../runtime/config.ts';
import { ServiceError, isServiceError } from '../../../runtime/errors.ts';
import { queryRow, queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { sql } from '../../../sql/sql.ts';
import { AudioRefusal } from '../reasons.ts';
import { ScorerProcess } from './scorer-process.ts';
import { probedForm } from '../scoring/scorer-protocol.ts';
import { addedWeightsFile } from '../models/registry.ts';
import { digestOfManifest, parseManifest, readManifestFile, type ModelManifest } from '../models/manifest.ts';
import { bytesOfModel, checkFile, filesOfModel } from '../models/model-weights.ts';
import { executionOf, memoryOfModels } from './model-limits.ts';
import { familyOf, readShippedRows } from '../models/shipped-models.ts';
import { keepWholeFile, writeAll, writeWholeFile } from '../../../runtime/files/whole-file.ts';

/** A model to add, by whom and why. */
interface ModelAddition {
  readonly manifestFile: string;
  readonly weightsFile: string;
  readonly by: string;
  readonly reason: string;
}

/** A model that was added. */
interface AddedModel {
  readonly model: string;
  readonly manifestSha256: string;
  readonly weightsSha256: string;
  /** False if the registry had the same model already. */
  readonly isNew: boolean;
}

type AddConfig = Pick<
  Config,
  'modelDir' | 'audioWorkSecondsMax' | 'audioMemoryBytesMax' | 'modelMemoryBytesMax' | 'modelThreads'
>;

/**
 * Adds a model to the registry: checks its manifest, copies its files, runs its graph in a child process on a test signal, stores
 * the files under their digest and inserts the row. External data lies next to the weights. No file is in memory as a whole here.
 * Adding the same model again changes nothing.
 * @throws ServiceError `model_invalid` with what is wrong in it, `model_exists` if the registry has another model of its name,
 * `reason_required`
 */
export async function addModel(
  db: Queryable,
  config: AddConfig,
  { manifestFile, weightsFile, by, reason }: ModelAddition,
): Promise<AddedModel> {
  if (!/\S/.test(reason) || !/\S/.test(by)) throw new ServiceError('reason_required', { operation: 'add model' });
  const manifest = parseManifest(await readManifestFile(manifestFile));
  const manifestSha256 = digestOfManifest(manifest);
  const added: AddedModel = { model: manifest.model, manifestSha256, weightsSha256: manifest.sha256, isNew: true };
  if (await isThere(db, manifest.model, manifestSha256)) return { ...added, isNew: false };
  requireWithin(manifest, config);
  await withCopy(manifest, { weightsFile, modelDir: config.modelDir }, async (copy) => {
    await tryModel(manifest, join(copy, manifest.file), config);
    await keepCopy(copy, manifest, config.modelDir);
  });
  const values = [
    manifest.model,
    familyOf(manifest.model),
    JSON.stringify(manifest),
    manifestSha256,
    manifest.sha256,
    by,
    reason,
  ];
  if ((await queryRow(db, sql('audio/insert_added_model'), values)) !== undefined) return added;
  await isThere(db, manifest.model, manifestSha256); // another process was faster, with the same model or another
  return { ...added, isNew: false };
}

async function isThere(db: Queryable, model: string, manifestSha256: string): Promise<boolean> {
  const shipped = await readShippedRows();
  if (shipped.models.some((row) => row.model === model)) throw modelExists(model, 'It is a shipped model.');
  const rows = await queryRows<{ model: string; manifestSha256: string }>(db, sql('audio/list_added_models'));
  const row = rows.find((each) => each.model === model);
  if (row !== undefined && row.manifestSha256 !== manifestSha256)
    throw modelExists(model, 'Another model was added under this name.');
  return row !== undefined;
}

function modelExists(model: string, problem: string): ServiceError {
  return new ServiceError('model_exists', {
    operation: 'add model',
    object: model,
    problem,
    hint: 'Models never change: give it a new version.',
  });
}

/** Runs the model in a child process, which may crash. */
async function tryModel(manifest: ModelManifest, weightsFile: string, config: AddConfig): Promise<void> {
  const scorer = await ScorerProcess.start({
    secondsMax: config.audioWorkSecondsMax,
    memoryBytesMax: memoryOfModels([manifest], config),
  });
  try {
    const { logits } = probedForm.parse(
      await scorer.run({ kind: 'probe', manifest, weightsFile, execution: executionOf(config) }),
    );
    if (logits.length === 0) throw addedModelInvalid(manifest, 'It returned no score for the test signal.');
  } catch (error) {
    if (error instanceof AudioRefusal)
      throw addedModelInvalid(manifest, `It does not run within the limits of scoring: ${error.detail}`, error);
    if (isServiceError(error, 'model_invalid')) throw addedModelInvalid(manifest, error.problem, error);
    throw error;
  } finally {
    await scorer.end();
  }
}

function addedModelInvalid({ model }: ModelManifest, problem: string, cause?: unknown): ServiceError {
  return new ServiceError('model_invalid', {
    operation: 'add model',
    object: model,
    problem,
    hint: 'docs/audio-models.md has each field.',
    cause,
  });
}

/** Refuses a model that is larger than the memory that the operator allows, into which its weights must fit, or asks for more. */
function requireWithin(manifest: ModelManifest, { modelMemoryBytesMax }: AddConfig): void {
  const bytes = bytesOfModel(manifest);
  if (bytes > modelMemoryBytesMax)
    throw addedModelInvalid(
      manifest,
      `Its files have ${bytes} bytes, and ${modelMemoryBytesMax} bytes of memory are allowed (MODEL_MEMORY_BYTES_MAX).`,
    );
  const { memoryBytes = 0 } = manifest.limits;
  if (memoryBytes > modelMemoryBytesMax)
    throw addedModelInvalid(
      manifest,
      `It asks for ${memoryBytes} bytes of memory, and ${modelMemoryBytesMax} are allowed (MODEL_MEMORY_BYTES_MAX).`,
    );
}

const copyPrefix = 'incoming-';

/** Milliseconds after which a copy counts as left by a killed process. */
const abandonedMs = 24 * 3_600_000;

async function removeAbandoned(modelDir: string): Promise<void> {
  for (const name of (await readdir(modelDir)).filter((each) => each.startsWith(copyPrefix))) {
    const copy = await stat(join(modelDir, name)).catch(() => null);
    if (copy !== null && Date.now() - copy.mtimeMs > abandonedMs)
      await rm(join(modelDir, name), { recursive: true, force: true });
  }
}

interface Source {
  readonly weightsFile: string;
  readonly modelDir: string;
}

/** Copies the files of a model to a new folder of the model directory, checks them, and removes what is left of the folder. */
async function withCopy(
  manifest: ModelManifest,
  { weightsFile, modelDir }: Source,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  await mkdir(modelDir, { recursive: true });
  await removeAbandoned(modelDir);
  const folder = await mkdtemp(join(modelDir, copyPrefix));
  try {
    for (const each of filesOfModel(manifest)) {
      const from = each.file === manifest.file ? weightsFile : join(dirname(weightsFile), each.file);
      const copy = (into: FileHandle) => checkFile(from, each, (part) => writeAll(into, part));
      await writeWholeFile(join(folder, each.file), copy, { durable: true, mode: 0o640 });
    }
    await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Gives copied files their place; those of the same digest that another process has kept stay. */
async function keepCopy(folder: string, manifest: ModelManifest, modelDir: string): Promise<void> {
  const path = addedWeightsFile(modelDir, manifest);
  if ((await stat(path).catch(() => null))?.size === manifest.bytes) return;
  if (manifest.externalData === undefined) return keepWholeFile(join(folder, manifest.file), path, { durable: true });
  await keepWholeFile(folder, dirname(path), { durable: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
}
