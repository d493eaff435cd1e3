import { join } from 'node:path';
import type { ArtefactName } from '../../../format/artefact/caches.ts';
import { MemoryStore } from '../service/byte-store.ts';
import { lookUp, type LookedUp } from '../service/look-up.ts';
import { PublicationTrust, type TrustReport } from '../service/publication-trust.ts';
import type { ServiceClient } from '../service/service-client.ts';
import { DirectoryStore, trustDirectory } from './directory-store.ts';

interface LookUpKeptOptions extends Pick<Parameters<typeof lookUp>[0], 'phone' | 'padTo' | 'filterFirst'> {
  readonly client: ServiceClient;
  readonly artefact: ArtefactName;
  /** Where manifest, index, filter and the trusted root are kept for the next look-up; absent: nowhere. */
  readonly directory?: string | undefined;
  /** A root that the caller trusts. Without one, and without a directory that knows one, nothing is verified. */
  readonly trustAnchor?: Uint8Array | undefined;
}

/**
 * Looks a number up in a published artefact, and keeps in a directory what the next look-up needs not fetch again.
 * @throws as {@link lookUp} and `PublicationTrust.open`
 */
export async function lookUpKept({
  directory,
  trustAnchor,
  ...options
}: LookUpKeptOptions): Promise<LookedUp & { readonly trust: TrustReport | undefined }> {
  const trust = await openTrust({ client: options.client, directory, trustAnchor });
  const store =
    directory === undefined ? undefined : new DirectoryStore(join(directory, '.lookup'), { durable: false });
  return { ...(await lookUp({ ...options, store, trust })), trust: trust?.report };
}

/** Without a directory there is no memory, and a root that the service itself gives vouches for nothing. */
async function openTrust({
  client,
  directory,
  trustAnchor,
}: Pick<LookUpKeptOptions, 'client' | 'directory' | 'trustAnchor'>): Promise<PublicationTrust | undefined> {
  if (directory === undefined && trustAnchor === undefined) return undefined;
  const store =
    directory === undefined
      ? new MemoryStore()
      : new DirectoryStore(join(directory, trustDirectory), { durable: true });
  return PublicationTrust.open({ client, store, anchor: trustAnchor });
}
