import { signDetachedCms, type CmsDefect, type OwnCertificate } from '../../../../cli/sample-letters/sample-signatures.ts';
import { at, letterPdf, type LetterParts } from './pdf-builder.ts';

export interface SignaturePlan {
  readonly certificate: OwnCertificate;
  readonly signedAt: Date | null;
  readonly subFilter?: string;
  readonly field?: string;
  /** More entries of the signature's dictionary. */
  readonly entries?: string;
  readonly alter?: CmsDefect;
  /** Changes the four numbers of the byte range before they are written. */
  readonly range?: (range: number[]) => number[];
}

const placeDigits = 16_000;
const rangePlace = '[0000000000 0000000000 0000000000 0000000000]';

const fieldObject = (name: string, value: number) => `<< /Type /Annot /Subtype /Widget /FT /Sig /T (${name}) /Rect [72 90 300 130] /P ${at.page} 0 R /V ${value} 0 R >>`;
const valueObject = ({ subFilter = 'adbe.pkcs7.detached', entries = '' }: SignaturePlan) => `<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /${subFilter} ${entries} /ByteRange ${rangePlace} /Contents <${'0'.repeat(placeDigits)}> >>`;

/** A letter of one page that is signed. */
export function signedPdf(plan: SignaturePlan, parts: LetterParts = {}): Buffer {
  const unsigned = letterPdf({
    ...parts,
    catalog: `/AcroForm << /Fields [${at.more} 0 R] /SigFlags 3 >>`,
    page: `/Annots [${at.more} 0 R]`,
    more: [fieldObject(plan.field ?? 'Signature1', at.more + 1), valueObject(plan)],
  });
  return fillSignature(unsigned, plan);
}

/** The file with a second signature in a revision of its own. */
export function signAgain(signed: Buffer, plan: SignaturePlan): Buffer {
  const revision = `20 0 obj\n${fieldObject(plan.field ?? 'Signature2', 21)}\nendobj\n21 0 obj\n${valueObject(plan)}\nendobj\n`;
  const catalogue = `1 0 obj\n<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [${at.more} 0 R 20 0 R] /SigFlags 3 >> >>\nendobj\n`;
  return fillSignature(addRevision(signed, catalogue + revision), plan);
}

/** The file with more objects behind its end, as programs save a change. */
export function addRevision(file: Buffer, objects: string): Buffer {
  const start = file.length;
  const numbers = [...objects.matchAll(/^(\d+) 0 obj$/gm)].map((match) => ({ number: Number(match[1]), offset: start + match.index }));
  const table = numbers.map(({ number, offset }) => `${number} 1\n${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const before = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(file.toString('latin1'))![1]);
  return Buffer.concat([file, Buffer.from(`${objects}xref\n${table}trailer\n<< /Size 30 /Root 1 0 R /Prev ${before} >>\nstartxref\n${start + objects.length}\n%%EOF\n`, 'latin1')]);
}

function fillSignature(file: Buffer, { certificate, signedAt, alter, range = (numbers) => numbers }: SignaturePlan): Buffer {
  const start = file.lastIndexOf(`<${'0'.repeat(placeDigits)}>`);
  const end = start + placeDigits + 2;
  const numbers = range([0, start, end, file.length - end]);
  file.write(`[${numbers.map((each) => String(each).padStart(10)).join(' ')}]`, file.lastIndexOf(rangePlace), 'latin1');
  const content = Buffer.concat([file.subarray(0, start), file.subarray(end)]);
  const cms = signDetachedCms({ content, certificate, signedAt, ...(alter === undefined ? {} : { alter }) });
  file.write(Buffer.from(cms).toString('hex'), start + 1, 'latin1');
  return file;
}
