import { alterText, appendText } from '../../samples/letters/forgery.ts';
import { textWidth } from '../../samples/letters/font-metrics.ts';
import { drawScrawl, paintScrawl } from '../../samples/letters/pen-stroke.ts';
import { writePdf } from '../../samples/letters/pdf-file.ts';
import type { PageBox, PdfPage } from '../../samples/letters/pdf-page.ts';
import { certifySigner, certifyStranger } from '../../samples/letters/sample-keys.ts';
import { breakLines, Sheet } from '../../samples/letters/sheet.ts';
import { Seeded } from '../../runtime/seeded.ts';
import { draftOf, handedInOn, pagesOf, type FileSigning, type LetterKind, type PageTrick } from './letter-draft.ts';

const size = 10.5;
/** Columns of a row that has several, and stops of a tab, in points. */
const columnGap = 110;
const spaceColumns = /\t| {3,}/;

/** Where each line of a letter is drawn. */
interface DrawnLine {
  readonly text: string;
  readonly page: PdfPage;
  readonly box: PageBox;
}

/**
 * A letter of the catalogue as a PDF. A tab or three spaces begin another column.
 * @throws RangeError for letters that the PDF's fonts do not have
 */
export function drawKind(kind: LetterKind): Uint8Array {
  const sheet = new Sheet({ country: 'US', serif: false, size, margin: 72, runs: 'plain' });
  const lines: DrawnLine[] = [];
  for (const [at, texts] of pagesOf(draftOf(kind).draft).entries()) {
    if (at > 0) sheet.newPage();
    for (const text of texts) lines.push(...drawLine(sheet, text));
  }
  for (const trick of kind.tricks) playTrick(trick, { sheet, lines });
  return signAs(kind.signing, sheet);
}

function drawLine(sheet: Sheet, text: string): DrawnLine[] {
  const columns = text.split(spaceColumns);
  const rows = columns.length > 1 ? [text] : breakLines(text, { font: 'sans', size, width: sheet.right - sheet.left });
  return rows.map((row) => {
    sheet.space(1.15);
    for (const [at, column] of columns.length > 1 ? columns.entries() : [[0, row] as const])
      sheet.page.text(column, { x: sheet.left + at * columnGap, y: sheet.y, font: 'sans', size });
    return {
      text: row,
      page: sheet.page,
      box: {
        x: sheet.left,
        y: sheet.y - size,
        width: textWidth(row.replaceAll('\t', ' '), 'sans', size),
        height: size * 1.2,
      },
    };
  });
}

interface Drawn {
  readonly sheet: Sheet;
  readonly lines: readonly DrawnLine[];
}

function lineWith(lines: readonly DrawnLine[], text: string): DrawnLine {
  const line = lines.find((each) => each.text.includes(text));
  if (line === undefined) throw new Error(`The letter has no line with ${text}.`);
  return line;
}

const red = [0.8, 0.1, 0.1] as const;
const blue = [0.08, 0.1, 0.45] as const;

function playTrick(trick: PageTrick, { sheet, lines }: Drawn): void {
  switch (trick.kind) {
    case 'cross_out': {
      const { page, box } = lineWith(lines, trick.text);
      const middle = box.y + box.height * 0.55;
      const slope = trick.slanted === true ? 5 : 0;
      return page.line({ from: [box.x, middle + slope], to: [box.x + box.width, middle - slope], width: 1.2 });
    }
    case 'scribble': {
      const { page, box } = lineWith(lines, trick.text);
      return page.stroke(scrawlIn({ ...box, y: box.y - 8, height: 28 }, 3), { width: 1.3, colour: red });
    }
    case 'ink_signature': {
      const { page, box } = lineWith(lines, trick.at);
      return page.stroke(scrawlIn({ x: box.x + 60, y: box.y - 20, width: 150, height: 34 }, 5), {
        width: 1.3,
        colour: blue,
      });
    }
    case 'see_through':
    case 'picture': {
      const { page, box } = lineWith(lines, trick.over);
      const picture = paintScrawl(drawScrawl(new Seeded(9)), { width: 300, height: 120 });
      return page.image(
        picture,
        { x: 130, y: box.y - 60, width: 300, height: 120 },
        { seeThrough: trick.kind === 'see_through' },
      );
    }
    case 'comment':
    case 'stamp': {
      const { page, box } = lineWith(lines, trick.at);
      return page.annotate(trick.kind === 'comment' ? 'FreeText' : 'Stamp', trick.text, {
        x: 330,
        y: box.y,
        width: 140,
        height: 16,
      });
    }
    case 'hidden':
      return hide(trick, lineWith(lines, '+1'));
    case 'field': {
      sheet.space(1.6);
      sheet.page.text(`${trick.label}:`, { x: sheet.left, y: sheet.y, font: 'sans', size });
      sheet.page.fields.push({
        name: trick.label,
        value: trick.value,
        box: { x: sheet.left + 110, y: sheet.y - 11, width: 340, height: 15 },
      });
    }
  }
}

function scrawlIn(box: PageBox, seed: number): (readonly [number, number])[] {
  return drawScrawl(new Seeded(seed)).map(([x, y]) => [box.x + x * box.width, box.y + y * box.height] as const);
}

function hide({ text, how }: Extract<PageTrick, { kind: 'hidden' }>, { page, box }: DrawnLine): void {
  if (how === 'white') page.text(text, { x: box.x + 180, y: box.y + size, font: 'sans', size, colour: 1 });
  else if (how === 'tiny') page.text(text, { x: box.x + 180, y: box.y + size, font: 'sans', size: 2 });
  else page.text(text, { x: page.width + 30, y: box.y + size, font: 'sans', size });
}

function signAs(signing: FileSigning | null, { pages, y, left }: Sheet): Uint8Array {
  const content = {
    pages,
    title: 'Letter of authorization',
    created: new Date(`${handedInOn}T08:00:00Z`),
    compress: false,
  };
  if (signing === null) return writePdf(content);
  const { name, organization, untrusted = false, then } = signing;
  const certificate = (untrusted ? certifyStranger : certifySigner)({ name, organization: organization ?? '' });
  const box = { x: left, y: y + 12, width: 190, height: 46 };
  const bytes = writePdf({
    ...content,
    signing: {
      certificate,
      signedAt: new Date('2026-05-18T10:24:00Z'),
      page: pages.length,
      box,
      lines: [`Digitally signed by ${name}`],
    },
  });
  if (then === 'digit_changed') return alterText(bytes, '+1 614 555 0141', '+1 614 555 0149');
  return then === 'number_added' ? appendText(bytes, '+1 614 555 0144') : bytes;
}
