import { createPublicKey, sign, type KeyObject } from 'node:crypto';
import { canonicalJson } from '../../../format/trust/canonical-json.ts';
import type { MetaFile, PublicKey, Role, Signed } from '../../../format/trust/metadata.ts';
import { sha256Of } from '../../../runtime/digest.ts';

/** The version of TUF's specification that the metadata follows. */
export const specVersion = '1.0.31';

/** DER of SubjectPublicKeyInfo for Ed25519 (RFC 8410), before the 32 bytes of the key. */
const spkiPrefix = Buffer.from('302a300506032b6570032100', 'hex');

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
