import type { Box } from '../../letter-reading.ts';
import { LetterRefused } from '../gate/letter-refused.ts';
import { boxOf, toFractions } from './page-geometry.ts';
import type { PdfFile, Rectangle } from './pdf-file.ts';
import type { PdfPage } from './pdf-pages.ts';
import { isDict, isName, isRef, isString, pdfText, type PdfDict, type PdfValue } from './pdf-syntax.ts';

/** Fields within fields; names of forms have three or four levels. */
const fieldLevelsMax = 16;

/** Full name of a field: those of the fields above it and its own, with points between. */
export function fullFieldName(file: PdfFile, field: PdfDict): string {
  const parts: string[] = [];
  let at: PdfValue = field;
  for (let level = 0; isDict(at) && level < fieldLevelsMax; level++) {
    const name = file.entry(at, 'T');
    if (isString(name)) parts.unshift(pdfText(name).replace(/\p{C}/gu, '').slice(0, 100));
    at = file.entry(at, 'Parent');
  }
  return parts.join('.');
}

/** An entry of a field, or of the nearest field above it that has it. */
export function inherited(file: PdfFile, field: PdfDict, key: string): PdfValue {
  let at: PdfValue = field;
  for (let level = 0; isDict(at) && level < fieldLevelsMax; level++) {
    const value = file.entry(at, key);
    if (value !== null) return value;
    at = file.entry(at, 'Parent');
  }
  return null;
}

/** The rectangle of an annotation, in the page's own coordinates. */
export function rectOf(file: PdfFile, annotation: PdfDict): Rectangle | null {
  return file.rectangleOf(annotation.entries.get('Rect'));
}

/** A field of a form. */
export interface Field {
  readonly number: number | null;
  readonly dict: PdfDict;
  readonly name: string;
}

const fieldsMax = 5_000;

/** All fields of a form, with the widgets below them. */
export function findFields(view: PdfFile, form: PdfDict): Map<PdfDict, Field> {
  const found = new Map<PdfDict, Field>();
  const visit = (item: PdfValue, level: number): void => {
    const dict = view.resolve(item);
    if (!isDict(dict) || found.has(dict) || level > fieldLevelsMax) return;
    if (found.size >= fieldsMax)
      throw new LetterRefused('letter_limit_exceeded', `The PDF has more than ${fieldsMax} form fields.`);
    found.set(dict, { number: isRef(item) ? item.number : null, dict, name: fullFieldName(view, dict) });
    for (const kid of view.itemsAt(dict, 'Kids')) visit(kid, level + 1);
  };
  for (const item of view.itemsAt(form, 'Fields')) visit(item, 0);
  return found;
}

/** True for a field of the type Sig, and for its widgets. */
export function isSignatureField(view: PdfFile, dict: PdfDict): boolean {
  return isName(inherited(view, dict, 'FT'), 'Sig');
}

/** True for the value of a field that is a document time stamp (ETSI EN 319 142-1 section 5.4.3). */
export function isTimeStamp(view: PdfFile, value: PdfDict): boolean {
  return view.hasName(value, 'Type', 'DocTimeStamp') || view.hasName(value, 'SubFilter', 'ETSI.RFC3161');
}

/**
 * The only flag that hides a widget everywhere: `Invisible` is for kinds of annotations that a reader does not know, and what has
 * `NoView` can still be printed.
 */
const hiddenWidgetFlag = 2;

/** A place where a field shows itself. */
export interface FieldWidget {
  readonly widget: PdfDict;
  /** From 1. */
  readonly page: number;
  readonly box: Box;
}

/** The widgets of a field that have an area on a page. */
export function widgetsOf(view: PdfFile, pages: readonly PdfPage[], field: PdfDict): readonly FieldWidget[] {
  const widgets = new Set([field, ...view.itemsAt(field, 'Kids').map((kid) => view.resolve(kid))]);
  return placesOn(view, pages, (widget) => widgets.has(widget));
}

/** The wanted annotations of all pages that have an area. */
export function placesOn(
  view: PdfFile,
  pages: readonly PdfPage[],
  isWanted: (widget: PdfDict) => boolean,
): readonly FieldWidget[] {
  return pages.flatMap((page, at) => {
    const own = view.object(page.object)?.value;
    const items = view.itemsAt(isDict(own) ? own : page.dict, 'Annots').map((item) => view.resolve(item));
    return [...new Set(items)].filter(isDict).flatMap((widget) => {
      const rect = isWanted(widget) ? rectOf(view, widget) : null;
      const box = rect === null || rect[0] === rect[2] || rect[1] === rect[3] ? null : boxOf(toFractions(page), rect);
      return box === null || box.width === 0 || box.height === 0 ? [] : [{ widget, page: at + 1, box }];
    });
  });
}

/** True for a widget that is shown nowhere. */
export function isHidden(view: PdfFile, widget: PdfDict): boolean {
  const flags = view.entry(widget, 'F');
  return typeof flags === 'number' && (flags & hiddenWidgetFlag) !== 0;
}
