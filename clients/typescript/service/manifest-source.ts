import { parseJsonBytes } from '../../../format/base/bytes.ts';
import { ClientError } from '../../../format/base/errors.ts';
import { findPublishedCache, type ArtefactName } from '../../../format/artefact/caches.ts';
import { sha256Of } from '../../../format/base/sha256.ts';
import type { PublicationTrust } from './publication-trust.ts';
import { formatTarget, targetHref } from '../../../format/trust/targets.ts';
import { mixed } from '../../../format/trust/trusted-set.ts';
import { parseManifest, parseManifestList, type ServedManifest } from './manifest.ts';
import type { ServiceClient } from './service-client.ts';
import { VersionChanged } from './served-file.ts';

/** A manifest with its entity tag, and whether a signature vouches for it. */
export interface KnownManifest {
  readonly manifest: ServedManifest;
  readonly manifestEtag: string | null;
  readonly isVerified: boolean;
}

/** Where manifests come from: the signed list, or the service alone, unverified (`trust` is undefined). */
export interface ManifestSource {
  readonly client: ServiceClient;
  readonly trust: PublicationTrust | undefined;
}

/**
 * The present manifest of an artefact; the known one if it still is.
 * @throws VersionChanged if the signed one is not served any more; ClientError `artefact_not_found`, `trust_mixed`,
 * `download_failed`, or the service's own error
 */
export async function fetchManifest(
  { client, trust }: ManifestSource,
  artefact: ArtefactName,
  known: KnownManifest | undefined,
): Promise<KnownManifest> {
  if (trust !== undefined) return fetchSigned(client, trust, { artefact, known });
  const answer = await client.getDocument(manifestHref(artefact), known?.manifestEtag);
  return answer.isKnown
    ? known!
    : { manifest: parseManifest(answer.body), manifestEtag: answer.etag, isVerified: false };
}

/** The present manifest of an artefact. @throws as {@link fetchManifest} */
export async function readManifest(source: ManifestSource, artefact: ArtefactName): Promise<ServedManifest> {
  return (await fetchManifest(source, artefact, undefined)).manifest;
}

/** The manifests of everything that a service publishes; their signatures are not checked. */
export async function readManifests(client: ServiceClient): Promise<ServedManifest[]> {
  const answer = await client.getDocument('/v1/caches');
  return answer.isKnown ? [] : parseManifestList(answer.body);
}

async function fetchSigned(
  client: ServiceClient,
  trust: PublicationTrust,
  { artefact, known }: { artefact: ArtefactName; known: KnownManifest | undefined },
): Promise<KnownManifest> {
  const { path, target } = trust.findManifest(artefact);
  const { sha256 } = target.hashes;
  const manifestEtag = `"${sha256}"`;
  if (known?.isVerified === true && known.manifestEtag === manifestEtag) return known; // an unsigned service may have lied about the tag
  const bytes = await client.findBytes(targetHref(path, sha256), { bytesMax: target.length });
  if (bytes === undefined) throw new VersionChanged();
  return { manifest: readSignedManifest(bytes, artefact, target), manifestEtag, isVerified: true };
}

/**
 * A manifest whose bytes are those that the signed list names, with the addresses of the signed files.
 * @throws ClientError `trust_mixed`, `download_damaged`
 */
export function readSignedManifest(
  bytes: Uint8Array,
  artefact: ArtefactName,
  { length, hashes }: { readonly length: number; readonly hashes: { readonly sha256: string } },
): ServedManifest {
  if (bytes.length !== length || sha256Of(bytes) !== hashes.sha256) throw mixed('manifest');
  return withSignedHrefs(parseManifest(parseManifestJson(bytes)), artefact);
}

function parseManifestJson(bytes: Uint8Array): unknown {
  try {
    return parseJsonBytes(bytes);
  } catch (cause) {
    throw new ClientError('download_damaged', {
      operation: 'read manifest',
      problem: 'The manifest is not JSON.',
      cause,
    });
  }
}

/** Files are read below their digests: a mirror, CDN or bucket can serve them, and a new version changes none. */
function withSignedHrefs(manifest: ServedManifest, artefact: ArtefactName): ServedManifest {
  const { file, index, filter, deltas } = manifest;
  const at = (target: Parameters<typeof formatTarget>[0], sha256: string) => targetHref(formatTarget(target), sha256);
  return {
    ...manifest,
    file: { ...file, href: at({ ...artefact, kind: 'rows' }, file.sha256) },
    index: { ...index, href: at({ ...artefact, kind: 'index' }, index.sha256) },
    filter: filter === null ? null : { ...filter, href: at({ ...artefact, kind: 'filter' }, filter.sha256) },
    deltas: deltas.map((delta) => ({
      ...delta,
      href: at({ ...artefact, kind: 'delta', from: delta.from }, delta.sha256),
    })),
  };
}

/** Path and query of the manifest of a service that does not sign. */
export function manifestHref({ cache, country }: ArtefactName): string {
  return `/v1/caches/${findPublishedCache(cache).path}/manifest${country === '' ? '' : `?country=${country}`}`;
}
