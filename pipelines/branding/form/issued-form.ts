import type { FormLanguage } from './letter-form-texts.ts';
import type { FormContent } from './letter-form-pdf.ts';
import type { LetterPlace, LetterReading } from '../letter-reading.ts';
import { sha256Of } from '../../../runtime/digest.ts';

/** An issued form without its bytes. */
export interface IssuedForm {
  readonly formId: number;
  readonly code: string;
  readonly owner: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly formVersion: string;
  readonly language: FormLanguage;
  readonly content: FormContent;
  readonly signaturePlace: LetterPlace;
  readonly issuedAt: Date;
  readonly validUntil: Date;
}

/** The issued form that a letter is, with its later history. */
export interface KnownForm extends IssuedForm {
  /** The brand whose letter it became, if any. */
  readonly brandId: number | null;
  /** A person has rejected or withdrawn a letter of this form. */
  readonly decidedAgainst: boolean;
  readonly revoked: boolean;
  /** False if the letter only shows the code of the form. */
  readonly sameBytes: boolean;
}

/** A printed code, with the letters that recognition confuses with digits. */
const printedCode = /(?<![A-Z0-9])(?:[A-Z0-9]{4}\s?-\s?){6}[A-Z0-9]{2}(?![A-Z0-9])/g;

const codesMax = 20;

/** Codes of forms in a letter's text. */
export function findFormCodes({ pages }: Pick<LetterReading, 'pages'>): readonly string[] {
  const found = pages.flatMap(({ lines }) => lines.flatMap(({ text }) => text.toUpperCase().match(printedCode) ?? []));
  return [
    ...new Set(
      found.map((code) => code.replace(/[\s-]/g, '').replaceAll('0', 'O').replaceAll('1', 'I').replaceAll('8', 'B')),
    ),
  ].slice(0, codesMax);
}

/** Line ends that a signing program may insert or drop between a file and the revision that it appends. */
const endings = ['', '\n', '\r', '\r\n'];

/**
 * Digests of the bytes that may be a form: the first revision of a letter with every possible end of its last line; of a file that is no
 * PDF with revisions, the whole file.
 */
export function digestsOfFirstRevision(
  bytes: Uint8Array,
  { revisions }: Pick<LetterReading, 'revisions'>,
): readonly string[] {
  const first = revisions[0];
  if (first === undefined) return [];
  const start = Buffer.from(bytes.subarray(0, first.end)).toString('latin1');
  const end = start.replace(/[\r\n]+$/, '').length;
  const rest = Buffer.from(bytes.subarray(end, end + 2)).toString('latin1');
  return endings.flatMap((ending) =>
    rest.startsWith(ending) ? [sha256Of(bytes.subarray(0, end + ending.length))] : [],
  );
}
