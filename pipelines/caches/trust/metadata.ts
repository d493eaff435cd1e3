import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { sha256Of } from '../../../runtime/digest.ts';
import { ServiceError } from '../../../runtime/errors.ts';
import { canonicalJson } from './canonical-json.ts';

/** The version of TUF's specification that the metadata follows. */
export const specVersion = '1.0.31';

/** TUF's roles, in the order of their chain. */
export const ROLES = ['root', 'targets', 'snapshot', 'timestamp'] as const;
export type Role = (typeof ROLES)[number];

const hex = (digits: number) => z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`));
const version = z.int().positive();
const common = { spec_version: z.string().regex(/^1\.\d+(\.\d+)?$/), version, expires: z.iso.datetime() };

const publicKeyForm = z.object({
  keytype: z.literal('ed25519'),
  scheme: z.literal('ed25519'),
  keyval: z.object({ public: hex(64) }),
});
const roleKeysForm = z.object({ keyids: z.array(hex(64)).min(1), threshold: z.int().positive() });
const digestForm = z.object({ sha256: hex(64) });
const metaForm = z.object({ version, length: z.int().positive(), hashes: digestForm });
const targetForm = z.object({
  length: z.int().nonnegative(),
  hashes: digestForm,
  custom: z.looseObject({}).optional(),
});

/** The signed part of each role's metadata. Unknown fields are kept: the signature covers them. */
const forms = {
  root: z.looseObject({
    _type: z.literal('root'),
    ...common,
    consistent_snapshot: z.literal(true),
    keys: z.record(hex(64), publicKeyForm),
    roles: z.object({ root: roleKeysForm, targets: roleKeysForm, snapshot: roleKeysForm, timestamp: roleKeysForm }),
  }),
  targets: z.looseObject({ _type: z.literal('targets'), ...common, targets: z.record(z.string(), targetForm) }),
  snapshot: z.looseObject({ _type: z.literal('snapshot'), ...common, meta: z.object({ 'targets.json': metaForm }) }),
  timestamp: z.looseObject({ _type: z.literal('timestamp'), ...common, meta: z.object({ 'snapshot.json': metaForm }) }),
} as const;

/** The signed part of a role's metadata. */
export type Signed<R extends Role> = z.output<(typeof forms)[R]>;
type PublicKey = z.output<typeof publicKeyForm>;
export type TargetFile = z.output<typeof targetForm>;
export type MetaFile = z.output<typeof metaForm>;

const signaturesForm = z.array(z.object({ keyid: hex(64), sig: z.string().regex(/^([0-9a-f]{2})*$/) })).max(64);

/** A role's metadata with its signatures. */
export interface Metadata<R extends Role> {
  readonly signed: Signed<R>;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
  /** What the signatures are over. */
  readonly canonical: Buffer;
  readonly bytes: Buffer;
}

/**
 * Reads a role's metadata. Its signatures are not checked.
 * @throws ServiceError `trust_invalid`
 */
export function parseMetadata<R extends Role>(role: R, bytes: Buffer): Metadata<R> {
  const document = parseJson(role, bytes) as { signed?: unknown; signatures?: unknown } | null;
  const signatures = signaturesForm.safeParse(document?.signatures);
  const signed = forms[role].safeParse(document?.signed);
  if (!signatures.success || !signed.success) throw notUnderstood(role, signed.error ?? signatures.error);
  return {
    signed: signed.data as Signed<R>,
    signatures: signatures.data,
    canonical: Buffer.from(canonicalJson(document!.signed)),
    bytes,
  };
}

function parseJson(role: Role, bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw notUnderstood(role, cause);
  }
}

function notUnderstood(role: Role, cause: unknown): ServiceError {
  return new ServiceError('trust_invalid', {
    operation: `read ${role} metadata`,
    problem: `The signed metadata of the role ${role} has a form that this client does not know.`,
    cause,
  });
}

/**
 * Checks that as many keys as the threshold of a role have signed.
 * @throws ServiceError `trust_invalid`
 */
export function requireSigned<R extends Role>(
  { signed, signatures, canonical }: Metadata<R>,
  root: Signed<'root'>,
): void {
  const role = signed._type as R;
  const { keyids, threshold } = root.roles[role];
  // By the key itself: one that stands under two ids counts once.
  const signers = new Set(
    signatures
      .filter(({ keyid, sig }) => {
        const key = keyids.includes(keyid) ? root.keys[keyid] : undefined;
        return key !== undefined && isSignedBy(key, canonical, Buffer.from(sig, 'hex'));
      })
      .map(({ keyid }) => root.keys[keyid]!.keyval.public),
  );
  if (signers.size >= threshold) return;
  throw new ServiceError('trust_invalid', {
    operation: `verify ${role} metadata`,
    problem: `The metadata of the role ${role} has ${signers.size} valid signatures of the ${threshold} that version ${root.version} of the root asks for.`,
    hint: 'Who serves it is not the publisher, or has lost a key: ask the publisher over another way.',
  });
}

/** DER of SubjectPublicKeyInfo for Ed25519 (RFC 8410), before the 32 bytes of the key. */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

function isSignedBy({ keyval }: PublicKey, canonical: Buffer, sig: Buffer): boolean {
  const key = createPublicKey({
    key: Buffer.concat([spkiPrefix, Buffer.from(keyval.public, 'hex')]),
    format: 'der',
    type: 'spki',
  });
  return verify(null, canonical, key, sig);
}

/** A key as TUF's metadata has it, and its id. */
export function describeKey(key: KeyObject): { readonly keyId: string; readonly key: PublicKey } {
  const der = (key.type === 'private' ? createPublicKey(key) : key).export({ format: 'der', type: 'spki' });
  const described: PublicKey = {
    keytype: 'ed25519',
    scheme: 'ed25519',
    keyval: { public: der.subarray(spkiPrefix.length).toString('hex') },
  };
  return { keyId: sha256Of(canonicalJson(described)), key: described };
}

/** Signs the metadata of a role; the bytes are what is served. */
export function signMetadata<R extends Role>(signed: Signed<R>, keys: readonly KeyObject[]): Buffer {
  const canonical = Buffer.from(canonicalJson(signed));
  const signatures = keys.map((key) => ({
    keyid: describeKey(key).keyId,
    sig: sign(null, canonical, key).toString('hex'),
  }));
  return Buffer.from(`${canonicalJson({ signatures, signed })}\n`);
}

/** Length and digest of metadata, as the role above it lists them. */
export function describeMetadata(version: number, bytes: Buffer): MetaFile {
  return { version, length: bytes.length, hashes: { sha256: sha256Of(bytes) } };
}

/** The name under which metadata is served: the timestamp alone has no version before it. */
export function metadataName(role: Role, version: number): string {
  return role === 'timestamp' ? 'timestamp.json' : `${version}.${role}.json`;
}
