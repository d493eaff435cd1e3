import { sha256Of } from '../../../runtime/digest.ts';
import type { Box, LetterPage, LetterReading, PageMark, PdfRevision, PdfSignature } from '../letter-reading.ts';
import type { RevocationData } from '../letter-trust.ts';
import type { LetterLimits } from './gate/letter-limits.ts';
import { openCheckedPdf } from './pdf/checked-pdf.ts';
import { compareRevisions } from './pdf/revisions/pdf-changes.ts';
import { overlapOf } from './pdf/page-geometry.ts';
import { findHiddenFacts, readPageContent, type PageContent, type Rule } from './pdf/pdf-content.ts';
import { readTypedTexts } from './pdf/pdf-fields.ts';
import type { PdfFile } from './pdf/pdf-file.ts';
import type { PdfPage } from './pdf/pdf-pages.ts';
import { readSignatures } from './signatures/pdf-signatures.ts';
import { readLines } from './pdf/pdf-text.ts';

export interface TextTask {
  readonly bytes: Uint8Array;
  readonly limits: LetterLimits;
  readonly trustRootsPem: string | undefined;
  readonly revocationData?: RevocationData | undefined;
}

/** What the text child finds in a PDF. */
export interface PdfTextReading {
  readonly pages: readonly LetterPage[];
  /** Numbers of the pages that must be recognised from their pictures. */
  readonly scans: readonly number[];
  readonly signatures: readonly PdfSignature[];
  readonly revisions: readonly PdfRevision[];
  readonly embeddedCsv: LetterReading['embeddedCsv'];
}

/** A page with less text than this and a picture or drawing is a scan: a fax header has some 40 characters. */
const pageCharactersMin = 60;

/** A picture that covers at least this part of the page is a scan, and text over it is a stamp of the scanner or a header. */
const scanCover = 0.5;
const scanCharactersMax = 250;

/** A page with a larger share of meaningless characters has fonts that do not map to text. */
const garbageShareMax = 0.2;

/**
 * Reads a PDF; its structure is checked before any library parses it.
 * @throws LetterRefused
 */
export async function readPdfText({ bytes, limits, trustRootsPem, revocationData }: TextTask): Promise<PdfTextReading> {
  const { file, pages, embeddedCsv, document } = await openCheckedPdf(bytes, limits);
  const facts = findHiddenFacts(file);
  const contents = pages.map((page, at) => readPageContent({ file, document, page, number: at + 1, facts }));
  document.close();
  const read = pages.map((page, at) => readPage({ file, page, content: contents[at]!, number: at + 1 }));
  const scans = read.filter((page, at) => isScan(page, contents[at]!)).map(({ page }) => page);
  const revisions = compareRevisions({ file, pages, read });
  const signatures = await readSignatures({ file, pages, revisions, trustRootsPem, revocationData });
  return {
    pages: read,
    scans,
    signatures,
    revisions: revisions.map(({ end, kind, changes }) => ({
      end,
      sha256: sha256Of(bytes.subarray(0, end)),
      kind,
      changes,
    })),
    embeddedCsv,
  };
}

interface PageTask {
  readonly file: PdfFile;
  readonly page: PdfPage;
  readonly content: PageContent;
  readonly number: number;
}

function readPage({ file, page, content, number }: PageTask): LetterPage {
  const lines = readLines({ page, shown: content.texts, typed: readTypedTexts(file, page) });
  const strikes = content.rules
    .filter((rule) =>
      strikesThrough(
        rule,
        lines.map(({ box }) => box),
        content.marks,
      ),
    )
    .map(({ box }) => ({ kind: 'strike', box }) as const);
  return {
    page: number,
    width: page.width,
    height: page.height,
    source: 'text',
    lines,
    marks: [...content.marks, ...strikes.slice(0, strikesMax)],
  };
}

const strikesMax = 100;
/** Parts of the height of a line or a drawing between which a level line strikes it through; an underline is at 0.8 and lower. */
const strikeHeights = { from: 0.25, to: 0.7 } as const;
/** Least overlap, as a part of the width of the struck text or of the line. */
const strikeOverlapMin = 0.3;

/** True for a straight line through text, or through a drawing or a picture. */
function strikesThrough({ box: rule, isLevel }: Rule, lines: readonly Box[], marks: readonly PageMark[]): boolean {
  const drawn = marks.filter(({ kind }) => kind === 'drawing' || kind === 'image').map(({ box }) => box);
  return [...lines, ...drawn].some((box) => {
    if (overlapOf(rule, box).width < strikeOverlapMin * Math.min(rule.width, box.width)) return false;
    const [top, bottom] = [rule.top, rule.top + rule.height];
    if (!isLevel) return top < box.top + box.height && bottom > box.top && rule.width !== box.width;
    const middle = (top + bottom) / 2;
    return middle > box.top + strikeHeights.from * box.height && middle < box.top + strikeHeights.to * box.height;
  });
}

/** True for a page whose text is in its picture, or in outlines and fonts without a mapping to text. */
function isScan({ lines }: LetterPage, { marks, pictureCover, hasUnclearText }: PageContent): boolean {
  if (hasUnclearText) return true;
  const text = lines
    .map((line) => line.text)
    .join('')
    .replace(/\s/g, '');
  if (text.length < pageCharactersMin)
    return marks.some(({ kind }) => kind === 'image' || kind === 'drawing') || pictureCover > 0;
  if (pictureCover >= scanCover && text.length < scanCharactersMax) return true;
  const garbage = text.match(/[\p{Co}\p{Cn}\ufffd]/gu)?.length ?? 0;
  return garbage > garbageShareMax * text.length;
}
