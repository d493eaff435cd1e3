import { at, letterPdf, pdf, stream, textAt } from './pdf-builder.ts';

/** A letter whose page shows other digits than its text layer says. */
export interface PageForgery {
  readonly name: string;
  readonly bytes: Buffer;
  /** E.164 of the numbers that a person sees, and of those that nobody sees. */
  readonly shown: readonly string[];
  readonly hidden: readonly string[];
}

const head = textAt(72, 720, 'LETTER OF AUTHORIZATION', 14) + textAt(72, 690, 'Wrenfield Tea authorizes calls from:');
const numbers = ['0101', '0102', '0103', '0104'];
const phone = (last: string) => `+1202555${last}`;
const written = (last: string) => `+1 202 555 ${last}`;
const rows = (lasts: readonly string[]) => lasts.map((last, row) => textAt(72, 660 - 20 * row, written(last))).join('');

/** A table that says that a font's digit 1 is a 2. */
const digitsMapped = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /Digits def /CMapType 2 def 1 begincodespacerange <00> <FF> endcodespacerange
2 beginbfrange <20> <30> <0020> <32> <7E> <0032> endbfrange 1 beginbfchar <31> <0032> endbfchar
endcmap end end`;

/** Letters whose drawn pages and text layers differ. */
export const pageForgeries: readonly PageForgery[] = [
  {
    name: 'a font that maps to other characters',
    bytes: pdf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 4 0 R /F2 6 0 R >> >> /Contents 5 0 R >>',
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      stream('', head + rows(numbers).replaceAll('/F1', '/F2')),
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 7 0 R >>',
      stream('', digitsMapped),
    ]),
    shown: numbers.map(phone),
    hidden: ['0202', '0203', '0204'].map(phone),
  },
  {
    name: 'a layer that is off',
    bytes: letterPdf({
      catalog: `/OCProperties << /OCGs [${at.more} 0 R] /D << /OFF [${at.more} 0 R] >> >>`,
      content: `${head}${rows(numbers.slice(0, 2))}/OC /Layer BDC ${textAt(72, 600, written('0109'))} EMC`,
      resources: `/Properties << /Layer ${at.more} 0 R >>`,
      more: ['<< /Type /OCG /Name (Layer) >>'],
    }),
    shown: numbers.slice(0, 2).map(phone),
    hidden: [phone('0109')],
  },
  {
    name: 'clipped text',
    bytes: letterPdf({
      content: `${head}${rows(numbers.slice(0, 2))}q 0 0 1 1 re W n ${textAt(72, 600, written('0109'))} Q`,
    }),
    shown: numbers.slice(0, 2).map(phone),
    hidden: [phone('0109')],
  },
  {
    name: 'words that say that they mean others, and text that is not drawn',
    bytes: letterPdf({
      content: `${head}/Span << /ActualText (${written('0109')}) >> BDC ${rows(['0101'])} EMC BT 3 Tr /F1 10 Tf 72 600 Td (${written('0109')}) Tj ET`,
    }),
    shown: [phone('0101')],
    hidden: [phone('0109')],
  },
  {
    name: 'a white box over a number',
    bytes: letterPdf({
      content: `${head}${rows(numbers.slice(0, 2))}${textAt(72, 600, written('0109'))} 1 g 60 590 300 26 re f`,
    }),
    shown: numbers.slice(0, 2).map(phone),
    hidden: [phone('0109')],
  },
  {
    name: 'a digit that is painted over',
    bytes: letterPdf({
      // a digit of Helvetica is 0.556 of its size wide; the last of 14 signs begins behind 10 digits, a plus and three spaces
      content: `${head}${textAt(72, 660, written('0101'), 12)} 1 g ${72 + lastDigitAt(12)} 655 7 15 re f 0 g ${textAt(72 + lastDigitAt(12), 660, '7', 12)}`,
    }),
    shown: [phone('0107')],
    hidden: [phone('0101')],
  },
];

/** The offset of the last digit of a number in points. */
function lastDigitAt(size: number): number {
  return Math.round(size * (0.584 + 10 * 0.556 + 3 * 0.278) * 100) / 100;
}
