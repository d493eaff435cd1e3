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

export interface PageLimits {
  readonly pagesMax: number;
  /** Longest side of a page in inches. */
  readonly inchesMax: number;
}

/** Levels of the page tree; programs that balance it need 3 for 1000 pages. */
const treeLevelsMax = 16;

/** Letter, for pages that say no size. */
const letterBox = [0, 0, 612, 792] as const;

const inheritable = ['Resources', 'MediaBox', 'CropBox', 'Rotate'] as const;
type Inherited = Readonly<Partial<Record<(typeof inheritable)[number], PdfValue>>>;

/**
 * The pages of a PDF in order.
 * @throws LetterRefused `letter_too_many_pages`, `letter_page_too_large`, `letter_damaged` (no pages, a tree with circles)
 */
export function readPdfPages(file: PdfFile, limits: PageLimits): PdfPage[] {
  const pages: PdfPage[] = [];
  new PageTree(file, limits, pages).walk(file.entry(rootOf(file), 'Pages'), {}, { level: 0, object: 0 });
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

class PageTree {
  private readonly file: PdfFile;
  private readonly limits: PageLimits;
  private readonly pages: PdfPage[];
  private readonly seen = new Set<PdfDict>();

  constructor(file: PdfFile, limits: PageLimits, pages: PdfPage[]) {
    this.file = file;
    this.limits = limits;
    this.pages = pages;
  }

  walk(node: PdfValue, inherited: Inherited, { level, object }: { level: number; object: number }): void {
    if (!isDict(node)) throw new LetterRefused('letter_damaged', 'The page tree of the PDF is damaged.');
    if (this.seen.has(node) || level > treeLevelsMax)
      throw new LetterRefused('letter_damaged', 'The page tree of the PDF leads in a circle.');
    this.seen.add(node);
    const own = { ...inherited, ...this.inheritedBy(node) };
    const kids = this.file.entry(node, 'Kids');
    if (!isArray(kids)) this.add(node, own, object);
    else
      for (const kid of kids.items)
        this.walk(this.file.resolve(kid), own, { level: level + 1, object: isRef(kid) ? kid.number : 0 });
  }

  private inheritedBy(node: PdfDict): Inherited {
    return Object.fromEntries(
      inheritable.filter((key) => node.entries.has(key)).map((key) => [key, this.file.entry(node, key)]),
    );
  }

  private add(dict: PdfDict, inherited: Inherited, object: number): void {
    if (this.pages.length >= this.limits.pagesMax)
      throw new LetterRefused('letter_too_many_pages', `The PDF has more than ${this.limits.pagesMax} pages.`);
    const resources = inherited.Resources ?? null;
    const media = this.file.rectangleOf(inherited.MediaBox) ?? letterBox;
    const shown = intersect(media, this.file.rectangleOf(inherited.CropBox)) ?? media;
    const rotate = inherited.Rotate;
    const rotation = typeof rotate === 'number' && rotate % 90 === 0 ? ((rotate % 360) + 360) % 360 : 0;
    this.pages.push({
      object,
      dict,
      resources: isDict(resources) ? resources : null,
      shown,
      rotation,
      ...this.size(dict, shown, rotation),
    });
  }

  private size(
    dict: PdfDict,
    [left, bottom, right, top]: PdfPage['shown'],
    rotation: number,
  ): { width: number; height: number } {
    const userUnit = this.file.entry(dict, 'UserUnit');
    const unit = typeof userUnit === 'number' && userUnit > 0 ? userUnit : 1;
    const [width, height] = [(right - left) * unit, (top - bottom) * unit];
    if (!(width >= 1 && height >= 1)) throw new LetterRefused('letter_damaged', 'A page of the PDF has no size.');
    if (Math.max(width, height) > this.limits.inchesMax * 72)
      throw new LetterRefused('letter_page_too_large', `A page is longer than ${this.limits.inchesMax} inches.`);
    return rotation % 180 === 0 ? { width, height } : { width: height, height: width };
  }
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
