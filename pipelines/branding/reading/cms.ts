import { constants, createHash, createPublicKey, verify, X509Certificate, type KeyObject } from 'node:crypto';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';

/** What a detached CMS signature (RFC 5652) proves about the content that it was made for. */
export interface CmsVerdict {
  /** The digest that was signed is the content's. */
  readonly digestMatches: boolean;
  /** The signature fits the key of the signer's certificate. */
  readonly signatureValid: boolean;
  /** Common name and organization of the signer's certificate. */
  readonly signerName: string | null;
  readonly signerOrganization: string | null;
  /** ISO 8601, by the signer's own word. */
  readonly signedAt: string | null;
  /** `trusted`: it verifies, the chain leads to a given root, and every certificate of it was valid when signed. Revocation is not asked for: that needs a network. */
  readonly chain: 'trusted' | 'untrusted' | 'unchecked';
  /** Why it could not be verified or is not trusted, if so. */
  readonly problem: string | null;
}

/** A detached signature and what it is held against. */
export interface DetachedCms {
  /** DER, or BER of definite lengths; zero bytes may follow, which a PDF fills its place for the signature with. */
  readonly cms: Uint8Array;
  readonly content: Uint8Array;
  /** Certificates of the roots, one PEM block after another. Without one the chain is `unchecked`. */
  readonly trustRootsPem?: string;
  /** When it was signed by another word, such as the PDF's, for a signature that holds no time itself (ETSI EN 319 142-1 forbids it there). */
  readonly claimedAt?: Date;
}

/** Bounds of what is read from a signature; a real one has 4 to 60 KB and one to four certificates. */
export const cmsLimits = {
  cmsBytesMax: 1024 * 1024,
  derDepthMax: 40,
  derNodesMax: 20_000,
  certificatesMax: 32,
  rootsMax: 500,
  /** Certificates from the signer's to the root's, both included. */
  chainLengthMax: 8,
  /** Signatures that are tried while a chain is built; certificates may be made so that many chains seem possible. */
  chainChecksMax: 64,
  rsaBitsMin: 2048,
  rsaBitsMax: 8192,
} as const;

const oids = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  rsa: '1.2.840.113549.1.1.1',
  rsaPss: '1.2.840.113549.1.1.10',
  mgf1: '1.2.840.113549.1.1.8',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  basicConstraints: '2.5.29.19',
} as const;

type Hash = 'sha256' | 'sha384' | 'sha512';

const hashes: Readonly<Record<string, Hash>> = { '2.16.840.1.101.3.4.2.1': 'sha256', '2.16.840.1.101.3.4.2.2': 'sha384', '2.16.840.1.101.3.4.2.3': 'sha512' };
const weakHashes: Readonly<Record<string, string>> = { '1.3.14.3.2.26': 'SHA-1', '1.2.840.113549.2.5': 'MD5', '2.16.840.1.101.3.4.2.4': 'SHA-224' };

/** Signature algorithms that name their digest; plain RSA takes the signer's. */
const signatureSchemes: Readonly<Record<string, { readonly key: 'rsa' | 'ec'; readonly hash: Hash }>> = {
  '1.2.840.113549.1.1.11': { key: 'rsa', hash: 'sha256' },
  '1.2.840.113549.1.1.12': { key: 'rsa', hash: 'sha384' },
  '1.2.840.113549.1.1.13': { key: 'rsa', hash: 'sha512' },
  '1.2.840.10045.4.3.2': { key: 'ec', hash: 'sha256' },
  '1.2.840.10045.4.3.3': { key: 'ec', hash: 'sha384' },
  '1.2.840.10045.4.3.4': { key: 'ec', hash: 'sha512' },
};

/** Extensions of a certificate that are heeded here or bind nobody but a server or a revocation check; another one that is critical makes it unusable (RFC 5280, section 4.2). */
const understoodExtensions: readonly string[] = [oids.keyUsage, oids.basicConstraints, oids.subjectKeyIdentifier, '2.5.29.35', '2.5.29.37', '2.5.29.32', '2.5.29.17', '2.5.29.31'];

/** A reason why a signature does not verify; thrown inside this module only. */
class CmsProblem extends Error {}

const unverified: CmsVerdict = { digestMatches: false, signatureValid: false, signerName: null, signerOrganization: null, signedAt: null, chain: 'unchecked', problem: null };

/**
 * Verifies a detached CMS signature (RFC 5652, sections 5.4 and 5.6): the signed attributes name the content's digest
 * and type, and the signature is over the DER of these attributes. Takes SHA-256, SHA-384 and SHA-512 with RSA (PKCS #1
 * v1.5 and PSS) or ECDSA on P-256 and P-384. Never throws, whatever the bytes are, and asks no network.
 */
export async function verifyDetachedCms({ cms, content, trustRootsPem, claimedAt }: DetachedCms): Promise<CmsVerdict> {
  const hasRoots = trustRootsPem !== undefined && trustRootsPem.trim() !== '';
  let verdict: CmsVerdict = { ...unverified, chain: hasRoots ? 'untrusted' : 'unchecked' };
  try {
    const signed = readSignedData(cms);
    verdict = { ...verdict, ...describeSigner(signed) };
    verdict = { ...verdict, digestMatches: isDigestOf(signed, content) };
    verdict = { ...verdict, signatureValid: isSignatureValid(signed) };
    if (!verdict.digestMatches) throw new CmsProblem('The document is not the one that was signed.');
    if (!verdict.signatureValid) throw new CmsProblem("The signature does not fit the certificate's key.");
    if (!hasRoots) return verdict;
    requireTrustedChain({ signed, roots: readRoots(trustRootsPem), at: signed.signedAt ?? claimedAt ?? new Date() });
    return { ...verdict, chain: 'trusted' };
  } catch (error) {
    return { ...verdict, problem: error instanceof CmsProblem ? error.message : 'The signature is damaged.' };
  }
}

/** A certificate as both libraries know it: pkijs for its fields, Node's for its key and signature. */
interface ReadCertificate {
  readonly fields: pkijs.Certificate;
  readonly der: Uint8Array;
  readonly x509: X509Certificate;
}

interface SignedContent {
  readonly signer: ReadCertificate;
  readonly certificates: readonly ReadCertificate[];
  readonly hash: Hash;
  readonly signatureAlgorithm: pkijs.AlgorithmIdentifier;
  readonly signature: Uint8Array;
  readonly attributes: readonly pkijs.Attribute[];
  /** DER of the SET of the attributes: what the signature is over. */
  readonly attributesDer: Uint8Array;
  readonly signedAt: Date | null;
}

function readSignedData(cms: Uint8Array): SignedContent {
  const info = new pkijs.ContentInfo({ schema: parseDer(cms) });
  if (info.contentType !== oids.signedData) throw new CmsProblem('The signature is not a CMS of signed data.');
  const data = new pkijs.SignedData({ schema: info.content });
  const signer = onlySigner(data);
  const certificates = readCertificates(data);
  const attributes = signer.signedAttrs?.attributes ?? [];
  if (signer.signedAttrs === undefined || attributes.length === 0) throw new CmsProblem('The signature has no signed attributes.');
  return {
    signer: findSigner(signer.sid, certificates),
    certificates,
    hash: readHash(signer.digestAlgorithm.algorithmId),
    signatureAlgorithm: signer.signatureAlgorithm,
    signature: signer.signature.valueBlock.valueHexView,
    attributes,
    attributesDer: new Uint8Array(signer.signedAttrs.encodedValue),
    signedAt: readSigningTime(attributes),
  };
}

function parseDer(bytes: Uint8Array): asn1js.AsnType {
  if (bytes.length > cmsLimits.cmsBytesMax) throw new CmsProblem('The signature is larger than the limit.');
  const { offset, result } = asn1js.fromBER(bytes, { maxDepth: cmsLimits.derDepthMax, maxNodes: cmsLimits.derNodesMax, maxContentLength: cmsLimits.cmsBytesMax, parseEmbedded: false });
  if (offset === -1) throw new CmsProblem('The signature is damaged.');
  if (bytes.subarray(offset).some((byte) => byte !== 0)) throw new CmsProblem('Something follows the signature.');
  return result;
}

function onlySigner(data: pkijs.SignedData): pkijs.SignerInfo {
  if (data.encapContentInfo.eContentType !== oids.data) throw new CmsProblem('What was signed is not plain data.');
  if (data.encapContentInfo.eContent !== undefined) throw new CmsProblem('The signature is not detached: it brings content of its own.');
  const [signer, ...others] = data.signerInfos;
  if (signer === undefined || others.length > 0) throw new CmsProblem(`The signature has ${data.signerInfos.length} signers instead of one.`);
  return signer;
}

function readCertificates(data: pkijs.SignedData): ReadCertificate[] {
  const certificates = (data.certificates ?? []).filter((each): each is pkijs.Certificate => each instanceof pkijs.Certificate);
  if (certificates.length > cmsLimits.certificatesMax) throw new CmsProblem('The signature holds more certificates than the limit.');
  return certificates.map((fields) => readCertificate(new Uint8Array(fields.toSchema(false).toBER()), fields));
}

function readCertificate(der: Uint8Array, fields: pkijs.Certificate): ReadCertificate {
  return { fields, der, x509: new X509Certificate(der) };
}

function findSigner(sid: unknown, certificates: readonly ReadCertificate[]): ReadCertificate {
  const found = certificates.find(({ fields }) => (sid instanceof pkijs.IssuerAndSerialNumber ? isIssuedAs(fields, sid) : hasKeyIdentifier(fields, sid)));
  if (found === undefined) throw new CmsProblem("The signer's certificate is not in the signature.");
  return found;
}

function isIssuedAs(certificate: pkijs.Certificate, { issuer, serialNumber }: pkijs.IssuerAndSerialNumber): boolean {
  return certificate.issuer.isEqual(issuer) && certificate.serialNumber.isEqual(serialNumber);
}

function hasKeyIdentifier(certificate: pkijs.Certificate, sid: unknown): boolean {
  const wanted = sid instanceof asn1js.BaseBlock ? octets(sid) : null;
  const value = extensionOf(certificate, oids.subjectKeyIdentifier)?.parsedValue as unknown;
  return wanted !== null && value instanceof asn1js.OctetString && sameBytes(value.valueBlock.valueHexView, wanted);
}

/** Bytes of a primitive value, whatever its tag is; null for a constructed one. */
function octets(block: asn1js.BaseBlock): Uint8Array | null {
  const { valueBlock } = block as { valueBlock?: { valueHexView?: unknown } };
  return valueBlock?.valueHexView instanceof Uint8Array && !block.idBlock.isConstructed ? valueBlock.valueHexView : null;
}

function readHash(oid: string): Hash {
  const hash = hashes[oid];
  if (hash === undefined) throw new CmsProblem(weakHashes[oid] === undefined ? 'The signature uses an unknown digest.' : `The signature uses ${weakHashes[oid]}, which can be forged.`);
  return hash;
}

/** The one value of an attribute; null without it. An attribute may come once only (RFC 5652, section 11). */
function attributeValue(attributes: readonly pkijs.Attribute[], oid: string): unknown {
  const found = attributes.filter(({ type }) => type === oid);
  if (found.length === 0) return null;
  const values = found[0]!.values as unknown[];
  if (found.length > 1 || values.length !== 1) throw new CmsProblem('A signed attribute comes more than once.');
  return values[0];
}

function readSigningTime(attributes: readonly pkijs.Attribute[]): Date | null {
  const value = attributeValue(attributes, oids.signingTime);
  const at = value instanceof asn1js.UTCTime || value instanceof asn1js.GeneralizedTime ? value.toDate() : null; // a GeneralizedTime is a UTCTime there
  if (value !== null && (at === null || Number.isNaN(at.getTime()))) throw new CmsProblem('The signing time cannot be read.');
  return at;
}

function describeSigner({ signer, signedAt }: SignedContent): Pick<CmsVerdict, 'signerName' | 'signerOrganization' | 'signedAt'> {
  const { subject } = signer.fields;
  return { signerName: nameOf(subject, oids.commonName), signerOrganization: nameOf(subject, oids.organization), signedAt: signedAt?.toISOString() ?? null };
}

const nameCharactersMax = 200;

function nameOf(subject: pkijs.RelativeDistinguishedNames, oid: string): string | null {
  const value: unknown = subject.typesAndValues.find(({ type }) => type === oid)?.value.valueBlock.value;
  if (typeof value !== 'string') return null;
  const clean = value.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ').trim().slice(0, nameCharactersMax);
  return clean === '' ? null : clean;
}

function isDigestOf({ attributes, hash, signer }: SignedContent, content: Uint8Array): boolean {
  const type = attributeValue(attributes, oids.contentType);
  if (!(type instanceof asn1js.ObjectIdentifier) || type.valueBlock.toString() !== oids.data) throw new CmsProblem('The signed attributes name another type of content.');
  requireSigningCertificate(attributes, signer);
  const digest = attributeValue(attributes, oids.messageDigest);
  if (!(digest instanceof asn1js.OctetString)) throw new CmsProblem('The signed attributes name no digest.');
  return sameBytes(digest.valueBlock.valueHexView, createHash(hash).update(content).digest());
}

/** RFC 5035: a signature may name the digest of its certificate, so that no other one with the same key stands in for it. */
function requireSigningCertificate(attributes: readonly pkijs.Attribute[], signer: ReadCertificate): void {
  const value = attributeValue(attributes, oids.signingCertificateV2);
  if (value === null) return;
  const first = childrenOf(childrenOf(value)[0])[0]; // SigningCertificateV2.certs[0], an ESSCertIDv2
  const parts = childrenOf(first);
  const algorithm = parts[0] instanceof asn1js.Sequence ? childrenOf(parts[0])[0] : undefined;
  const hash = algorithm instanceof asn1js.ObjectIdentifier ? readHash(algorithm.valueBlock.toString()) : 'sha256';
  const digest = parts.find((part) => part instanceof asn1js.OctetString);
  if (digest === undefined || !sameBytes(digest.valueBlock.valueHexView, createHash(hash).update(signer.der).digest())) throw new CmsProblem('The signature names another certificate.');
}

function childrenOf(block: unknown): readonly unknown[] {
  return block instanceof asn1js.Constructed ? block.valueBlock.value : [];
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

function isSignatureValid({ signer, hash, signatureAlgorithm, signature, attributesDer }: SignedContent): boolean {
  const key = createPublicKey({ key: Buffer.from(signer.fields.subjectPublicKeyInfo.toSchema().toBER()), format: 'der', type: 'spki' });
  requireStrongKey(key);
  return verify(hash, attributesDer, { key, ...paddingOf(signatureAlgorithm, hash, key) }, signature);
}

function requireStrongKey(key: KeyObject): void {
  const { modulusLength = 0, namedCurve } = key.asymmetricKeyDetails ?? {};
  const isRsa = key.asymmetricKeyType === 'rsa' || key.asymmetricKeyType === 'rsa-pss';
  if (isRsa && modulusLength >= cmsLimits.rsaBitsMin && modulusLength <= cmsLimits.rsaBitsMax) return;
  if (key.asymmetricKeyType === 'ec' && (namedCurve === 'prime256v1' || namedCurve === 'secp384r1')) return;
  throw new CmsProblem(isRsa ? `The certificate has an RSA key of ${modulusLength} bits.` : 'The certificate has a key of an unknown kind.');
}

/** How the signature is padded; refuses an algorithm that does not fit the digest or the key. */
function paddingOf(algorithm: pkijs.AlgorithmIdentifier, hash: Hash, key: KeyObject): { padding?: number; saltLength?: number } {
  const oid = algorithm.algorithmId;
  if (oid === oids.rsaPss && key.asymmetricKeyType !== 'ec') return { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: readSaltLength(algorithm, hash) };
  const scheme = oid === oids.rsa ? { key: 'rsa', hash } : signatureSchemes[oid];
  if (scheme === undefined) throw new CmsProblem('The signature uses an unknown or weak algorithm.');
  if (scheme.key !== key.asymmetricKeyType || scheme.hash !== hash) throw new CmsProblem('The algorithm of the signature does not fit its digest or key.');
  return scheme.key === 'rsa' ? { padding: constants.RSA_PKCS1_PADDING } : {};
}

const saltBytesMax = 512;

/** Salt length of RSASSA-PSS parameters (RFC 8017, appendix A.2.3), whose digests must be the signer's. */
function readSaltLength(algorithm: pkijs.AlgorithmIdentifier, hash: Hash): number {
  const parameters = new pkijs.RSASSAPSSParams({ schema: algorithm.algorithmParams });
  const mask = childrenOf(parameters.maskGenAlgorithm.algorithmParams)[0];
  const maskHash = mask instanceof asn1js.ObjectIdentifier ? hashes[mask.valueBlock.toString()] : undefined;
  const fits = hashes[parameters.hashAlgorithm.algorithmId] === hash && parameters.maskGenAlgorithm.algorithmId === oids.mgf1 && maskHash === hash;
  if (!fits) throw new CmsProblem('The parameters of RSASSA-PSS do not fit the digest.');
  if (!(parameters.saltLength >= 0 && parameters.saltLength <= saltBytesMax)) throw new CmsProblem('The parameters of RSASSA-PSS are damaged.');
  return parameters.saltLength;
}

const pemBlock = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g;

/** The certificates of a PEM file that can be read. */
function readRoots(pem: string): ReadCertificate[] {
  const blocks = [...pem.matchAll(pemBlock)].slice(0, cmsLimits.rootsMax);
  return blocks.flatMap(([, base64 = '']) => {
    const der = Buffer.from(base64, 'base64');
    try {
      return [readCertificate(der, new pkijs.Certificate({ schema: parseDer(der) }))];
    } catch {
      return []; // one damaged root takes no trust from the others
    }
  });
}

interface ChainSearch {
  readonly roots: readonly ReadCertificate[];
  readonly others: readonly ReadCertificate[];
  readonly at: Date;
  checksLeft: number;
}

/** Throws the reason why no chain of valid certificates leads from the signer to a root (RFC 5280, section 6, without policies and revocation). */
function requireTrustedChain({ signed, roots, at }: { signed: SignedContent; roots: readonly ReadCertificate[]; at: Date }): void {
  const { signer, certificates } = signed;
  if (roots.length === 0) throw new CmsProblem('No trusted root can be read.');
  if (!isValidAt(signer, at)) throw new CmsProblem("The signer's certificate was not valid when it was signed.");
  if (!hasUnderstoodExtensions(signer) || !maySign(signer)) throw new CmsProblem("The signer's certificate is not made for signing documents.");
  if (!leadsToRoot([signer], { roots, others: certificates, at, checksLeft: cmsLimits.chainChecksMax })) throw new CmsProblem('No chain of valid certificates leads to a trusted root.');
}

function leadsToRoot(chain: readonly ReadCertificate[], search: ChainSearch): boolean {
  const last = chain.at(-1)!;
  if (search.roots.some(({ der }) => sameBytes(der, last.der))) return true;
  if (chain.length >= cmsLimits.chainLengthMax || !isStronglySigned(last)) return false;
  const isIssuer = (issuer: ReadCertificate) => !chain.includes(issuer) && mayIssue(issuer, { below: chain.length - 1, at: search.at }) && isSignedBy(last, issuer, search);
  return search.roots.some(isIssuer) || search.others.some((issuer) => isIssuer(issuer) && leadsToRoot([...chain, issuer], search));
}

function isSignedBy(certificate: ReadCertificate, issuer: ReadCertificate, search: ChainSearch): boolean {
  if (!certificate.fields.issuer.isEqual(issuer.fields.subject) || search.checksLeft === 0) return false;
  search.checksLeft--;
  const key = issuer.x509.publicKey;
  requireStrongKey(key);
  return certificate.x509.verify(key);
}

function isStronglySigned({ fields }: ReadCertificate): boolean {
  const oid = fields.signatureAlgorithm.algorithmId;
  return signatureSchemes[oid] !== undefined || oid === oids.rsaPss;
}

function isValidAt({ fields }: ReadCertificate, at: Date): boolean {
  return fields.notBefore.value <= at && at <= fields.notAfter.value;
}

/** True for a certificate of an authority, valid at the time, that may stand above so many authorities. */
function mayIssue(certificate: ReadCertificate, { below, at }: { below: number; at: Date }): boolean {
  const constraints = extensionOf(certificate.fields, oids.basicConstraints)?.parsedValue as unknown;
  if (!(constraints instanceof pkijs.BasicConstraints) || !constraints.cA || !isValidAt(certificate, at) || !hasUnderstoodExtensions(certificate)) return false;
  const pathLength = constraints.pathLenConstraint;
  const room = pathLength === undefined ? Infinity : typeof pathLength === 'number' ? pathLength : 0;
  return below <= room && hasKeyUsage(certificate, [keyUsageBits.keyCertSign]);
}

const keyUsageBits = { digitalSignature: 0, nonRepudiation: 1, keyCertSign: 5 } as const;

function maySign(certificate: ReadCertificate): boolean {
  return hasKeyUsage(certificate, [keyUsageBits.digitalSignature, keyUsageBits.nonRepudiation]);
}

/** True if the extension allows one of the uses, or is not there (RFC 5280, section 4.2.1.3). */
function hasKeyUsage({ fields }: ReadCertificate, bits: readonly number[]): boolean {
  const extension = extensionOf(fields, oids.keyUsage);
  if (extension === undefined) return true;
  const value = extension.parsedValue as unknown;
  if (!(value instanceof asn1js.BitString)) return false;
  const bytes = value.valueBlock.valueHexView;
  return bits.some((bit) => ((bytes[bit >> 3] ?? 0) & (0x80 >> (bit & 7))) !== 0);
}

function hasUnderstoodExtensions({ fields }: ReadCertificate): boolean {
  return (fields.extensions ?? []).every(({ critical, extnID }) => !critical || understoodExtensions.includes(extnID));
}

function extensionOf(certificate: pkijs.Certificate, oid: string): pkijs.Extension | undefined {
  return certificate.extensions?.find(({ extnID }) => extnID === oid);
}
