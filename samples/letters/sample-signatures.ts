import { constants, createHash, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';

const oids = {
  data: '1.2.840.113549.1.7.1',
  signedData: '1.2.840.113549.1.7.2',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  rsaPss: '1.2.840.113549.1.1.10',
  mgf1: '1.2.840.113549.1.1.8',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  country: '2.5.4.6',
  organizationIdentifier: '2.5.4.97',
  keyUsage: '2.5.29.15',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  signatureTimeStamp: '1.2.840.113549.1.9.16.2.14',
  timeStampInfo: '1.2.840.113549.1.9.16.1.4',
  sha256: '2.16.840.1.101.3.4.2.1',
} as const;

/** A certificate with its private key, made here; for sample letters and tests. */
export interface OwnCertificate {
  readonly der: Uint8Array;
  readonly pem: string;
  readonly privateKey: KeyObject;
  readonly issuer: OwnCertificate | null;
  readonly fields: pkijs.Certificate;
}

/** The content of a certificate. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organization?: string | undefined;
  /** ISO 3166-1; absent: none. */
  readonly country?: string | undefined;
  /** As in ETSI EN 319 412-1; absent: none. */
  readonly organizationId?: string | undefined;
  /** The issuer; absent: self-signed. */
  readonly issuer?: OwnCertificate;
  readonly validFrom: Date;
  readonly validUntil: Date;
  /** True for an authority that may issue others; the default is a person who signs documents. */
  readonly ca?: boolean;
  /** A key purpose (RFC 5280 section 4.2.1.12) that it is made for alone, as an object identifier. */
  readonly purpose?: string;
  /** Private key; a new RSA key of 2048 bits without one. */
  readonly privateKey?: KeyObject;
}

const keyUsageOctets = { authority: 0b0000_0110, signer: 0b1100_0000 } as const; // keyCertSign and cRLSign; digitalSignature and nonRepudiation

/** Makes a certificate (RFC 5280). The same request with an RSA key gives the same bytes. */
export function makeCertificate({
  commonName,
  organization,
  country,
  organizationId,
  issuer,
  validFrom,
  validUntil,
  ca = false,
  purpose,
  privateKey,
}: CertificateRequest): OwnCertificate {
  const key = privateKey ?? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  const fields = new pkijs.Certificate({
    version: 2,
    serialNumber: serialOf(commonName, organization ?? '', country ?? '', validFrom.toISOString(), spki),
  });
  fields.subject.typesAndValues = Object.entries({
    country,
    organization,
    organizationIdentifier: organizationId,
    commonName,
  }).flatMap(([part, value]) => (value === undefined ? [] : [namePart(oids[part as NamePart], value)]));
  fields.issuer.typesAndValues =
    issuer === undefined ? fields.subject.typesAndValues : issuer.fields.subject.typesAndValues;
  fields.notBefore = timeOf(validFrom);
  fields.notAfter = timeOf(validUntil);
  fields.subjectPublicKeyInfo = pkijs.PublicKeyInfo.fromBER(spki);
  fields.extensions = extensionsOf(ca, purpose);
  const signingKey = issuer?.privateKey ?? key;
  fields.signature = fields.signatureAlgorithm = ownAlgorithm(signingKey);
  fields.tbs = fields.encodeTBS().toBER();
  fields.signatureValue = new asn1js.BitString({
    valueHex: exactBuffer(sign('sha256', new Uint8Array(fields.tbs), signingKey)),
  });
  const der = new Uint8Array(fields.toSchema(true).toBER());
  return { der, pem: pemOf(der), privateKey: key, issuer: issuer ?? null, fields };
}

/** A defect of a sample signature, for tests of the verification. */
export type CmsDefect = 'digest' | 'signature' | 'content_type' | 'no_attributes' | 'sha1' | 'attached';

/** The parameters of a signature. */
export interface CmsRequest {
  readonly content: Uint8Array;
  readonly certificate: OwnCertificate;
  /** Null: without a signing time. */
  readonly signedAt: Date | null;
  readonly alter?: CmsDefect;
  /** RSASSA-PSS instead of PKCS #1 v1.5; of no effect on a key that is not RSA. */
  readonly pss?: boolean;
  /** A time stamp of the signature, as an attribute that is not signed (RFC 3161 appendix A). */
  readonly stamp?: Omit<TimeStampRequest, 'data'> | undefined;
}

/**
 * Signs content with SHA-256 as a detached CMS, DER, with the signer's certificate and its issuers but the root. With PKCS #1 v1.5
 * the same request gives the same bytes.
 */
export function signDetachedCms({ content, certificate, signedAt, alter, pss = false, stamp }: CmsRequest): Uint8Array {
  const signer = signContent({ content, certificate, signedAt, type: oids.data, alter, pss });
  if (stamp !== undefined) {
    const token = makeTimeStamp({ ...stamp, data: signer.signature.valueBlock.valueHexView });
    signer.unsignedAttrs = new pkijs.SignedAndUnsignedAttributes({
      type: 1,
      attributes: [new pkijs.Attribute({ type: oids.signatureTimeStamp, values: [asn1js.fromBER(token).result] })],
    });
  }
  return encodeSignedData({ signer, certificate, type: oids.data, content: alter === 'attached' ? content : null });
}

/** The parameters of a time stamp. */
interface TimeStampRequest {
  readonly data: Uint8Array;
  /** Of the authority; made for the purpose {@link timeStampingPurpose}. */
  readonly certificate: OwnCertificate;
  readonly time: Date;
}

export const timeStampingPurpose = '1.3.6.1.5.5.7.3.8';

/** A time-stamp token (RFC 3161) over data with SHA-256, DER. */
export function makeTimeStamp({ data, certificate, time }: TimeStampRequest): Uint8Array {
  const hashedMessage = new asn1js.OctetString({ valueHex: exactBuffer(createHash('sha256').update(data).digest()) });
  const info = new pkijs.TSTInfo({
    version: 1,
    policy: '1.2.3.4.1',
    messageImprint: new pkijs.MessageImprint({
      hashAlgorithm: new pkijs.AlgorithmIdentifier({ algorithmId: oids.sha256, algorithmParams: new asn1js.Null() }),
      hashedMessage,
    }),
    serialNumber: serialOf(data, time.toISOString()),
    genTime: time,
  });
  const content = new Uint8Array(info.toSchema().toBER());
  return encodeSignedData({
    signer: signContent({ content, certificate, signedAt: null, type: oids.timeStampInfo }),
    certificate,
    type: oids.timeStampInfo,
    content,
  });
}

interface SigningRequest extends Omit<CmsRequest, 'stamp' | 'alter'> {
  readonly type: string;
  readonly alter?: CmsDefect | undefined;
}

function signContent({ content, certificate, signedAt, type, alter, pss = false }: SigningRequest): pkijs.SignerInfo {
  const hash = alter === 'sha1' ? 'sha1' : 'sha256';
  const digest = createHash(hash).update(content).digest();
  if (alter === 'digest') digest[0]! ^= 1;
  const attributes = ownAttributes({
    digest,
    signedAt,
    contentType: alter === 'content_type' ? oids.signedData : type,
  });
  const isBare = alter === 'no_attributes';
  const signed = isBare
    ? content
    : new Uint8Array(new asn1js.Set({ value: attributes.map((each) => each.toSchema()) }).toBER());
  const signature = sign(hash, signed, { key: certificate.privateKey, ...(pss ? pssPadding : {}) });
  if (alter === 'signature') signature[signature.length - 1]! ^= 1;
  return new pkijs.SignerInfo({
    version: 1,
    sid: new pkijs.IssuerAndSerialNumber({
      issuer: certificate.fields.issuer,
      serialNumber: certificate.fields.serialNumber,
    }),
    digestAlgorithm: new pkijs.AlgorithmIdentifier({
      algorithmId: hash === 'sha1' ? '1.3.14.3.2.26' : oids.sha256,
      algorithmParams: new asn1js.Null(),
    }),
    signatureAlgorithm: pss ? pssAlgorithm() : ownAlgorithm(certificate.privateKey),
    signature: new asn1js.OctetString({ valueHex: exactBuffer(signature) }),
    ...(isBare ? {} : { signedAttrs: new pkijs.SignedAndUnsignedAttributes({ type: 0, attributes }) }),
  });
}

interface SignedDataParts {
  readonly signer: pkijs.SignerInfo;
  readonly certificate: OwnCertificate;
  readonly type: string;
  /** Null for a detached signature. */
  readonly content: Uint8Array | null;
}

function encodeSignedData({ signer, certificate, type, content }: SignedDataParts): Uint8Array {
  const eContent = content === null ? {} : { eContent: new asn1js.OctetString({ valueHex: exactBuffer(content) }) };
  const data = new pkijs.SignedData({
    version: type === oids.data ? 1 : 3,
    encapContentInfo: new pkijs.EncapsulatedContentInfo({ eContentType: type, ...eContent }),
    digestAlgorithms: [signer.digestAlgorithm],
    signerInfos: [signer],
    certificates: withoutRoot(certificate),
  });
  return new Uint8Array(
    new pkijs.ContentInfo({ contentType: oids.signedData, content: data.toSchema(true) }).toSchema().toBER(),
  );
}

/** Certificates that their issuer revokes, each from a time on. */
interface RevocationRequest {
  readonly issuer: OwnCertificate;
  readonly revoked: readonly { readonly certificate: OwnCertificate; readonly at: Date }[];
  readonly madeAt: Date;
  readonly nextAt?: Date;
}

/** A list of revoked certificates (RFC 5280 section 5), DER. */
export function makeRevocationList({ issuer, revoked, madeAt, nextAt }: RevocationRequest): Uint8Array {
  const list = new pkijs.CertificateRevocationList({
    version: 1,
    issuer: issuer.fields.subject,
    thisUpdate: timeOf(madeAt),
    ...(nextAt === undefined ? {} : { nextUpdate: timeOf(nextAt) }),
  });
  list.revokedCertificates = revoked.map(
    ({ certificate, at }) =>
      new pkijs.RevokedCertificate({ userCertificate: certificate.fields.serialNumber, revocationDate: timeOf(at) }),
  );
  list.signature = list.signatureAlgorithm = ownAlgorithm(issuer.privateKey);
  list.tbsView = new Uint8Array(list.toSchema(true).valueBlock.value[0]!.toBER());
  list.signatureValue = new asn1js.BitString({
    valueHex: exactBuffer(sign('sha256', list.tbsView, issuer.privateKey)),
  });
  return new Uint8Array(list.toSchema(true).toBER());
}

function withoutRoot(certificate: OwnCertificate): pkijs.Certificate[] {
  const { issuer } = certificate;
  return [certificate.fields, ...(issuer === null || issuer.issuer === null ? [] : withoutRoot(issuer))];
}

/** In the order of their DER, as in the DER of a SET OF: the content type is the shortest. */
function ownAttributes({
  digest,
  signedAt,
  contentType,
}: {
  digest: Buffer;
  signedAt: Date | null;
  contentType: string;
}): pkijs.Attribute[] {
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
  const sha256 = new pkijs.AlgorithmIdentifier({ algorithmId: oids.sha256, algorithmParams: new asn1js.Null() });
  const maskGenAlgorithm = new pkijs.AlgorithmIdentifier({
    algorithmId: oids.mgf1,
    algorithmParams: sha256.toSchema(),
  });
  const parameters = new pkijs.RSASSAPSSParams({ hashAlgorithm: sha256, maskGenAlgorithm, saltLength: pssSaltBytes });
  return new pkijs.AlgorithmIdentifier({ algorithmId: oids.rsaPss, algorithmParams: parameters.toSchema() });
}

function extensionsOf(ca: boolean, purpose: string | undefined): pkijs.Extension[] {
  const usage = new asn1js.BitString({
    valueHex: Uint8Array.of(ca ? keyUsageOctets.authority : keyUsageOctets.signer).buffer,
    unusedBits: ca ? 1 : 6,
  });
  return [
    new pkijs.Extension({
      extnID: oids.basicConstraints,
      critical: true,
      extnValue: new pkijs.BasicConstraints({ cA: ca }).toSchema().toBER(),
    }),
    new pkijs.Extension({ extnID: oids.keyUsage, critical: true, extnValue: usage.toBER() }),
    ...(purpose === undefined
      ? []
      : [
          new pkijs.Extension({
            extnID: oids.extendedKeyUsage,
            critical: true,
            extnValue: new pkijs.ExtKeyUsage({ keyPurposes: [purpose] }).toSchema().toBER(),
          }),
        ]),
  ];
}

type NamePart = 'country' | 'organization' | 'organizationIdentifier' | 'commonName';

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
  return `-----BEGIN CERTIFICATE-----\n${Buffer.from(der)
    .toString('base64')
    .replace(/.{64}(?=.)/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
}
