import { checkPrimeSync, createHash, createPrivateKey, type KeyObject } from 'node:crypto';
import {
  makeCertificate,
  makeRevocationList,
  type CertificateRequest,
  type OwnCertificate,
} from './sample-signatures.ts';

const primeBits = 1024;
const publicExponent = 65_537n;
const validFrom = new Date('2020-01-01T00:00:00Z');
const validUntil = new Date('2049-12-31T00:00:00Z');

/**
 * The authority that certifies the signers of the sample letters. Its key is derived from a fixed text, so that each run gives
 * the same letters: anyone can make it, and it must be trusted in a demonstration or a test only.
 */
let authority: OwnCertificate | null = null;
let signerKey: KeyObject | null = null;
let strangerKey: KeyObject | null = null;

function sampleAuthority(): OwnCertificate {
  authority ??= makeCertificate({
    commonName: 'Sample Letters Root (not for trust)',
    organization: 'Caller Trust samples',
    validFrom,
    validUntil,
    ca: true,
    privateKey: rsaKeyOf('authority'),
  });
  return authority;
}

/** The authority's certificate as PEM: the trust root under which the sample letters' PDF signatures verify. */
export function sampleTrustRootPem(): string {
  return sampleAuthority().pem;
}

/** Who holds a sample certificate; of the United States unless another country is given. */
interface Holder extends Pick<CertificateRequest, 'organization' | 'country' | 'organizationId'> {
  readonly name: string;
}

/** A list of the sample authority with the certificates that it has revoked, valid for 30 days. */
export function revokeSigners(certificates: readonly OwnCertificate[], madeAt: Date): Uint8Array {
  return makeRevocationList({
    issuer: sampleAuthority(),
    revoked: certificates.map((certificate) => ({ certificate, at: madeAt })),
    madeAt,
    nextAt: new Date(madeAt.getTime() + 30 * 86_400_000),
  });
}

/** A certificate of the sample authority for a signer; all of them share one key. */
export function certifySigner({ name, country = 'US', ...company }: Holder): OwnCertificate {
  signerKey ??= rsaKeyOf('signer');
  return makeCertificate({
    commonName: name,
    country,
    ...company,
    issuer: sampleAuthority(),
    validFrom,
    validUntil,
    privateKey: signerKey,
  });
}

/** A self-signed certificate. */
export function certifyStranger({ name, country = 'US', ...company }: Holder): OwnCertificate {
  strangerKey ??= rsaKeyOf('stranger');
  return makeCertificate({ commonName: name, country, ...company, validFrom, validUntil, privateKey: strangerKey });
}

/** An RSA key of 2048 bits that is derived from a label, and so is not secret. */
function rsaKeyOf(label: string): KeyObject {
  const [p, q] = [primeOf(`${label} p`), primeOf(`${label} q`)];
  const d = inverse(publicExponent, (p - 1n) * (q - 1n));
  const jwk = {
    kty: 'RSA',
    n: p * q,
    e: publicExponent,
    d,
    p,
    q,
    dp: d % (p - 1n),
    dq: d % (q - 1n),
    qi: inverse(q, p),
  };
  const encoded = Object.fromEntries(
    Object.entries(jwk).map(([name, value]) => [name, typeof value === 'bigint' ? base64Url(value) : value]),
  );
  return createPrivateKey({ key: encoded, format: 'jwk' });
}

/** The first prime of a sequence of candidates with both upper bits set, so that the product of two has all its bits. */
function primeOf(label: string): bigint {
  for (let attempt = 0; ; attempt++) {
    const digest = createHash('shake256', { outputLength: primeBits / 8 })
      .update(`${label} ${attempt}`)
      .digest();
    const candidate = BigInt(`0x${digest.toString('hex')}`) | (3n << BigInt(primeBits - 2)) | 1n;
    if ((candidate - 1n) % publicExponent !== 0n && checkPrimeSync(candidate)) return candidate;
  }
}

/** a^-1 modulo m, by the extended Euclidean algorithm. */
function inverse(a: bigint, m: bigint): bigint {
  let [r0, r1, s0, s1] = [m, a % m, 0n, 1n];
  while (r1 !== 0n) {
    const quotient = r0 / r1;
    [r0, r1, s0, s1] = [r1, r0 - quotient * r1, s1, s0 - quotient * s1];
  }
  return ((s0 % m) + m) % m;
}

function base64Url(value: bigint): string {
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex').toString('base64url');
}
