import { inherited } from '../pdf-fields.ts';
import type { PdfFile } from '../pdf-file.ts';
import type { PdfPage } from '../pdf-pages.ts';
import { isArray, isDict, isName, isRef, isString, pdfText, type PdfDict, type PdfValue } from '../pdf-syntax.ts';

const catalogueWords: Readonly<Record<string, string>> = {
  Pages: 'the tree of pages',
  OCProperties: 'layers',
  Names: 'the table of names',
  OpenAction: 'what happens on opening',
  AF: 'attached files',
  Outlines: 'bookmarks',
};
const typeWords: Readonly<Record<string, string>> = {
  Font: 'a font',
  FontDescriptor: 'a font',
  Pages: 'the tree of pages',
  OCG: 'a layer',
  ExtGState: 'a state of drawing',
  XObject: 'a picture or form',
  Catalog: 'the catalogue',
  Sig: 'a signature',
  ObjStm: 'a stream of objects',
};
const fieldKeyWords: Readonly<Record<string, string>> = {
  AP: 'its appearance',
  Rect: 'its place',
  F: 'its flags',
  Ff: 'its flags',
};

const shownCharactersMax = 60;

/** A changed entry of the catalogue in words. */
export function describeCatalogueKey(key: string): string {
  return catalogueWords[key] ?? `catalogue: ${key}`;
}

/** A changed entry of a form field in words. */
export function describeFieldKey(key: string, before: PdfValue, after: PdfValue): string {
  return key === 'V' ? `${valueWords(before)} became ${valueWords(after)}` : (fieldKeyWords[key] ?? key);
}

function valueWords(value: PdfValue): string {
  if (isString(value)) return `"${pdfText(value).replace(/\p{C}/gu, ' ').slice(0, shownCharactersMax)}"`;
  return isName(value) ? value.name.slice(0, shownCharactersMax) : value === null ? 'nothing' : 'another value';
}

/** An object by its type in words, or by its number. */
export function describeType(view: PdfFile, number: number): string {
  const type = view.entry(view.dictOf(view.object(number)?.value), 'Type');
  return isName(type) ? (typeWords[type.name] ?? `object ${number} (${type.name.slice(0, 40)})`) : `object ${number}`;
}

/** The part of a page that an object is: its content, one of its resources or annotations; null if it is none. */
export function describePagePart(view: PdfFile, pages: readonly PdfPage[], number: number): string | null {
  for (const [at, { object }] of pages.entries()) {
    if (object === number) return `page ${at + 1}`;
    const dict = view.object(object)?.value;
    const part = isDict(dict) ? partOfPage(view, dict, number) : null;
    if (part !== null) return part.replace('{page}', `page ${at + 1}`);
  }
  return null;
}

function partOfPage(view: PdfFile, page: PdfDict, number: number): string | null {
  const isHere = (value: PdfValue | undefined) => isRef(value) && value.number === number;
  if (isHere(page.entries.get('Contents')) || view.itemsAt(page, 'Contents').some(isHere)) return '{page}: content';
  if (view.itemsAt(page, 'Annots').some(isHere)) return 'annotation changed on {page}';
  return reaches(view, inherited(view, page, 'Resources'), number) ? '{page}: resources' : null;
}

/** True if an object is used below a value; six levels lead from a page's resources to the file of a font. */
function reaches(view: PdfFile, value: PdfValue, number: number): boolean {
  let left = 20_000;
  const visit = (at: PdfValue, depth: number): boolean => {
    if (--left < 0 || depth > 10) return false;
    if (isRef(at)) return at.number === number || visit(view.object(at.number)?.value ?? null, depth + 1);
    if (isArray(at)) return at.items.some((item) => visit(item, depth + 1));
    return isDict(at) && [...at.entries].some(([key, each]) => key !== 'Parent' && visit(each, depth + 1));
  };
  return visit(value, 0);
}
