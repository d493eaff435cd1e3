import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import type { RevocationStatus } from '../../letter-reading.ts';
import {
  CmsProblem,
  cmsLimits,
  extensionOf,
  hasKeyUsage,
  isStrong,
  keyUsageBits,
  ocspPurpose,
  parseDer,
  purposesOf,
  readAll,
  succeeds,
  type ValidationData,
} from './certificate-chain.ts';

/** A chain of certificates whose revocation is asked for, at a time. */
interface RevocationRequest {
  /** From the signer's certificate to the root's. */
  readonly chain: readonly pkijs.Certificate[];
  readonly validationData: ValidationData;
  readonly at: Date;
}

/**
 * What revocation lists (RFC 5280 section 5) and OCSP answers (RFC 6960) say of the certificates below the root of a chain:
 * `revoked` if one was revoked by that time, `good` if each of them is vouched for, else `unknown`. Nothing is fetched.
 */
export async function revocationOf({ chain, validationData, at }: RevocationRequest): Promise<RevocationStatus> {
  const lists = readAll(validationData.crls, readRevocationList);
  const answers = readAll(validationData.ocsps, readOcsp);
  const statuses: RevocationStatus[] = [];
  for (const [place, certificate] of chain.slice(0, -1).entries()) {
    const check = { certificate, issuer: chain[place + 1]!, at };
    const found: RevocationStatus[] = [];
    for (const list of lists) found.push(await statusOnList(list, check));
    for (const answer of answers) found.push(await statusInAnswer(answer, check));
    statuses.push(found.includes('revoked') ? 'revoked' : found.includes('good') ? 'good' : 'unknown');
  }
  if (statuses.includes('revoked')) return 'revoked';
  return statuses.length > 0 && statuses.every((status) => status === 'good') ? 'good' : 'unknown';
}

interface CertificateCheck {
  readonly certificate: pkijs.Certificate;
  readonly issuer: pkijs.Certificate;
  readonly at: Date;
}

/** One element of DER: offsets of its header, of its content, and of the byte after it. */
interface Element {
  readonly tag: number;
  readonly start: number;
  readonly content: number;
  readonly end: number;
}

const tags = { integer: 0x02, sequence: 0x30, utcTime: 0x17, generalizedTime: 0x18, uri: 0x86, first: 0xa0 } as const;

/** A list of revoked certificates. Its entries, which may be very many, are searched in place. */
interface RevocationList {
  readonly der: Uint8Array;
  readonly signed: Uint8Array;
  readonly algorithm: pkijs.AlgorithmIdentifier;
  readonly signature: asn1js.BitString;
  readonly issuer: pkijs.RelativeDistinguishedNames;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | null;
  readonly entries: Element | null;
  readonly extensions: readonly pkijs.Extension[];
}

function readRevocationList(der: Uint8Array): RevocationList {
  const [tbs, algorithm, signature] = elementsIn(der, elementAt(der, 0));
  const parts = [...elementsIn(der, tbs!)];
  const takeIf = (...wanted: readonly number[]) => (wanted.includes(parts[0]?.tag ?? 0) ? parts.shift()! : null);
  takeIf(tags.integer); // version
  takeIf(tags.sequence); // algorithm, again
  const [issuer, thisUpdate] = [takeIf(tags.sequence), takeIf(tags.utcTime, tags.generalizedTime)];
  const nextUpdate = takeIf(tags.utcTime, tags.generalizedTime);
  const entries = takeIf(tags.sequence);
  const extensions = takeIf(tags.first);
  const schema = ({ start, end }: Element) => parseDer(der.subarray(start, end));
  return {
    der,
    signed: der.subarray(tbs!.start, tbs!.end),
    algorithm: new pkijs.AlgorithmIdentifier({ schema: schema(algorithm!) }),
    signature: schema(signature!) as asn1js.BitString,
    issuer: new pkijs.RelativeDistinguishedNames({ schema: schema(issuer!) }),
    thisUpdate: timeOf(schema(thisUpdate!))!,
    nextUpdate: nextUpdate && timeOf(schema(nextUpdate)),
    entries,
    extensions:
      extensions === null
        ? []
        : new pkijs.Extensions({ schema: schema(elementAt(der, extensions.content)) }).extensions,
  };
}

/** @throws CmsProblem for what ends outside of the bytes, or has no stated length */
function elementAt(der: Uint8Array, start: number): Element {
  const first = der[start + 1] ?? 0x80;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  const content = start + 2 + lengthBytes;
  const length = lengthBytes === 0 ? first : Buffer.from(der.subarray(start + 2, content)).readUIntBE(0, lengthBytes);
  if (first === 0x80 || content + length > der.length) throw new CmsProblem('The revocation list is damaged.');
  return { tag: der[start]!, start, content, end: content + length };
}

function* elementsIn(der: Uint8Array, { content, end }: Element): Generator<Element, void> {
  for (let at = content; at < end;) {
    const element = elementAt(der, at);
    yield element;
    at = element.end;
  }
}

function timeOf(value: unknown): Date | null {
  return value instanceof asn1js.UTCTime || value instanceof asn1js.GeneralizedTime ? value.toDate() : null; // a GeneralizedTime is a UTCTime there
}

async function statusOnList(
  list: RevocationList,
  { certificate, issuer, at }: CertificateCheck,
): Promise<RevocationStatus> {
  if (!certificate.issuer.isEqual(list.issuer)) return 'unknown';
  const scope = scopeOf(list, certificate);
  const revokedAt = scope === 'none' ? null : findRevocation(list, certificate);
  if (revokedAt === null && !(scope === 'all' && at <= (list.nextUpdate ?? list.thisUpdate))) return 'unknown';
  const { signed, signature, algorithm } = list;
  const isIts =
    hasKeyUsage(issuer, [keyUsageBits.cRLSign]) &&
    isStrong(algorithm) &&
    (await succeeds(
      pkijs.getCrypto(true).verifyWithPublicKey(signed, signature, issuer.subjectPublicKeyInfo, algorithm),
    ));
  if (!isIts) return 'unknown';
  return revokedAt !== null && revokedAt <= at ? 'revoked' : 'good';
}

function findRevocation({ der, entries }: RevocationList, { serialNumber }: pkijs.Certificate): Date | null {
  const wanted = withoutZeros(serialNumber.valueBlock.valueHexView);
  for (const entry of entries === null ? [] : elementsIn(der, entries)) {
    const serial = elementAt(der, entry.content);
    if (Buffer.compare(withoutZeros(der.subarray(serial.content, serial.end)), wanted) !== 0) continue;
    const time = elementAt(der, serial.end);
    return timeOf(parseDer(der.subarray(time.start, time.end)));
  }
  return null;
}

function withoutZeros(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  return first <= 0 ? bytes : bytes.subarray(first);
}

const listExtensions = { authorityKey: '2.5.29.35', number: '2.5.29.20', issuingPoint: '2.5.29.28' } as const;
const revocationPoints = '2.5.29.31';

/**
 * Which certificates a list is about: `all` that it could name, so that one that is missing is good; `named`: it may leave out some;
 * `none`: a list of changes or of other authorities' certificates.
 */
function scopeOf({ extensions }: RevocationList, certificate: pkijs.Certificate): 'all' | 'named' | 'none' {
  const known: readonly string[] = Object.values(listExtensions);
  if (extensions.some(({ extnID, critical }) => critical && !known.includes(extnID))) return 'none';
  const point = extensions.find(({ extnID }) => extnID === listExtensions.issuingPoint);
  if (point === undefined) return 'all';
  const der = point.extnValue.valueBlock.valueHexView;
  const parts = [...elementsIn(der, elementAt(der, 0))]; // IssuingDistributionPoint: point, user, authority, reasons, indirect, attribute
  if (parts.some(({ tag }) => (tag & 0x1f) > 3)) return 'none';
  const own = extensionOf(certificate, revocationPoints)?.extnValue.valueBlock.valueHexView;
  const isOwn =
    own !== undefined &&
    urisIn(der, parts).some((uri) => Buffer.from(own.buffer, own.byteOffset, own.length).includes(Buffer.from(uri)));
  return parts.length === 1 && isOwn ? 'all' : 'named';
}

function urisIn(der: Uint8Array, elements: Iterable<Element>): Uint8Array[] {
  return [...elements].flatMap((element) => {
    if (element.tag === tags.uri) return [der.subarray(element.content, element.end)];
    return element.tag >= tags.first ? urisIn(der, elementsIn(der, element)) : [];
  });
}

const answerTags = { good: 0, revoked: 1 } as const;

function readOcsp(der: Uint8Array): pkijs.BasicOCSPResponse {
  const bytes = new pkijs.OCSPResponse({ schema: parseDer(der) }).responseBytes?.response.valueBlock.valueHexView;
  if (bytes === undefined) throw new CmsProblem('The answer about revocation is empty.');
  return new pkijs.BasicOCSPResponse({ schema: parseDer(bytes) });
}

async function statusInAnswer(answer: pkijs.BasicOCSPResponse, check: CertificateCheck): Promise<RevocationStatus> {
  for (const single of answer.tbsResponseData.responses) {
    const status = statusOfSingle(single, check.at);
    if (status !== 'unknown' && (await succeeds(isAbout(single, check))) && (await isAnswerOf(answer, check.issuer)))
      return status;
  }
  return 'unknown';
}

function statusOfSingle({ certStatus, thisUpdate, nextUpdate }: pkijs.SingleResponse, at: Date): RevocationStatus {
  const { idBlock, valueBlock } = certStatus as { idBlock: { tagNumber: number }; valueBlock: { value?: unknown } };
  if (idBlock.tagNumber === answerTags.good) return at <= (nextUpdate ?? thisUpdate) ? 'good' : 'unknown';
  if (idBlock.tagNumber !== answerTags.revoked) return 'unknown';
  const revokedAt = timeOf(Array.isArray(valueBlock.value) ? valueBlock.value[0] : null);
  return revokedAt !== null && revokedAt > at ? 'good' : 'revoked';
}

async function isAbout({ certID }: pkijs.SingleResponse, { certificate, issuer }: CertificateCheck): Promise<boolean> {
  const { name } = pkijs.getCrypto(true).getAlgorithmByOID(certID.hashAlgorithm.algorithmId) as { name: string };
  const wanted = new pkijs.CertID();
  await wanted.createForCertificate(certificate, { hashAlgorithm: name, issuerCertificate: issuer });
  return wanted.isEqual(certID);
}

/** Signed by the issuer itself or by a responder that it certified (RFC 6960, section 4.2.2.2). */
async function isAnswerOf(answer: pkijs.BasicOCSPResponse, issuer: pkijs.Certificate): Promise<boolean> {
  if (!isStrong(answer.signatureAlgorithm)) return false;
  for (const responder of [issuer, ...(answer.certs ?? []).slice(0, cmsLimits.chainLengthMax)]) {
    if (!(await succeeds(isSignedWith(answer, responder)))) continue;
    if (responder === issuer) return true;
    if (
      purposesOf(responder)?.includes(ocspPurpose) === true &&
      responder.issuer.isEqual(issuer.subject) &&
      (await succeeds(responder.verify(issuer)))
    )
      return true;
  }
  return false;
}

async function isSignedWith(
  { tbsResponseData, signature, signatureAlgorithm }: pkijs.BasicOCSPResponse,
  { subjectPublicKeyInfo }: pkijs.Certificate,
): Promise<boolean> {
  return pkijs
    .getCrypto(true)
    .verifyWithPublicKey(new Uint8Array(tbsResponseData.tbsView), signature, subjectPublicKeyInfo, signatureAlgorithm);
}
