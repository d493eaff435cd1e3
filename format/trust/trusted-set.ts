import { ClientError } from '../base/errors.ts';
import { sha256Of } from '../base/sha256.ts';
import { parseMetadata, requireSigned, type Metadata, type MetaFile, type Role, type Signed } from './metadata.ts';

/**
 * The workflow of a TUF client (specification, section 5) over bytes: each step takes the next role's metadata, and refuses what
 * is not signed by the keys of the root, older than what was trusted before, expired, or not of the same set.
 */

/**
 * The next version of a root: signed by the keys of the present one and by its own.
 * @throws ClientError `trust_invalid`, `trust_older`
 */
export async function nextRoot(present: Signed<'root'>, bytes: Uint8Array): Promise<Metadata<'root'>> {
  const next = parseMetadata('root', bytes);
  await requireSigned(next, present);
  await requireSigned(next, next.signed);
  if (next.signed.version !== present.version + 1)
    throw older('root', { given: next.signed.version, trusted: present.version });
  return next;
}

/** A root that is trusted from the start: it must be signed by its own keys. @throws ClientError `trust_invalid` */
export async function firstRoot(bytes: Uint8Array): Promise<Metadata<'root'>> {
  const root = parseMetadata('root', bytes);
  await requireSigned(root, root.signed);
  return root;
}

/** The trusted root and the time of the refresh, by which every step judges. */
interface TrustBasis {
  readonly root: Signed<'root'>;
  readonly now: Date;
}

/**
 * The timestamp, not older than the trusted one.
 * @throws ClientError `trust_invalid`, `trust_older`, `trust_expired`
 */
export async function acceptTimestamp(
  { root, now }: TrustBasis,
  bytes: Uint8Array,
  trusted: Signed<'timestamp'> | undefined,
): Promise<Metadata<'timestamp'>> {
  const timestamp = parseMetadata('timestamp', bytes);
  await requireSigned(timestamp, root);
  if (trusted !== undefined) {
    requireNotOlder('timestamp', timestamp.signed.version, trusted.version);
    requireNotOlder('snapshot', timestamp.signed.meta['snapshot.json'].version, trusted.meta['snapshot.json'].version);
  }
  requireFresh(timestamp.signed, now);
  return timestamp;
}

/** @throws ClientError `trust_invalid`, `trust_older`, `trust_expired`, `trust_mixed` */
export async function acceptSnapshot(
  { root, now }: TrustBasis,
  { bytes, timestamp }: { bytes: Uint8Array; timestamp: Signed<'timestamp'> },
  trusted: Signed<'snapshot'> | undefined,
): Promise<Metadata<'snapshot'>> {
  const snapshot = await acceptListed('snapshot', { bytes, listed: timestamp.meta['snapshot.json'], root });
  if (trusted !== undefined)
    requireNotOlder('targets', snapshot.signed.meta['targets.json'].version, trusted.meta['targets.json'].version);
  requireFresh(snapshot.signed, now);
  return snapshot;
}

/** @throws ClientError `trust_invalid`, `trust_expired`, `trust_mixed` */
export async function acceptTargets(
  { root, now }: TrustBasis,
  { bytes, snapshot }: { bytes: Uint8Array; snapshot: Signed<'snapshot'> },
): Promise<Metadata<'targets'>> {
  const targets = await acceptListed('targets', { bytes, listed: snapshot.meta['targets.json'], root });
  requireFresh(targets.signed, now);
  return targets;
}

async function acceptListed<R extends 'snapshot' | 'targets'>(
  role: R,
  { bytes, listed, root }: { bytes: Uint8Array; listed: MetaFile; root: Signed<'root'> },
): Promise<Metadata<R>> {
  if (bytes.length !== listed.length || sha256Of(bytes) !== listed.hashes.sha256) throw mixed(role);
  const metadata = parseMetadata(role, bytes);
  await requireSigned(metadata, root);
  if (metadata.signed.version !== listed.version) throw mixed(role);
  return metadata;
}

/** @throws ClientError `trust_expired` */
export function requireFresh({ _type: role, expires }: Pick<Signed<Role>, '_type' | 'expires'>, now: Date): void {
  if (new Date(expires) > now) return;
  throw new ClientError('trust_expired', {
    operation: `verify ${role} metadata`,
    problem: `The metadata of the role ${role} expired at ${expires}: what is served may be an old state that a mirror does not renew.`,
    hint: 'Check the clock of this machine. If it is right, take the files from another mirror, or ask the publisher.',
  });
}

function requireNotOlder(role: Role, given: number, trusted: number): void {
  if (given < trusted) throw older(role, { given, trusted });
}

function older(role: Role, { given, trusted }: { given: number; trusted: number }): ClientError {
  return new ClientError('trust_older', {
    operation: `verify ${role} metadata`,
    problem: `Version ${given} of the ${role} metadata is served where version ${trusted} was trusted before.`,
    hint: 'A mirror serves an old state: take another one, or try again later.',
  });
}

/** The error of metadata or of a target that is not the one that the signed metadata above it names. */
export function mixed(what: string): ClientError {
  return new ClientError('trust_mixed', {
    operation: `verify ${what}`,
    problem: `The served ${what} is not the one that the signed metadata names.`,
    hint: 'A mirror serves files of several states, or a damaged one: take another one, or try again later.',
  });
}
