import { ClientError } from '../../../format/base/errors.ts';
import { sha256Of } from '../../../format/base/sha256.ts';
import { formatArtefact } from '../../../format/artefact/caches.ts';
import { filterBytesMax, NumberFilter } from '../../../format/artefact/number-filter.ts';
import type { ServedManifest } from './manifest.ts';
import { keptName, onPresentVersion, type PublishedSource } from './present-manifest.ts';
import { downloadToMemory, VersionChanged } from './served-file.ts';

/** The filter of a published version. */
export interface ReadFilter {
  readonly version: number;
  readonly filter: NumberFilter;
}

/**
 * Reads the filter of a published artefact, verified as every file; one that is kept in the store is not downloaded again.
 * @throws ClientError `artefact_not_found` if the cache or the version has none, `filter_invalid`, `download_failed`,
 * `download_damaged`, or the service's own error
 */
export function readFilter(source: PublishedSource): Promise<ReadFilter> {
  return onPresentVersion(source, async (manifest) => {
    const filter = await filterOfManifest(source, manifest);
    return filter === 'changed' ? filter : { version: manifest.version, filter };
  });
}

/** The filter that a manifest names. @throws as {@link readFilter} */
export async function filterOfManifest(
  { client, artefact, store }: PublishedSource,
  { filter: remote }: ServedManifest,
): Promise<NumberFilter | 'changed'> {
  if (remote === null)
    throw new ClientError('artefact_not_found', {
      operation: 'read filter',
      object: formatArtefact(artefact),
      problem: 'The published version has no filter.',
    });
  if (remote.bytes > filterBytesMax)
    throw new ClientError('filter_invalid', {
      operation: 'read filter',
      object: formatArtefact(artefact),
      problem: `The filter is longer than ${filterBytesMax} bytes.`,
    });
  const name = keptName(artefact, 'filter.bin');
  const kept = await store?.read(name);
  if (kept !== undefined && sha256Of(kept) === remote.sha256) return new NumberFilter(kept);
  const bytes = await downloadToMemory(client, remote).catch((error: unknown) => {
    if (error instanceof VersionChanged) return undefined;
    throw error;
  });
  if (bytes === undefined) return 'changed';
  const filter = new NumberFilter(bytes);
  await store?.write(name, bytes);
  return filter;
}
