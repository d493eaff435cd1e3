import type {
  LetterLine,
  LetterPage,
  LetterReading,
  PageMark,
  PdfRevision,
  PdfSignature,
} from '../../pipelines/branding/letter-reading.ts';

/** A line of a letter in a test: its text, or more of it. A row of several texts is several lines side by side. */
export type TestLine = string | readonly string[] | (Partial<Omit<LetterLine, 'text'>> & { readonly text: string });

/** What a test says of a letter besides its lines. */
export interface TestLetter {
  /** Of each page. */
  readonly pages?: readonly (readonly TestLine[])[];
  readonly source?: 'text' | 'ocr';
  readonly confidence?: number;
  readonly marks?: readonly PageMark[];
  readonly signatures?: readonly PdfSignature[];
  readonly revisions?: readonly PdfRevision[];
  readonly csv?: string;
  readonly format?: 'pdf' | 'png';
}

const lineHeight = 0.014;
const lineStep = 0.02;
const characterWidth = 0.0085;

/** A letter as it would be read: each line under the one before, in the order given. The marks are on the last page. */
export function readLetter(
  lines: readonly TestLine[],
  {
    pages,
    source = 'text',
    confidence = 93,
    marks = [],
    signatures = [],
    revisions = [],
    csv,
    format = 'pdf',
  }: TestLetter = {},
): LetterReading {
  const all = pages ?? [lines];
  return {
    format,
    pages: all.map((each, at): LetterPage => ({
      page: at + 1,
      width: 612,
      height: 792,
      source,
      marks: at === all.length - 1 ? marks : [],
      lines: each.flatMap((line, row) => placeRow(line, row, source === 'ocr' ? confidence : null)),
    })),
    signatures,
    revisions,
    embeddedCsv: csv === undefined ? null : { name: 'numbers.csv', text: csv },
  };
}

/** Top of a line of `readLetter`, from 0. */
export function topOf(row: number): number {
  return 0.1 + row * lineStep;
}

function placeRow(line: TestLine, row: number, confidence: number | null): LetterLine[] {
  const top = topOf(row);
  if (typeof line !== 'string' && 'text' in line)
    return [{ box: boxAt(0.1, top, line.text), confidence, font: null, ...line }];
  const texts = typeof line === 'string' ? [line] : line;
  return texts.flatMap((text, column) =>
    text === '' ? [] : [{ text, box: boxAt(0.1 + (column * 0.8) / texts.length, top, text), confidence, font: null }],
  );
}

function boxAt(left: number, top: number, text: string) {
  return { left, top, width: Math.max(0.01, text.length * characterWidth), height: lineHeight };
}

/** A PDF signature that verifies. */
export function pdfSignature(change: Partial<PdfSignature> = {}): PdfSignature {
  return {
    field: 'Signature1',
    page: 1,
    box: null,
    timeStamp: null,
    subFilter: 'ETSI.CAdES.detached',
    signerName: 'Jane Doe',
    signerOrganization: 'Acme Widgets, Inc.',
    signerCountry: 'US',
    signerOrganizationId: null,
    signedAt: '2026-03-03T12:00:00Z',
    digestMatches: true,
    signatureValid: true,
    coverage: 'whole',
    chain: 'trusted',
    revocation: 'good',
    problem: null,
    ...change,
  };
}
