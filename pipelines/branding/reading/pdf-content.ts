import type { Box, PageMark } from '../letter-reading.ts';
import { LetterRefused } from './letter-refused.ts';
import { Bounds, cluster, identity, multiply, toFractions, transform, type Matrix } from './page-geometry.ts';
import type { PdfFile, PdfObject } from './pdf-file.ts';
import type { PdfPage } from './pdf-pages.ts';
import { isArray, isDict, isName, isPdfSpace, isRef, isRegular, isString, isWord, PdfParser, PdfSyntaxError, type PdfDict, type PdfValue, type PdfWord, type ValueBudget } from './pdf-syntax.ts';

/** Text as a page's operators show it: where it begins, in which font, and whether a person sees it. */
export interface ShownText {
  readonly x: number;
  readonly y: number;
  readonly font: string | null;
  readonly bytes: number;
  readonly visible: boolean;
}

/** What a page draws, without decoding any of its pictures. */
export interface PageContent {
  readonly marks: readonly PageMark[];
  readonly texts: readonly ShownText[];
  /** Part of the page that its largest picture covers. */
  readonly pictureCover: number;
}

/** Operands and operators of a page. A page of dense text has 10,000. */
const pageValuesMax = 1_500_000;

/** Forms within forms; also what one page may draw of them, since a form can draw another many times. */
const formDepthMax = 8;
const formsMax = 2_000;

const stateDepthMax = 256;
const operandsMax = 512;

/** Strokes this near to each other, as fractions of the page, are one mark: the letters of a name written by hand. */
const strokeGap = { x: 0.02, y: 0.008 } as const;

/** Smallest mark: a quarter of an inch by a twentieth on a letter's page. Smaller ones are bullets and dots. */
const markMin = { width: 0.02, height: 0.004 } as const;

/** A path is drawn by hand, or is a logo, when at least this many of its segments are curved or slanted. */
const slantedMin = 3;

interface State {
  matrix: Matrix;
  font: string | null;
  renderMode: number;
  leading: number;
}

interface Path {
  bounds: Bounds;
  slanted: number;
  at: readonly [number, number];
  start: readonly [number, number];
}

/**
 * Reads the operators of a page and of the forms that it draws, and of what its annotations look like.
 * @throws LetterRefused `letter_limit_exceeded`, `letter_damaged`
 */
export function readContent(file: PdfFile, page: PdfPage): PageContent {
  const reader = new ContentReader(file, page);
  reader.readPage();
  return reader.result();
}

class ContentReader {
  private readonly file: PdfFile;
  private readonly page: PdfPage;
  private readonly pictures: Box[] = [];
  private readonly strokes: Box[] = [];
  private readonly texts: ShownText[] = [];
  private readonly budget: ValueBudget = { values: pageValuesMax };
  private readonly open = new Set<PdfObject>();
  private forms = 0;

  constructor(file: PdfFile, page: PdfPage) {
    this.file = file;
    this.page = page;
  }

  readPage(): void {
    const contents = this.file.entry(this.page.dict, 'Contents');
    const parts = isArray(contents) ? contents.items : [this.page.dict.entries.get('Contents') ?? null];
    const objects = parts.flatMap((part) => this.streamOf(part) ?? []);
    const bytes = Buffer.concat(objects.flatMap((object) => [this.file.decode(object), Buffer.from('\n')]));
    this.run(bytes, this.page.resources, toFractions(this.page));
    this.readAnnotations();
  }

  result(): PageContent {
    const large = ({ width, height }: Box) => width >= markMin.width && height >= markMin.height;
    const drawings = cluster(this.strokes, strokeGap).filter(large);
    const marks: PageMark[] = [
      ...this.pictures.filter(large).slice(0, 400).map((box) => ({ kind: 'image', box }) as const),
      ...drawings.map((box) => ({ kind: 'drawing', box }) as const),
    ];
    return { marks, texts: this.texts, pictureCover: Math.max(0, ...this.pictures.map(({ width, height }) => width * height)) };
  }

  private streamOf(value: PdfValue): PdfObject | undefined {
    let at = value;
    for (let hops = 0; isRef(at) && hops < 16; hops++) {
      const object = this.file.object(at.number);
      if (object?.stream) return object;
      at = object?.value ?? null;
    }
    return undefined;
  }

  /** Stamps, ink and the looks of signature fields lie over the page. */
  private readAnnotations(): void {
    const annotations = this.file.entry(this.page.dict, 'Annots');
    if (!isArray(annotations)) return;
    if (annotations.items.length > formsMax) throw new LetterRefused('letter_limit_exceeded', `A page has more than ${formsMax} annotations.`);
    for (const item of annotations.items) {
      const annotation = this.file.resolve(item);
      if (isDict(annotation) && !isHidden(this.file.entry(annotation, 'F'))) this.readAnnotation(annotation);
    }
  }

  private readAnnotation(annotation: PdfDict): void {
    const looks = this.file.entry(annotation, 'AP');
    const normal = isDict(looks) ? looks.entries.get('N') : undefined;
    const form = this.streamOf(this.chosenLook(normal, annotation));
    const rect = numbersOf(this.file, this.file.entry(annotation, 'Rect'), 4);
    if (form === undefined || rect === null || !isDict(form.value)) return;
    const box = numbersOf(this.file, this.file.entry(form.value, 'BBox'), 4) ?? [0, 0, 1, 1];
    this.drawForm(form, multiply(fit(box, rect), toFractions(this.page)), null);
  }

  /** A field with several looks names the one that is shown. */
  private chosenLook(normal: PdfValue | undefined, annotation: PdfDict): PdfValue {
    const looks = this.file.resolve(normal);
    if (!isDict(looks) || this.streamOf(normal ?? null) !== undefined) return normal ?? null;
    const chosen = this.file.entry(annotation, 'AS');
    return isName(chosen) ? (looks.entries.get(chosen.name) ?? null) : null;
  }

  private drawForm(form: PdfObject, matrix: Matrix, inherited: PdfDict | null): void {
    if (!isDict(form.value) || this.open.has(form)) return;
    if (this.open.size >= formDepthMax || ++this.forms > formsMax) throw new LetterRefused('letter_limit_exceeded', 'A page draws forms within forms more often than a letter needs.');
    const own = numbersOf(this.file, this.file.entry(form.value, 'Matrix'), 6) as Matrix | null;
    const resources = this.file.entry(form.value, 'Resources');
    this.open.add(form);
    this.run(this.file.decode(form), isDict(resources) ? resources : inherited, own === null ? matrix : multiply(own, matrix));
    this.open.delete(form);
  }

  private run(bytes: Uint8Array, resources: PdfDict | null, matrix: Matrix): void {
    const run = new ContentRun(matrix, {
      font: (name) => this.fontName(resources, name),
      picture: (at) => this.addPicture(at),
      stroke: (path) => this.addStroke(path),
      text: (text) => void (this.texts.length < 50_000 && this.texts.push(text)),
      object: (name, at) => this.drawObject(resources, name, at),
    });
    readOperators(bytes, this.budget, (operator, operands) => run.operate(operator, operands));
  }

  private resource(resources: PdfDict | null, kind: string, name: string): PdfValue {
    const list = resources === null ? null : this.file.entry(resources, kind);
    return isDict(list) ? (list.entries.get(name) ?? null) : null;
  }

  private fontName(resources: PdfDict | null, name: string): string | null {
    const font = this.file.resolve(this.resource(resources, 'Font', name));
    const base = isDict(font) ? this.file.entry(font, 'BaseFont') : null;
    return isName(base) ? base.name.replace(/^[A-Z]{6}\+/, '').slice(0, 100) : null;
  }

  private drawObject(resources: PdfDict | null, name: string, matrix: Matrix): void {
    const object = this.streamOf(this.resource(resources, 'XObject', name));
    if (object === undefined || !isDict(object.value)) return;
    const subtype = this.file.entry(object.value, 'Subtype');
    if (isName(subtype, 'Image')) this.addPicture(matrix);
    else if (isName(subtype, 'Form')) this.drawForm(object, matrix, resources);
  }

  private addPicture(matrix: Matrix): void {
    const bounds = new Bounds();
    for (const [x, y] of [[0, 0], [1, 0], [0, 1], [1, 1]] as const) bounds.add(transform(matrix, x, y));
    const box = bounds.box();
    if (box !== null && this.pictures.length < 10_000) this.pictures.push(box);
  }

  private addStroke({ bounds, slanted }: Path): void {
    const box = slanted >= slantedMin ? bounds.box() : null;
    if (box !== null && this.strokes.length < 20_000) this.strokes.push(box);
  }
}

interface Drawing {
  font(name: string): string | null;
  picture(matrix: Matrix): void;
  stroke(path: Path): void;
  text(text: ShownText): void;
  object(name: string, matrix: Matrix): void;
}

type Operands = readonly PdfValue[];

/** The state of one content stream while its operators are read. */
class ContentRun {
  private state: State;
  private readonly saved: State[] = [];
  private path: Path | null = null;
  private textMatrix = identity;
  private lineMatrix = identity;
  private readonly drawing: Drawing;

  constructor(matrix: Matrix, drawing: Drawing) {
    this.state = { matrix, font: null, renderMode: 0, leading: 0 };
    this.drawing = drawing;
  }

  operate(operator: string, operands: Operands): void {
    const handler = Object.hasOwn(this.handlers, operator) ? this.handlers[operator] : undefined;
    handler?.(operands);
  }

  private readonly handlers: Readonly<Record<string, (operands: Operands) => void>> = {
    q: () => this.save(),
    Q: () => void (this.state = this.saved.pop() ?? this.state),
    cm: (operands) => withNumbers(operands, 6, (matrix) => (this.state.matrix = multiply(matrix as unknown as Matrix, this.state.matrix))),
    Do: ([name]) => void (isName(name) && this.drawing.object(name.name, this.state.matrix)),
    BI: () => this.drawing.picture(this.state.matrix),
    m: (operands) => withNumbers(operands, 2, ([x, y]) => this.moveTo(x!, y!)),
    l: (operands) => withNumbers(operands, 2, ([x, y]) => this.lineTo(x!, y!)),
    c: (operands) => withNumbers(operands, 6, (points) => this.curveTo(points)),
    v: (operands) => withNumbers(operands, 4, (points) => this.curveTo(points)),
    y: (operands) => withNumbers(operands, 4, (points) => this.curveTo(points)),
    ...Object.fromEntries(['S', 's', 'f', 'F', 'f*', 'B', 'B*', 'b', 'b*'].map((name) => [name, () => this.paint(true)])),
    n: () => this.paint(false),
    BT: () => void (this.textMatrix = this.lineMatrix = identity),
    Tf: ([name]) => void (isName(name) && (this.state.font = this.drawing.font(name.name))),
    Tr: (operands) => withNumbers(operands, 1, ([mode]) => (this.state.renderMode = mode!)),
    TL: (operands) => withNumbers(operands, 1, ([leading]) => (this.state.leading = leading!)),
    Tm: (operands) => withNumbers(operands, 6, (matrix) => (this.textMatrix = this.lineMatrix = matrix as unknown as Matrix)),
    Td: (operands) => withNumbers(operands, 2, ([x, y]) => this.nextLine(x!, y!)),
    TD: (operands) =>
      withNumbers(operands, 2, ([x, y]) => {
        this.state.leading = -y!;
        this.nextLine(x!, y!);
      }),
    'T*': () => this.nextLine(0, -this.state.leading),
    Tj: ([text]) => this.show(isString(text) ? text.bytes.length : 0),
    TJ: ([list]) => this.show(isArray(list) ? list.items.reduce((sum: number, item) => sum + (isString(item) ? item.bytes.length : 0), 0) : 0),
    "'": ([text]) => this.showNext(text),
    '"': ([, , text]) => this.showNext(text),
  };

  private save(): void {
    if (this.saved.length >= stateDepthMax) throw new LetterRefused('letter_limit_exceeded', `A page saves its state more than ${stateDepthMax} times.`);
    this.saved.push({ ...this.state });
  }

  private nextLine(x: number, y: number): void {
    this.textMatrix = this.lineMatrix = multiply([1, 0, 0, 1, x, y], this.lineMatrix);
  }

  private showNext(text: PdfValue | undefined): void {
    this.nextLine(0, -this.state.leading);
    this.show(isString(text) ? text.bytes.length : 0);
  }

  private show(bytes: number): void {
    if (bytes === 0) return;
    const [x, y] = transform(multiply(this.textMatrix, this.state.matrix), 0, 0);
    this.drawing.text({ x, y, font: this.state.font, bytes, visible: this.state.renderMode !== 3 && this.state.renderMode !== 7 });
  }

  private moveTo(x: number, y: number): void {
    const point = transform(this.state.matrix, x, y);
    this.path ??= { bounds: new Bounds(), slanted: 0, at: point, start: point };
    this.path.at = this.path.start = point;
  }

  private lineTo(x: number, y: number): void {
    if (this.path === null) return;
    const point = transform(this.state.matrix, x, y);
    const [dx, dy] = [Math.abs(point[0] - this.path.at[0]), Math.abs(point[1] - this.path.at[1])];
    this.extend(point, dx > 0.0005 && dy > 0.0005);
  }

  private curveTo(points: readonly number[]): void {
    if (this.path === null) return;
    for (let at = 0; at + 1 < points.length; at += 2) this.extend(transform(this.state.matrix, points[at]!, points[at + 1]!), at === 0);
  }

  private extend(point: readonly [number, number], slanted: boolean): void {
    const path = this.path!;
    path.bounds.add(path.at);
    path.bounds.add(point);
    path.at = point;
    if (slanted) path.slanted++;
  }

  private paint(visible: boolean): void {
    if (visible && this.path !== null) this.drawing.stroke(this.path);
    this.path = null;
  }
}

function withNumbers(operands: Operands, count: number, use: (numbers: readonly number[]) => void): void {
  if (operands.length >= count && operands.slice(0, count).every((each) => typeof each === 'number')) use(operands.slice(0, count) as number[]);
}

/** Calls back for each operator with its operands. Damaged parts are skipped: the text reader judges them. */
function readOperators(bytes: Uint8Array, budget: ValueBudget, operate: (operator: string, operands: Operands) => void): void {
  const parser = new PdfParser(bytes, 0, budget);
  let operands: PdfValue[] = [];
  for (;;) {
    const next = nextOf(parser);
    if (next === undefined) return;
    if (!isWord(next)) {
      if (operands.length < operandsMax) operands.push(next);
      continue;
    }
    operate(next.word, operands);
    operands = [];
    if (next.word === 'BI') skipInlinePicture(parser);
  }
}

function nextOf(parser: PdfParser): PdfValue | PdfWord | undefined {
  const before = parser.position;
  try {
    return parser.next();
  } catch (error) {
    if (!(error instanceof PdfSyntaxError)) throw error;
    parser.position = Math.max(parser.position, before + 1);
    return { kind: 'word', word: '' };
  }
}

/** The data of a picture in the content begins after ID and ends at an EI that stands alone. */
function skipInlinePicture(parser: PdfParser): void {
  const { bytes } = parser;
  for (let at = parser.position; at < bytes.length - 1; at++) {
    if (bytes[at] !== 0x45 || bytes[at + 1] !== 0x49 || !isPdfSpace(bytes[at - 1]) || isRegular(bytes[at + 2])) continue;
    parser.position = at + 2;
    return;
  }
  parser.position = bytes.length;
}

function isHidden(flags: PdfValue): boolean {
  return typeof flags === 'number' && (flags & 0b100010) !== 0; // hidden, no view (ISO 32000-1 table 165)
}

function numbersOf(file: PdfFile, value: PdfValue, count: number): readonly number[] | null {
  if (!isArray(value) || value.items.length < count) return null;
  const numbers = value.items.slice(0, count).map((item) => file.resolve(item));
  return numbers.every((each) => typeof each === 'number' && Number.isFinite(each)) ? (numbers as number[]) : null;
}

/** The matrix that lays a form's box onto an annotation's rectangle. */
function fit([x1, y1, x2, y2]: readonly number[], [left, bottom, right, top]: readonly number[]): Matrix {
  const [sx, sy] = [(right! - left!) / (x2! - x1! || 1), (top! - bottom!) / (y2! - y1! || 1)];
  return [sx, 0, 0, sy, left! - x1! * sx, bottom! - y1! * sy];
}
