import { createPublicKey } from 'node:crypto';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';

/** Limits of a signature; a real one has 4 to 60 KB and one to four certificates. */
export const cmsLimits = {
  cmsBytesMax: 1024 * 1024,
  derDepthMax: 40,
  derNodesMax: 20_000,
  certificatesMax: 32,
  rootsMax: 500,
  /** Certificates from the signer's to the root's, both included. */
  chainLengthMax: 8,
  /** Signatures that are checked while a chain is built; hostile certificates may allow very many chains. */
  chainChecksMax: 64,
  rsaBitsMin: 2048,
  rsaBitsMax: 8192,
} as const;

/** A reason why a signature does not verify or its certificate is not trusted. */
export class CmsProblem extends Error {
  override readonly name = 'CmsProblem';
}

/** Parses DER, or BER of definite lengths, within the limits. @throws CmsProblem */
export function parseDer(bytes: Uint8Array): asn1js.AsnType {
  if (bytes.length > cmsLimits.cmsBytesMax) throw new CmsProblem('The signature is larger than the limit.');
  const { offset, result } = asn1js.fromBER(bytes, {
    maxDepth: cmsLimits.derDepthMax,
    maxNodes: cmsLimits.derNodesMax,
    maxContentLength: cmsLimits.cmsBytesMax,
    parseEmbedded: false,
  });
  if (offset === -1) throw new CmsProblem('The signature is damaged.');
  if (bytes.subarray(offset).some((byte) => byte !== 0)) throw new CmsProblem('Something follows the signature.');
  return result;
}

/** The validation data of a PDF (ETSI EN 319 142-1 section 5.4), each in DER. */
export interface ValidationData {
  readonly certificates: readonly Uint8Array[];
  /** Lists of revoked certificates, RFC 5280. */
  readonly crls: readonly Uint8Array[];
  /** Answers about one certificate, RFC 6960. */
  readonly ocsps: readonly Uint8Array[];
}

export const noValidationData: ValidationData = { certificates: [], crls: [], ocsps: [] };

/** The input of building a chain. */
export interface ChainRequest {
  readonly signer: pkijs.Certificate;
  readonly purpose: 'document' | 'time_stamp';
  readonly certificates: readonly pkijs.Certificate[];
  readonly roots: readonly pkijs.Certificate[];
  readonly validationData: ValidationData;
  /** Every certificate must be valid at each of these times. */
  readonly at: readonly Date[];
}

/**
 * The chain of valid certificates from the signer to a root (RFC 5280, section 6, without policies), or the reason why there is none.
 * Whether one was revoked is another question (certificate-revocation.ts). pkijs checks signatures and reads extensions; its own search
 * for a chain is not used, because it follows certificates that certify each other endlessly, takes the shortest path only, and ignores
 * path lengths.
 * @throws CmsProblem
 */
export async function requireTrustedChain(request: ChainRequest): Promise<readonly pkijs.Certificate[]> {
  const { signer, roots, certificates, validationData, at } = request;
  if (roots.length === 0) throw new CmsProblem('No trusted root can be read.');
  if (!isValidAt(signer, at)) throw new CmsProblem(describeValidity(signer, at));
  if (!hasUnderstoodExtensions(signer) || !isMadeFor(signer, request.purpose))
    throw new CmsProblem('The certificate is not made for signing documents.');
  const others = [
    ...certificates,
    ...readAll(validationData.certificates, (der) => new pkijs.Certificate({ schema: parseDer(der) })),
  ];
  const chain = await leadToRoot([signer], {
    roots,
    others,
    at,
    purpose: request.purpose,
    checksLeft: cmsLimits.chainChecksMax,
  });
  if (chain === null) throw new CmsProblem(describeMissingChain(request, others));
  return chain;
}

/** The readable entries of a list; damaged ones are skipped. */
export function readAll<Value>(list: readonly Uint8Array[], read: (der: Uint8Array) => Value): Value[] {
  return list.flatMap((der) => {
    try {
      return [read(der)];
    } catch {
      return [];
    }
  });
}

const pemBlock = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g;

/** The certificates of a PEM file that can be read. */
export function readRoots(pem: string): pkijs.Certificate[] {
  const blocks = [...pem.matchAll(pemBlock)].slice(0, cmsLimits.rootsMax);
  return blocks.flatMap(([, base64 = '']) =>
    readAll([Buffer.from(base64, 'base64')], (der) => new pkijs.Certificate({ schema: parseDer(der) })),
  );
}

interface ChainSearch extends Pick<ChainRequest, 'roots' | 'at' | 'purpose'> {
  readonly others: readonly pkijs.Certificate[];
  checksLeft: number;
}

async function leadToRoot(
  chain: readonly pkijs.Certificate[],
  search: ChainSearch,
): Promise<readonly pkijs.Certificate[] | null> {
  const last = chain.at(-1)!;
  if (search.roots.some((root) => isSameCertificate(root, last))) return chain;
  if (chain.length >= cmsLimits.chainLengthMax) return null;
  const isIssuer = async (issuer: pkijs.Certificate) =>
    !chain.includes(issuer) &&
    mayIssue(issuer, { below: chain.length - 1, ...search }) &&
    (await isSignedBy(last, issuer, search));
  for (const root of search.roots) if (await isIssuer(root)) return [...chain, root];
  for (const issuer of search.others) {
    const found = (await isIssuer(issuer)) ? await leadToRoot([...chain, issuer], search) : null;
    if (found !== null) return found;
  }
  return null;
}

/** Why a certificate is not valid at each of the times, of which the last is now where no trusted stamp says when it signed. */
function describeValidity({ notBefore, notAfter }: pkijs.Certificate, at: readonly Date[]): string {
  const [signed, now] = [at[0]!, at.at(-1)!];
  if (signed < notBefore.value)
    return `The certificate was not valid before ${dayOf(notBefore.value)}, after it signed.`;
  if (signed > notAfter.value) return `The certificate had expired on ${dayOf(notAfter.value)}, before it signed.`;
  return now > notAfter.value
    ? `The certificate expired on ${dayOf(notAfter.value)}. Without a trusted time stamp it must be valid when it is read, too.`
    : `The certificate is not valid before ${dayOf(notBefore.value)}.`;
}

const dayOf = (at: Date) => at.toISOString().slice(0, 10);

/** Where the certificates end on their way to a trusted root, and why. */
function describeMissingChain(
  { signer, roots, at, purpose }: ChainRequest,
  others: readonly pkijs.Certificate[],
): string {
  const passed = [signer];
  for (let last = signer; ;) {
    const issuer = nameOfAuthority(last.issuer);
    const hash = pkijs.getCrypto(true).getHashAlgorithm(last.signatureAlgorithm);
    if (hash === 'SHA-1' || hash === 'MD5')
      return `A certificate that ${issuer} issued is signed by ${hash}, which can be forged.`;
    const own = [...roots, ...others].filter(({ subject }) => last.issuer.isEqual(subject));
    const next = own.find((each) => !passed.includes(each));
    const isOwnIssuer = last.issuer.isEqual(last.subject);
    if (isOwnIssuer && last === signer) return 'The certificate was issued by its own holder and by no authority.';
    if (isOwnIssuer || (own.length === 0 && passed.length > 1))
      return `The certificates lead to the root ${issuer}, which is not among the trusted roots.`;
    if (next === undefined || passed.length >= cmsLimits.chainLengthMax)
      return own.length === 0
        ? `The certificate of its issuer, ${issuer}, is neither in the file nor among the trusted roots.`
        : 'No chain of valid certificates leads to a trusted root.';
    if (!isValidAt(next, at))
      return `The certificate of the authority ${issuer} was not valid when it was needed: it has expired, or had not begun.`;
    if (!mayIssue(next, { below: passed.length - 1, at, purpose }))
      return `The certificate of the authority ${issuer} is not made for certifying those who sign documents.`;
    passed.push(next);
    last = next;
  }
}

const nameTypes = ['2.5.4.3', '2.5.4.10', '2.5.4.11'] as const;
const nameCharactersMax = 100;

/** The common name of an authority, else its organization or unit, in quotation marks. */
function nameOfAuthority({ typesAndValues }: pkijs.RelativeDistinguishedNames): string {
  const names = nameTypes.flatMap((wanted) =>
    typesAndValues.flatMap(({ type, value }) => {
      const text: unknown = value.valueBlock.value;
      return type === wanted && typeof text === 'string' ? [text] : [];
    }),
  );
  const name = (names[0] ?? '').replace(/[\p{C}\p{Zl}\p{Zp}]/gu, ' ').trim();
  return name === '' ? 'an authority without a name' : `"${name.slice(0, nameCharactersMax)}"`;
}

function isSameCertificate(left: pkijs.Certificate, right: pkijs.Certificate): boolean {
  return Buffer.compare(left.tbsView, right.tbsView) === 0;
}

async function isSignedBy(
  certificate: pkijs.Certificate,
  issuer: pkijs.Certificate,
  search: ChainSearch,
): Promise<boolean> {
  if (!certificate.issuer.isEqual(issuer.subject) || search.checksLeft === 0) return false;
  search.checksLeft--;
  requireStrongKey(issuer);
  return isStrong(certificate.signatureAlgorithm) && succeeds(certificate.verify(issuer));
}

/** False where the check throws: a key of another kind than the algorithm's, or values that cannot be read. */
export async function succeeds(check: Promise<boolean>): Promise<boolean> {
  return check.catch(() => false);
}

/** True for a signature algorithm whose digest cannot be forged. */
export function isStrong(algorithm: pkijs.AlgorithmIdentifier): boolean {
  return ['SHA-256', 'SHA-384', 'SHA-512'].includes(pkijs.getCrypto(true).getHashAlgorithm(algorithm));
}

/** @throws CmsProblem for a key that is short or of a kind that is not known */
export function requireStrongKey(certificate: pkijs.Certificate): void {
  const key = createPublicKey({
    key: Buffer.from(certificate.subjectPublicKeyInfo.toSchema().toBER()),
    format: 'der',
    type: 'spki',
  });
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  const isRsa = key.asymmetricKeyType === 'rsa' || key.asymmetricKeyType === 'rsa-pss';
  if (isRsa && modulusLength >= cmsLimits.rsaBitsMin && modulusLength <= cmsLimits.rsaBitsMax) return;
  if (key.asymmetricKeyType === 'ec' && (namedCurve === 'prime256v1' || namedCurve === 'secp384r1')) return;
  throw new CmsProblem(
    isRsa
      ? `The certificate has an RSA key of ${modulusLength} bits.`
      : 'The certificate has a key of an unknown kind.',
  );
}

const extensions = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  extendedKeyUsage: '2.5.29.37',
} as const;

/**
 * Extensions that are evaluated here or concern only servers or revocation checks; any other critical one makes a certificate
 * unusable (RFC 5280, section 4.2).
 */
const understoodExtensions: readonly string[] = [
  extensions.subjectKeyIdentifier,
  extensions.keyUsage,
  extensions.basicConstraints,
  extensions.extendedKeyUsage,
  '2.5.29.35',
  '2.5.29.32',
  '2.5.29.17',
  '2.5.29.31',
];

const anyPurpose = '2.5.29.37.0';
/** Purposes under which authorities certify people who sign: documents (RFC 9336, Adobe, Microsoft), mail, log-in, and any. */
const signingPurposes: readonly string[] = [
  '1.3.6.1.5.5.7.3.36',
  '1.2.840.113583.1.1.5',
  '1.3.6.1.4.1.311.10.3.12',
  '1.3.6.1.5.5.7.3.4',
  '1.3.6.1.5.5.7.3.2',
  anyPurpose,
];
const timeStampingPurpose = '1.3.6.1.5.5.7.3.8';
export const ocspPurpose = '1.3.6.1.5.5.7.3.9';
/** Purposes of keys of machines: a certificate with one is not a person's, whatever its other purposes. */
const machinePurposes: readonly string[] = ['1.3.6.1.5.5.7.3.1', timeStampingPurpose, ocspPurpose];

/** A time stamp's certificate has exactly one purpose (RFC 3161 section 2.3). */
function isMadeFor(certificate: pkijs.Certificate, purpose: ChainRequest['purpose']): boolean {
  const purposes = purposesOf(certificate);
  if (!hasKeyUsage(certificate, [keyUsageBits.digitalSignature, keyUsageBits.nonRepudiation])) return false;
  if (purpose === 'time_stamp')
    return (
      purposes?.length === 1 &&
      purposes[0] === timeStampingPurpose &&
      extensionOf(certificate, extensions.extendedKeyUsage)!.critical
    );
  return (
    purposes === null ||
    (purposes.some((each) => signingPurposes.includes(each)) &&
      !purposes.some((each) => machinePurposes.includes(each)))
  );
}

/** An authority that is limited to some purposes cannot certify others: one for servers cannot certify a person. */
function mayCertifyFor(certificate: pkijs.Certificate, purpose: ChainRequest['purpose']): boolean {
  const wanted = purpose === 'time_stamp' ? [timeStampingPurpose, anyPurpose] : signingPurposes;
  return purposesOf(certificate)?.some((each) => wanted.includes(each)) ?? true;
}

export function purposesOf(certificate: pkijs.Certificate): readonly string[] | null {
  const value = extensionOf(certificate, extensions.extendedKeyUsage)?.parsedValue as unknown;
  return value === undefined ? null : value instanceof pkijs.ExtKeyUsage ? value.keyPurposes : [];
}

function isValidAt({ notBefore, notAfter }: pkijs.Certificate, times: readonly Date[]): boolean {
  return times.every((at) => notBefore.value <= at && at <= notAfter.value);
}

/**
 * True for a certificate of an authority that is valid at the times, whose path length allows the authorities below it, and that
 * has no name constraints.
 */
function mayIssue(
  certificate: pkijs.Certificate,
  { below, at, purpose }: { below: number } & Pick<ChainRequest, 'at' | 'purpose'>,
): boolean {
  const constraints = extensionOf(certificate, extensions.basicConstraints)?.parsedValue as unknown;
  if (
    !(constraints instanceof pkijs.BasicConstraints) ||
    !constraints.cA ||
    !isValidAt(certificate, at) ||
    !hasUnderstoodExtensions(certificate)
  )
    return false;
  if (extensionOf(certificate, extensions.nameConstraints) !== undefined || !mayCertifyFor(certificate, purpose))
    return false;
  const pathLength = constraints.pathLenConstraint;
  const room = pathLength === undefined ? Infinity : typeof pathLength === 'number' ? pathLength : 0;
  return below <= room && hasKeyUsage(certificate, [keyUsageBits.keyCertSign]);
}

export const keyUsageBits = { digitalSignature: 0, nonRepudiation: 1, keyCertSign: 5, cRLSign: 6 } as const;

/** True if the extension allows one of the uses, or is absent (RFC 5280, section 4.2.1.3). */
export function hasKeyUsage(certificate: pkijs.Certificate, bits: readonly number[]): boolean {
  const extension = extensionOf(certificate, extensions.keyUsage);
  if (extension === undefined) return true;
  const value = extension.parsedValue as unknown;
  if (!(value instanceof asn1js.BitString)) return false;
  const bytes = value.valueBlock.valueHexView;
  return bits.some((bit) => ((bytes[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0);
}

/** True if each extension occurs once (RFC 5280, section 4.2) and every critical one is known. */
function hasUnderstoodExtensions({ extensions: own = [] }: pkijs.Certificate): boolean {
  return (
    new Set(own.map(({ extnID }) => extnID)).size === own.length &&
    own.every(({ critical, extnID }) => !critical || understoodExtensions.includes(extnID))
  );
}

export function extensionOf(certificate: pkijs.Certificate, oid: string): pkijs.Extension | undefined {
  return certificate.extensions?.find(({ extnID }) => extnID === oid);
}

/** The key identifier that a certificate states of itself. */
export function keyIdentifierOf(certificate: pkijs.Certificate): Uint8Array | null {
  const value = extensionOf(certificate, extensions.subjectKeyIdentifier)?.parsedValue as unknown;
  return value instanceof asn1js.OctetString ? value.valueBlock.valueHexView : null;
}
