import { ServiceError } from '../../../runtime/errors.ts';
import { AudioRefusal } from '../reasons.ts';
import type { Family } from './manifest.ts';
import type { ModelRegistry, RegistryEntry, Resolution, ResolvedModel } from './registry.ts';

/** Lowest sample rate in Hz of the family `digital`, where a request names no family; below it a recording is of `phone`. */
export const digitalSampleRateMin = 16_000;

/** The models that a recording may be scored with. With both, its band decides; with one, that one is used. */
export interface ModelChoice {
  /** True if the band decides although one of the two is missing because it cannot be used. */
  readonly byRate?: boolean | undefined;
  readonly phone: ResolvedModel | null;
  readonly digital: ResolvedModel | null;
}

/** A model that was requested by its own name, or by the family whose default it is. */
export interface NamedModel extends ResolvedModel {
  readonly family: Family;
}

/** The band of a recording: its sample rate in Hz, and whether speech of a telephone was detected in it (`telephone-band.ts`). */
interface RecordingBand {
  readonly sampleRate: number;
  readonly isTelephone: boolean;
}

/**
 * The model for a band: with both families, `digital` from 16 kHz on, unless speech of a telephone was detected.
 * @throws AudioRefusal `sample_rate_too_low` if the model needs a higher one, `scoring_failed` if the one of the rate cannot be used
 */
export function chooseModel(
  { phone, digital, byRate = false }: ModelChoice,
  { sampleRate, isTelephone }: RecordingBand,
): ResolvedModel {
  const family = sampleRate >= digitalSampleRateMin && !isTelephone ? 'digital' : 'phone';
  const [preferred, other] = family === 'digital' ? [digital, phone] : [phone, digital];
  if (byRate && preferred === null)
    throw new AudioRefusal(
      'scoring_failed',
      `At ${sampleRate} Hz${isTelephone ? ' with speech of a telephone' : ''} it needs the default of ${family}, which cannot be used here.`,
    );
  const chosen = preferred ?? other;
  if (chosen === null) throw new Error('a recording is scored with one model at least');
  const { sampleRateMin } = chosen.manifest.input;
  if (sampleRate < sampleRateMin)
    throw new AudioRefusal(
      'sample_rate_too_low',
      `It has ${sampleRate} Hz; ${chosen.name} needs ${sampleRateMin} Hz at least.`,
    );
  return chosen;
}

/**
 * The model or models of a requested name, ready to score.
 * @throws ServiceError `model_unknown`, `model_removed`, `model_invalid`
 */
export function requireModels(registry: ModelRegistry, name: string): ModelChoice {
  const resolution = requireResolution(registry, name);
  return resolution.kind === 'auto'
    ? { phone: resolution.phone, digital: resolution.digital, byRate: true }
    : { phone: resolution.model, digital: null };
}

/**
 * The model of a name, ready to score; `auto` is no model.
 * @throws ServiceError `model_unknown`, `model_removed`, `model_invalid`
 */
export function requireModel(registry: ModelRegistry, name: string): NamedModel {
  const resolution = requireResolution(registry, name);
  if (resolution.kind === 'auto') throw unknownModel(name);
  return { ...resolution.model, family: requireEntry(registry, resolution.model.name).family };
}

/**
 * The meaning of a requested name, where there is one.
 * @throws ServiceError `model_unknown`, `model_removed`, `model_invalid`
 */
export function requireResolution(
  registry: ModelRegistry,
  name: string,
): Exclude<Resolution, { kind: 'unknown' | 'removed' }> {
  const resolution = registry.resolve(name);
  if (resolution.kind === 'unknown') throw unknownModel(resolution.model);
  if (resolution.kind === 'removed') {
    const { model, replacedBy } = resolution;
    const hint = replacedBy === null ? listHint : `${replacedBy} takes its place.`;
    throw new ServiceError('model_removed', { operation: 'resolve model', object: model, hint });
  }
  return resolution;
}

/**
 * The model of a name for one recording, or why that recording cannot be scored with it; `auto` is no model.
 * @throws ServiceError `model_invalid`
 */
export function modelOrRefusal(registry: ModelRegistry, name: string): ResolvedModel | AudioRefusal {
  const resolution = registry.resolve(name);
  if (resolution.kind === 'model') return resolution.model;
  if (resolution.kind !== 'removed') return new AudioRefusal('model_unknown');
  const { replacedBy } = resolution;
  return new AudioRefusal(
    'model_removed',
    replacedBy === null ? undefined : `The model was removed; it is replaced by ${replacedBy}.`,
  );
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

const listHint = '`caller-trust models list` shows the models.';

function unknownModel(name: string): ServiceError {
  return new ServiceError('model_unknown', { operation: 'resolve model', object: name, hint: listHint });
}
