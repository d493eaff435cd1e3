import { join } from 'node:path';
import { queryRows, type Queryable } from '../../../runtime/postgres.ts';
import { isServiceError, ServiceError } from '../../../runtime/errors.ts';
import { sql } from '../../../sql/sql.ts';
import { sha256Of } from '../../../runtime/digest.ts';
import { digestOfManifest, parseManifest, readManifest, type Family, type ModelManifest } from './manifest.ts';
import { filesOfModel, type ModelFiles } from './model-weights.ts';
import {
  newestAudioRelease,
  resolveName,
  rowsAsOf,
  type DefaultRow,
  type NameResolution,
  type RegistryRow,
  type StandingRow,
} from './registry-rows.ts';
import { readShippedRows, shippedModelsDirectory, type ShippedRow } from './shipped-models.ts';

/** A model that can be scored with: what it is, and where its weights lie. */
export interface ResolvedModel {
  /** Canonical name: `phone/v8`. */
  readonly name: string;
  readonly manifest: ModelManifest;
  /** Identifies the whole model: the manifest holds the digest of the weights. */
  readonly manifestSha256: string;
  readonly weightsFile: string;
  /** How its graph is run; by default on one thread. */
  readonly execution?: ModelExecution | undefined;
}

/** How graphs are run, by the settings of the operator. */
export interface ModelExecution {
  readonly threads: number;
  /** Windows in one run, where the manifest allows as many. */
  readonly windowsAtOnce: number;
}

/**
 * The meaning of a requested name. With `auto`, the sample rate of each recording decides; a default that cannot be used is null, which
 * matters to the recordings of its rates only.
 */
export type Resolution =
  | { readonly kind: 'model'; readonly model: ResolvedModel }
  | { readonly kind: 'auto'; readonly phone: ResolvedModel | null; readonly digital: ResolvedModel | null }
  | { readonly kind: 'removed'; readonly model: string; readonly replacedBy: string | null }
  | { readonly kind: 'unknown'; readonly model: string };

/** How a model came here, besides what its row says. */
interface Origin {
  readonly origin: 'shipped' | 'added';
  /** Directory of its manifest and card; null for one that was added, or whose weights are not shipped. */
  readonly directory: string | null;
  /** Null where no weights are shipped. */
  readonly manifest: ModelManifest | null;
  readonly manifestSha256: string | null;
  readonly weightsFile: string | null;
  /** Why a model that should have weights has no usable ones. */
  readonly fault: ServiceError | null;
  readonly added: { readonly at: Date; readonly by: string; readonly reason: string } | null;
}

/** A model as of a release. */
export type RegistryEntry = StandingRow<RegistryRow & Origin>;

/** The registry as it is now. */
export interface ModelRegistry {
  readonly newestRelease: string;
  /** Models as of a release, oldest first. @throws ServiceError `release_unknown` */
  models(release?: string): RegistryEntry[];
  /** The default of a family as of a release. @throws ServiceError `release_unknown` */
  defaultOf(family: Family, release?: string): RegistryEntry | undefined;
  /**
   * The meaning of `phone`, `phone/v7`, `auto` or nothing; case does not matter. @throws ServiceError `model_invalid` if its
   * manifest is not usable
   */
  resolve(requested: string): Resolution;
}

/** Where the registry's parts are; the defaults are what is shipped. */
export interface RegistrySources {
  readonly modelDir: string;
  readonly shippedDirectory?: string;
}

/**
 * Reads the registry: the shipped rows with their manifests, and the models and defaults that were added. A shipped model whose
 * manifest cannot be read stays in it with the fault, which is thrown when it is resolved.
 */
export async function loadRegistry(
  db: Queryable,
  { modelDir, shippedDirectory = shippedModelsDirectory }: RegistrySources,
): Promise<ModelRegistry> {
  const shipped = await readShippedRows(join(shippedDirectory, 'registry.json'));
  const [added, setDefaults] = [
    await queryRows<AddedRow>(db, sql('audio/list_added_models')),
    await queryRows<Pick<DefaultRow, 'family' | 'model'>>(db, sql('audio/list_model_defaults')),
  ];
  return makeRegistry({
    models: [
      ...(await Promise.all(shipped.models.map((row) => openShipped(row, shippedDirectory)))),
      ...added.map((row) => openAdded(row, modelDir)),
    ],
    defaults: [...shipped.defaults, ...setDefaults.map(({ family, model }) => ({ family, model, release: null }))],
  });
}

/** The shipped models alone, for work that needs no database: evaluation, benches. */
export async function loadShippedRegistry(shippedDirectory = shippedModelsDirectory): Promise<ModelRegistry> {
  const shipped = await readShippedRows(join(shippedDirectory, 'registry.json'));
  return makeRegistry({
    models: await Promise.all(shipped.models.map((row) => openShipped(row, shippedDirectory))),
    defaults: shipped.defaults,
  });
}

interface AddedRow extends Pick<RegistryRow, 'model' | 'family'>, Pick<Origin, 'added'> {
  readonly manifest: unknown;
  readonly manifestSha256: string;
}

async function openShipped(row: ShippedRow, shippedDirectory: string): Promise<RegistryRow & Origin> {
  const origin = { origin: 'shipped', added: null, fault: null } as const;
  if (row.directory === null)
    return { ...row, ...origin, directory: null, manifest: null, manifestSha256: null, weightsFile: null };
  const directory = join(shippedDirectory, row.directory);
  try {
    const manifest = await readManifest(directory);
    return {
      ...row,
      ...origin,
      directory,
      manifest,
      manifestSha256: digestOfManifest(manifest),
      weightsFile: join(directory, manifest.file),
    };
  } catch (error) {
    if (!isServiceError(error, 'model_invalid')) throw error;
    return { ...row, ...origin, directory, fault: error, manifest: null, manifestSha256: null, weightsFile: null };
  }
}

/** A manifest that this version no longer accepts disables its own model only. */
function openAdded({ model, family, added, ...stored }: AddedRow, modelDir: string): RegistryRow & Origin {
  const row = { model, family, release: null, removedIn: null, replacedBy: null, note: null };
  const known = { ...row, origin: 'added', directory: null, fault: null, added } as const;
  try {
    const manifest = parseManifest(stored.manifest);
    const { manifestSha256 } = stored;
    return { ...known, manifest, manifestSha256, weightsFile: addedWeightsFile(modelDir, manifest) };
  } catch (error) {
    if (!isServiceError(error, 'model_invalid')) throw error;
    return { ...known, manifest: null, manifestSha256: null, weightsFile: null, fault: error };
  }
}

function makeRegistry(rows: {
  readonly models: readonly (RegistryRow & Origin)[];
  readonly defaults: readonly DefaultRow[];
}): ModelRegistry {
  const models = (release?: string) => rowsAsOf(rows, release);
  return {
    newestRelease: newestAudioRelease(),
    models,
    defaultOf: (family, release) => models(release).find((row) => row.isDefault && row.family === family),
    resolve: (requested) =>
      withModels(resolveName(rows, requested), new Map(rows.models.map((row) => [row.model, row]))),
  };
}

function withModels(resolution: NameResolution, rows: ReadonlyMap<string, RegistryRow & Origin>): Resolution {
  if (resolution.kind === 'model') return { kind: 'model', model: requireStandingModel(rows.get(resolution.model)!) };
  return resolution.kind === 'auto'
    ? withDefaults(rows.get(resolution.phone)!, rows.get(resolution.digital)!)
    : resolution;
}

/** @throws ServiceError `model_invalid` if neither can be used */
function withDefaults(phone: RegistryRow & Origin, digital: RegistryRow & Origin): Resolution {
  const usable = (row: RegistryRow & Origin) => (row.manifest === null ? null : requireStandingModel(row));
  return {
    kind: 'auto',
    phone: digital.manifest === null ? requireStandingModel(phone) : usable(phone),
    digital: usable(digital),
  };
}

function requireStandingModel({
  model,
  manifest,
  manifestSha256,
  weightsFile,
  fault,
}: RegistryRow & Origin): ResolvedModel {
  if (manifest === null || manifestSha256 === null || weightsFile === null) {
    throw new ServiceError('model_invalid', {
      operation: 'open model',
      object: model,
      problem: fault?.problem ?? 'It has no weights here.',
      hint: fault?.object && `Look at ${fault.object}.`,
      cause: fault ?? undefined,
    });
  }
  return { name: model, manifest, manifestSha256, weightsFile };
}

/**
 * Path of the graph of an added model: its digest, so that equal ones are stored once and never change. A graph with external
 * data lies in a folder with it and nothing else, under the digest of the names and digests of its files.
 */
export function addedWeightsFile(modelDir: string, manifest: ModelFiles): string {
  if (manifest.externalData === undefined) return join(modelDir, `${manifest.sha256}.onnx`);
  const files = filesOfModel(manifest).map(({ file, sha256 }) => `${sha256} ${file}\n`);
  return join(modelDir, sha256Of(files.join('')), manifest.file);
}
