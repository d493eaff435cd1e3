import type { LetterLine, LetterReading, PdfRevision, PdfSignature } from '../../pipelines/branding/letter-reading.ts';
import type { Box } from '../../pipelines/branding/letter-reading.ts';

/** What a test says of a letter besides its lines. */
export interface TestLetter {
  /** Of each page. */
  readonly pages?: readonly (readonly string[])[];
  readonly confidence?: number;
  /** On the last page. */
  readonly ink?: readonly Box[];
  readonly signatures?: readonly PdfSignature[];
  readonly revisions?: readonly PdfRevision[];
  readonly csv?: string;
  readonly format?: 'pdf' | 'png';
}

const lineHeight = 0.014;
const lineStep = 0.02;
const characterWidth = 0.0085;

/** A letter as it would be read: each line under the one before, in the order given. */
export function readLetter(
  lines: readonly string[],
  { pages = [lines], confidence = 93, ink = [], signatures = [], revisions = [], csv, format = 'pdf' }: TestLetter = {},
): LetterReading {
  return {
    format,
    pages: pages.map((each, at) => ({
      page: at + 1,
      width: format === 'pdf' ? 612 : 1700,
      height: format === 'pdf' ? 792 : 2200,
      turned: 0,
      ink: at === pages.length - 1 ? ink : [],
      lines: each.map((text, row) => lineAt(text, row, confidence)),
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

/** The rectangle of some characters of a line. */
export function boxOfText(row: number, from: number, length: number): Box {
  return { left: 0.1 + from * characterWidth, top: topOf(row), width: length * characterWidth, height: lineHeight };
}

function lineAt(text: string, row: number, confidence: number): LetterLine {
  let from = 0;
  const words = text.split(' ').map((word) => {
    const box = boxOfText(row, from, word.length);
    from += word.length + 1;
    return { text: word, confidence, box };
  });
  return { text, confidence, box: boxOfText(row, 0, text.length), words };
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
