import { areSameBytes } from '../../../format/base/bytes.ts';
import { ClientError, isClientError } from '../../../format/base/errors.ts';
import { formatArtefact, type ArtefactName } from '../../../format/artefact/caches.ts';
import type { ByteStore } from './byte-store.ts';
import type { ServiceClient } from './service-client.ts';
import { sha256Of } from '../../../format/base/sha256.ts';
import {
  metadataName,
  parseMetadata,
  requireSigned,
  type Metadata,
  type MetaFile,
  type Role,
  type Signed,
  type TargetFile,
} from '../../../format/trust/metadata.ts';
import { formatTarget, parseTarget, trustPath } from '../../../format/trust/targets.ts';
import {
  acceptSnapshot,
  acceptTargets,
  acceptTimestamp,
  firstRoot,
  mixed,
  nextRoot,
  requireFresh,
} from '../../../format/trust/trusted-set.ts';

/** Bytes of metadata at most, whatever a server sends: 200 countries have 600,000 bytes of targets. */
const metadataBytesMax = { root: 512 * 1024, timestamp: 16 * 1024, snapshot: 1024 * 1024, targets: 64 * 1024 * 1024 };

/** Roots that are followed in one refresh: more than a rotation a week for a year. */
const rootsFollowedMax = 64;

interface OpenTrustOptions {
  readonly client: ServiceClient;
  readonly store: ByteStore;
  /** A root that the caller trusts. Absent: the stored one, or at the first use the first root that the service serves. */
  readonly anchor?: Uint8Array | undefined;
}

/** What was verified, for the user. */
export interface TrustReport {
  readonly rootVersion: number;
  /** SHA-256 of the root that was trusted first. */
  readonly anchorSha256: string;
  /** True if that root was taken from the service itself and never seen before: a person should compare its digest. */
  readonly firstUse: boolean;
  readonly targetsVersion: number;
  /** End of the timestamp. */
  readonly validUntil: string;
}

/**
 * The signed list of what is published, verified as a TUF client does. Refuses what is unsigned, older than what it saw before,
 * expired or mixed from several sets, and follows changes of keys that the root signs.
 */
export class PublicationTrust {
  readonly #client: ServiceClient;
  readonly #store: ByteStore;
  readonly #anchor: Uint8Array;
  /** False until the first refresh of a root that is not stored yet: a failed first use pins nothing. */
  #isPinned: boolean;
  readonly #firstUse: boolean;
  #root: Metadata<'root'>;
  #timestamp: Metadata<'timestamp'> | undefined;
  #targets: Metadata<'targets'> | undefined;

  private constructor(
    { client, store }: OpenTrustOptions,
    { anchor, isPinned, firstUse }: BeginningState,
    root: Metadata<'root'>,
  ) {
    this.#client = client;
    this.#store = store;
    this.#anchor = anchor;
    this.#isPinned = isPinned;
    this.#firstUse = firstUse;
    this.#root = root;
  }

  /**
   * Opens and refreshes the trusted list; undefined if the service signs nothing, no root was given, and none was seen before.
   * @throws ClientError `trust_unsigned`, `trust_invalid`, `trust_older`, `trust_expired`, `trust_mixed`; `usage_invalid` if
   * another root was given than the one that is stored
   */
  static async open(options: OpenTrustOptions): Promise<PublicationTrust | undefined> {
    const state = await beginTrust(options);
    if (state === undefined) return undefined;
    const trust = new PublicationTrust(options, state, await firstRoot(state.root));
    await trust.refresh();
    return trust;
  }

  get report(): TrustReport {
    return {
      rootVersion: this.#root.signed.version,
      anchorSha256: sha256Of(this.#anchor),
      firstUse: this.#firstUse,
      targetsVersion: this.#targets!.signed.version,
      validUntil: this.#timestamp!.signed.expires,
    };
  }

  /** The artefacts whose manifests are signed. */
  listArtefacts(): ArtefactName[] {
    return Object.keys(this.#targets!.signed.targets).flatMap((path) => {
      const target = parseTarget(path);
      return target?.kind === 'manifest' ? [{ cache: target.cache, country: target.country }] : [];
    });
  }

  /** The signed manifest of an artefact. @throws ClientError `artefact_not_found` */
  findManifest(artefact: ArtefactName): { readonly path: string; readonly target: TargetFile } {
    const path = formatTarget({ ...artefact, kind: 'manifest' });
    const target = this.#targets!.signed.targets[path];
    if (target !== undefined) return { path, target };
    throw new ClientError('artefact_not_found', { operation: 'find artefact', object: formatArtefact(artefact) });
  }

  /** Takes what is signed now. @throws as {@link open} */
  async refresh(): Promise<void> {
    const now = new Date();
    await this.#followRoots();
    requireFresh(this.#root.signed, now);
    const basis = { root: this.#root.signed, now };
    const trusted = {
      timestamp: await this.#readTrusted('timestamp'),
      snapshot: await this.#readTrusted('snapshot'),
      targets: await this.#readTrusted('targets'),
    };
    const served = await acceptTimestamp(basis, await this.#fetchTimestamp(), trusted.timestamp?.signed);
    const isSame = served.signed.version === trusted.timestamp?.signed.version;
    const timestamp = isSame ? trusted.timestamp! : served;
    requireFresh(timestamp.signed, now);
    const snapshotBytes = await this.#fetchListed('snapshot', timestamp.signed.meta['snapshot.json'], trusted.snapshot);
    const snapshot = await acceptSnapshot(
      basis,
      { bytes: snapshotBytes, timestamp: timestamp.signed },
      trusted.snapshot?.signed,
    );
    const targetsBytes = await this.#fetchListed('targets', snapshot.signed.meta['targets.json'], trusted.targets);
    const targets = await acceptTargets(basis, { bytes: targetsBytes, snapshot: snapshot.signed });
    await this.#keep({ timestamp, snapshot, targets });
    this.#timestamp = timestamp;
    this.#targets = targets;
  }

  /** Each root is signed by the one before, so a client that was away for years follows them one by one. */
  async #followRoots(): Promise<void> {
    for (let followed = 0; followed < rootsFollowedMax; followed++) {
      const name = metadataName('root', this.#root.signed.version + 1);
      const bytes = await this.#client.findBytes(`${trustPath}/${name}`, { bytesMax: metadataBytesMax.root });
      if (bytes === undefined) return;
      this.#root = await nextRoot(this.#root.signed, bytes);
      if (this.#isPinned) await this.#store.write('root.json', bytes);
    }
  }

  /**
   * What an earlier refresh stored, if the present root's keys still sign for it. What earlier keys signed no longer counts, so
   * that a thief who signed the highest possible version cannot keep clients from the next one.
   */
  async #readTrusted<R extends Exclude<Role, 'root'>>(role: R): Promise<Metadata<R> | undefined> {
    const bytes = await this.#store.read(`${role}.json`);
    if (bytes === undefined) return undefined;
    try {
      const metadata = parseMetadata(role, bytes);
      await requireSigned(metadata, this.#root.signed);
      return metadata;
    } catch (error) {
      if (isClientError(error, 'trust_invalid')) return undefined;
      throw error;
    }
  }

  async #fetchTimestamp(): Promise<Uint8Array> {
    const bytes = await this.#client.findBytes(`${trustPath}/timestamp.json`, { bytesMax: metadataBytesMax.timestamp });
    if (bytes !== undefined) return bytes;
    throw new ClientError('trust_unsigned', {
      operation: 'verify publications',
      problem: 'The service serves no signed list of what it publishes, though a root for it is known.',
      hint: 'Do not use what it serves until the publisher explains.',
    });
  }

  async #fetchListed<R extends 'snapshot' | 'targets'>(
    role: R,
    { version, length, hashes }: MetaFile,
    trusted: Metadata<R> | undefined,
  ): Promise<Uint8Array> {
    if (trusted !== undefined && sha256Of(trusted.bytes) === hashes.sha256) return trusted.bytes;
    const bytesMax = Math.min(length, metadataBytesMax[role]);
    const bytes = await this.#client.findBytes(`${trustPath}/${metadataName(role, version)}`, { bytesMax });
    if (bytes === undefined) throw mixed(`${role} metadata`);
    return bytes;
  }

  /** The timestamp last: a refresh that is killed is repeated by the next one. */
  async #keep(set: { timestamp: Metadata<'timestamp'>; snapshot: Metadata<'snapshot'>; targets: Metadata<'targets'> }) {
    if (!this.#isPinned) await this.#store.write('root.json', this.#root.bytes);
    for (const role of ['targets', 'snapshot', 'timestamp'] as const) {
      const stored = await this.#store.read(`${role}.json`);
      if (stored === undefined || !areSameBytes(stored, set[role].bytes))
        await this.#store.write(`${role}.json`, set[role].bytes);
    }
    if (!this.#isPinned) await this.#store.write('anchor.json', this.#anchor);
    this.#isPinned = true;
  }
}

interface BeginningState {
  readonly anchor: Uint8Array;
  readonly root: Uint8Array;
  readonly isPinned: boolean;
  readonly firstUse: boolean;
}

async function beginTrust({ client, store, anchor: given }: OpenTrustOptions): Promise<BeginningState | undefined> {
  const [anchor, root] = [await store.read('anchor.json'), await store.read('root.json')];
  if (anchor !== undefined && root !== undefined) {
    if (given !== undefined && !areSameBytes(given, anchor) && !areSameBytes(given, root)) throw anotherRoot();
    return { anchor, root, isPinned: true, firstUse: false };
  }
  if (given !== undefined) return { anchor: given, root: given, isPinned: false, firstUse: false };
  const served = await client.findBytes(`${trustPath}/${metadataName('root', 1)}`, { bytesMax: metadataBytesMax.root });
  return served === undefined ? undefined : { anchor: served, root: served, isPinned: false, firstUse: true };
}

function anotherRoot(): ClientError {
  return new ClientError('usage_invalid', {
    operation: 'verify publications',
    problem: 'The directory trusts another root than the one that was given.',
    hint: 'Give the root that it began with, or no root. To begin again with another one, remove .trust in it.',
  });
}

/**
 * The signed list that an earlier refresh stored, verified again; it must not have expired.
 * @throws ClientError `usage_invalid` if the store is empty, `trust_invalid`, `trust_expired`, `trust_mixed`
 */
export async function readStoredTargets(store: ByteStore): Promise<Signed<'targets'>['targets']> {
  const read = async (name: string) => {
    const bytes = await store.read(name);
    if (bytes !== undefined) return bytes;
    throw new ClientError('usage_invalid', {
      operation: 'read signed metadata',
      object: name,
      problem: 'The directory holds no signed metadata.',
      hint: 'Give the directory .trust of a directory that `pull` or `lookup` keeps.',
    });
  };
  const basis = { root: (await firstRoot(await read('root.json'))).signed, now: new Date() };
  requireFresh(basis.root, basis.now);
  const { signed: timestamp } = await acceptTimestamp(basis, await read('timestamp.json'), undefined);
  const { signed: snapshot } = await acceptSnapshot(
    basis,
    { bytes: await read('snapshot.json'), timestamp },
    undefined,
  );
  return (await acceptTargets(basis, { bytes: await read('targets.json'), snapshot })).signed.targets;
}
