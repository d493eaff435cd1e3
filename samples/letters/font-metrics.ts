/** Fonts of the standard 14, which every PDF reader has (ISO 32000-1, section 9.6.2.2). */
export const fonts = {
  sans: 'Helvetica',
  sansBold: 'Helvetica-Bold',
  serif: 'Times-Roman',
  serifBold: 'Times-Bold',
  script: 'Times-Italic',
  typewriter: 'Courier',
} as const;

export type Font = keyof typeof fonts;

const repeated = (width: number, count: number) => `${width} `.repeat(count).trim();

/** Widths of the characters 32 to 126 in thousandths of the size, from the fonts' metrics. */
const widths: Readonly<Record<Font, readonly number[]>> = {
  sans: list(
    `278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 ${repeated(556, 10)} 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584`,
  ),
  sansBold: list(
    `278 333 474 556 556 889 722 238 333 333 389 584 278 333 278 278 ${repeated(556, 10)} 333 333 584 584 584 611 975 722 722 722 722 667 611 778 722 278 556 722 611 833 722 778 667 778 722 667 611 722 667 944 667 667 611 333 278 333 584 556 333 556 611 556 611 556 333 611 611 278 278 556 278 889 611 611 611 611 389 556 333 611 556 778 556 556 500 389 280 389 584`,
  ),
  serif: list(
    `250 333 408 500 500 833 778 180 333 333 500 564 250 333 250 278 ${repeated(500, 10)} 278 278 564 564 564 444 921 722 667 667 722 611 556 722 722 333 389 722 611 889 722 722 556 722 667 556 611 722 722 944 722 722 611 333 278 333 469 500 333 444 500 444 500 444 333 500 500 278 278 500 278 778 500 500 500 500 333 389 278 500 500 722 500 500 444 480 200 480 541`,
  ),
  serifBold: list(
    `250 333 555 500 500 1000 833 278 333 333 500 570 250 333 250 278 ${repeated(500, 10)} 333 333 570 570 570 500 930 722 667 722 722 667 611 778 778 389 500 778 667 944 722 778 611 778 722 556 667 722 722 1000 722 722 667 333 278 333 581 500 333 500 556 444 556 444 333 500 556 278 333 556 278 833 556 500 556 556 444 389 333 556 500 722 500 500 444 394 220 394 520`,
  ),
  script: list(
    `250 333 420 500 500 833 778 214 333 333 500 675 250 333 250 278 ${repeated(500, 10)} 333 333 675 675 675 500 920 611 611 667 722 611 611 722 722 333 444 667 556 833 667 722 611 722 611 500 556 722 611 833 611 556 556 389 278 389 422 500 333 500 500 444 500 444 278 500 500 278 278 444 278 722 500 500 500 500 389 389 278 500 444 667 444 444 389 400 275 400 541`,
  ),
  typewriter: list(repeated(600, 95)),
};

function list(text: string): number[] {
  return text.split(' ').map(Number);
}

/** Widths of WinAnsi characters beyond ASCII in the letters; an accented letter is about as wide as its base letter. */
const otherWidths: Readonly<Record<string, number>> = {
  '–': 556,
  '—': 1000,
  '•': 350,
  '…': 1000,
  '“': 400,
  '”': 400,
  '„': 400,
  '‘': 222,
  '’': 222,
  '«': 556,
  '»': 556,
  º: 365,
  '§': 556,
  œ: 944,
};

/** Width of a text in points. */
export function textWidth(text: string, font: Font, size: number): number {
  let thousandths = 0;
  for (const sign of text) {
    const plain = sign.normalize('NFD').charCodeAt(0);
    thousandths += widths[font][plain - 32] ?? (font === 'typewriter' ? 600 : (otherWidths[sign] ?? 556));
  }
  return (thousandths * size) / 1000;
}

/** Code points of Windows-1252 between 0x80 and 0x9f that the letters use; the rest of WinAnsi is Latin-1. */
const winAnsi: Readonly<Record<string, number>> = {
  '€': 0x80,
  '„': 0x84,
  '…': 0x85,
  Œ: 0x8c,
  '‘': 0x91,
  '’': 0x92,
  '“': 0x93,
  '”': 0x94,
  '•': 0x95,
  '–': 0x96,
  '—': 0x97,
  '™': 0x99,
  œ: 0x9c,
};

/**
 * A text as a string of one character a byte in WinAnsi.
 * @throws RangeError for a character that WinAnsi does not have
 */
export function toWinAnsi(text: string): string {
  return [...text.normalize('NFC')]
    .map((sign) => {
      const code = winAnsi[sign] ?? sign.codePointAt(0)!;
      if (code > 0xff) throw new RangeError(`WinAnsi has no ${sign}.`);
      return String.fromCharCode(code);
    })
    .join('');
}
