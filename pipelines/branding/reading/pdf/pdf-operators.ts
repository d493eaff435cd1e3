import { LetterRefused } from '../gate/letter-refused.ts';
import type { PdfFile, PdfObject } from './pdf-file.ts';
import type { PdfPage } from './pdf-pages.ts';
import { isArray, isDict, isPdfSpace, isRef, isRegular, type PdfDict, type PdfValue } from './pdf-syntax.ts';

/** Operands and operators of one stream of content. A page of dense text has 10,000. */
const operatorsMax = 750_000;

/** Forms within forms; also what one page may draw of them, since a form can draw another many times. */
const formDepthMax = 8;
const formsMax = 2_000;

/** Comments, stamps, form fields and links on a page. */
const annotationsMax = 2_000;

/**
 * Bounds what PDFium parses, before it sees the file: the operators of each page and form, how often a page draws forms, and its
 * annotations.
 * @throws LetterRefused `letter_limit_exceeded`
 */
export function checkOperators(file: PdfFile, pages: readonly PdfPage[]): void {
  for (const { dict, resources } of pages) {
    const contents = file.entry(dict, 'Contents');
    const parts = isArray(contents) ? contents.items : [dict.entries.get('Contents') ?? null];
    const counter = new FormCounter(file);
    const forms = parts
      .flatMap((part) => streamOf(file, part) ?? [])
      .reduce((sum, part) => sum + counter.count(part, resources, 0), 0);
    if (forms > formsMax) throw tooManyForms();
    if (file.itemsAt(dict, 'Annots').length > annotationsMax)
      throw new LetterRefused('letter_limit_exceeded', `A page has more than ${annotationsMax} annotations.`);
  }
}

function tooManyForms(): LetterRefused {
  return new LetterRefused('letter_limit_exceeded', 'A page draws forms within forms more often than a letter needs.');
}

/** Counts how many forms a stream of content draws, those within forms included. */
class FormCounter {
  private readonly file: PdfFile;
  private readonly known = new Map<PdfObject, number>();

  constructor(file: PdfFile) {
    this.file = file;
  }

  count(stream: PdfObject, inherited: PdfDict | null, depth: number): number {
    const known = this.known.get(stream);
    if (known !== undefined) return known;
    if (depth > formDepthMax) throw tooManyForms();
    this.known.set(stream, 0); // a form that draws itself is drawn once
    const content = this.file.decode(stream);
    if (countWords(content) > operatorsMax)
      throw new LetterRefused('letter_limit_exceeded', `A page has more than ${operatorsMax} operators.`);
    const own = depth === 0 ? null : this.file.entry(stream.value as PdfDict, 'Resources');
    const resources = isDict(own) ? own : inherited;
    const objects = resources === null ? null : this.file.entry(resources, 'XObject');
    let forms = 0;
    for (const [, name] of Buffer.from(content)
      .toString('latin1')
      .matchAll(/\/([^\s/()<>[\]{}%]{1,127})\s+Do\b/g)) {
      const drawn = isDict(objects) ? streamOf(this.file, objects.entries.get(name!) ?? null) : undefined;
      if (drawn === undefined || !isDict(drawn.value) || !this.file.hasName(drawn.value, 'Subtype', 'Form')) continue;
      forms += 1 + this.count(drawn, resources, depth + 1);
    }
    this.known.set(stream, forms);
    return forms;
  }
}

function countWords(bytes: Uint8Array): number {
  let [count, isInside] = [0, false];
  for (const byte of bytes) {
    const isPart = isRegular(byte);
    if (isPart ? !isInside : !isPdfSpace(byte)) count++;
    isInside = isPart;
  }
  return count;
}

function streamOf(file: PdfFile, value: PdfValue): PdfObject | undefined {
  let at = value;
  for (let hops = 0; isRef(at) && hops < 16; hops++) {
    const object = file.object(at.number);
    if (object?.stream) return object;
    at = object?.value ?? null;
  }
  return undefined;
}
