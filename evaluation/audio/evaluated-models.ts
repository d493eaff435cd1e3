import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ServiceError } from '../../runtime/errors.ts';
import { digestOfManifest, readManifest, FAMILIES, type Family } from '../../pipelines/audio/models/manifest.ts';
import type { ModelRegistry, ResolvedModel } from '../../pipelines/audio/models/registry.ts';
import { familyOf } from '../../pipelines/audio/models/shipped-models.ts';
import type { IndexRow } from './index-file.ts';
import { requireModel } from '../../pipelines/audio/models/named-model.ts';

/** A model to evaluate, with the directory of its card; null if it has none. */
export interface EvaluatedModel extends ResolvedModel {
  readonly directory: string | null;
}

/**
 * The model of a name: a name of the registry, a family for its default, or a directory with a manifest and weights.
 * @throws ServiceError `model_unknown`, `model_removed`, `model_invalid`, or `usage_invalid` for `auto`, which is not a model
 */
export async function findEvaluatedModel(registry: ModelRegistry, name: string): Promise<EvaluatedModel> {
  const operation = 'find model';
  if (existsSync(join(name, 'manifest.json'))) {
    const directory = resolve(name);
    const manifest = await readManifest(directory);
    return {
      name: manifest.model,
      manifest,
      manifestSha256: digestOfManifest(manifest),
      weightsFile: join(directory, manifest.file),
      directory,
    };
  }
  if (['', 'auto'].includes(name.trim().toLowerCase()))
    throw new ServiceError('usage_invalid', {
      operation,
      problem: 'Name a model or a family; without one, the default of each channel is evaluated.',
    });
  const { family: _family, ...model } = requireModel(registry, name);
  return { ...model, directory: registry.models().find((entry) => entry.model === model.name)?.directory ?? null };
}

/**
 * The recordings of an index for a model, as indexes: those whose channel has the name of the model's family, and those of
 * channels that are no family; all, if no channel has the family's name.
 */
export function placesOf(rows: readonly Pick<IndexRow, 'channel'>[], { name }: Pick<EvaluatedModel, 'name'>): number[] {
  const family = familyOf(name);
  const places = [...rows.keys()];
  const isFamily = (channel: string) => FAMILIES.some((each) => each === channel);
  const own = places.filter((place) => rows[place]!.channel === family);
  return own.length === 0
    ? places
    : places.filter((place) => rows[place]!.channel === family || !isFamily(rows[place]!.channel));
}

/** The families whose default models an index needs: those of its channels; both if a channel has another name. */
export function familiesOf(rows: readonly Pick<IndexRow, 'channel'>[]): Family[] {
  const channels = new Set(rows.map(({ channel }) => channel));
  const others = [...channels].some((channel) => !FAMILIES.some((family) => family === channel));
  return FAMILIES.filter((family) => others || channels.has(family));
}
