import type { PdfSignature } from '../letter-reading.ts';
import { LetterRefused } from './letter-refused.ts';
import { inherited } from './pdf-fields.ts';
import type { PdfFile, PdfObject } from './pdf-file.ts';
import type { PdfPage } from './pdf-pages.ts';
import { isArray, isDict, isName, isRef, isString, pdfText, type PdfDict, type PdfString, type PdfValue } from './pdf-syntax.ts';

export interface SignatureOptions {
  readonly file: PdfFile;
  readonly pages: readonly PdfPage[];
  readonly trustRootsPem: string | undefined;
}

/** A letter is signed by one or two people; each signature costs digests of the whole file. */
const signaturesMax = 8;

const subFilters = new Set(['adbe.pkcs7.detached', 'ETSI.CAdES.detached']);

interface SignedField {
  readonly name: string;
  readonly page: number | null;
  readonly dict: PdfDict;
}

/** The bytes that a signature covers: two stretches around its own hexadecimal string. */
interface Coverage {
  readonly ranges: readonly [number, number, number, number];
  /** The stretches begin at 0 and leave out nothing but the string. */
  readonly leavesOutOnlyItself: boolean;
  readonly end: number;
}

type Verdict = Pick<PdfSignature, 'signerName' | 'signerOrganization' | 'signedAt' | 'digestMatches' | 'signatureValid' | 'chain' | 'problem'>;

/**
 * The digital signatures of a PDF (ISO 32000-1 section 12.8), verified, in the order in which they were made.
 * @throws LetterRefused `letter_limit_exceeded` for more signatures than a letter has
 */
export async function readSignatures(options: SignatureOptions): Promise<PdfSignature[]> {
  const { file } = options;
  const fields = findSignedFields(options);
  if (fields.length > signaturesMax) throw new LetterRefused('letter_limit_exceeded', `The PDF has more than ${signaturesMax} signatures.`);
  const judged = fields.map((field) => ({ field, contents: stringOf(file, field.dict, 'Contents'), coverage: coverageOf(file, field.dict) }));
  judged.sort((a, b) => (a.coverage?.end ?? 0) - (b.coverage?.end ?? 0));
  // An earlier revision is covered when the newest signature, which signs it as well, covers the whole file.
  const newest = judged.at(-1)?.coverage ?? null;
  const isWhole = newest !== null && newest.leavesOutOnlyItself && newest.end === file.bytes.length;
  const signatures: PdfSignature[] = [];
  for (const { field, contents, coverage } of judged) {
    const verdict = await verify({ options, dict: field.dict, contents, coverage });
    signatures.push({ field: field.name, page: field.page, subFilter: subFilterOf(file, field.dict), ...verdict, coversWholeFile: isWhole && coverage !== null && coverage.leavesOutOnlyItself });
  }
  const lost = countByteRanges(file.bytes) > judged.length;
  return lost ? [...signatures, lostSignature] : signatures;
}

/** A file that was signed, and whose signature a later revision has taken away. */
const lostSignature: PdfSignature = {
  field: '', page: null, subFilter: '', signerName: null, signerOrganization: null, signedAt: null,
  digestMatches: false, signatureValid: false, coversWholeFile: false, chain: 'unchecked',
  problem: 'The file holds a signature that its last version does not show.',
};

function countByteRanges(bytes: Uint8Array): number {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1').match(/\/ByteRange\s*\[\s*\d+\s+\d+\s+\d+\s+\d+/g)?.length ?? 0;
}

/** Fields of the type Sig with a value, each value once. */
function findSignedFields({ file, pages }: SignatureOptions): SignedField[] {
  const fields = new Map<PdfDict, SignedField>();
  for (const object of file.all) {
    if (file.object(object.number) !== object || !isDict(object.value)) continue;
    if (!isName(inherited(file, object.value, 'FT'), 'Sig')) continue;
    const value = inherited(file, object.value, 'V');
    if (isDict(value) && !fields.has(value)) fields.set(value, { name: fieldName(file, object.value), page: pageOf({ file, pages, object }), dict: value });
  }
  return [...fields.values()];
}

/** Full name of a field: those of the fields above it and its own, with points between. */
function fieldName(file: PdfFile, field: PdfDict): string {
  const parts: string[] = [];
  let at: PdfValue = field;
  for (let level = 0; isDict(at) && level < 16; level++) {
    const name = file.entry(at, 'T');
    if (isString(name)) parts.unshift(pdfText(name).replace(/\p{C}/gu, '').slice(0, 100));
    at = file.entry(at, 'Parent');
  }
  return parts.join('.');
}

/** The page whose annotations hold the field or one of its widgets; none for a signature without a place. */
function pageOf({ file, pages, object }: { file: PdfFile; pages: readonly PdfPage[]; object: PdfObject }): number | null {
  const field = object.value as PdfDict;
  const kids = file.entry(field, 'Kids');
  const numbers = new Set([object.number, ...(isArray(kids) ? kids.items.flatMap((kid) => (isRef(kid) ? [kid.number] : [])) : [])]);
  const at = pages.findIndex(({ dict }) => {
    const annotations = file.entry(dict, 'Annots');
    return isArray(annotations) && annotations.items.some((item) => isRef(item) && numbers.has(item.number));
  });
  const rect = file.entry(field, 'Rect');
  const hasNoArea = isArray(rect) && rect.items.length === 4 && (rect.items[0] === rect.items[2] || rect.items[1] === rect.items[3]);
  return at < 0 || hasNoArea ? null : at + 1;
}

function subFilterOf(file: PdfFile, dict: PdfDict): string {
  const subFilter = file.entry(dict, 'SubFilter');
  return isName(subFilter) ? subFilter.name.slice(0, 100) : '';
}

function stringOf(file: PdfFile, dict: PdfDict, key: string): PdfString | null {
  const value = file.entry(dict, key);
  return isString(value) ? value : null;
}

function coverageOf(file: PdfFile, dict: PdfDict): Coverage | null {
  const range = file.entry(dict, 'ByteRange');
  const contents = dict.entries.get('Contents');
  if (!isArray(range) || range.items.length !== 4 || !isString(contents)) return null;
  const numbers = range.items.map((item) => file.resolve(item));
  if (!numbers.every((each) => typeof each === 'number' && Number.isInteger(each) && each >= 0 && each <= file.bytes.length)) return null;
  const [start, length, second, rest] = numbers as [number, number, number, number];
  const end = second + rest;
  if (end > file.bytes.length || start + length > second) return null;
  const leavesOutOnlyItself = start === 0 && contents.hex && length === contents.start && second === contents.end;
  return { ranges: [start, length, second, rest], leavesOutOnlyItself, end };
}

interface VerifyOptions {
  readonly options: SignatureOptions;
  readonly dict: PdfDict;
  readonly contents: PdfString | null;
  readonly coverage: Coverage | null;
}

async function verify({ options: { file, trustRootsPem }, dict, contents, coverage }: VerifyOptions): Promise<Verdict> {
  const subFilter = subFilterOf(file, dict);
  const time = file.entry(dict, 'M');
  const claimedAt = isString(time) ? pdfTime(pdfText(time)) : null;
  if (!subFilters.has(subFilter)) return unverified('The type of the signature is not supported.', claimedAt);
  if (contents === null || coverage === null) return unverified('The signature does not say which bytes it covers.', claimedAt);
  const [start, length, second, rest] = coverage.ranges;
  const content = Buffer.concat([file.bytes.subarray(start, start + length), file.bytes.subarray(second, second + rest)]);
  const { verifyDetachedCms } = await import('./cms.ts'); // loaded only where a letter is signed
  const options = { ...(trustRootsPem === undefined ? {} : { trustRootsPem }), ...(claimedAt === null ? {} : { claimedAt: new Date(claimedAt) }) };
  const verdict = await verifyDetachedCms({ cms: contents.bytes, content, ...options });
  const { signerName, signerOrganization, digestMatches, signatureValid, chain, problem } = verdict;
  return { signerName, signerOrganization, signedAt: verdict.signedAt ?? claimedAt, digestMatches, signatureValid, chain, problem };
}

function unverified(problem: string, signedAt: string | null): Verdict {
  return { signerName: null, signerOrganization: null, signedAt, digestMatches: false, signatureValid: false, chain: 'unchecked', problem };
}

const timeForm = /^D:(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-])(\d\d)'?(\d\d)?)?/;

/** A date of PDF (ISO 32000-1 section 7.9.4) as ISO 8601 in UTC, or null. */
export function pdfTime(text: string): string | null {
  const match = timeForm.exec(text);
  if (match === null) return null;
  const [year, month = '01', day = '01', hour = '00', minute = '00', second = '00', sign, zoneHours = '00', zoneMinutes = '00'] = match.slice(1);
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000 * (sign === '-' ? -1 : 1);
  return Number.isNaN(time) ? null : new Date(time - (sign === undefined ? 0 : offset)).toISOString();
}
