import { constants, createHash, createPublicKey, generateKeyPairSync, sign, verify, X509Certificate, type KeyObject } from 'node:crypto';
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

/** A certificate with its private key, made here; for sample letters and tests. */
export interface OwnCertificate {
  readonly der: Uint8Array;
  readonly pem: string;
  readonly privateKey: KeyObject;
  readonly issuer: OwnCertificate | null;
  readonly fields: pkijs.Certificate;
}

/** What a certificate says. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organization: string;
  /** Who signs it; without one it signs itself. */
  readonly issuer?: OwnCertificate;
  readonly validFrom: Date;
  readonly validUntil: Date;
  /** True for an authority that may issue others; the default is a person who signs documents. */
  readonly ca?: boolean;
  /** Private key; a new RSA key of 2048 bits without one. */
  readonly privateKey?: KeyObject;
}

const keyUsageOctets = { authority: 0b0000_0110, signer: 0b1100_0000 } as const; // keyCertSign and cRLSign; digitalSignature and nonRepudiation

/** Makes a certificate (RFC 5280). The same request with an RSA key gives the same bytes. */
export function makeCertificate({ commonName, organization, issuer, validFrom, validUntil, ca = false, privateKey }: CertificateRequest): OwnCertificate {
  const key = privateKey ?? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const fields = new pkijs.Certificate({ version: 2, serialNumber: serialOf(commonName, validFrom.toISOString(), spki) });
  fields.subject.typesAndValues = [namePart(oids.organization, organization), namePart(oids.commonName, commonName)];
  fields.issuer.typesAndValues = issuer === undefined ? fields.subject.typesAndValues : issuer.fields.subject.typesAndValues;
  fields.notBefore = timeOf(validFrom);
  fields.notAfter = timeOf(validUntil);
  fields.subjectPublicKeyInfo = new pkijs.PublicKeyInfo({ schema: parseDer(spki) });
  fields.extensions = extensionsOf(ca);
  const signingKey = issuer?.privateKey ?? key;
  fields.signature = fields.signatureAlgorithm = ownAlgorithm(signingKey);
  fields.tbs = fields.encodeTBS().toBER();
  fields.signatureValue = new asn1js.BitString({ valueHex: exactBuffer(sign('sha256', new Uint8Array(fields.tbs), signingKey)) });
  const der = new Uint8Array(fields.toSchema(true).toBER());
  return { der, pem: pemOf(der), privateKey: key, issuer: issuer ?? null, fields };
}

/** A defect that a made signature gets, for tests of the verification. */
export type CmsDefect = 'digest' | 'signature' | 'content_type' | 'no_attributes' | 'sha1' | 'attached';

/** What a signature is made from. */
export interface CmsRequest {
  readonly content: Uint8Array;
  readonly certificate: OwnCertificate;
  /** Null leaves the signing time out. */
  readonly signedAt: Date | null;
  readonly alter?: CmsDefect;
  /** RSASSA-PSS instead of PKCS #1 v1.5; of no effect on a key that is not RSA. */
  readonly pss?: boolean;
}

/** Signs content with SHA-256 as a detached CMS, DER, with the signer's certificate and its issuers but the root. With PKCS #1 v1.5 the same request gives the same bytes. */
export function signDetachedCms({ content, certificate, signedAt, alter, pss = false }: CmsRequest): Uint8Array {
  const hash = alter === 'sha1' ? 'sha1' : 'sha256';
  const digest = createHash(hash).update(content).digest();
  if (alter === 'digest') digest[0]! ^= 1;
  const attributes = ownAttributes({ digest, signedAt, contentType: alter === 'content_type' ? oids.signedData : oids.data });
  const isBare = alter === 'no_attributes';
  const signed = isBare ? content : new Uint8Array(new asn1js.Set({ value: attributes.map((each) => each.toSchema()) }).toBER());
  const signature = sign(hash, signed, { key: certificate.privateKey, ...(pss ? pssPadding : {}) });
  if (alter === 'signature') signature[signature.length - 1]! ^= 1;
  const signer = new pkijs.SignerInfo({
    version: 1,
    sid: new pkijs.IssuerAndSerialNumber({ issuer: certificate.fields.issuer, serialNumber: certificate.fields.serialNumber }),
    digestAlgorithm: new pkijs.AlgorithmIdentifier({ algorithmId: hash === 'sha1' ? '1.3.14.3.2.26' : '2.16.840.1.101.3.4.2.1', algorithmParams: new asn1js.Null() }),
    signatureAlgorithm: pss ? pssAlgorithm() : ownAlgorithm(certificate.privateKey),
    signature: new asn1js.OctetString({ valueHex: exactBuffer(signature) }),
    ...(isBare ? {} : { signedAttrs: new pkijs.SignedAndUnsignedAttributes({ type: 0, attributes }) }),
  });
  return encodeSignedData({ signer, certificate, attached: alter === 'attached' ? content : null });
}

function encodeSignedData({ signer, certificate, attached }: { signer: pkijs.SignerInfo; certificate: OwnCertificate; attached: Uint8Array | null }): Uint8Array {
  const eContent = attached === null ? {} : { eContent: new asn1js.OctetString({ valueHex: exactBuffer(attached) }) };
  const data = new pkijs.SignedData({
    version: 1,
    encapContentInfo: new pkijs.EncapsulatedContentInfo({ eContentType: oids.data, ...eContent }),
    digestAlgorithms: [signer.digestAlgorithm],
    signerInfos: [signer],
    certificates: withoutRoot(certificate),
  });
  return new Uint8Array(new pkijs.ContentInfo({ contentType: oids.signedData, content: data.toSchema(true) }).toSchema().toBER());
}

function withoutRoot(certificate: OwnCertificate): pkijs.Certificate[] {
  const { issuer } = certificate;
  return [certificate.fields, ...(issuer === null || issuer.issuer === null ? [] : withoutRoot(issuer))];
}

/** In the order of their DER, as the DER of a SET OF has them: the content type is the shortest. */
function ownAttributes({ digest, signedAt, contentType }: { digest: Buffer; signedAt: Date | null; contentType: string }): pkijs.Attribute[] {
  const attribute = (type: string, value: asn1js.AsnType) => new pkijs.Attribute({ type, values: [value] });
  const time = signedAt === null ? [] : [attribute(oids.signingTime, timeOf(signedAt).toSchema())];
  return [
    attribute(oids.contentType, new asn1js.ObjectIdentifier({ value: contentType })),
    ...time,
    attribute(oids.messageDigest, new asn1js.OctetString({ valueHex: exactBuffer(digest) })),
  ];
}

const utcTimeEnds = 2050; // RFC 5280, section 4.1.2.5

function timeOf(value: Date): pkijs.Time {
  return new pkijs.Time({ type: value.getUTCFullYear() < utcTimeEnds ? 0 : 1, value });
}

function ownAlgorithm(key: KeyObject): pkijs.AlgorithmIdentifier {
  const [rsaWithSha256, ecdsaWithSha256] = ['1.2.840.113549.1.1.11', '1.2.840.10045.4.3.2'];
  if (key.asymmetricKeyType === 'ec') return new pkijs.AlgorithmIdentifier({ algorithmId: ecdsaWithSha256 });
  return new pkijs.AlgorithmIdentifier({ algorithmId: rsaWithSha256, algorithmParams: new asn1js.Null() });
}

const pssSaltBytes = 32;
const pssPadding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: pssSaltBytes };

function pssAlgorithm(): pkijs.AlgorithmIdentifier {
  const sha256 = new pkijs.AlgorithmIdentifier({ algorithmId: '2.16.840.1.101.3.4.2.1', algorithmParams: new asn1js.Null() });
  const maskGenAlgorithm = new pkijs.AlgorithmIdentifier({ algorithmId: oids.mgf1, algorithmParams: sha256.toSchema() });
  const parameters = new pkijs.RSASSAPSSParams({ hashAlgorithm: sha256, maskGenAlgorithm, saltLength: pssSaltBytes });
  return new pkijs.AlgorithmIdentifier({ algorithmId: oids.rsaPss, algorithmParams: parameters.toSchema() });
}

function extensionsOf(ca: boolean): pkijs.Extension[] {
  const usage = new asn1js.BitString({ valueHex: Uint8Array.of(ca ? keyUsageOctets.authority : keyUsageOctets.signer).buffer, unusedBits: ca ? 1 : 6 });
  return [
    new pkijs.Extension({ extnID: oids.basicConstraints, critical: true, extnValue: new pkijs.BasicConstraints({ cA: ca }).toSchema().toBER() }),
    new pkijs.Extension({ extnID: oids.keyUsage, critical: true, extnValue: usage.toBER() }),
  ];
}

function namePart(type: string, value: string): pkijs.AttributeTypeAndValue {
  return new pkijs.AttributeTypeAndValue({ type, value: new asn1js.Utf8String({ value }) });
}

const serialBytes = 16;

function serialOf(...parts: readonly (string | Uint8Array)[]): asn1js.Integer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  const serial = hash.digest().subarray(0, serialBytes);
  serial[0] = (serial[0]! & 0x3f) | 0x40; // positive, and without a leading zero
  return new asn1js.Integer({ valueHex: exactBuffer(serial) });
}

/** The bytes in a buffer of their own; a Buffer's is a part of a larger one. */
function exactBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

function pemOf(der: Uint8Array): string {
  return `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64').replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
}
