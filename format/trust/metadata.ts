import { fromHex, parseJsonBytes, toUtf8 } from '../base/bytes.ts';
import { ClientError } from '../base/errors.ts';
import {
  anyObject,
  exactForm,
  FormError,
  integerForm,
  listForm,
  objectForm,
  recordForm,
  textForm,
  withDefault,
  type Form,
  type ValueOf,
} from '../base/json-forms.ts';
import { canonicalJson } from './canonical-json.ts';

/** TUF's roles, in the order of their chain. */
const ROLES = ['root', 'targets', 'snapshot', 'timestamp'] as const;
export type Role = (typeof ROLES)[number];

const hex = (digits: number) => textForm(new RegExp(`^[0-9a-f]{${digits}}$`));
const version = integerForm(1);
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const expires: Form<string> = (value, path = '') => {
  const text = textForm(time)(value, path);
  if (Number.isNaN(Date.parse(text))) throw new FormError(`${path} is not a time.`);
  return text;
};
const common = { spec_version: textForm(/^1\.\d+(\.\d+)?$/), version, expires };

const publicKeyForm = objectForm({
  keytype: exactForm('ed25519'),
  scheme: exactForm('ed25519'),
  keyval: objectForm({ public: hex(64) }),
});
const roleKeysForm = objectForm({ keyids: listForm(hex(64), { min: 1 }), threshold: integerForm(1) });
const digestForm = objectForm({ sha256: hex(64) });
const metaForm = objectForm({ version, length: integerForm(1), hashes: digestForm });
/** A published file; `custom` is what its publisher says of it. */
export interface TargetFile {
  length: number;
  hashes: { sha256: string };
  custom?: Record<string, unknown> | undefined;
}

const targetForm: Form<TargetFile> = objectForm({
  length: integerForm(0),
  hashes: digestForm,
  custom: withDefault(anyObject, undefined),
});

/** The signed part of each role's metadata. The signature covers unknown fields too; they are not read. */
const forms = {
  root: objectForm({
    _type: exactForm('root'),
    ...common,
    consistent_snapshot: exactForm(true),
    keys: recordForm(/^[0-9a-f]{64}$/, publicKeyForm),
    roles: objectForm({ root: roleKeysForm, targets: roleKeysForm, snapshot: roleKeysForm, timestamp: roleKeysForm }),
  }),
  targets: objectForm({ _type: exactForm('targets'), ...common, targets: recordForm(/^/, targetForm) }),
  snapshot: objectForm({ _type: exactForm('snapshot'), ...common, meta: objectForm({ 'targets.json': metaForm }) }),
  timestamp: objectForm({ _type: exactForm('timestamp'), ...common, meta: objectForm({ 'snapshot.json': metaForm }) }),
} as const;

/** The signed part of a role's metadata. */
export type Signed<R extends Role> = ValueOf<(typeof forms)[R]>;
export type PublicKey = ValueOf<typeof publicKeyForm>;
export type MetaFile = ValueOf<typeof metaForm>;

const signaturesForm = listForm(objectForm({ keyid: hex(64), sig: textForm(/^([0-9a-f]{2})*$/) }), { max: 64 });

/** A role's metadata with its signatures. */
export interface Metadata<R extends Role> {
  readonly signed: Signed<R>;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
  /** What the signatures are over. */
  readonly canonical: Uint8Array<ArrayBuffer>;
  readonly bytes: Uint8Array;
}

/**
 * Reads a role's metadata. Its signatures are not checked.
 * @throws ClientError `trust_invalid`
 */
export function parseMetadata<R extends Role>(role: R, bytes: Uint8Array): Metadata<R> {
  try {
    const document = parseJsonBytes(bytes) as { signed?: unknown; signatures?: unknown } | null;
    return {
      signatures: signaturesForm(document?.signatures, 'signatures'),
      signed: forms[role](document?.signed, 'signed') as Signed<R>,
      canonical: toUtf8(canonicalJson(document!.signed)) as Uint8Array<ArrayBuffer>,
      bytes,
    };
  } catch (cause) {
    throw new ClientError('trust_invalid', {
      operation: `read ${role} metadata`,
      problem: `The signed metadata of the role ${role} has a form that this client does not know.`,
      cause,
    });
  }
}

/**
 * Checks that as many keys as the threshold of a role have signed.
 * @throws ClientError `trust_invalid`
 */
export async function requireSigned<R extends Role>(
  { signed, signatures, canonical }: Metadata<R>,
  root: Signed<'root'>,
): Promise<void> {
  const role = signed._type as R;
  const { keyids, threshold } = root.roles[role];
  const signers = new Set<string>(); // by the key itself: one under two ids counts once
  for (const { keyid, sig } of signatures) {
    const key = keyids.includes(keyid) ? root.keys[keyid] : undefined;
    if (key !== undefined && (await isSignedBy(key, canonical, fromHex(sig)))) signers.add(key.keyval.public);
  }
  if (signers.size >= threshold) return;
  throw new ClientError('trust_invalid', {
    operation: `verify ${role} metadata`,
    problem: `The metadata of the role ${role} has ${signers.size} valid signatures of the ${threshold} that version ${root.version} of the root asks for.`,
    hint: 'The server is not the publisher, or has lost a key: ask the publisher through another channel.',
  });
}

async function isSignedBy(
  { keyval }: PublicKey,
  canonical: Uint8Array<ArrayBuffer>,
  sig: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const { subtle } = globalThis.crypto;
  const key = await subtle.importKey('raw', fromHex(keyval.public), 'Ed25519', false, ['verify']).catch(refuseBrowser);
  return key !== undefined && (await subtle.verify('Ed25519', key, sig, canonical));
}

/** A key that is no point of the curve signs nothing; a browser without Ed25519 can verify nothing. */
function refuseBrowser(cause: unknown): undefined {
  if (!(cause instanceof Error) || cause.name !== 'NotSupportedError') return undefined;
  throw new ClientError('usage_invalid', {
    operation: 'verify metadata',
    problem: 'This browser cannot verify signatures of Ed25519.',
    hint: 'Take a newer one, in a page that is served over https.',
    cause,
  });
}

/** The name under which metadata is served: all but the timestamp begin with their version. */
export function metadataName(role: Role, version: number): string {
  return role === 'timestamp' ? 'timestamp.json' : `${version}.${role}.json`;
}
