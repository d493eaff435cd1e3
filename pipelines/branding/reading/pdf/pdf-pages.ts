import { LetterRefused } from '../gate/letter-refused.ts';
import type { PdfFile, Rectangle } from './pdf-file.ts';
import { isArray, isDict, isRef, type PdfDict, type PdfValue } from './pdf-syntax.ts';

/** One page with what it inherits (ISO 32000-1 section 7.7.3.4). */
export interface PdfPage {
  /** Number of its object. */
  readonly object: number;
  readonly dict: PdfDict;
  readonly resources: PdfDict | null;
  /** The part that is shown, in the page's own unit. */
  readonly shown: Rectangle;
  /** Degrees clockwise: 0, 90, 180 or 270. */
  readonly rotation: number;
  /** Points as shown: rotated, and with the page's unit. */
  readonly width: number;
  readonly height: number;
}

interface PageLimits {
  readonly pagesMax: number;
  /** Longest side of a page in inches. */
  readonly inchesMax: number;
}

/** Levels of the page tree; programs that balance it need 3 for 1000 pages. */
const treeLevelsMax = 16;

/** Letter, for pages that say no size. */
const letterBox = [0, 0, 612, 792] as const;

const inheritable = ['Resources', 'MediaBox', 'CropBox', 'Rotate'];

/**
 * The pages of a PDF in order.
 * @throws LetterRefused `letter_too_many_pages`, `letter_page_too_large`, `letter_damaged` (no pages, a tree with circles)
 */
export function readPdfPages(file: PdfFile, { pagesMax, inchesMax }: PageLimits): PdfPage[] {
  const pages: PdfPage[] = [];
  const seen = new Set<PdfDict>();
  const walk = (reference: PdfValue, inherited: ReadonlyMap<string, PdfValue>, level: number): void => {
    const node = file.resolve(reference);
    if (!isDict(node)) throw new LetterRefused('letter_damaged', 'The page tree of the PDF is damaged.');
    if (seen.has(node) || level > treeLevelsMax)
      throw new LetterRefused('letter_damaged', 'The page tree of the PDF leads in a circle.');
    seen.add(node);
    const entries = new Map([...inherited, ...[...node.entries].filter(([key]) => inheritable.includes(key))]);
    const kids = file.entry(node, 'Kids');
    if (isArray(kids)) return kids.items.forEach((kid) => walk(kid, entries, level + 1));
    if (pages.length >= pagesMax)
      throw new LetterRefused('letter_too_many_pages', `The PDF has more than ${pagesMax} pages.`);
    const page = readPage(file, node, entries);
    if (Math.max(page.width, page.height) > inchesMax * 72)
      throw new LetterRefused('letter_page_too_large', `A page is longer than ${inchesMax} inches.`);
    pages.push({ ...page, object: isRef(reference) ? reference.number : 0 });
  };
  walk(file.entry(rootOf(file), 'Pages'), new Map(), 0);
  if (pages.length === 0) throw new LetterRefused('letter_damaged', 'The PDF has no pages.');
  return pages;
}

/** The document catalogue that the last trailer names. @throws LetterRefused `letter_damaged` */
export function rootOf(file: PdfFile): PdfDict {
  const roots = file.trailers.map((trailer) => file.entry(trailer, 'Root')).filter(isDict);
  const root = roots.at(-1);
  if (root === undefined) throw new LetterRefused('letter_damaged', 'The PDF has no document catalogue.');
  return root;
}

function readPage(file: PdfFile, dict: PdfDict, inherited: ReadonlyMap<string, PdfValue>): Omit<PdfPage, 'object'> {
  const [resources, rotate] = [file.resolve(inherited.get('Resources')), file.resolve(inherited.get('Rotate'))];
  const media = file.rectangleOf(inherited.get('MediaBox')) ?? letterBox;
  const shown = intersect(media, file.rectangleOf(inherited.get('CropBox'))) ?? media;
  const rotation = typeof rotate === 'number' && rotate % 90 === 0 ? ((rotate % 360) + 360) % 360 : 0;
  const userUnit = file.entry(dict, 'UserUnit');
  const unit = typeof userUnit === 'number' && userUnit > 0 ? userUnit : 1;
  const [width, height] = [(shown[2] - shown[0]) * unit, (shown[3] - shown[1]) * unit];
  if (!(width >= 1 && height >= 1)) throw new LetterRefused('letter_damaged', 'A page of the PDF has no size.');
  const size = rotation % 180 === 0 ? { width, height } : { width: height, height: width };
  return { dict, resources: isDict(resources) ? resources : null, shown, rotation, ...size };
}

function intersect(a: Rectangle, b: Rectangle | null): Rectangle | null {
  if (b === null) return null;
  const [left, bottom, right, top] = [
    Math.max(a[0], b[0]),
    Math.max(a[1], b[1]),
    Math.min(a[2], b[2]),
    Math.min(a[3], b[3]),
  ];
  return right - left >= 1 && top - bottom >= 1 ? [left, bottom, right, top] : null;
}
