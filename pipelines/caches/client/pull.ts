import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { failureOf, isServiceError, ServiceError, type ErrorCode } from '../../../runtime/errors.ts';
import { CACHES, findCache, formatArtefact } from '../definition.ts';
import { withDirectoryLock, type DirectoryLock } from './directory-lock.ts';
import { LocalCopy, nameOf } from './local-copy.ts';
import { parseManifestList, type ServedManifest } from './served-manifest.ts';
import type { ServiceClient } from './service-client.ts';
import { bringUpToDate, type Target, type UpdatedCopy } from './update-copy.ts';
import { writeWholeFile } from '../../../runtime/whole-file.ts';

/** What to pull: caches, and countries of the caches that are split by country; `all` for every country that is published. */
export interface Wanted {
  readonly caches: readonly string[];
  readonly countries: readonly string[] | 'all';
}

export interface PullOptions {
  readonly client: ServiceClient;
  /** Directory of the copies; made if it is missing. */
  readonly directory: string;
  readonly wanted: Wanted;
  /** Ranges of one file that are downloaded at a time. */
  readonly parallel: number;
  readonly onProgress?: ((artefact: string) => void) | undefined;
}

/** How an artefact came to the served version, or why it did not. */
export interface PulledArtefact {
  readonly cache: string;
  readonly country: string;
  readonly how: 'unchanged' | 'delta' | 'full' | 'failed';
  /** The version that was there before. */
  readonly from: number | null;
  readonly version: number | null;
  readonly rows: number | null;
  /** Bytes that came over the network for it, manifests included; bytes of the whole file as the service has it. */
  readonly bytesReceived: number;
  readonly bytesWhole: number | null;
  readonly seconds: number;
  readonly path: string;
  /** Why a delta that was there was not used. */
  readonly deltaRefused: string | null;
  readonly failure: { readonly code: ErrorCode; readonly reason: string } | null;
}

/**
 * Brings local copies to the served versions, each with the least bytes: nothing, a delta, or the whole file. A copy is
 * checked against the digests of its manifest and replaced in one step. An artefact that fails stays as it was; the others go on.
 * @throws ServiceError `directory_busy`, `cache_unknown`, `usage_invalid`, or that the list of manifests cannot be read
 */
export async function pull(options: PullOptions): Promise<PulledArtefact[]> {
  await mkdir(options.directory, { recursive: true }).catch((cause: unknown) => {
    throw new ServiceError('usage_invalid', {
      operation: 'pull',
      object: options.directory,
      problem: 'The directory of the copies cannot be made.',
      cause,
    });
  });
  return withDirectoryLock(options.directory, async (lock) => {
    const pulled: PulledArtefact[] = [];
    for (const target of await listTargets(options)) pulled.push(await pullOne({ ...options, lock }, target));
    return pulled;
  });
}

async function listTargets({ client, directory, wanted }: PullOptions): Promise<Target[]> {
  const caches = wanted.caches.map(findCache);
  if (wanted.countries !== 'all' || !caches.some(({ perCountry }) => perCountry)) {
    return caches.flatMap(({ name, perCountry }) =>
      (perCountry ? (wanted.countries as readonly string[]) : ['']).map((country) => ({ cache: name, country })),
    );
  }
  const names: readonly string[] = caches.map(({ name }) => name);
  const manifests = (await readList(client, directory)).filter(({ cache }) => names.includes(cache));
  return manifests.map((manifest) => ({
    cache: findCache(manifest.cache).name,
    country: manifest.country ?? '',
    manifest,
  }));
}

/** The manifests of everything; the list is kept in the directory, so that one that did not change is not sent again. */
async function readList(client: ServiceClient, directory: string): Promise<ServedManifest[]> {
  const path = join(directory, '.manifests.json');
  const known = await readKeptList(path);
  const answer = await client.getDocument('/v1/caches', known?.etag);
  if (answer.isKnown) return known!.manifests;
  await writeWholeFile(path, JSON.stringify({ etag: answer.etag, body: answer.body }), { durable: false });
  return parseManifestList(answer.body);
}

async function readKeptList(path: string): Promise<{ etag: string; manifests: ServedManifest[] } | undefined> {
  try {
    const kept = JSON.parse(await readFile(path, 'utf8')) as { etag?: unknown; body?: unknown };
    return typeof kept.etag === 'string' ? { etag: kept.etag, manifests: parseManifestList(kept.body) } : undefined;
  } catch {
    return undefined; // there is none, or it is not whole
  }
}

async function pullOne(
  options: PullOptions & { readonly lock: DirectoryLock },
  target: Target,
): Promise<PulledArtefact> {
  const { client, directory, lock } = options;
  const [startedAt, bytesBefore] = [performance.now(), client.bytesReceived];
  const copy = new LocalCopy(directory, nameOf(target), lock);
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
    if (isServiceError(error, 'interrupted') || isServiceError(error, 'directory_busy')) throw error; // the others would end with it too
    const named = asDiskError(error) ?? error;
    return report(undefined, failureOf(named));
  }
}

/** An error of the directory, told as that; undefined for another one. */
function asDiskError(error: unknown): ServiceError | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined;
  return new ServiceError('download_failed', {
    operation: 'pull',
    problem: `The copy cannot be read or written: ${String(error.code)}.`,
    cause: error,
  });
}

/** Every cache, by name. */
export const allCaches: readonly string[] = CACHES.map(({ name }) => name);
