import { getDocumentProxy } from 'unpdf';
import type { LetterLine } from '../../letter-reading.ts';
import { LetterRefused } from '../gate/letter-refused.ts';
import { Bounds, multiply, roundBox, toFractions, transform, type Matrix } from './page-geometry.ts';
import type { ShownText } from './pdf-content.ts';
import type { TypedText } from './pdf-fields.ts';
import type { PdfPage } from './pdf-pages.ts';
import { layOut, type TextLine, type TextPiece } from './text-layout.ts';

/** Text of one page as pdf.js gives it: a text, where it begins, how wide it is, in which size and direction. */
export interface TextItem {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
}

/** Parts of a font's size above and below the baseline, for fonts in general. */
const ascent = 0.78;
const descent = 0.22;

/** Pieces of text that a page may have; a page where every letter is placed by itself has 5,000. */
const itemsMax = 30_000;

/** An open PDF whose text is read page by page. */
export interface PdfText {
  readonly pageCount: number;
  items(page: number): Promise<readonly TextItem[]>;
}

/**
 * Opens a PDF with pdf.js: no scripts, no evaluated code, no fonts or tables from elsewhere, no pictures decoded.
 * @throws Error of pdf.js where the document cannot be read
 */
export async function openPdfText(bytes: Uint8Array): Promise<PdfText> {
  const document = await getDocumentProxy(Uint8Array.from(bytes), {
    isEvalSupported: false,
    useSystemFonts: true, // no file of a font is asked for; only widths matter here
    disableFontFace: true,
    useWorkerFetch: false,
    stopAtErrors: true,
    enableXfa: false,
    maxImageSize: 1,
    verbosity: 0,
  });
  return {
    pageCount: document.numPages,
    async items(page) {
      const opened = await document.getPage(page);
      const { items } = await opened.getTextContent();
      if (items.length > itemsMax)
        throw new LetterRefused('letter_limit_exceeded', `A page has more than ${itemsMax} pieces of text.`);
      opened.cleanup();
      return items.flatMap((item) =>
        'str' in item && item.str !== ''
          ? [{ str: item.str, transform: item.transform as number[], width: item.width }]
          : [],
      );
    },
  };
}

export interface PageText {
  readonly page: PdfPage;
  readonly items: readonly TextItem[];
  /** What the page's operators show, to know a text's font and whether it is seen. */
  readonly shown: readonly ShownText[];
  readonly typed: readonly TypedText[];
}

/** The lines of a page in reading order. Text that is not drawn, or lies outside the page, is left out. */
export function readLines({ page, items, shown, typed }: PageText): LetterLine[] {
  const matrix = multiply(toFractions(page), [page.width, 0, 0, page.height, 0, 0]);
  const index = new ShownIndex(shown, page);
  const pieces = [
    ...items.map((item) => placeItem(item, matrix)).filter((piece) => !index.isHidden(piece)),
    ...typed.flatMap((each) => placeTyped(each, matrix)),
  ];
  const onPage = pieces.filter(
    ({ left, right, baseline }) => right > 0 && left < page.width && baseline > 0 && baseline < page.height * 1.01,
  );
  return layOut(onPage).map((line) => toLine(line, index.fontOf(line), page));
}

function placeItem({ str, transform: given, width }: TextItem, matrix: Matrix): TextPiece {
  const own = multiply(given as unknown as Matrix, matrix);
  const size = Math.hypot(own[2], own[3]) || 1;
  const along = Math.hypot(given[0]!, given[1]!) || 1;
  const [x, y] = transform(own, 0, 0);
  const [endX, endY] = transform(own, width / along, 0);
  const isLevel = Math.abs(endY - y) <= Math.abs(endX - x) && endX >= x;
  // Text up the side of a page is given the place of its box, so that it joins no line.
  const left = Math.min(x, endX);
  if (isLevel) return { text: clean(str), left, right: endX, baseline: y, height: size };
  const corners = [0, width / along].flatMap((at) => [transform(own, at, -descent), transform(own, at, ascent)]);
  return {
    text: clean(str),
    left,
    right: Math.max(x, endX, left + size),
    baseline: Math.max(y, endY),
    height: size,
    corners,
  };
}

/** Field values have no places of their own: their lines are laid into the field from its top, in a size that fits. */
function placeTyped({ text, rect: [left, bottom, right, top] }: TypedText, matrix: Matrix): TextPiece[] {
  const bounds = [transform(matrix, left, bottom), transform(matrix, right, top)] as const;
  const [x1, x2] = [Math.min(bounds[0][0], bounds[1][0]), Math.max(bounds[0][0], bounds[1][0])];
  const [y1, y2] = [Math.min(bounds[0][1], bounds[1][1]), Math.max(bounds[0][1], bounds[1][1])];
  const lines = text.split(/\r\n?|\n/).slice(0, 200);
  const height = Math.max(1, Math.min(12, (y2 - y1) / lines.length / 1.2));
  return lines.map((line, at) => {
    const own = clean(line);
    const baseline = lines.length === 1 ? (y1 + y2) / 2 + 0.3 * height : y1 + (at + 0.9) * height * 1.2;
    return { text: own, left: x1 + 2, right: Math.min(x2, x1 + 2 + own.length * height * 0.5), baseline, height };
  });
}

/** Without control characters, and with one kind of space; letters that are one sign (fi) become letters again. */
function clean(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, ' ')
    .replace(/[ﬀ-ﬆ]/g, (sign) => sign.normalize('NFKC'))
    .replace(/\p{Zs}/gu, ' ')
    .normalize('NFC');
}

function toLine(
  { text, left, right, baseline, height, parts }: TextLine,
  font: string | null,
  page: PdfPage,
): LetterLine {
  const bounds = new Bounds();
  const turned = parts.flatMap(({ corners = [] }) => corners);
  for (const [x, y] of turned.length > 0
    ? turned
    : ([
        [left, baseline - ascent * height],
        [right, baseline + descent * height],
      ] as const))
    bounds.add([x / page.width, y / page.height]);
  const box = bounds.box() ?? { left: 0, top: 0, width: 0, height: 0 };
  return { text: text.replace(/ {2,}/g, ' '), box: roundBox(box), confidence: null, font };
}

/** Shown texts by their height on the page. */
class ShownIndex {
  private readonly sorted: readonly ShownText[];
  private readonly page: PdfPage;

  constructor(shown: readonly ShownText[], page: PdfPage) {
    this.sorted = [...shown].sort((a, b) => a.y - b.y);
    this.page = page;
  }

  /** True if nothing of a text is drawn so that a person sees it. */
  isHidden(piece: TextPiece): boolean {
    const found = this.within(piece);
    return found.length > 0 && found.every(({ visible }) => !visible);
  }

  /** The font that most of a line is set in, or null. */
  fontOf(line: TextLine): string | null {
    const weights = new Map<string, number>();
    for (const { font, bytes, visible } of this.within(line))
      if (font !== null && visible) weights.set(font, (weights.get(font) ?? 0) + bytes);
    return [...weights].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
  }

  private within({ left, right, baseline, height }: TextPiece): ShownText[] {
    const { width: pageWidth, height: pageHeight } = this.page;
    const [from, to] = [(baseline - 0.5 * height) / pageHeight, (baseline + 0.5 * height) / pageHeight];
    const [west, east] = [(left - 0.5 * height) / pageWidth, (right + 0.1 * height) / pageWidth];
    const found: ShownText[] = [];
    for (let at = this.firstFrom(from); at < this.sorted.length && this.sorted[at]!.y <= to; at++)
      if (this.sorted[at]!.x >= west && this.sorted[at]!.x <= east) found.push(this.sorted[at]!);
    return found;
  }

  private firstFrom(y: number): number {
    let [low, high] = [0, this.sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.sorted[middle]!.y < y) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
