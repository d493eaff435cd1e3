import { createHash } from 'node:crypto';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import type { PdfSignature, PdfTimeStamp, RevocationStatus } from '../../letter-reading.ts';
import {
  CmsProblem,
  cmsLimits,
  keyIdentifierOf,
  noValidationData,
  parseDer,
  readRoots,
  requireStrongKey,
  requireTrustedChain,
  succeeds,
  type ChainRequest,
  type ValidationData,
} from './certificate-chain.ts';
import { revocationOf } from './certificate-revocation.ts';

/**
 * The result of verifying a detached CMS signature (RFC 5652). `signedAt` is the signer's claim, `timeStamp` the earliest stamp of the
 * signature that verifies. `trusted`: it verifies, the chain leads to a given root, and every certificate of it was valid when signed
 * and is not known to be revoked; `problem` says why it could not be verified or is not trusted.
 */
export type CmsVerdict = Omit<PdfSignature, 'field' | 'page' | 'box' | 'subFilter' | 'coverage'>;

/** What certificates are checked against. */
interface Trust {
  /** Certificates of the roots, one PEM block after another. Without one the chain is `unchecked`. */
  readonly trustRootsPem?: string | undefined;
  readonly validationData?: ValidationData | undefined;
  /** The time of reading; the default is the clock's. */
  readonly now?: Date | undefined;
}

/** A detached signature and what it is verified against. */
interface DetachedCms extends Trust {
  /** DER, or BER of definite lengths; zero bytes may follow, which a PDF fills its place for the signature with. */
  readonly cms: Uint8Array;
  readonly content: Uint8Array;
  /** Signing time from another source, such as the PDF, for a signature without one (ETSI EN 319 142-1 forbids it there). */
  readonly claimedAt?: Date | undefined;
  /** Time stamps of the whole document that were made over the signature. */
  readonly documentTimeStamps?: readonly PdfTimeStamp[] | undefined;
}

const oids = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  timeStampInfo: '1.2.840.113549.1.9.16.1.4',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  signingCertificateV2: '1.2.840.113549.1.9.16.2.47',
  signatureTimeStamp: '1.2.840.113549.1.9.16.2.14',
  rsa: '1.2.840.113549.1.1.1',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  surname: '2.5.4.4',
  givenName: '2.5.4.42',
  country: '2.5.4.6',
  organizationIdentifier: '2.5.4.97',
} as const;

type Hash = 'SHA-256' | 'SHA-384' | 'SHA-512';

const hashes: Readonly<Record<string, Hash>> = {
  '2.16.840.1.101.3.4.2.1': 'SHA-256',
  '2.16.840.1.101.3.4.2.2': 'SHA-384',
  '2.16.840.1.101.3.4.2.3': 'SHA-512',
};
const weakHashes: Readonly<Record<string, string>> = {
  '1.3.14.3.2.26': 'SHA-1',
  '1.2.840.113549.2.5': 'MD5',
  '2.16.840.1.101.3.4.2.4': 'SHA-224',
};

const unverified: Omit<CmsVerdict, 'chain'> = {
  digestMatches: false,
  signatureValid: false,
  signerName: null,
  signerOrganization: null,
  signerCountry: null,
  signerOrganizationId: null,
  signedAt: null,
  timeStamp: null,
  revocation: 'unknown',
  problem: null,
};

/**
 * Verifies a detached CMS signature (RFC 5652, sections 5.4 and 5.6): the signed attributes name the content's digest
 * and type, and the signature is over the DER of these attributes. Supports SHA-256, SHA-384 and SHA-512 with RSA (PKCS #1
 * v1.5 and PSS) or ECDSA on P-256 and P-384. The chain is judged at the time of a trusted time stamp; without one it must
 * hold at the claimed time and now. Never throws, whatever the bytes are, and uses no network.
 */
export async function verifyDetachedCms({
  cms,
  content,
  claimedAt,
  documentTimeStamps = [],
  now = new Date(),
  ...trust
}: DetachedCms): Promise<CmsVerdict> {
  const roots = rootsOf(trust);
  let verdict: CmsVerdict = { ...unverified, chain: roots === null ? 'unchecked' : 'untrusted' };
  try {
    const all = readSignedData(parseDer(cms), oids.data);
    const [signed] = all as [SignedContent];
    verdict = { ...verdict, ...describeSigner(signed) };
    verdict = { ...verdict, digestMatches: all.every((each) => isDigestOf(each, content)) };
    verdict = { ...verdict, signatureValid: (await Promise.all(all.map(isSignatureValid))).every(Boolean) };
    if (!verdict.digestMatches) throw new CmsProblem('The document is not the one that was signed.');
    if (!verdict.signatureValid) throw new CmsProblem("The signature does not fit the certificate's key.");
    const stamps = [...(await readOwnTimeStamps(signed, trust)), ...documentTimeStamps].toSorted((a, b) =>
      a.time < b.time ? -1 : 1,
    );
    const trusted = stamps.find(({ chain }) => chain === 'trusted');
    verdict = { ...verdict, timeStamp: trusted ?? stamps[0] ?? null };
    if (roots === null) return verdict;
    const at = trusted === undefined ? [signed.signedAt ?? claimedAt ?? now, now] : [new Date(trusted.time)];
    verdict = { ...verdict, revocation: await trustedRevocation(signed, { purpose: 'document', roots, at, ...trust }) };
    if (verdict.revocation === 'revoked')
      throw new CmsProblem('A certificate of the signature was revoked before it was signed.');
    return { ...verdict, chain: 'trusted' };
  } catch (error) {
    return { ...verdict, problem: error instanceof CmsProblem ? error.message : 'The signature is damaged.' };
  }
}

/** A time-stamp token (RFC 3161) and the time-stamped bytes. */
interface TimeStampToken extends Trust {
  readonly token: Uint8Array;
  readonly data: Uint8Array;
}

/**
 * The time of a time-stamp token whose imprint is that of the data and whose signature is its authority's; null for any
 * other. The authority's certificate must be made for time stamps and nothing else to be trusted.
 */
export async function verifyTimeStamp({ token, data, ...trust }: TimeStampToken): Promise<PdfTimeStamp | null> {
  try {
    return await readTimeStamp(parseDer(token), data, trust);
  } catch {
    return null; // a stamp that cannot be verified proves nothing; the signature may be valid without it
  }
}

async function readTimeStamp(schema: asn1js.AsnType, data: Uint8Array, trust: Trust): Promise<PdfTimeStamp | null> {
  const [signed, ...others] = readSignedData(schema, oids.timeStampInfo) as [SignedContent, ...SignedContent[]];
  if (others.length > 0) return null;
  const info = pkijs.TSTInfo.fromBER(signed.content!);
  readHash(info.messageImprint.hashAlgorithm.algorithmId);
  const fits =
    isDigestOf(signed, new Uint8Array(signed.content!)) &&
    (await info.verify({ data: new Uint8Array(data).buffer })) &&
    (await isSignatureValid(signed));
  if (!fits || Number.isNaN(info.genTime.getTime())) return null;
  const roots = rootsOf(trust);
  const isTrusted =
    roots !== null &&
    (await succeeds(
      trustedRevocation(signed, { purpose: 'time_stamp', roots, at: [info.genTime], ...trust }).then(
        (revocation) => revocation !== 'revoked',
      ),
    ));
  return {
    time: info.genTime.toISOString(),
    authority: describeSigner(signed).signerName,
    chain: roots === null ? 'unchecked' : isTrusted ? 'trusted' : 'untrusted',
  };
}

/** Most stamps of one signature; one that was stamped again after years has two. */
const ownTimeStampsMax = 4;

async function readOwnTimeStamps({ info }: SignedContent, trust: Trust): Promise<PdfTimeStamp[]> {
  const values = (info.unsignedAttrs?.attributes ?? [])
    .filter(({ type }) => type === oids.signatureTimeStamp)
    .flatMap(({ values: each }) => each as asn1js.AsnType[]);
  const stamps = values
    .slice(0, ownTimeStampsMax)
    .map((value) => readTimeStamp(value, info.signature.valueBlock.valueHexView, trust).catch(() => null));
  return (await Promise.all(stamps)).filter((stamp) => stamp !== null);
}

function rootsOf({ trustRootsPem }: Trust): pkijs.Certificate[] | null {
  return trustRootsPem === undefined || trustRootsPem.trim() === '' ? null : readRoots(trustRootsPem);
}

/** Whether a certificate of the signer's chain was revoked by the last of the times. @throws CmsProblem without a trusted chain */
async function trustedRevocation(
  { signer, certificates }: SignedContent,
  { purpose, roots, at, validationData = noValidationData }: Trust & Pick<ChainRequest, 'purpose' | 'roots' | 'at'>,
): Promise<RevocationStatus> {
  const chain = await requireTrustedChain({ signer, certificates, purpose, roots, at, validationData });
  return revocationOf({ chain, validationData, at: at.at(-1)! });
}

interface SignedContent {
  readonly info: pkijs.SignerInfo;
  readonly signer: pkijs.Certificate;
  readonly certificates: readonly pkijs.Certificate[];
  /** Its object identifier. */
  readonly digestAlgorithm: string;
  readonly attributes: readonly pkijs.Attribute[];
  readonly type: string;
  /** Its encapsulated content, for a type that is not detached. */
  readonly content: ArrayBuffer | null;
  readonly signedAt: Date | null;
}

/** A program that signs with a second digest adds a second entry; both must verify. */
const signerInfosMax = 2;

/** Signed data of one certificate and one type, for each digest; plain data are detached, a time stamp's are not. */
function readSignedData(schema: asn1js.AsnType, type: string): readonly SignedContent[] {
  const content = new pkijs.ContentInfo({ schema });
  if (content.contentType !== oids.signedData) throw new CmsProblem('The signature is not a CMS of signed data.');
  const data = new pkijs.SignedData({ schema: content.content });
  const { eContentType, eContent } = data.encapContentInfo;
  if (eContentType !== type) throw new CmsProblem('What was signed is not plain data.');
  const isDetached = type === oids.data;
  if (isDetached && eContent !== undefined)
    throw new CmsProblem('The signature is not detached: it brings content of its own.');
  const certificates = (data.certificates ?? []).filter(
    (each): each is pkijs.Certificate => each instanceof pkijs.Certificate,
  );
  if (certificates.length > cmsLimits.certificatesMax)
    throw new CmsProblem('The signature holds more certificates than the limit.');
  const signers = new Set(data.signerInfos.map(({ sid }) => findSignerCertificate(sid, certificates)));
  if (signers.size !== 1 || data.signerInfos.length > signerInfosMax)
    throw new CmsProblem(`The signature has ${data.signerInfos.length} signers instead of one.`);
  const [signer] = [...signers] as [pkijs.Certificate];
  return data.signerInfos.map((info) => {
    const attributes = info.signedAttrs?.attributes ?? [];
    if (attributes.length === 0) throw new CmsProblem('The signature has no signed attributes.');
    return {
      info,
      signer,
      certificates,
      digestAlgorithm: info.digestAlgorithm.algorithmId,
      attributes,
      type,
      content: isDetached ? null : eContent!.getValue(),
      signedAt: readSigningTime(attributes),
    };
  });
}

function findSignerCertificate(sid: unknown, certificates: readonly pkijs.Certificate[]): pkijs.Certificate {
  const found = certificates.find((certificate) =>
    sid instanceof pkijs.IssuerAndSerialNumber ? isIssuedAs(certificate, sid) : hasKeyIdentifier(certificate, sid),
  );
  if (found === undefined) throw new CmsProblem("The signer's certificate is not in the signature.");
  return found;
}

function isIssuedAs(certificate: pkijs.Certificate, { issuer, serialNumber }: pkijs.IssuerAndSerialNumber): boolean {
  return certificate.issuer.isEqual(issuer) && certificate.serialNumber.isEqual(serialNumber);
}

function hasKeyIdentifier(certificate: pkijs.Certificate, sid: unknown): boolean {
  const [wanted, own] = [sid instanceof asn1js.BaseBlock ? octets(sid) : null, keyIdentifierOf(certificate)];
  return wanted !== null && own !== null && sameBytes(own, wanted);
}

/** Bytes of a primitive value, whatever its tag is; null for a constructed one. */
function octets(block: asn1js.BaseBlock): Uint8Array | null {
  const { valueBlock } = block as { valueBlock?: { valueHexView?: unknown } };
  return valueBlock?.valueHexView instanceof Uint8Array && !block.idBlock.isConstructed
    ? valueBlock.valueHexView
    : null;
}

function readHash(oid: string): Hash {
  const hash = hashes[oid];
  if (hash === undefined)
    throw new CmsProblem(
      weakHashes[oid] === undefined
        ? 'The signature uses an unknown digest.'
        : `The signature uses ${weakHashes[oid]}, which can be forged.`,
    );
  return hash;
}

function hashName(hash: Hash, bytes: Uint8Array): Buffer {
  return createHash(hash.replace('-', '')).update(bytes).digest();
}

/** The single value of an attribute; null without it. An attribute may occur only once (RFC 5652, section 11). */
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
  if (value !== null && (at === null || Number.isNaN(at.getTime())))
    throw new CmsProblem('The signing time cannot be read.');
  return at;
}

function describeSigner({
  signer: { subject },
  signedAt,
}: SignedContent): Pick<
  CmsVerdict,
  'signerName' | 'signerOrganization' | 'signerCountry' | 'signerOrganizationId' | 'signedAt'
> {
  return {
    signerName: personIn(subject),
    signerOrganization: nameOf(subject, oids.organization),
    signerCountry: nameOf(subject, oids.country),
    signerOrganizationId: nameOf(subject, oids.organizationIdentifier),
    signedAt: signedAt?.toISOString() ?? null,
  };
}

/** The common name, or where a certificate has none the given name and the surname (ETSI EN 319 412-2 section 4.2.4). */
function personIn(subject: pkijs.RelativeDistinguishedNames): string | null {
  if (subject.typesAndValues.some(({ type }) => type === oids.commonName)) return nameOf(subject, oids.commonName);
  const [given, surname] = [nameOf(subject, oids.givenName), nameOf(subject, oids.surname)];
  return given === null || surname === null ? null : `${given} ${surname}`.slice(0, nameCharactersMax);
}

const nameCharactersMax = 200;

/** Null where a subject has no such name, or several, which would be ambiguous. */
function nameOf(subject: pkijs.RelativeDistinguishedNames, oid: string): string | null {
  const [value, ...others] = subject.typesAndValues
    .filter(({ type }) => type === oid)
    .map((each): unknown => each.value.valueBlock.value);
  if (typeof value !== 'string' || others.some((other) => other !== value)) return null;
  const clean = value
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
    .trim()
    .slice(0, nameCharactersMax);
  return clean === '' ? null : clean;
}

/** Checked here and not by pkijs's verify, which uses the first of several attributes, and skips the signature if the digest differs. */
function isDigestOf(
  { attributes, digestAlgorithm, signer, type: wanted }: SignedContent,
  content: Uint8Array,
): boolean {
  const hash = readHash(digestAlgorithm);
  const type = attributeValue(attributes, oids.contentType);
  if (!(type instanceof asn1js.ObjectIdentifier) || type.valueBlock.toString() !== wanted)
    throw new CmsProblem('The signed attributes name another type of content.');
  requireSigningCertificate(attributes, signer);
  const digest = attributeValue(attributes, oids.messageDigest);
  if (!(digest instanceof asn1js.OctetString)) throw new CmsProblem('The signed attributes name no digest.');
  return sameBytes(digest.valueBlock.valueHexView, hashName(hash, content));
}

/** RFC 5035: a signature may name the digest of its certificate, so that no other one with the same key can replace it. */
function requireSigningCertificate(attributes: readonly pkijs.Attribute[], signer: pkijs.Certificate): void {
  const value = attributeValue(attributes, oids.signingCertificateV2);
  if (value === null) return;
  const first = childrenOf(childrenOf(value)[0])[0]; // SigningCertificateV2.certs[0], an ESSCertIDv2
  const parts = childrenOf(first);
  const algorithm = parts[0] instanceof asn1js.Sequence ? childrenOf(parts[0])[0] : undefined;
  const hash = algorithm instanceof asn1js.ObjectIdentifier ? readHash(algorithm.valueBlock.toString()) : 'SHA-256';
  const digest = parts.find((part) => part instanceof asn1js.OctetString);
  const der = new Uint8Array(signer.toSchema(false).toBER());
  if (digest === undefined || !sameBytes(digest.valueBlock.valueHexView, hashName(hash, der)))
    throw new CmsProblem('The signature names another certificate.');
}

function childrenOf(block: unknown): readonly unknown[] {
  return block instanceof asn1js.Constructed ? block.valueBlock.value : [];
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

/** The signature over the DER of the attributes; refuses an algorithm that does not fit the digest. */
async function isSignatureValid({ info, signer, digestAlgorithm }: SignedContent): Promise<boolean> {
  requireStrongKey(signer);
  const hash = readHash(digestAlgorithm);
  const engine = pkijs.getCrypto(true);
  const algorithm = info.signatureAlgorithm;
  const isPlainRsa = algorithm.algorithmId === oids.rsa; // the digest is named separately
  const own = isPlainRsa ? hash : engine.getHashAlgorithm(algorithm);
  if (own === '') throw new CmsProblem('The signature uses an unknown or weak algorithm.');
  if (own !== hash) throw new CmsProblem('The algorithm of the signature does not fit its digest or key.');
  const attributes = info.signedAttrs!.encodedValue;
  return succeeds(
    engine.verifyWithPublicKey(
      attributes,
      info.signature,
      signer.subjectPublicKeyInfo,
      algorithm,
      ...(isPlainRsa ? [hash] : []),
    ),
  );
}
