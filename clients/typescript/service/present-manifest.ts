import { sha256Of } from '../../../format/base/sha256.ts';
import { copyName, type ArtefactName } from '../../../format/artefact/caches.ts';
import { targetHref } from '../../../format/trust/targets.ts';
import type { ByteStore } from './byte-store.ts';
import { getStored, parseManifest, type ServedManifest } from './manifest.ts';
import { manifestHref, readSignedManifest } from './manifest-source.ts';
import type { PublicationTrust } from './publication-trust.ts';
import { readPart, VersionChanged, type FilePart, type RemoteFile } from './served-file.ts';
import type { ServiceClient } from './service-client.ts';

/** An artefact of a service, and how it is read. */
export interface PublishedSource {
  readonly client: ServiceClient;
  readonly artefact: ArtefactName;
  /** Where what was read is kept for the next time; absent: nowhere. */
  readonly store?: ByteStore | undefined;
  /** What is signed, from {@link PublicationTrust.open}; absent: nothing is verified. */
  readonly trust?: PublicationTrust | undefined;
}

/**
 * The manifest of the version that is published now, as the signed list names it where a root is known.
 * @throws VersionChanged; ClientError `download_failed`, `download_damaged`, `trust_mixed`, or the service's own error
 */
export async function readPresentManifest(source: PublishedSource): Promise<ServedManifest> {
  const { client, artefact, store, trust } = source;
  if (trust === undefined)
    return getStored(client, {
      href: manifestHref(artefact),
      store,
      name: keptName(artefact, 'json'),
      parse: parseManifest,
    });
  const { path, target } = trust.findManifest(artefact);
  const { sha256 } = target.hashes;
  const name = keptName(artefact, 'signed.json');
  const kept = await store?.read(name);
  if (kept !== undefined && sha256Of(kept) === sha256) return readSignedManifest(kept, artefact, target);
  const bytes = await client.findBytes(targetHref(path, sha256), { bytesMax: target.length });
  if (bytes === undefined) throw new VersionChanged();
  const manifest = readSignedManifest(bytes, artefact, target);
  await store?.write(name, bytes);
  return manifest;
}

/**
 * A part of a file of the present version. One that the store has is not downloaded again; `ending`: of its name there.
 * @throws as `readPart`
 */
export async function readKept(
  { client, artefact, store }: PublishedSource,
  remote: RemoteFile,
  { ending, ...part }: FilePart & { readonly ending: string },
): Promise<Uint8Array> {
  const name = keptName(artefact, ending);
  const kept = await store?.read(name);
  if (kept !== undefined && sha256Of(kept) === part.sha256) return kept;
  const bytes = await readPart(client, remote, part);
  await store?.write(name, bytes);
  return bytes;
}

/** Name of a file that is kept for an artefact: `phones-US.json`. */
function keptName(artefact: ArtefactName, ending: string): string {
  return `${copyName(artefact)}.${ending}`;
}
