import { RELEASES, compareReleaseNames, newestRelease, parseReleaseName } from './releases.ts';
import { ServiceError } from '../../../runtime/errors.ts';
import { FAMILIES, type Family } from './manifest.ts';

/** One row a model. Rows of shipped models are in models/registry.json; those that were added are in the database. */
export interface RegistryRow {
  /** Canonical name, in lower case: `phone/v8`. */
  readonly model: string;
  readonly family: Family;
  /** The release that brought it; null for a model that was added here. */
  readonly release: string | null;
  /** The release that took it away. */
  readonly removedIn: string | null;
  /** The replacement of a removed one. */
  readonly replacedBy: string | null;
  readonly note: string | null;
}

/** The default model of a family: by a release, or set by an operator (release null). */
export interface DefaultRow {
  readonly family: Family;
  readonly model: string;
  readonly release: string | null;
}

/** The registry's rows in the order in which they were appended; of several defaults of a release the last counts. */
export interface RegistryRows {
  readonly models: readonly RegistryRow[];
  readonly defaults: readonly DefaultRow[];
}

/** A row as of a release. */
export type StandingRow<Row extends RegistryRow = RegistryRow> = Row & {
  readonly state: 'available' | 'removed';
  readonly isDefault: boolean;
};

/** The meaning of a requested name, before its manifest is read. */
export type NameResolution =
  | { readonly kind: 'model'; readonly model: string }
  | { readonly kind: 'auto'; readonly phone: string; readonly digital: string }
  | { readonly kind: 'removed'; readonly model: string; readonly replacedBy: string | null }
  | { readonly kind: 'unknown'; readonly model: string };

/** The newest release of the audio service, which is what a registry without `?release=` answers for. */
export function newestAudioRelease(): string {
  const newest = newestRelease('audio');
  if (newest === undefined) throw new Error('the audio service has no release');
  return newest.name;
}

/**
 * Rows as of a release, oldest first, without later models and later removals. Models
 * and defaults that were added by an operator have no release; they belong to the newest one only.
 * @throws ServiceError `release_unknown` if the audio service has no such release
 */
export function rowsAsOf<Row extends RegistryRow>(
  { models, defaults }: { readonly models: readonly Row[]; readonly defaults: readonly DefaultRow[] },
  release = newestAudioRelease(),
): StandingRow<Row>[] {
  if (!RELEASES.some(({ service, name }) => service === 'audio' && name === release)) throw unknownRelease(release);
  const isNewest = release === newestAudioRelease();
  const hadBy = (name: string | null) => (name === null ? isNewest : isNotAfter(name, release));

  const present = models
    .filter((row) => hadBy(row.release))
    .map((row) => ({ row, isRemoved: row.removedIn !== null && isNotAfter(row.removedIn, release) }));
  const available = present.filter(({ isRemoved }) => !isRemoved).map(({ row }) => row);
  const chosen = new Set(
    FAMILIES.map((family) =>
      defaultAmong(
        available,
        defaults.filter((each) => each.family === family && hadBy(each.release)),
        family,
      ),
    ),
  );
  return present.map(({ row, isRemoved }) => ({
    ...row,
    state: isRemoved ? 'removed' : 'available',
    isDefault: !isRemoved && chosen.has(row.model),
  }));
}

/**
 * The last default that is still available; without one, the newest model of a release. An added model is a default only if an
 * operator set it.
 */
function defaultAmong(
  available: readonly RegistryRow[],
  defaults: readonly DefaultRow[],
  family: Family,
): string | undefined {
  const names = new Set(available.map(({ model }) => model));
  const last = defaults.findLast(({ model }) => names.has(model));
  return (
    last?.model ??
    available
      .filter((row) => row.family === family && row.release !== null)
      .sort(byRelease)
      .at(-1)?.model
  );
}

/**
 * What a requested model means as of the newest release. With an empty name or `auto` the sample rate of each recording decides the
 * family.
 */
export function resolveName(rows: RegistryRows, requested: string): NameResolution {
  const name = requested.trim().toLowerCase();
  const standing = rowsAsOf(rows);
  const defaultOf = (family: Family) => standing.find((row) => row.isDefault && row.family === family)?.model;
  if (name === '' || name === 'auto') {
    const [phone, digital] = [defaultOf('phone'), defaultOf('digital')];
    return phone === undefined || digital === undefined
      ? { kind: 'unknown', model: 'auto' }
      : { kind: 'auto', phone, digital };
  }
  const model = FAMILIES.some((family) => family === name) ? (defaultOf(name as Family) ?? name) : name;
  const row = standing.find((each) => each.model === model);
  if (row === undefined) return { kind: 'unknown', model };
  return row.state === 'removed' ? { kind: 'removed', model, replacedBy: row.replacedBy } : { kind: 'model', model };
}

function byRelease(a: RegistryRow, b: RegistryRow): number {
  return compareReleaseNames(requireRelease(a.release!), requireRelease(b.release!));
}

function isNotAfter(release: string, limit: string): boolean {
  return compareReleaseNames(requireRelease(release), requireRelease(limit)) <= 0;
}

function requireRelease(name: string): NonNullable<ReturnType<typeof parseReleaseName>> {
  const parsed = parseReleaseName(name);
  if (parsed === undefined) throw unknownRelease(name);
  return parsed;
}

function unknownRelease(release: string): ServiceError {
  const names = RELEASES.filter(({ service }) => service === 'audio').map(({ name }) => name);
  return new ServiceError('release_unknown', {
    operation: 'read model registry',
    object: release,
    hint: `The releases of the audio service are ${names.join(', ')}.`,
  });
}
