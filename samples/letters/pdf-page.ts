import type { GrayImage } from '../../pipelines/branding/reading/ocr/picture.ts';
import { textWidth, toWinAnsi, type Font } from './font-metrics.ts';

/**
 * How a text is drawn, as different programs do: a line as one string; a string with kerning between its parts; or each word
 * placed separately, without spaces.
 */
export type TextRuns = 'plain' | 'kerned' | 'words';

/** Position and style of a text; points from the left and from the top, at its base line. */
interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly font: Font;
  readonly size: number;
  /** Grey from 0 (black) to 1, or a colour of three parts. */
  readonly colour?: number | readonly [number, number, number];
}

/** A rectangle in points, from the left and from the top. */
export interface PageBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A page: its content stream and the pictures on it. */
export class PdfPage {
  readonly width: number;
  readonly height: number;
  readonly images: GrayImage[] = [];
  /** Dictionaries of annotations, without their type. */
  readonly annotations: string[] = [];
  /** Text fields that remain form fields. */
  readonly fields: { readonly name: string; readonly value: string; readonly box: PageBox }[] = [];
  private readonly runs: TextRuns;
  private readonly operators: string[] = [];

  constructor({ width, height, runs = 'plain' }: { width: number; height: number; runs?: TextRuns }) {
    this.width = width;
    this.height = height;
    this.runs = runs;
  }

  /** The content stream, one character a byte. */
  get content(): string {
    return this.operators.join('\n');
  }

  text(text: string, place: TextPlace): void {
    if (text.trim() === '') return;
    if (this.runs === 'words') this.words(text, place);
    else this.show(this.runs === 'kerned' ? kerned(text) : `(${literal(text)}) Tj`, place);
  }

  private words(text: string, place: TextPlace): void {
    for (const { 0: word, index } of text.matchAll(/\S+/g)) {
      this.show(`(${literal(word)}) Tj`, {
        ...place,
        x: place.x + textWidth(text.slice(0, index), place.font, place.size),
      });
    }
  }

  private show(operator: string, { x, y, font, size, colour = 0 }: TextPlace): void {
    this.operators.push(
      `${colourOf(colour)} ${colour instanceof Array ? 'rg' : 'g'} BT /${font} ${size} Tf 1 0 0 1 ${number(x)} ${number(this.height - y)} Tm ${operator} ET`,
    );
  }

  line({
    from,
    to,
    width = 0.6,
  }: {
    from: readonly [number, number];
    to: readonly [number, number];
    width?: number;
  }): void {
    this.operators.push(`0.25 G ${width} w ${this.point(from)} m ${this.point(to)} l S`);
  }

  box({ x, y, width, height }: PageBox, { fill }: { fill?: number | readonly [number, number, number] } = {}): void {
    const place = `${number(x)} ${number(this.height - y - height)} ${number(width)} ${number(height)} re`;
    this.operators.push(
      fill === undefined
        ? `0.35 G 0.6 w ${place} S`
        : `${colourOf(fill)} ${fill instanceof Array ? 'rg' : 'g'} ${place} f`,
    );
  }

  /** A stroke through points, as of a pen on a tablet. */
  stroke(
    points: readonly (readonly [number, number])[],
    { width, colour }: { width: number; colour: readonly [number, number, number] },
  ): void {
    const path = points.map((point, index) => `${this.point(point)} ${index === 0 ? 'm' : 'l'}`).join(' ');
    this.operators.push(`q ${colourOf(colour)} RG ${width} w 1 J 1 j ${path} S Q`);
  }

  /** `seeThrough`: drawn with three tenths of its opacity. */
  image(
    image: GrayImage,
    { x, y, width, height }: PageBox,
    { seeThrough = false }: { readonly seeThrough?: boolean } = {},
  ): void {
    this.images.push(image);
    this.operators.push(
      `q ${seeThrough ? '/pale gs ' : ''}${number(width)} 0 0 ${number(height)} ${number(x)} ${number(this.height - y - height)} cm /Im${this.images.length} Do Q`,
    );
  }

  /** A PDF rectangle: left, bottom, right, top from the lower left corner. */
  rect({ x, y, width, height }: PageBox): string {
    return [x, this.height - y - height, x + width, this.height - y].map(number).join(' ');
  }

  /** A note or stamp over the page (ISO 32000-1, section 12.5). */
  annotate(subtype: 'FreeText' | 'Stamp', text: string, box: PageBox): void {
    this.annotations.push(
      `/Subtype /${subtype} /Contents (${literal(text)}) /DA (/sans 10 Tf 0 g) /F 4 /Rect [${this.rect(box)}]`,
    );
  }

  private point([x, y]: readonly [number, number]): string {
    return `${number(x)} ${number(this.height - y)}`;
  }
}

const kernedPart = 5;

/** A string in parts of a few characters with small moves between them, in thousandths of the size. */
function kerned(text: string): string {
  const parts = text.match(new RegExp(`.{1,${kernedPart}}`, 'gu')) ?? [];
  return `[${parts.map((part, index) => `(${literal(part)})${index + 1 < parts.length ? ` ${(index % 3) * 9 - 9}` : ''}`).join(' ')}] TJ`;
}

/** The inside of a literal string (ISO 32000-1, section 7.3.4.2). */
export function literal(text: string): string {
  return toWinAnsi(text).replace(/[\\()]/g, '\\$&');
}

/** A PDF number: no exponent, at most two decimals. */
export function number(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function colourOf(colour: number | readonly [number, number, number]): string {
  return typeof colour === 'number' ? String(colour) : colour.join(' ');
}
