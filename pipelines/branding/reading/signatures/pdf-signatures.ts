import type { Box, PdfSignature, PdfTimeStamp } from '../../letter-reading.ts';
import type { RevocationData } from '../../letter-trust.ts';
import type { ValidationData } from './certificate-chain.ts';
import type { CmsVerdict } from './cms.ts';
import { LetterRefused } from '../gate/letter-refused.ts';
import { roundBox } from '../pdf/page-geometry.ts';
import type { ComparedRevision } from '../pdf/revisions/pdf-changes.ts';
import { fullFieldName, inherited, isTimeStamp, widgetsOf } from '../pdf/pdf-fields.ts';
import type { PdfFile, PdfObject } from '../pdf/pdf-file.ts';
import { rootOf, type PdfPage } from '../pdf/pdf-pages.ts';
import { isArray, isDict, isName, isRef, isString, pdfText, type PdfDict, type PdfString } from '../pdf/pdf-syntax.ts';

interface SignatureOptions {
  readonly file: PdfFile;
  readonly pages: readonly PdfPage[];
  readonly revisions: readonly ComparedRevision[];
  readonly trustRootsPem: string | undefined;
  /** Revocation lists and answers of the operator. */
  readonly revocationData: RevocationData | undefined;
}

/** A letter is signed by one or two people and stamped again every few years; each of them costs digests of the whole file. */
const [signaturesMax, timeStampsMax] = [8, 8];

const subFilters = new Set(['adbe.pkcs7.detached', 'ETSI.CAdES.detached']);

interface SignedField {
  readonly name: string;
  readonly page: number | null;
  readonly box: Box | null;
  readonly dict: PdfDict;
  /** The object whose bytes hold the value. */
  readonly holder: PdfObject | undefined;
}

/** The bytes that a signature covers: two ranges around its own hexadecimal string. */
interface Coverage {
  readonly ranges: readonly [number, number, number, number];
  /** The ranges begin at 0 and exclude only the string. */
  readonly leavesOutOnlyItself: boolean;
  readonly end: number;
}

/**
 * The digital signatures of a PDF (ISO 32000-1 section 12.8), verified, in the order in which they were made.
 * @throws LetterRefused `letter_limit_exceeded` for more signatures than a letter has
 */
export async function readSignatures(options: SignatureOptions): Promise<PdfSignature[]> {
  const { file, revisions } = options;
  const fields = findSignedFields(options);
  const stampCount = fields.filter(({ dict }) => isTimeStamp(file, dict)).length;
  if (fields.length - stampCount > signaturesMax)
    throw new LetterRefused('letter_limit_exceeded', `The PDF has more than ${signaturesMax} signatures.`);
  if (stampCount > timeStampsMax)
    throw new LetterRefused('letter_limit_exceeded', `The PDF has more than ${timeStampsMax} time stamps.`);
  const judged = fields.map((field): SignedValue => ({
    field,
    contents: stringOf(file, field.dict, 'Contents'),
    covered: coverageOf(file, field),
  }));
  judged.sort((a, b) => (a.covered?.end ?? 0) - (b.covered?.end ?? 0));
  const { trustRootsPem, revocationData } = options;
  const trust = { trustRootsPem, validationData: readValidationData(file, revocationData) };
  const isStamp = ({ field }: SignedValue) => isTimeStamp(file, field.dict);
  const stamps: DocumentTimeStamp[] = [];
  for (const value of judged.filter(isStamp))
    if (judgeCoverage(value.covered, revisions) !== 'partial')
      stamps.push(...(await readDocumentTimeStamp(file, value, trust)));
  const signatures: PdfSignature[] = [];
  for (const value of judged.filter((each) => !isStamp(each))) {
    const {
      field: { name, page, box, dict },
      covered,
    } = value;
    const documentTimeStamps = stamps
      .filter(({ end }) => covered !== null && end > covered.end)
      .map(({ stamp }) => stamp);
    const verdict = await verify({ file, value, trust, documentTimeStamps });
    signatures.push({
      field: name,
      page,
      box,
      subFilter: subFilterOf(file, dict),
      ...verdict,
      coverage: judgeCoverage(covered, revisions),
    });
  }
  const lost = countByteRanges(file.text) > judged.length;
  return lost ? [...signatures, lostSignature(trust)] : signatures;
}

/** A signature of the file before verification. */
interface SignedValue {
  readonly field: SignedField;
  readonly contents: PdfString | null;
  readonly covered: Coverage | null;
}

interface TrustOptions {
  readonly trustRootsPem: string | undefined;
  readonly validationData: ValidationData;
}

/** A time stamp of the whole document up to this byte. */
interface DocumentTimeStamp {
  readonly stamp: PdfTimeStamp;
  readonly end: number;
}

async function readDocumentTimeStamp(
  file: PdfFile,
  { contents, covered }: SignedValue,
  trust: TrustOptions,
): Promise<DocumentTimeStamp[]> {
  if (contents === null || covered === null) return [];
  const { verifyTimeStamp } = await import('./cms.ts');
  const stamp = await verifyTimeStamp({ token: contents.bytes, data: coveredBytes(file, covered), ...trust });
  return stamp === null ? [] : [{ stamp, end: covered.end }];
}

function coveredBytes({ bytes }: PdfFile, { ranges: [start, length, second, rest] }: Coverage): Buffer {
  return Buffer.concat([bytes.subarray(start, start + length), bytes.subarray(second, second + rest)]);
}

/** Entries of each list of the validation data that are read. */
const validationEntriesMax = 32;

/** The validation data of the file (the dictionary DSS), and those of the operator. */
function readValidationData(file: PdfFile, { crls, ocsps }: RevocationData = { crls: [], ocsps: [] }): ValidationData {
  const dss = file.dictAt(rootOf(file), 'DSS');
  const list = (key: string) =>
    file
      .itemsOf(dss.entries.get(key))
      .slice(0, validationEntriesMax)
      .flatMap((item) => {
        const object = isRef(item) ? file.object(item.number) : undefined;
        return object === undefined || object.stream === null ? [] : [file.decode(object)];
      });
  const bytesOf = (base64: string) => Buffer.from(base64, 'base64');
  return {
    certificates: list('Certs'),
    crls: [...crls.map(bytesOf), ...list('CRLs')],
    ocsps: [...ocsps.map(bytesOf), ...list('OCSPs')],
  };
}

/** A signature that a later revision has removed. */
function lostSignature(trust: TrustOptions): PdfSignature {
  return {
    field: '',
    page: null,
    box: null,
    subFilter: '',
    ...unverifiedSignature('The file holds a signature that its last version does not show.', null, trust),
    coverage: 'partial',
  };
}

function countByteRanges(text: string): number {
  return text.match(/\/ByteRange\s*\[\s*\d+\s+\d+\s+\d+\s+\d+/g)?.length ?? 0;
}

/** A signature must cover its own revision, at least up to its end mark; later revisions are judged separately. */
function judgeCoverage(covered: Coverage | null, revisions: readonly ComparedRevision[]): PdfSignature['coverage'] {
  const at = covered === null ? -1 : revisions.findIndex(({ mark, end }) => covered.end >= mark && covered.end <= end);
  if (covered === null || at < 0 || !covered.leavesOutOnlyItself || covered.ranges[1] < revisions[at]!.start)
    return 'partial';
  const later = revisions.slice(at + 1);
  if (later.length === 0) return 'whole';
  return later.some(({ kind }) => kind === 'other') ? 'changed' : 'extended';
}

/** Fields of the type Sig with a value, each value once. */
function findSignedFields({ file, pages }: SignatureOptions): SignedField[] {
  const fields = new Map<PdfDict, SignedField>();
  const holders = new Map(file.all.map((object) => [object.value, object]));
  for (const object of file.all) {
    if (file.object(object.number) !== object || !isDict(object.value)) continue;
    if (!isName(inherited(file, object.value, 'FT'), 'Sig')) continue;
    const value = inherited(file, object.value, 'V');
    if (!isDict(value) || fields.has(value)) continue;
    const [shown] = widgetsOf(file, pages, object.value);
    const place = shown === undefined ? { page: null, box: null } : { page: shown.page, box: roundBox(shown.box) };
    fields.set(value, {
      name: fullFieldName(file, object.value),
      ...place,
      dict: value,
      holder: holders.get(value) ?? object,
    });
  }
  return [...fields.values()];
}

function subFilterOf(file: PdfFile, dict: PdfDict): string {
  const subFilter = file.entry(dict, 'SubFilter');
  return isName(subFilter) ? subFilter.name.slice(0, 100) : '';
}

function stringOf(file: PdfFile, dict: PdfDict, key: string): PdfString | null {
  const value = file.entry(dict, key);
  return isString(value) ? value : null;
}

function coverageOf(file: PdfFile, { dict, holder }: SignedField): Coverage | null {
  const range = file.entry(dict, 'ByteRange');
  const contents = dict.entries.get('Contents');
  if (!isArray(range) || range.items.length !== 4 || !isString(contents)) return null;
  const numbers = range.items.map((item) => file.resolve(item));
  if (
    !numbers.every(
      (each) => typeof each === 'number' && Number.isInteger(each) && each >= 0 && each <= file.bytes.length,
    )
  )
    return null;
  const [start, length, second, rest] = numbers as [number, number, number, number];
  const end = second + rest;
  if (end > file.bytes.length || start + length > second) return null;
  // Offsets in an object stream are not offsets in the file.
  const isInPlace =
    holder !== undefined && holder.packed === null && contents.start >= holder.start && contents.end <= holder.end;
  const leavesOutOnlyItself =
    isInPlace && start === 0 && contents.hex && length === contents.start && second === contents.end;
  return { ranges: [start, length, second, rest], leavesOutOnlyItself, end };
}

interface VerifyOptions {
  readonly file: PdfFile;
  readonly value: SignedValue;
  readonly trust: TrustOptions;
  readonly documentTimeStamps: readonly PdfTimeStamp[];
}

async function verify({
  file,
  value: {
    field: { dict },
    contents,
    covered,
  },
  trust,
  documentTimeStamps,
}: VerifyOptions): Promise<CmsVerdict> {
  const time = file.entry(dict, 'M');
  const claimed = isString(time) ? pdfTime(pdfText(time)) : null;
  if (!subFilters.has(subFilterOf(file, dict)))
    return unverifiedSignature('The type of the signature is not supported.', claimed, trust);
  if (contents === null || covered === null)
    return unverifiedSignature('The signature does not say which bytes it covers.', claimed, trust);
  const { verifyDetachedCms } = await import('./cms.ts'); // loaded only where a letter is signed
  const claimedAt = claimed === null ? undefined : new Date(claimed);
  const verdict = await verifyDetachedCms({
    cms: contents.bytes,
    content: coveredBytes(file, covered),
    claimedAt,
    documentTimeStamps,
    ...trust,
  });
  return { ...verdict, signedAt: earlier(verdict.signedAt ?? claimed, verdict.timeStamp?.time ?? null) };
}

/** The claimed time, but not after the stamp, which was made after the signature. */
function earlier(claimed: string | null, stamped: string | null): string | null {
  if (claimed === null || stamped === null) return claimed ?? stamped;
  return claimed < stamped ? claimed : stamped;
}

function unverifiedSignature(
  problem: string,
  signedAt: string | null,
  { trustRootsPem = '' }: TrustOptions,
): CmsVerdict {
  return {
    signerName: null,
    signerOrganization: null,
    signerCountry: null,
    signerOrganizationId: null,
    signedAt,
    timeStamp: null,
    digestMatches: false,
    signatureValid: false,
    chain: trustRootsPem.trim() === '' ? 'unchecked' : 'untrusted',
    revocation: 'unknown',
    problem,
  };
}

const timeForm = /^D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-])(\d\d)'?(\d\d)?)?/;

/** A date of PDF (ISO 32000-1 section 7.9.4) as ISO 8601 in UTC, or null. */
export function pdfTime(text: string): string | null {
  const match = timeForm.exec(text);
  if (match === null) return null;
  const [
    year,
    month = '01',
    day = '01',
    hour = '00',
    minute = '00',
    second = '00',
    sign,
    zoneHours = '00',
    zoneMinutes = '00',
  ] = match.slice(1);
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000 * (sign === '-' ? -1 : 1);
  return Number.isNaN(time) ? null : new Date(time - (sign === undefined ? 0 : offset)).toISOString();
}
