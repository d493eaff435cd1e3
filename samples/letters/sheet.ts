import { textWidth, type Font } from './font-metrics.ts';
import { PdfPage, type PageBox, type TextRuns } from './pdf-page.ts';
import type { LetterCountry } from './sample-phones.ts';

/** Paper and print of a letter. */
export interface SheetStyle {
  readonly country: LetterCountry;
  readonly serif: boolean;
  /** Size of the text in points. */
  readonly size: number;
  readonly margin: number;
  readonly runs: TextRuns;
}

/** The style of a line of text. */
interface LineStyle {
  readonly bold?: boolean;
  readonly size?: number;
  readonly align?: 'left' | 'right' | 'centre';
  readonly indent?: number;
  readonly colour?: number | readonly [number, number, number];
  readonly font?: Font;
}

const letterPaper = { width: 612, height: 792 }; // US Letter
const a4Paper = { width: 595, height: 842 };

/** A document that is written from the top down, page after page. */
export class Sheet {
  readonly pages: PdfPage[] = [];
  readonly style: SheetStyle;
  /** Base line of the last line, in points from the top. */
  y = 0;

  constructor(style: SheetStyle) {
    this.style = style;
    this.newPage();
  }

  get page(): PdfPage {
    return this.pages.at(-1)!;
  }

  get left(): number {
    return this.style.margin;
  }

  get right(): number {
    return this.page.width - this.style.margin;
  }

  newPage(): void {
    const paper = this.style.country === 'US' || this.style.country === 'CA' ? letterPaper : a4Paper;
    this.pages.push(new PdfPage({ ...paper, runs: this.style.runs }));
    this.y = this.style.margin;
  }

  /** Starts a new page unless the given height is left. */
  need(height: number): void {
    if (this.y + height > this.page.height - this.style.margin) this.newPage();
  }

  space(lines = 1): void {
    this.y += this.style.size * 1.35 * lines;
  }

  font(bold = false): Font {
    return this.style.serif ? (bold ? 'serifBold' : 'serif') : bold ? 'sansBold' : 'sans';
  }

  line(
    text: string,
    {
      bold = false,
      size = this.style.size,
      align = 'left',
      indent = 0,
      colour = 0,
      font = this.font(bold),
    }: LineStyle = {},
  ): void {
    this.need(size * 1.35);
    this.y += size * 1.35;
    const width = textWidth(text, font, size);
    const x = { left: this.left + indent, right: this.right - width, centre: (this.left + this.right - width) / 2 }[
      align
    ];
    this.page.text(text, { x, y: this.y, font, size, colour });
  }

  /** Text with line breaks at the right margin, between words. */
  paragraph(text: string, style: LineStyle = {}): void {
    const size = style.size ?? this.style.size;
    const font = style.font ?? this.font(style.bold);
    for (const each of breakLines(text, { font, size, width: this.right - this.left - (style.indent ?? 0) }))
      this.line(each, style);
    this.space(0.5);
  }

  rule(): void {
    this.y += 6;
    this.page.line({ from: [this.left, this.y], to: [this.right, this.y] });
    this.y += 4;
  }

  /** A cell of a table: text in a frame, in the row below `y`. */
  cell(text: string, { box, bold = false, shaded = false }: { box: PageBox; bold?: boolean; shaded?: boolean }): void {
    if (shaded) this.page.box(box, { fill: 0.9 });
    this.page.box(box);
    const size = Math.min(this.style.size, (box.width - 8) / textWidth(text, this.font(bold), 1) || this.style.size);
    this.page.text(text, {
      x: box.x + 4,
      y: box.y + box.height / 2 + size * 0.35,
      font: this.font(bold),
      size: Math.round(size * 10) / 10,
    });
  }
}

/** Breaks words into lines up to a width. */
export function breakLines(text: string, { font, size, width }: { font: Font; size: number; width: number }): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && textWidth(longer, font, size) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
