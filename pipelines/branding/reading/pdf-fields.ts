import type { PdfFile } from './pdf-file.ts';
import type { PdfPage } from './pdf-pages.ts';
import { isArray, isDict, isName, isString, pdfText, type PdfDict, type PdfValue } from './pdf-syntax.ts';

/** Text that a person typed onto a page: into a field of its form, or as a comment that is shown. */
export interface TypedText {
  readonly text: string;
  /** Left, bottom, right and top in the page's own coordinates. */
  readonly rect: readonly [number, number, number, number];
}

/** Fields within fields; names of forms have three or four levels. */
const levelsMax = 16;
const annotationsMax = 2_000;
const charactersMax = 20_000;

/** The values of a page's text fields and choices, and its free texts. What is hidden is left out. */
export function readTypedTexts(file: PdfFile, page: PdfPage): TypedText[] {
  const annotations = file.entry(page.dict, 'Annots');
  if (!isArray(annotations)) return [];
  return annotations.items.slice(0, annotationsMax).flatMap((item) => {
    const annotation = file.resolve(item);
    return isDict(annotation) ? typedText(file, annotation) : [];
  });
}

function typedText(file: PdfFile, annotation: PdfDict): TypedText[] {
  const flags = file.entry(annotation, 'F');
  const rect = rectOf(file, annotation);
  if (rect === null || (typeof flags === 'number' && (flags & 0b100010) !== 0)) return [];
  const text = valueOf(file, annotation);
  return text.trim() === '' ? [] : [{ text: text.slice(0, charactersMax), rect }];
}

function valueOf(file: PdfFile, annotation: PdfDict): string {
  if (isName(file.entry(annotation, 'Subtype'), 'FreeText')) return textOf(file.entry(annotation, 'Contents'));
  if (!isName(file.entry(annotation, 'Subtype'), 'Widget')) return '';
  const type = inherited(file, annotation, 'FT');
  return isName(type, 'Tx') || isName(type, 'Ch') ? textOf(inherited(file, annotation, 'V')) : '';
}

function textOf(value: PdfValue): string {
  return isString(value) ? pdfText(value) : '';
}

/** Full name of a field: those of the fields above it and its own, with points between. */
export function fullFieldName(file: PdfFile, field: PdfDict): string {
  const parts: string[] = [];
  let at: PdfValue = field;
  for (let level = 0; isDict(at) && level < levelsMax; level++) {
    const name = file.entry(at, 'T');
    if (isString(name)) parts.unshift(pdfText(name).replace(/\p{C}/gu, '').slice(0, 100));
    at = file.entry(at, 'Parent');
  }
  return parts.join('.');
}

/** An entry of a field, or of the nearest field above it that has it. */
export function inherited(file: PdfFile, field: PdfDict, key: string): PdfValue {
  let at: PdfValue = field;
  for (let level = 0; isDict(at) && level < levelsMax; level++) {
    const value = file.entry(at, key);
    if (value !== null) return value;
    at = file.entry(at, 'Parent');
  }
  return null;
}

/** The rectangle of an annotation, in the page's own coordinates: left, bottom, right and top. */
export function rectOf(file: PdfFile, annotation: PdfDict): TypedText['rect'] | null {
  const rect = file.entry(annotation, 'Rect');
  if (!isArray(rect) || rect.items.length < 4) return null;
  const numbers = rect.items.slice(0, 4).map((item) => file.resolve(item));
  if (!numbers.every((each) => typeof each === 'number' && Number.isFinite(each))) return null;
  const [x1, y1, x2, y2] = numbers as [number, number, number, number];
  return [Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2)];
}
