import { ClientError } from '../../../format/base/errors.ts';
import { sha256Of } from '../../../format/base/sha256.ts';
import { copyName, formatArtefact, type ArtefactName } from '../../../format/artefact/caches.ts';
import { targetHref } from '../../../format/trust/targets.ts';
import type { ByteStore } from './byte-store.ts';
import { getStored, parseManifest, type ServedManifest } from './manifest.ts';
import { manifestHref, readSignedManifest } from './manifest-source.ts';
import type { PublicationTrust } from './publication-trust.ts';
import { versionChangesMax } from './served-file.ts';
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
 * Does work on the version that is published now, as the signed list names it where a root is known. Repeats it if a new version
 * is published meanwhile, for which the work returns `changed`.
 * @throws ClientError `download_failed`, `download_damaged`, `trust_mixed`, or the service's own error
 */
export async function onPresentVersion<Result extends object>(
  source: PublishedSource,
  work: (manifest: ServedManifest) => Promise<Result | 'changed'>,
): Promise<Result> {
  const { trust } = source;
  for (let changes = 0; ; changes++) {
    if (changes > 0) await trust?.refresh();
    const manifest = trust === undefined ? await readUnsigned(source) : await readSigned(source, trust);
    const result = manifest === 'changed' ? 'changed' : await work(manifest);
    if (result !== 'changed') return result;
    if (changes === versionChangesMax)
      throw new ClientError('download_failed', {
        operation: 'read published version',
        object: formatArtefact(source.artefact),
        problem: 'New versions are published faster than they can be read.',
      });
  }
}

/** Name of a file that is kept for an artefact: `phones-US.json`. */
export function keptName(artefact: ArtefactName, ending: string): string {
  return `${copyName(artefact)}.${ending}`;
}

function readUnsigned({ client, artefact, store }: PublishedSource): Promise<ServedManifest> {
  return getStored(client, {
    href: manifestHref(artefact),
    store,
    name: keptName(artefact, 'json'),
    parse: parseManifest,
  });
}

async function readSigned(
  { client, artefact, store }: PublishedSource,
  trust: PublicationTrust,
): Promise<ServedManifest | 'changed'> {
  const { path, target } = trust.findManifest(artefact);
  const { sha256 } = target.hashes;
  const name = keptName(artefact, 'signed.json');
  const kept = await store?.read(name);
  if (kept !== undefined && sha256Of(kept) === sha256) return readSignedManifest(kept, artefact, target);
  const bytes = await client.findBytes(targetHref(path, sha256), { bytesMax: target.length });
  if (bytes === undefined) return 'changed';
  const manifest = readSignedManifest(bytes, artefact, target);
  await store?.write(name, bytes);
  return manifest;
}
