import { ServiceError } from '../../../runtime/errors.ts';
import type { Family } from './manifest.ts';
import type { ModelRegistry, RegistryEntry, ResolvedModel } from './registry.ts';

/** A model that was asked for by its own name, or by the family whose default it is. */
export interface NamedModel extends ResolvedModel {
  readonly family: Family;
}

/**
 * The model of a name, ready to score.
 * @throws ServiceError `model_unknown`, `model_removed`, `model_invalid`
 */
export function requireModel(registry: ModelRegistry, name: string): NamedModel {
  const resolution = registry.resolve(name);
  if (resolution.kind === 'model')
    return { ...resolution.model, family: requireEntry(registry, resolution.model.name).family };
  if (resolution.kind === 'removed') {
    const hint =
      resolution.replacedBy === null
        ? '`caller-trust models list` shows those there are.'
        : `${resolution.replacedBy} takes its place.`;
    throw new ServiceError('model_removed', { operation: 'resolve model', object: resolution.model, hint });
  }
  throw unknownModel(name);
}

/**
 * The row of a model, also of one that was removed.
 * @throws ServiceError `model_unknown`
 */
export function requireEntry(registry: ModelRegistry, name: string): RegistryEntry {
  const wanted = name.trim().toLowerCase();
  const entry =
    registry.models().find(({ model }) => model === wanted) ??
    registry.models().find(({ family, isDefault }) => isDefault && family === wanted);
  if (entry === undefined) throw unknownModel(name);
  return entry;
}

function unknownModel(name: string): ServiceError {
  return new ServiceError('model_unknown', {
    operation: 'resolve model',
    object: name,
    hint: '`caller-trust models list` shows those there are.',
  });
}
