import type { LetterReading } from '../../letter-reading.ts';
import type { LetterLimits } from '../gate/letter-limits.ts';
import { LetterRefused } from '../gate/letter-refused.ts';
import { checkOperators } from './pdf-operators.ts';
import { readPdfFile, type PdfFile } from './pdf-file.ts';
import { inspectPdf } from './pdf-inspection.ts';
import { readPdfPages, type PdfPage } from './pdf-pages.ts';
import { openPdfium, type PdfiumDocument } from './pdfium.ts';

/** A PDF whose structure was checked. */
interface CheckedPdf {
  readonly file: PdfFile;
  readonly pages: readonly PdfPage[];
  readonly embeddedCsv: LetterReading['embeddedCsv'];
}

/** Checks a PDF without any library. @throws LetterRefused */
export async function checkPdf(bytes: Uint8Array, limits: LetterLimits): Promise<CheckedPdf> {
  const file = readPdfFile(bytes);
  const embeddedCsv = await inspectPdf(file, { pixelsMax: limits.letterPixelsMax });
  const pages = readPdfPages(file, { pagesMax: limits.letterPagesMax, inchesMax: limits.letterPageInchesMax });
  checkOperators(file, pages);
  return { file, pages, embeddedCsv };
}

/** Opens a PDF in PDFium after it was checked. @throws LetterRefused; Error if PDFium cannot read it */
export async function openCheckedPdf(
  bytes: Uint8Array,
  limits: LetterLimits,
): Promise<{ readonly pages: readonly PdfPage[]; readonly document: PdfiumDocument }> {
  const { pages } = await checkPdf(bytes, limits);
  const document = await openPdfium(bytes);
  if (document.pageCount !== pages.length)
    throw new LetterRefused('letter_damaged', 'Readers of the PDF do not agree on its pages.');
  return { pages, document };
}
