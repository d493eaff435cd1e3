import type { Box } from '../letter-reading.ts';
import { renderPage } from './ocr/page-image.ts';
import type { GrayImage } from './ocr/picture.ts';
import type { PdfPage } from './pdf/pdf-pages.ts';
import { openPdfium } from './pdf/pdfium.ts';
import type { ComparedRevision } from './pdf/revisions/pdf-changes.ts';
import type { DrawnSignature } from './pdf/revisions/revision-comparison.ts';

interface DrawnTask {
  readonly bytes: Uint8Array;
  readonly pages: readonly PdfPage[];
  readonly revisions: readonly ComparedRevision[];
}

/**
 * The revisions, where one that draws a signature over something that the page showed before counts as another change: the page of
 * the revision before is drawn, and must be empty at that place.
 */
export async function judgeDrawnOver({ bytes, pages, revisions }: DrawnTask): Promise<ComparedRevision[]> {
  const judged: ComparedRevision[] = [];
  for (const [at, revision] of revisions.entries()) {
    const before = revisions[at - 1];
    const over =
      before === undefined || revision.drawn.length === 0
        ? []
        : await findDrawnOver(bytes.subarray(0, before.end), pages, revision.drawn);
    const changes = over.map(
      ({ name, page }) => `the signature ${name} is drawn over the text or a picture of page ${page}`,
    );
    judged.push(
      over.length === 0 ? revision : { ...revision, kind: 'other', changes: [...revision.changes, ...changes] },
    );
  }
  return judged;
}

/** Those that are drawn over something; all of them, where the file as it was before cannot be drawn. */
async function findDrawnOver(
  before: Uint8Array,
  pages: readonly PdfPage[],
  drawn: readonly DrawnSignature[],
): Promise<readonly DrawnSignature[]> {
  const document = await openPdfium(before).catch(() => null);
  if (document === null) return drawn;
  try {
    return drawn.filter(({ page, box }) => {
      const { width, height } = pages[page - 1]!;
      const coarser = (72 * sideMax) / Math.max(width, height);
      return !isEmpty(renderPage(document, { page, width, height }, Math.min(dotsPerInch, coarser)), box);
    });
  } catch {
    return drawn;
  } finally {
    document.close();
  }
}

/** A letter of 10 points is 14 pixels high. */
const dotsPerInch = 100;
/** In pixels: a larger page is drawn coarser. */
const sideMax = 2_000;

/** A darker pixel is ink. */
const darkMax = 200;

/** Rows with ink that are more than a ruled line and its neighbours, of which text and pictures have more. */
const inkRowsMin = 4;

/** Left and right of a place a frame may run. */
const frameShare = 0.03;

function isEmpty({ width, height, gray }: GrayImage, box: Box): boolean {
  const from = Math.ceil((box.left + box.width * frameShare) * width);
  const to = Math.floor((box.left + box.width * (1 - frameShare)) * width);
  let inkRows = 0;
  for (let y = Math.ceil(box.top * height); y < Math.floor((box.top + box.height) * height); y++)
    if (gray.subarray(y * width + from, y * width + to).some((value) => value < darkMax)) inkRows++;
  return inkRows < inkRowsMin;
}
