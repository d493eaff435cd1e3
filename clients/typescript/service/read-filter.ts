import { ClientError } from '../../../format/base/errors.ts';
import { formatArtefact } from '../../../format/artefact/caches.ts';
import { filterBytesMax, NumberFilter } from '../../../format/artefact/number-filter.ts';
import type { ServedManifest } from './manifest.ts';
import { readKept, readPresentManifest, type PublishedSource } from './present-manifest.ts';
import { onPresentVersion } from './served-file.ts';

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
  return onPresentVersion(source, async () => {
    const manifest = await readPresentManifest(source);
    return { version: manifest.version, filter: await filterOfManifest(source, manifest) };
  });
}

/** The filter that a manifest names. @throws as {@link readFilter}; VersionChanged */
export async function filterOfManifest(source: PublishedSource, { filter }: ServedManifest): Promise<NumberFilter> {
  const object = formatArtefact(source.artefact);
  if (filter === null)
    throw new ClientError('artefact_not_found', {
      operation: 'read filter',
      object,
      problem: 'The published version has no filter.',
    });
  if (filter.bytes > filterBytesMax)
    throw new ClientError('filter_invalid', {
      operation: 'read filter',
      object,
      problem: `The filter is longer than ${filterBytesMax} bytes.`,
    });
  return new NumberFilter(await readKept(source, filter, { ...filter, offset: 0, ending: 'filter.bin' }));
}
