import type { Box, PageMark } from '../../letter-reading.ts';
import { LetterRefused } from '../gate/letter-refused.ts';
import { Bounds, boxOf, cluster, multiply, toFractions, transform, type Matrix } from './page-geometry.ts';
import { isUnseen, rectOf } from './pdf-fields.ts';
import type { PdfFile, PdfObject, Rectangle } from './pdf-file.ts';
import type { PdfPage } from './pdf-pages.ts';
import {
  isArray,
  isDict,
  isName,
  isPdfSpace,
  isRef,
  isRegular,
  visitValues,
  type PdfDict,
  type PdfValue,
} from './pdf-syntax.ts';
import type { Pdfium, PdfiumDocument, Pointer } from './pdfium.ts';

/** Text of one text object that a person can see, without its gaps. */
export interface ShownText {
  readonly text: string;
  /** From the text's own space, in which a unit is the size of its font, to the page's. */
  readonly matrix: Matrix;
  /** In sizes of its font. */
  readonly width: number;
  readonly font: string | null;
}

/** What a page shows, without decoding any of its pictures. */
export interface PageContent {
  readonly texts: readonly ShownText[];
  readonly marks: readonly PageMark[];
  /** Part of the page that its largest picture covers. */
  readonly pictureCover: number;
  /** Straight lines, which may go through something. */
  readonly rules: readonly Rule[];
  /** It has text that is either white on paper or painted with a shading pattern, which only its picture shows. */
  readonly hasUnclearText: boolean;
}

/** A straight line: the box from end to end. */
export interface Rule {
  readonly box: Box;
  readonly isLevel: boolean;
}

/** Operands and operators of one stream of content. A page of dense text has 10,000. */
const operatorsMax = 750_000;

/** Text objects and pieces of text that a page may have; a page where every letter is placed by itself has 5,000. */
const textsMax = 30_000;

/** Forms within forms; also what one page may draw of them, since a form can draw another many times. */
const formDepthMax = 8;
const formsMax = 2_000;

/** Strokes this near to each other, as fractions of the page, are one mark: the letters of a handwritten name. */
const strokeGap = { x: 0.02, y: 0.008 } as const;

/** Smallest mark: a quarter of an inch by a twentieth on a letter's page. Smaller ones are bullets and dots. */
const markMin = { width: 0.02, height: 0.004 } as const;

/** A path is handwriting, or a logo, if at least this many of its segments are curved or slanted. */
const slantedMin = 3;

/** A straight line is at least this long, and level if it is no higher, as parts of the page. */
const ruleMin = { length: 0.02, levelHeight: 0.004 } as const;

/** A form with less opacity is seen through; a picture with a mask is only if it is larger than a logo, as a part of the page. */
const seeThrough = { opacityMax: 0.95, maskedAreaMin: 0.04 } as const;

/** Annotations that are no marks: fields and signatures are read elsewhere, links and their pop-ups show nothing. */
const ordinaryAnnotations = new Set(['Widget', 'Link', 'Popup']);

/** Lower text cannot be read by a person. */
const readablePointsMin = 1.5;

/** A colour this near to white cannot be read on paper; less opacity than this shows nothing. */
const whiteMin = 0.94;
const opacityMin = 0.06;

/** A letter starts a new piece of text if it is this far from the one before, in sizes of the font: ahead, behind, or off the line. */
const pieceGap = { ahead: 3, behind: 0.5, offLine: 0.3 } as const;

/** Kinds of page objects, of segments of paths, and the kinds of `Tr` that show nothing, as PDFium numbers them. */
const kinds = { text: 1, path: 2, image: 3, shading: 4, form: 5 } as const;
const segments = { line: 0, curve: 1, move: 2 } as const;
const unseenModes = new Set([3, 7]);

/**
 * Bounds what PDFium parses, before it sees the file: the operators of each page and form, and how often a page draws forms.
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

/** What PDFium does not say of the objects of a page. */
interface HiddenFacts {
  /** Sizes in pixels of the pictures that have a mask. */
  readonly maskedSizes: ReadonlySet<string>;
  /** The file has shading patterns; what is painted with one is white to PDFium. */
  readonly hasShadingPatterns: boolean;
}

/** Looks for them in the whole file. */
export function findHiddenFacts(file: PdfFile): HiddenFacts {
  const maskedSizes = new Set<string>();
  let hasShadingPatterns = false;
  const wholeNumber = (dict: PdfDict, key: string) => Math.trunc(Number(file.entry(dict, key)));
  for (const { value, stream } of file.all) {
    if (stream !== null && isDict(value) && value.entries.has('SMask'))
      maskedSizes.add(['Width', 'Height'].map((key) => wholeNumber(value, key)).join());
    visitValues(value, (each) => {
      if (isDict(each) && wholeNumber(each, 'PatternType') === 2) hasShadingPatterns = true;
    });
  }
  return { maskedSizes, hasShadingPatterns };
}

interface ContentTask {
  readonly file: PdfFile;
  readonly document: PdfiumDocument;
  readonly page: PdfPage;
  /** From 1. */
  readonly number: number;
  readonly facts: HiddenFacts;
}

/**
 * Reads what a page shows, the forms that it draws, and what its annotations look like.
 * @throws LetterRefused `letter_limit_exceeded`; Error of PDFium where the page cannot be read
 */
export function readPageContent(task: ContentTask): PageContent {
  return task.document.usePage(task.number, (pdfium, page) => new ContentReader(task, pdfium, page).read());
}

/** The coordinate system of objects, and what they inherit. */
interface ObjectPlace {
  readonly matrix: Matrix;
  readonly opacity: number;
  readonly depth: number;
}

interface Paint {
  readonly isWhite: boolean;
  readonly opacity: number;
}

class ContentReader {
  private readonly task: ContentTask;
  private readonly pdfium: Pdfium;
  private readonly functions: Pdfium['functions'];
  private readonly page: Pointer;
  private readonly pictures: Box[] = [];
  private readonly strokes: Box[] = [];
  private readonly rules: Rule[] = [];
  /** Annotations and see-through pictures. */
  private readonly overlays: PageMark[] = [];
  /** What is painted in a colour, on which white text can be read. */
  private readonly fills: Box[] = [];
  private readonly fonts = new Map<Pointer, string | null>();
  private hasUnclearText = false;
  private texts = 0;
  private forms = 0;

  constructor(task: ContentTask, pdfium: Pdfium, page: Pointer) {
    [this.task, this.pdfium, this.functions, this.page] = [task, pdfium, pdfium.functions, page];
  }

  read(): PageContent {
    const place = { matrix: toFractions(this.task.page), opacity: 1, depth: 0 };
    this.readObjects(
      this.functions.FPDFPage_CountObjects(this.page),
      (at) => this.functions.FPDFPage_GetObject(this.page, at),
      place,
    );
    const texts = this.readTexts();
    this.readAnnotations();
    const large = ({ width, height }: Box) => width >= markMin.width && height >= markMin.height;
    const images = this.pictures.filter(large).slice(0, 400);
    const drawings = cluster(this.strokes, strokeGap).filter(large);
    return {
      texts,
      marks: [
        ...images.map((box) => ({ kind: 'image', box }) as const),
        ...drawings.map((box) => ({ kind: 'drawing', box }) as const),
        ...this.overlays,
      ],
      rules: this.rules,
      hasUnclearText: this.hasUnclearText,
      pictureCover: Math.max(0, ...this.pictures.map(({ width, height }) => width * height)),
    };
  }

  private readObjects(count: number, objectAt: (at: number) => Pointer, place: ObjectPlace): void {
    for (let at = 0; at < count; at++) this.readObject(objectAt(at), place);
  }

  private readObject(object: Pointer, place: ObjectPlace): void {
    const kind = this.functions.FPDFPageObj_GetType(object);
    if (kind === kinds.text) this.readTextObject(object, place);
    else if (kind === kinds.path) this.readPath(object, this.within(object, place));
    else if (kind === kinds.image) this.readPicture(object, this.within(object, place));
    else if (kind === kinds.form) this.readForm(object, this.within(object, place));
    else if (kind === kinds.shading) {
      this.addFill(boxOf(place.matrix, this.boundsOf(object)));
    }
  }

  private boundsOf(object: Pointer): Rectangle {
    const found = this.pdfium.floats(4, (at) =>
      this.functions.FPDFPageObj_GetBounds(object, at, at + 4, at + 8, at + 12),
    );
    return (found ?? [0, 0, 0, 0]) as unknown as Rectangle;
  }

  private within(object: Pointer, place: ObjectPlace): ObjectPlace {
    const own = this.pdfium.floats(6, (output) => this.functions.FPDFPageObj_GetMatrix(object, output));
    return own === null ? place : { ...place, matrix: multiply(own as unknown as Matrix, place.matrix) };
  }

  private paintOf(name: 'Fill' | 'Stroke', object: Pointer, { opacity }: ObjectPlace): Paint {
    const colour = this.pdfium.values(4, 4, (...outputs) =>
      this.functions[`FPDFPageObj_Get${name}Color`](object, ...outputs),
    );
    if (colour === null) return { isWhite: false, opacity };
    return {
      isWhite: colour.slice(0, 3).every((light) => light >= whiteMin * 255),
      opacity: Math.min(opacity, colour[3]! / 255),
    };
  }

  private readForm(object: Pointer, place: ObjectPlace): void {
    if (place.depth >= formDepthMax || ++this.forms > formsMax) throw tooManyForms();
    const { opacity } = this.paintOf('Fill', object, place);
    this.readObjects(
      this.functions.FPDFFormObj_CountObjects(object),
      (at) => this.functions.FPDFFormObj_GetObject(object, at),
      { matrix: place.matrix, opacity, depth: place.depth + 1 },
    );
  }

  private readPicture(object: Pointer, { matrix, opacity }: ObjectPlace): void {
    const box = boxOf(matrix, [0, 0, 1, 1]);
    if (box === null) return;
    if (this.pictures.length < 2_000) this.pictures.push(box);
    const size = this.pdfium.values(2, 4, (...outputs) =>
      this.functions.FPDFImageObj_GetImagePixelSize(object, ...outputs),
    );
    const isMasked =
      box.width * box.height >= seeThrough.maskedAreaMin && this.task.facts.maskedSizes.has((size ?? []).join());
    if (isMasked || opacity < seeThrough.opacityMax || this.functions.FPDFPageObj_HasTransparency(object) !== 0)
      this.addOverlay('see_through', box);
  }

  private addOverlay(kind: PageMark['kind'], box: Box | null): void {
    if (box !== null && this.overlays.length < 400) this.overlays.push({ kind, box });
  }

  private addFill(box: Box | null): void {
    if (box !== null && this.fills.length < 2_000) this.fills.push(box);
  }

  private readPath(object: Pointer, place: ObjectPlace): void {
    const modes = this.pdfium.values(2, 4, (...outputs) => this.functions.FPDFPath_GetDrawMode(object, ...outputs));
    const [fillMode, strokes] = modes ?? [0, 0];
    const fill = this.paintOf('Fill', object, place);
    const isFilled = fillMode !== 0 && !fill.isWhite && fill.opacity >= opacityMin;
    const isStroked = strokes !== 0 && this.paintOf('Stroke', object, place).opacity >= opacityMin;
    if (!isFilled && !isStroked) return;
    const { box, count, slanted } = this.shapeOf(object, place.matrix);
    if (box === null) return;
    const isLevel = box.height <= ruleMin.levelHeight;
    if ((isLevel || (count <= 2 && slanted >= 1)) && box.width >= ruleMin.length && this.rules.length < 2_000)
      this.rules.push({ box, isLevel });
    if (slanted >= slantedMin && this.strokes.length < 20_000) this.strokes.push(box);
    if (isFilled) this.addFill(box);
  }

  /** The box of a path, the number of its segments, and how many of these are neither level nor upright. */
  private shapeOf(object: Pointer, matrix: Matrix): { box: Box | null; count: number; slanted: number } {
    const bounds = new Bounds();
    let [count, slanted, curve] = [0, 0, 0];
    let last: readonly [number, number] = [0, 0];
    for (let at = 0, end = this.functions.FPDFPath_CountSegments(object); at < end; at++) {
      const segment = this.functions.FPDFPath_GetPathSegment(object, at);
      const own = this.pdfium.floats(2, (output) =>
        this.functions.FPDFPathSegment_GetPoint(segment, output, output + 4),
      );
      const point = transform(matrix, own?.[0] ?? Number.NaN, own?.[1] ?? Number.NaN);
      const kind = this.functions.FPDFPathSegment_GetType(segment);
      if (kind !== segments.move) {
        bounds.add(last);
        bounds.add(point);
        count++;
        const isSlanted = Math.abs(point[0] - last[0]) > 0.0005 && Math.abs(point[1] - last[1]) > 0.0005;
        // A curve has three points and counts once.
        if (kind === segments.curve ? curve++ % 3 === 0 : isSlanted) slanted++;
      }
      last = point;
    }
    return { box: bounds.box(), count, slanted };
  }

  /** Removes invisible text, and replacement text (ActualText), from the page before its letters are read. */
  private readTextObject(object: Pointer, place: ObjectPlace): void {
    if (++this.texts > textsMax)
      throw new LetterRefused('letter_limit_exceeded', `A page has more than ${textsMax} pieces of text.`);
    if (!this.isSeen(object, place)) this.functions.FPDFPageObj_SetIsActive(object, 0);
    for (let left = this.functions.FPDFPageObj_CountMarks(object); left > 0; left--)
      this.functions.FPDFPageObj_RemoveMark(object, this.functions.FPDFPageObj_GetMark(object, left - 1));
  }

  private isSeen(object: Pointer, place: ObjectPlace): boolean {
    const { page } = this.task;
    const { matrix } = this.within(object, place);
    const [size = 0] = this.pdfium.floats(1, (output) => this.functions.FPDFTextObj_GetFontSize(object, output)) ?? [];
    if (Math.hypot(matrix[2] * page.width, matrix[3] * page.height) * Math.abs(size) < readablePointsMin) return false;
    const mode = this.functions.FPDFTextObj_GetTextRenderMode(object);
    if (unseenModes.has(mode)) return false;
    const paints = [
      ...(mode % 4 === 1 ? [] : [this.paintOf('Fill', object, place)]),
      ...(mode % 4 === 0 ? [] : [this.paintOf('Stroke', object, place)]),
    ];
    const [x, y] = transform(matrix, 0, 0);
    const holds = ({ left, top, width, height }: Box) =>
      x >= left && x <= left + width && y >= top && y <= top + height;
    const drawn = paints.filter(({ opacity }) => opacity >= opacityMin);
    if (drawn.some(({ isWhite }) => !isWhite)) return true;
    if (drawn.length > 0 && this.task.facts.hasShadingPatterns) this.hasUnclearText = true;
    return drawn.length > 0 && (this.fills.some(holds) || this.pictures.some(holds));
  }

  private readTexts(): ShownText[] {
    const text = this.functions.FPDFText_LoadPage(this.page);
    const found: ShownText[] = [];
    let piece: Letter[] = [];
    let last: Letter | undefined;
    const end = () => {
      found.push(...this.joinLetters(text, piece));
      piece = [];
      if (found.length > textsMax)
        throw new LetterRefused('letter_limit_exceeded', `A page has more than ${textsMax} pieces of text.`);
    };
    for (let at = 0, count = this.functions.FPDFText_CountChars(text); at < count; at++) {
      const letter = this.letterAt(text, at, last);
      if (letter === null) continue;
      if (last !== undefined && !follows(last, letter)) end();
      piece.push(letter);
      last = letter;
    }
    end();
    this.functions.FPDFText_ClosePage(text);
    return found;
  }

  /** A letter of the page; null for spaces and line ends that PDFium adds between objects. */
  private letterAt(text: Pointer, at: number, last: Letter | undefined): Letter | null {
    const object = this.functions.FPDFText_GetTextObject(text, at);
    if (object === 0) return null;
    const origin = this.pdfium.values(2, 8, (...outputs) =>
      this.functions.FPDFText_GetCharOrigin(text, at, ...outputs),
    );
    const linear = last?.object === object ? last.matrix : this.linearOf(text, at, object);
    if (origin === null || linear === null) return null;
    const [a, b, c, d] = linear;
    const isGenerated = this.functions.FPDFText_IsGenerated(text, at) === 1;
    const sign = isGenerated ? ' ' : this.signAt(text, at);
    return { text: sign, isGenerated, at, object, matrix: [a, b, c, d, origin[0]!, origin[1]!] };
  }

  /** The matrix of all letters of an object, but for their places. */
  private linearOf(text: Pointer, at: number, object: Pointer): Matrix | null {
    const matrix = this.pdfium.floats(4, (output) => this.functions.FPDFText_GetMatrix(text, at, output));
    const size = this.pdfium.floats(1, (output) => this.functions.FPDFTextObj_GetFontSize(object, output));
    if (matrix === null || size === null) return null;
    const [a, b, c, d] = matrix.map((each) => each * size[0]!) as [number, number, number, number];
    return [a, b, c, d, 0, 0];
  }

  private signAt(text: Pointer, at: number): string {
    if (this.functions.FPDFText_HasUnicodeMapError(text, at) === 1) return '\ufffd';
    const code = this.functions.FPDFText_GetUnicode(text, at);
    // The sign that PDFium puts for a hyphen at the end of a line.
    if (code === 2 && this.functions.FPDFText_IsHyphen(text, at) === 1) return '-';
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '\ufffd';
  }

  /** One piece, with its leading and trailing spaces as separate blanks, so that they do not add to its width. */
  private joinLetters(text: Pointer, letters: readonly Letter[]): ShownText[] {
    const isBlank = (letter: Letter) => letter.text.trim() === '';
    const from = letters.findIndex((letter) => !isBlank(letter));
    if (from < 0) return letters.slice(0, 1).map(({ matrix }) => ({ text: ' ', matrix, width: 0, font: null }));
    const to = letters.findLastIndex((letter) => !isBlank(letter));
    const [first, last] = [letters[from]!, letters[to]!];
    const signs = letters.slice(from, to + 1).map((letter) => letter.text);
    const blank = (letter: Letter | undefined): ShownText[] =>
      letter === undefined ? [] : [{ text: ' ', matrix: letter.matrix, width: 0, font: null }];
    return [
      ...(from > 0 ? blank(first) : []),
      {
        text: signs.join(''),
        matrix: first.matrix,
        width: this.widthOf(text, first, last),
        font: this.fontOf(first.object),
      },
      ...blank(letters[to + 1]),
    ];
  }

  private widthOf(text: Pointer, first: Letter, last: Letter): number {
    const box = this.pdfium.floats(4, (output) => this.functions.FPDFText_GetLooseCharBox(text, last.at, output));
    const [left = last.matrix[4], top = last.matrix[5], right = left, bottom = top] = box ?? [];
    const corners = [left, right].flatMap((x) => [offsetFrom(first, x, bottom), offsetFrom(first, x, top)]);
    return Math.max(0, ...corners.map(([along]) => along));
  }

  private fontOf(object: Pointer): string | null {
    const font = this.functions.FPDFTextObj_GetFont(object);
    let name = this.fonts.get(font);
    if (name === undefined) {
      const base = this.pdfium.text((output, bytes) => this.functions.FPDFFont_GetBaseFontName(font, output, bytes));
      name = base.replace(/^[A-Z]{6}\+/, '').slice(0, 100) || null;
      this.fonts.set(font, name);
    }
    return name;
  }

  /** Reads stamps, ink and the appearances of signature fields over the page. */
  private readAnnotations(): void {
    const { file, page } = this.task;
    const annotations = file.itemsAt(page.dict, 'Annots');
    if (annotations.length > formsMax)
      throw new LetterRefused('letter_limit_exceeded', `A page has more than ${formsMax} annotations.`);
    for (const [at, item] of annotations.entries()) {
      const annotation = file.resolve(item);
      if (isDict(annotation) && !isUnseen(file, annotation)) this.readAnnotation(annotation, at);
    }
  }

  private readAnnotation(annotation: PdfDict, at: number): void {
    const { file, page } = this.task;
    const rect = rectOf(file, annotation);
    if (rect === null) return;
    const subtype = file.entry(annotation, 'Subtype');
    if (!(isName(subtype) && ordinaryAnnotations.has(subtype.name)))
      this.addOverlay('annotation', boxOf(toFractions(page), rect));
    const form = streamOf(file, this.chosenLook(annotation));
    if (form === undefined || !isDict(form.value)) return;
    const look = this.functions.FPDFPage_GetAnnot(this.page, at);
    if (look === 0) return;
    const box = file.fourNumbersOf(form.value.entries.get('BBox')) ?? [0, 0, 1, 1];
    this.readObjects(
      this.functions.FPDFAnnot_GetObjectCount(look),
      (each) => this.functions.FPDFAnnot_GetObject(look, each),
      { matrix: multiply(fit(box, rect), toFractions(page)), opacity: 1, depth: 1 },
    );
    this.functions.FPDFPage_CloseAnnot(look);
  }

  /** A field with several looks names the one that is shown. */
  private chosenLook(annotation: PdfDict): PdfValue {
    const { file } = this.task;
    const looks = file.entry(annotation, 'AP');
    const normal = isDict(looks) ? (looks.entries.get('N') ?? null) : null;
    const choice = file.resolve(normal);
    if (!isDict(choice) || streamOf(file, normal) !== undefined) return normal;
    const chosen = file.entry(annotation, 'AS');
    return isName(chosen) ? (choice.entries.get(chosen.name) ?? null) : null;
  }
}

/** One letter of a page, by its number there; its matrix has the size of its font. */
interface Letter {
  readonly text: string;
  readonly isGenerated: boolean;
  readonly at: number;
  readonly object: Pointer;
  readonly matrix: Matrix;
}

/** A place in the own space of a letter, in sizes of its font: along the line, and across it. */
function offsetFrom({ matrix: [a, b, , , x, y] }: Letter, toX: number, toY: number): readonly [number, number] {
  const square = a * a + b * b || 1;
  return [((toX - x) * a + (toY - y) * b) / square, ((toY - y) * a - (toX - x) * b) / square];
}

/** True for the next letter of the same piece. */
function follows(last: Letter, next: Letter): boolean {
  if (last.object !== next.object || last.isGenerated || next.isGenerated) return false;
  const [along, across] = offsetFrom(last, next.matrix[4], next.matrix[5]);
  return along > -pieceGap.behind && along < pieceGap.ahead && Math.abs(across) < pieceGap.offLine;
}

/** The matrix that lays a form's box onto an annotation's rectangle. */
function fit([x1, y1, x2, y2]: Rectangle, [left, bottom, right, top]: Rectangle): Matrix {
  const [sx, sy] = [(right - left) / (x2 - x1 || 1), (top - bottom) / (y2 - y1 || 1)];
  return [sx, 0, 0, sy, left - x1 * sx, bottom - y1 * sy];
}
