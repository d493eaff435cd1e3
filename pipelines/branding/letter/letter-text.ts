import { makeExcerpt } from '../../phone/text-cleaning.ts';
import type { Box, LetterPage, LetterPlace, LetterReading } from '../letter-reading.ts';
import { unite } from '../reading/pdf/page-geometry.ts';

/** The text of one page, with a line feed between two lines. */
export class PageText {
  readonly page: LetterPage;
  readonly text: string;
  private readonly starts: readonly number[];

  constructor(page: LetterPage) {
    this.page = page;
    this.text = page.lines.map(({ text }) => text).join('\n');
    let start = 0;
    this.starts = page.lines.map(({ text }) => {
      const own = start;
      start += text.length + 1;
      return own;
    });
  }

  /** The words of a part of the text with their place: the rectangle around them, of a part that goes over a line end its first line. */
  seen(start: number, end: number): FoundText {
    const at = this.starts.findLastIndex((each) => each <= start);
    const line = this.page.lines[at]!;
    let from = this.starts[at]!;
    const boxes: Box[] = [];
    for (const { text, box } of line.words) {
      if (from < end && from + text.length > start) boxes.push(box);
      from += text.length + 1;
    }
    const box = boxes.length === 0 ? line.box : boxes.reduce(unite);
    const value = makeExcerpt(this.text.slice(start, end).replaceAll('\n', ' '));
    return { value, place: { page: this.page.page, line: at + 1, box } };
  }
}

/** The texts of a letter's pages. */
export function pageTexts({ pages }: Pick<LetterReading, 'pages'>): readonly PageText[] {
  return pages.map((page) => new PageText(page));
}

/** A text of a page, at most 200 characters, and its place. */
export interface FoundText {
  readonly value: string;
  readonly place: LetterPlace;
}
