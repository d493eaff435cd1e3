import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ClientError, isClientError, messageOf, type ClientErrorCode } from '../../../format/base/errors.ts';
import { copyName, findPublishedCache, formatArtefact, PUBLISHED_CACHES } from '../../../format/artefact/caches.ts';
import { getStored, parseManifestList } from '../service/manifest.ts';
import { PublicationTrust, type TrustReport } from '../service/publication-trust.ts';
import type { ServiceClient } from '../service/service-client.ts';
import { withDirectoryLock, type DirectoryLock } from './directory-lock.ts';
import { DirectoryStore, trustDirectory } from './directory-store.ts';
import { LocalCopy } from './local-copy.ts';
import { bringUpToDate, type Target, type UpdatedCopy } from './update-copy.ts';

/** The caches to pull, and the countries of those that are split by country; `all`: every published country. */
export interface Wanted {
  readonly caches: readonly string[];
  readonly countries: readonly string[] | 'all';
}

interface PullOptions {
  readonly client: ServiceClient;
  /** Directory of the copies; made if it is missing. */
  readonly directory: string;
  readonly wanted: Wanted;
  /** Ranges of one file that are downloaded at a time. */
  readonly parallel: number;
  readonly onProgress?: ((artefact: string) => void) | undefined;
  /** A root that the caller trusts; absent: that of the directory, or at the first use the service's own. */
  readonly trustAnchor?: Uint8Array | undefined;
  /** Called with what was verified; with undefined if the service signs nothing. */
  readonly onTrust?: ((report: TrustReport | undefined) => void) | undefined;
}

/** How the copy of an artefact was updated, or why it was not. */
export interface PulledArtefact {
  readonly cache: string;
  readonly country: string;
  readonly how: 'unchanged' | 'delta' | 'full' | 'failed';
  /** The version of the copy before. */
  readonly from: number | null;
  readonly version: number | null;
  readonly rows: number | null;
  /** Bytes received for it, manifests included; bytes of the whole file of the service. */
  readonly bytesReceived: number;
  readonly bytesWhole: number | null;
  readonly seconds: number;
  readonly path: string;
  /** Why an offered delta was not used. */
  readonly deltaRefused: string | null;
  readonly failure: { readonly code: ClientErrorCode | 'internal'; readonly reason: string } | null;
}

/**
 * Updates local copies to the served versions, each with the least bytes: nothing, a delta, or the whole file. A copy is
 * checked against the digests of its manifest and replaced in one step. If an artefact fails, its copy stays as it was, and
 * the others are pulled. Where the service signs, or did once, everything is taken from the signed list alone.
 * @throws ClientError `directory_busy`, `cache_unknown`, `usage_invalid`, or an error of reading the list of manifests: then no
 * copy is touched
 */
export async function pull(options: PullOptions): Promise<PulledArtefact[]> {
  await mkdir(options.directory, { recursive: true }).catch((cause: unknown) => {
    throw new ClientError('usage_invalid', {
      operation: 'pull',
      object: options.directory,
      problem: 'The directory of the copies cannot be made.',
      cause,
    });
  });
  return withDirectoryLock(options.directory, async (lock) => {
    const trust = await PublicationTrust.open({
      client: options.client,
      store: new DirectoryStore(join(options.directory, trustDirectory), { durable: true }),
      anchor: options.trustAnchor,
    });
    options.onTrust?.(trust?.report);
    const pulled: PulledArtefact[] = [];
    for (const target of await listTargets(options, trust))
      pulled.push(await pullOne({ ...options, lock, trust }, target));
    return pulled;
  });
}

async function listTargets(
  { client, directory, wanted }: PullOptions,
  trust: PublicationTrust | undefined,
): Promise<Target[]> {
  const caches = wanted.caches.map(findPublishedCache);
  if (wanted.countries !== 'all' || !caches.some(({ perCountry }) => perCountry)) {
    return caches.flatMap(({ name, perCountry }) =>
      (perCountry ? (wanted.countries as readonly string[]) : ['']).map((country) => ({ cache: name, country })),
    );
  }
  const names: readonly string[] = caches.map(({ name }) => name);
  if (trust !== undefined) return trust.listArtefacts().filter(({ cache }) => names.includes(cache));
  const manifests = await getStored(client, {
    href: '/v1/caches',
    store: new DirectoryStore(directory, { durable: false }),
    name: '.manifests.json',
    parse: parseManifestList,
  });
  const listed = manifests.filter(({ cache }) => names.includes(cache));
  return listed.map((manifest) => ({
    cache: findPublishedCache(manifest.cache).name,
    country: manifest.country ?? '',
    manifest,
  }));
}

async function pullOne(
  options: PullOptions & { readonly lock: DirectoryLock; readonly trust: PublicationTrust | undefined },
  target: Target,
): Promise<PulledArtefact> {
  const { client, directory, lock } = options;
  const [startedAt, bytesBefore] = [performance.now(), client.bytesReceived];
  const copy = new LocalCopy(directory, copyName(target), lock);
  options.onProgress?.(formatArtefact(target));
  const local = await copy.read();
  const report = (outcome: UpdatedCopy | undefined, failure: PulledArtefact['failure']): PulledArtefact => ({
    cache: target.cache,
    country: target.country,
    from: local?.manifest.version ?? null,
    version: outcome?.manifest?.version ?? null,
    rows: outcome?.manifest?.rows ?? null,
    bytesReceived: client.bytesReceived - bytesBefore,
    bytesWhole: outcome?.manifest?.file.bytes ?? null,
    seconds: (performance.now() - startedAt) / 1000,
    path: copy.rowsPath,
    deltaRefused: outcome?.deltaRefused ?? null,
    how: outcome?.how ?? 'failed',
    failure,
  });
  try {
    return report(await bringUpToDate({ ...options, copy, local }, target), null);
  } catch (error) {
    client.throwIfAborted();
    if (isClientError(error, 'directory_busy')) throw error; // the others would fail too
    return report(undefined, failureOf(asDiskError(error) ?? error));
  }
}

function failureOf(error: unknown): NonNullable<PulledArtefact['failure']> {
  return isClientError(error)
    ? { code: error.code, reason: error.problem }
    : { code: 'internal', reason: messageOf(error) };
}

/** The ClientError for an error of the directory; undefined for other errors. */
function asDiskError(error: unknown): ClientError | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return new ClientError('download_failed', {
    operation: 'pull',
    problem: `The copy cannot be read or written: ${String(error.code)}.`,
    cause: error,
  });
}

/** Every cache, by name. */
export const allCaches: readonly string[] = PUBLISHED_CACHES.map(({ name }) => name);
