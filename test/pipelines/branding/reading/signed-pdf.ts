import {
  makeTimeStamp,
  signDetachedCms,
  type CmsDefect,
  type CmsRequest,
  type OwnCertificate,
} from '../../../../samples/letters/sample-signatures.ts';
import { at, letterPdf, type LetterParts, type ObjectBody } from './pdf-builder.ts';
import { appendUpdate, type UpdateParts } from './pdf-update.ts';

interface SignaturePlan {
  readonly certificate: OwnCertificate;
  readonly signedAt: Date | null;
  readonly subFilter?: string;
  readonly field?: string;
  /** More entries of the signature's dictionary. */
  readonly entries?: string;
  readonly alter?: CmsDefect;
  /** A time stamp in the signature. */
  readonly stamp?: CmsRequest['stamp'];
  /** Changes the four numbers of the byte range before they are written. */
  readonly range?: (range: number[]) => number[];
}

const placeDigits = 16_000;
const rangePlace = '[0000000000 0000000000 0000000000 0000000000]';

/** An invisible one where it is on no page's list of annotations. */
export const fieldObject = (name: string, value: number) =>
  `<< /Type /Annot /Subtype /Widget /FT /Sig /T (${name}) /Rect [72 90 300 130] /P ${at.page} 0 R /V ${value} 0 R >>`;
const valueObject = ({ subFilter = 'adbe.pkcs7.detached', entries = '' }: SignaturePlan) =>
  `<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /${subFilter} ${entries} /ByteRange ${rangePlace} /Contents <${'0'.repeat(placeDigits)}> >>`;

/** A letter of one page that is signed. */
export function signedPdf(plan: SignaturePlan, parts: LetterParts = {}): Buffer {
  const unsigned = letterPdf({
    ...parts,
    catalog: `/AcroForm << /Fields [${at.more} 0 R] /SigFlags 3 >> ${parts.catalog ?? ''}`,
    page: `/Annots [${at.more} 0 R]`,
    more: [fieldObject(plan.field ?? 'Signature1', at.more + 1), valueObject(plan)],
  });
  return fillSignature(unsigned, plan);
}

/** The file with a second signature in a revision of its own, and more entries of the catalogue. */
export function signAgain(signed: Buffer, plan: SignaturePlan, catalog = ''): Buffer {
  const catalogue = `<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [${at.more} 0 R 20 0 R] /SigFlags 3 >> ${catalog} >>`;
  return signUpdate(signed, plan, {
    objects: [
      [1, catalogue],
      [20, fieldObject(plan.field ?? 'Signature2', 21)],
    ],
  });
}

/** The file with more objects behind its end, as programs save a change. */
export function addRevision(file: Buffer, objects: string): Buffer {
  const bodies = [...objects.matchAll(/^(\d+) 0 obj\n([\s\S]*?)\nendobj$/gm)].map(
    (match) => [Number(match[1]), match[2]!] as const,
  );
  return appendUpdate(file, { objects: bodies });
}

/** The file with an update that holds the value of a signature, as object 21 unless another number is given, and is signed with it. */
export function signUpdate(
  file: Buffer,
  plan: SignaturePlan,
  { objects = [], value = 21, ...parts }: UpdateParts & { readonly value?: number },
): Buffer {
  return fillSignature(appendUpdate(file, { objects: [...objects, [value, valueObject(plan)]], ...parts }), plan);
}

/** The file with an update that holds a document time stamp, as object 31 unless another number is given, and is stamped with it. */
export function stampUpdate(
  file: Buffer,
  { certificate, time }: { certificate: OwnCertificate; time: Date },
  { objects = [], value = 31, ...parts }: UpdateParts & { readonly value?: number },
): Buffer {
  const body: ObjectBody = `<< /Type /DocTimeStamp /Filter /Adobe.PPKLite /SubFilter /ETSI.RFC3161 /ByteRange ${rangePlace} /Contents <${'0'.repeat(placeDigits)}> >>`;
  const stamped = appendUpdate(file, { objects: [...objects, [value, body]], ...parts });
  return fillPlace(stamped, (content) => makeTimeStamp({ data: content, certificate, time }));
}

function fillSignature(file: Buffer, { certificate, signedAt, alter, stamp, range }: SignaturePlan): Buffer {
  return fillPlace(
    file,
    (content) => signDetachedCms({ content, certificate, signedAt, stamp, ...(alter === undefined ? {} : { alter }) }),
    range,
  );
}

function fillPlace(
  file: Buffer,
  sign: (content: Buffer) => Uint8Array,
  range: (numbers: number[]) => number[] = (numbers) => numbers,
): Buffer {
  const start = file.lastIndexOf(`<${'0'.repeat(placeDigits)}>`);
  const end = start + placeDigits + 2;
  const numbers = range([0, start, end, file.length - end]);
  file.write(`[${numbers.map((each) => String(each).padStart(10)).join(' ')}]`, file.lastIndexOf(rangePlace), 'latin1');
  const content = Buffer.concat([file.subarray(0, start), file.subarray(end)]);
  file.write(Buffer.from(sign(content)).toString('hex'), start + 1, 'latin1');
  return file;
}
