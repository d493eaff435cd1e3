import type { LetterLine } from '../../letter-reading.ts';
import { Bounds, multiply, roundBox, toFractions, transform, type Matrix } from './page-geometry.ts';
import type { ShownText } from './pdf-content.ts';
import type { TypedText } from './pdf-fields.ts';
import type { PdfPage } from './pdf-pages.ts';
import { layOut, type LaidOutLine, type TextPiece } from './text-layout.ts';

/** Parts of a font's size above and below the baseline, for fonts in general. */
const ascent = 0.78;
const descent = 0.22;

interface PageText {
  readonly page: PdfPage;
  readonly shown: readonly ShownText[];
  readonly typed: readonly TypedText[];
}

/** The lines of a page in reading order, without text outside of the page. */
export function readLines({ page, shown, typed }: PageText): LetterLine[] {
  const matrix = multiply(toFractions(page), [page.width, 0, 0, page.height, 0, 0]);
  const pieces = [
    ...shown.map((each) => placeText(each, matrix)),
    ...typed.flatMap((each) => placeTyped(each, matrix)),
  ];
  const onPage = pieces.filter(
    ({ left, right, baseline }) => right > 0 && left < page.width && baseline > 0 && baseline < page.height * 1.01,
  );
  return layOut(onPage).map((line) => toLine(line, page));
}

function placeText({ text, matrix: given, width, font }: ShownText, matrix: Matrix): TextPiece {
  const own = multiply(given, matrix);
  const height = Math.hypot(own[2], own[3]) || 1;
  const [x, y] = transform(own, 0, 0);
  const [endX, endY] = transform(own, width, 0);
  const isLevel = Math.abs(endY - y) <= Math.abs(endX - x) && endX >= x;
  const left = Math.min(x, endX);
  if (isLevel) return { text: clean(text), left, right: endX, baseline: y, height, font };
  // Rotated text is placed by its box, so that it joins no line.
  const corners = [0, width].flatMap((at) => [transform(own, at, -descent), transform(own, at, ascent)]);
  return {
    text: clean(text),
    left,
    right: Math.max(x, endX, left + height),
    baseline: Math.max(y, endY),
    height,
    font,
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

/** Without control characters, with one kind of space, and with ligatures (fi) as letters. */
function clean(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]/gu, ' ')
    .replace(/[ﬀ-ﬆ]/g, (sign) => sign.normalize('NFKC'))
    .replace(/\p{Zs}/gu, ' ')
    .normalize('NFC');
}

function toLine({ text, left, right, baseline, height, parts }: LaidOutLine, page: PdfPage): LetterLine {
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
  return { text: text.replace(/ {2,}/g, ' '), box: roundBox(box), confidence: null, font: fontOf(parts) };
}

/** The font that most of a line is set in, or null. */
function fontOf(parts: readonly TextPiece[]): string | null {
  const weights = new Map<string, number>();
  for (const { font, text } of parts) if (font) weights.set(font, (weights.get(font) ?? 0) + text.length);
  return [...weights].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}
