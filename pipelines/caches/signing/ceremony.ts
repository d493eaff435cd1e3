import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { sha256Of } from '../../../runtime/digest.ts';
import { ServiceError, isServiceError } from '../../../runtime/errors.ts';
import { inTransaction, type Pool } from '../../../runtime/postgres.ts';
import type { Vault } from '../../../runtime/secrets/vault.ts';
import { sql } from '../../../sql/sql.ts';
import { describeKey, signMetadata, specVersion } from './signed-metadata.ts';
import {
  metadataName,
  parseMetadata,
  requireSigned,
  type Metadata,
  type Role,
  type Signed,
} from '../../../format/trust/metadata.ts';
import { nextRoot } from '../../../format/trust/trusted-set.ts';
import { formatExpiry, lockTrust, readPresentSet, signNow } from './sign-publications.ts';
import { makeOnlineKeys, ONLINE_ROLES, openOnlineKeys, storeOnlineKeys, type OnlineKeys } from './signing-keys.ts';

/** Days until a root expires: a rotation a year. */
const rootExpiryDays = 365;

/** Keys of a root at most: each signature is checked by every client. */
export const rootKeysMax = 16;

/** A root that was made. */
export interface MadeRoot {
  readonly version: number;
  readonly bytes: Buffer;
  readonly sha256: string;
}

interface CeremonyOptions {
  readonly db: Pool;
  readonly vault: Vault;
  readonly now: Date;
}

/** New keys of a root, not stored anywhere. */
export function makeRootKeys(count: number): KeyObject[] {
  return Array.from({ length: count }, () => generateKeyPairSync('ed25519').privateKey);
}

/** @throws ServiceError `usage_invalid` unless 1 <= threshold <= keys <= {@link rootKeysMax} */
export function requireThreshold({ threshold, keys }: { threshold: number; keys: number }): void {
  if (threshold >= 1 && threshold <= keys && keys <= rootKeysMax) return;
  throw new ServiceError('usage_invalid', {
    operation: 'make root',
    problem: `A root has 1 to ${rootKeysMax} keys, and a threshold from 1 to the number of its keys.`,
  });
}

/**
 * Begins to sign: makes the first root, signed by its own keys, with new online keys, and signs what is published.
 * @throws ServiceError `usage_invalid` if the service signs already
 */
export async function initTrust(
  { db, vault, now }: CeremonyOptions,
  { rootKeys, threshold }: { rootKeys: readonly KeyObject[]; threshold: number },
): Promise<MadeRoot> {
  requireThreshold({ threshold, keys: rootKeys.length });
  return inTransaction(db, async (client) => {
    if ((await lockTrust(client)).root !== undefined)
      throw new ServiceError('usage_invalid', {
        operation: 'make root',
        problem: 'The service signs already.',
        hint: 'Change its keys with `caller-trust trust rotate`.',
      });
    const online = makeOnlineKeys();
    const bytes = signMetadata(makeRoot({ version: 1, rootKeys, threshold, online, now }), rootKeys);
    await storeOnlineKeys(client, vault, online);
    await signNow(client, { root: bytes }, { vault, now, renewAll: true });
    return storeRoot(client, bytes, now);
  });
}

/** What a rotation changes; nothing: the root is renewed for another year. */
interface Rotation {
  /** As many keys of the present root as its threshold, or more. */
  readonly presentKeys: readonly KeyObject[];
  /** Makes new online keys: the present ones are lost, or may be known to others. */
  readonly online: boolean;
  /** Roots after the stored one, in order: those that were made after the backup from which the database was restored. */
  readonly madeSince?: readonly Buffer[];
  /** Keys that replace all those of the present root. */
  readonly newRoot?: { readonly keys: readonly KeyObject[]; readonly threshold: number } | undefined;
}

/**
 * Makes the next root, signed by the keys of the present one and its own, and signs the set again under it.
 * @throws ServiceError `trust_invalid` or `trust_older` if a root of `madeSince` does not follow the one before it; `usage_invalid`
 * if the service does not sign, or fewer keys of the present root are given than its threshold; `trust_key_missing` if the online
 * keys are kept and cannot be opened
 */
export async function rotateTrust(
  { db, vault, now }: CeremonyOptions,
  { presentKeys, online, madeSince = [], newRoot }: Rotation,
): Promise<MadeRoot> {
  if (newRoot !== undefined) requireThreshold({ threshold: newRoot.threshold, keys: newRoot.keys.length });
  return inTransaction(db, async (client) => {
    const present = await lockTrust(client);
    if (present.root === undefined) throw notInitialised();
    let root = parseMetadata('root', present.root).signed;
    for (const made of madeSince) {
      root = (await nextRoot(root, made)).signed;
      await storeRoot(client, made, now);
    }
    const signers = requireKeysOf(root, presentKeys);
    const onlineKeys = online ? makeOnlineKeys() : await openOnlineKeys(client, vault, root);
    const next = {
      ...makeRoot({
        version: root.version + 1,
        rootKeys: newRoot?.keys ?? [],
        threshold: newRoot?.threshold ?? 0,
        online: onlineKeys,
        now,
      }),
    };
    if (newRoot === undefined) {
      next.roles.root = root.roles.root;
      for (const keyId of root.roles.root.keyids) next.keys[keyId] = root.keys[keyId]!;
    }
    const bytes = signMetadata(next, [...signers, ...(newRoot?.keys ?? [])]);
    await requireSigned(parseMetadata('root', bytes), root);
    if (online) await storeOnlineKeys(client, vault, onlineKeys);
    await signNow(client, { ...present, root: bytes }, { vault, now, renewAll: true });
    return storeRoot(client, bytes, now);
  });
}

/** The given keys that belong to a root, each once. */
function requireKeysOf(root: Signed<'root'>, keys: readonly KeyObject[]): KeyObject[] {
  const own = new Map(keys.map((key) => [describeKey(key).keyId, key]));
  const signers = [...own].filter(([keyId]) => root.roles.root.keyids.includes(keyId)).map(([, key]) => key);
  if (signers.length >= root.roles.root.threshold) return signers;
  throw new ServiceError('usage_invalid', {
    operation: 'rotate keys',
    problem: `${signers.length} keys of the present root were given; ${root.roles.root.threshold} must sign.`,
    hint: 'Give more of the files that `trust init` or the last rotation wrote: --key FILE FILE.',
  });
}

interface RootContent {
  readonly version: number;
  readonly rootKeys: readonly KeyObject[];
  readonly threshold: number;
  readonly online: OnlineKeys;
  readonly now: Date;
}

function makeRoot({ version, rootKeys, threshold, online, now }: RootContent): Signed<'root'> {
  const described = rootKeys.map(describeKey);
  const onlineRoles = ONLINE_ROLES.map((role) => ({ role, ...describeKey(online[role]) }));
  return {
    _type: 'root',
    spec_version: specVersion,
    version,
    expires: formatExpiry(new Date(now.getTime() + rootExpiryDays * 24 * 3_600_000)),
    consistent_snapshot: true,
    keys: Object.fromEntries([...described, ...onlineRoles].map(({ keyId, key }) => [keyId, key])),
    roles: {
      root: { keyids: described.map(({ keyId }) => keyId), threshold },
      ...(Object.fromEntries(onlineRoles.map(({ role, keyId }) => [role, { keyids: [keyId], threshold: 1 }])) as Omit<
        Signed<'root'>['roles'],
        'root'
      >),
    },
  };
}

async function storeRoot(client: Parameters<typeof lockTrust>[0], bytes: Buffer, now: Date): Promise<MadeRoot> {
  const { version } = parseMetadata('root', bytes).signed;
  await client.query(sql('signing/insert_root'), [metadataName('root', version), sha256Of(bytes), bytes, now]);
  return { version, bytes, sha256: sha256Of(bytes) };
}

function notInitialised(): ServiceError {
  return new ServiceError('usage_invalid', {
    operation: 'rotate keys',
    problem: 'The service does not sign.',
    hint: 'Begin with `caller-trust trust init`.',
  });
}

/** What `trust status` says. */
export interface TrustStatus {
  readonly signs: boolean;
  readonly root: {
    readonly version: number;
    readonly threshold: number;
    readonly keyIds: readonly string[];
    readonly sha256: string;
  } | null;
  /** Version and end of each role; of a role that was never signed nothing. */
  readonly roles: readonly {
    readonly role: Role;
    readonly version: number;
    readonly expires: string;
    readonly expired: boolean;
  }[];
  readonly targets: number;
  readonly bytes: number;
  /** Why the online keys cannot sign; null if they can. */
  readonly problem: string | null;
}

/** Root, versions and expiry of what is signed, and whether the online keys can be opened. */
export async function readTrustStatus({ db, vault, now }: CeremonyOptions): Promise<TrustStatus> {
  const present = await readPresentSet(db);
  if (present.root === undefined) return { signs: false, root: null, roles: [], targets: 0, bytes: 0, problem: null };
  const root = parseMetadata('root', present.root);
  const all = (['root', ...ONLINE_ROLES] as const).flatMap((role): Metadata<typeof role>[] => {
    const bytes = present[role];
    return bytes === undefined ? [] : [parseMetadata(role, bytes)];
  });
  const problem = await openOnlineKeys(db, vault, root.signed).then(
    () => null,
    (error: unknown) => (isServiceError(error) ? error.message : String(error)),
  );
  return {
    signs: true,
    root: {
      version: root.signed.version,
      threshold: root.signed.roles.root.threshold,
      keyIds: root.signed.roles.root.keyids,
      sha256: sha256Of(root.bytes),
    },
    roles: all.map(({ signed: { _type: role, version, expires } }) => ({
      role,
      version,
      expires,
      expired: new Date(expires) <= now,
    })),
    targets:
      present.targets === undefined ? 0 : Object.keys(parseMetadata('targets', present.targets).signed.targets).length,
    bytes: present.targets?.length ?? 0,
    problem,
  };
}
