import type { Box, PageMark } from '../../letter-reading.ts';
import { LetterRefused } from '../gate/letter-refused.ts';
import { Bounds, cluster, identity, multiply, toFractions, transform, type Matrix } from './page-geometry.ts';
import type { PdfFile, PdfObject } from './pdf-file.ts';
import type { PdfPage } from './pdf-pages.ts';
import {
  isArray,
  isDict,
  isName,
  isPdfSpace,
  isRef,
  isRegular,
  isString,
  isWord,
  PdfParser,
  PdfSyntaxError,
  type PdfDict,
  type PdfValue,
  type PdfWord,
  type ValueBudget,
} from './pdf-syntax.ts';

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
  /** Straight lines, which may go through something. */
  readonly rules: readonly Rule[];
}

/** A straight line: the box from end to end. */
export interface Rule {
  readonly box: Box;
  readonly isLevel: boolean;
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

/** A straight line is at least this long, and level if it is no higher, as parts of the page. */
const ruleMin = { length: 0.02, levelHeight: 0.004 } as const;

/** A picture with less opacity is seen through; one with a mask is only if it is larger than a logo, as a part of the page. */
const seeThrough = { opacityMax: 0.95, maskedAreaMin: 0.04 } as const;

/** Annotations that stand on the page by themselves: fields and signatures are read elsewhere, links and their pop-ups show nothing. */
const ordinaryAnnotations = new Set(['Widget', 'Link', 'Popup']);

/** Text lower than this is no text for a person's eyes. */
const readablePointsMin = 1.5;

/** A colour this near to white cannot be read on paper; less opacity than this shows nothing. */
const whiteMin = 0.94;
const opacityMin = 0.06;

interface State {
  matrix: Matrix;
  font: string | null;
  fontSize: number;
  renderMode: number;
  leading: number;
  fillsWhite: boolean;
  opacity: number;
}

interface Path {
  bounds: Bounds;
  slanted: number;
  segments: number;
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
  private readonly rules: Rule[] = [];
  /** Annotations and see-through pictures. */
  private readonly laidOver: PageMark[] = [];
  /** What is painted in a colour, on which white text can be read. */
  private readonly fills: Box[] = [];
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
      ...this.pictures
        .filter(large)
        .slice(0, 400)
        .map((box) => ({ kind: 'image', box }) as const),
      ...drawings.map((box) => ({ kind: 'drawing', box }) as const),
      ...this.laidOver,
    ];
    return {
      marks,
      rules: this.rules,
      texts: this.texts,
      pictureCover: Math.max(0, ...this.pictures.map(({ width, height }) => width * height)),
    };
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
    if (annotations.items.length > formsMax)
      throw new LetterRefused('letter_limit_exceeded', `A page has more than ${formsMax} annotations.`);
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
    const subtype = this.file.entry(annotation, 'Subtype');
    if (rect !== null && !(isName(subtype) && ordinaryAnnotations.has(subtype.name)))
      this.layOver(
        'annotation',
        boxOf(
          [
            [rect[0]!, rect[1]!],
            [rect[2]!, rect[3]!],
          ],
          toFractions(this.page),
        ),
      );
    if (form === undefined || rect === null || !isDict(form.value)) return;
    const box = numbersOf(this.file, this.file.entry(form.value, 'BBox'), 4) ?? [0, 0, 1, 1];
    this.drawForm(form, multiply(fit(box, rect), toFractions(this.page)), { inherited: null, opacity: 1 });
  }

  /** A field with several looks names the one that is shown. */
  private chosenLook(normal: PdfValue | undefined, annotation: PdfDict): PdfValue {
    const looks = this.file.resolve(normal);
    if (!isDict(looks) || this.streamOf(normal ?? null) !== undefined) return normal ?? null;
    const chosen = this.file.entry(annotation, 'AS');
    return isName(chosen) ? (looks.entries.get(chosen.name) ?? null) : null;
  }

  private drawForm(
    form: PdfObject,
    matrix: Matrix,
    { inherited, opacity }: { inherited: PdfDict | null; opacity: number },
  ): void {
    if (!isDict(form.value) || this.open.has(form)) return;
    if (this.open.size >= formDepthMax || ++this.forms > formsMax)
      throw new LetterRefused(
        'letter_limit_exceeded',
        'A page draws forms within forms more often than a letter needs.',
      );
    const own = numbersOf(this.file, this.file.entry(form.value, 'Matrix'), 6) as Matrix | null;
    const resources = this.file.entry(form.value, 'Resources');
    this.open.add(form);
    this.run(
      this.file.decode(form),
      isDict(resources) ? resources : inherited,
      own === null ? matrix : multiply(own, matrix),
      opacity,
    );
    this.open.delete(form);
  }

  private run(bytes: Uint8Array, resources: PdfDict | null, matrix: Matrix, outerOpacity = 1): void {
    const run = new ContentRun(matrix, outerOpacity, {
      font: (name) => this.fontName(resources, name),
      picture: (at, opacity) => this.addPicture(at, { opacity, masked: false }),
      opacity: (name) => this.opacity(resources, name),
      stroke: (path, isFilled) => this.addStroke(path, isFilled),
      text: (text) => this.addText(text),
      object: (name, at, opacity) => this.drawObject(resources, name, { matrix: at, opacity }),
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

  private layOver(kind: PageMark['kind'], box: Box | null): void {
    if (box !== null && this.laidOver.length < 400) this.laidOver.push({ kind, box });
  }

  private drawObject(
    resources: PdfDict | null,
    name: string,
    { matrix, opacity }: { matrix: Matrix; opacity: number },
  ): void {
    const object = this.streamOf(this.resource(resources, 'XObject', name));
    if (object === undefined || !isDict(object.value)) return;
    const subtype = this.file.entry(object.value, 'Subtype');
    if (isName(subtype, 'Image'))
      this.addPicture(matrix, {
        opacity,
        masked:
          this.file.entry(object.value, 'SMask') !== null ||
          this.streamOf(object.value.entries.get('SMask') ?? null) !== undefined,
      });
    else if (isName(subtype, 'Form')) this.drawForm(object, matrix, { inherited: resources, opacity });
  }

  private addPicture(matrix: Matrix, { opacity, masked }: { opacity: number; masked: boolean }): void {
    const box = boxOf(
      [
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 1],
      ],
      matrix,
    );
    if (box === null) return;
    if (this.pictures.length < 2_000) this.pictures.push(box);
    const isSeenThrough =
      (opacity >= opacityMin && opacity < seeThrough.opacityMax) ||
      (masked && box.width * box.height >= seeThrough.maskedAreaMin);
    if (isSeenThrough) this.layOver('see_through', box);
  }

  private addStroke({ bounds, slanted, segments }: Path, isFilled: boolean): void {
    const box = bounds.box();
    if (box === null) return;
    const isLevel = box.height <= ruleMin.levelHeight;
    if ((isLevel || (segments <= 2 && slanted >= 1)) && box.width >= ruleMin.length && this.rules.length < 2_000)
      this.rules.push({ box, isLevel });
    if (slanted >= slantedMin && this.strokes.length < 20_000) this.strokes.push(box);
    if (isFilled && this.fills.length < 2_000) this.fills.push(box);
  }

  private opacity(resources: PdfDict | null, name: string): number | null {
    const parameters = this.file.resolve(this.resource(resources, 'ExtGState', name));
    const opacity = isDict(parameters) ? this.file.entry(parameters, 'ca') : null;
    return typeof opacity === 'number' ? opacity : null;
  }

  private addText({ height, isWhite, ...text }: DrawnText): void {
    if (this.texts.length >= 50_000) return;
    const points = Math.hypot(height[0] * this.page.width, height[1] * this.page.height);
    const holds = (box: Box) =>
      text.x >= box.left && text.x <= box.left + box.width && text.y >= box.top && text.y <= box.top + box.height;
    const isOnColour = () => this.fills.some(holds) || this.pictures.some(holds);
    this.texts.push({ ...text, visible: text.visible && points >= readablePointsMin && (!isWhite || isOnColour()) });
  }
}

interface DrawnText extends ShownText {
  /** The height of its font as a vector in fractions of the page. */
  readonly height: readonly [number, number];
  readonly isWhite: boolean;
}

interface Drawing {
  font(name: string): string | null;
  /** The opacity that a set of parameters asks for, if it does. */
  opacity(name: string): number | null;
  picture(matrix: Matrix, opacity: number): void;
  stroke(path: Path, isFilled: boolean): void;
  text(text: DrawnText): void;
  object(name: string, matrix: Matrix, opacity: number): void;
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

  constructor(matrix: Matrix, opacity: number, drawing: Drawing) {
    this.state = { matrix, font: null, fontSize: 1, renderMode: 0, leading: 0, fillsWhite: false, opacity };
    this.drawing = drawing;
  }

  operate(operator: string, operands: Operands): void {
    const handler = Object.hasOwn(this.handlers, operator) ? this.handlers[operator] : undefined;
    handler?.(operands);
  }

  private readonly handlers: Readonly<Record<string, (operands: Operands) => void>> = {
    q: () => this.save(),
    Q: () => void (this.state = this.saved.pop() ?? this.state),
    cm: (operands) =>
      withNumbers(
        operands,
        6,
        (matrix) => (this.state.matrix = multiply(matrix as unknown as Matrix, this.state.matrix)),
      ),
    Do: ([name]) => void (isName(name) && this.drawing.object(name.name, this.state.matrix, this.state.opacity)),
    BI: () => this.drawing.picture(this.state.matrix, this.state.opacity),
    m: (operands) => withNumbers(operands, 2, ([x, y]) => this.moveTo(x!, y!)),
    l: (operands) => withNumbers(operands, 2, ([x, y]) => this.lineTo(x!, y!)),
    c: (operands) => withNumbers(operands, 6, (points) => this.curveTo(points)),
    v: (operands) => withNumbers(operands, 4, (points) => this.curveTo(points)),
    y: (operands) => withNumbers(operands, 4, (points) => this.curveTo(points)),
    re: (operands) => withNumbers(operands, 4, ([x, y, width, height]) => this.rectangle(x!, y!, width!, height!)),
    ...Object.fromEntries(['S', 's'].map((name) => [name, () => this.paint({ isFilled: false })])),
    ...Object.fromEntries(
      ['f', 'F', 'f*', 'B', 'B*', 'b', 'b*'].map((name) => [name, () => this.paint({ isFilled: true })]),
    ),
    n: () => void (this.path = null),
    ...Object.fromEntries(
      ['g', 'rg', 'k', 'sc', 'scn'].map((name) => [
        name,
        (operands: Operands) => void (this.state.fillsWhite = isWhite(operands)),
      ]),
    ),
    cs: () => void (this.state.fillsWhite = false),
    gs: ([name]) => void (isName(name) && (this.state.opacity = this.drawing.opacity(name.name) ?? this.state.opacity)),
    BT: () => void (this.textMatrix = this.lineMatrix = identity),
    Tf: ([name, size]) => this.setFont(name, size),
    Tr: (operands) => withNumbers(operands, 1, ([mode]) => (this.state.renderMode = mode!)),
    TL: (operands) => withNumbers(operands, 1, ([leading]) => (this.state.leading = leading!)),
    Tm: (operands) =>
      withNumbers(operands, 6, (matrix) => (this.textMatrix = this.lineMatrix = matrix as unknown as Matrix)),
    Td: (operands) => withNumbers(operands, 2, ([x, y]) => this.nextLine(x!, y!)),
    TD: (operands) =>
      withNumbers(operands, 2, ([x, y]) => {
        this.state.leading = -y!;
        this.nextLine(x!, y!);
      }),
    'T*': () => this.nextLine(0, -this.state.leading),
    Tj: ([text]) => this.show(isString(text) ? text.bytes.length : 0),
    TJ: ([list]) =>
      this.show(
        isArray(list) ? list.items.reduce((sum: number, item) => sum + (isString(item) ? item.bytes.length : 0), 0) : 0,
      ),
    "'": ([text]) => this.showNext(text),
    '"': ([, , text]) => this.showNext(text),
  };

  private save(): void {
    if (this.saved.length >= stateDepthMax)
      throw new LetterRefused('letter_limit_exceeded', `A page saves its state more than ${stateDepthMax} times.`);
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
    const { font, fontSize, renderMode, opacity, fillsWhite } = this.state;
    const matrix = multiply(this.textMatrix, this.state.matrix);
    const [x, y] = transform(matrix, 0, 0);
    const isDrawn = renderMode !== 3 && renderMode !== 7 && opacity >= opacityMin;
    this.drawing.text({
      x,
      y,
      font,
      bytes,
      visible: isDrawn,
      height: [matrix[2] * fontSize, matrix[3] * fontSize],
      isWhite: fillsWhite && renderMode % 4 === 0,
    });
  }

  private setFont(name: PdfValue | undefined, size: PdfValue | undefined): void {
    if (isName(name)) this.state.font = this.drawing.font(name.name);
    if (typeof size === 'number') this.state.fontSize = size;
  }

  private rectangle(x: number, y: number, width: number, height: number): void {
    this.moveTo(x, y);
    for (const [cornerX, cornerY] of [
      [x + width, y],
      [x + width, y + height],
      [x, y + height],
      [x, y],
    ] as const)
      this.extend(transform(this.state.matrix, cornerX, cornerY), false);
  }

  private moveTo(x: number, y: number): void {
    const point = transform(this.state.matrix, x, y);
    this.path ??= { bounds: new Bounds(), slanted: 0, segments: 0, at: point, start: point };
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
    for (let at = 0; at + 1 < points.length; at += 2)
      this.extend(transform(this.state.matrix, points[at]!, points[at + 1]!), at === 0);
  }

  private extend(point: readonly [number, number], slanted: boolean): void {
    const path = this.path!;
    path.bounds.add(path.at);
    path.bounds.add(point);
    path.at = point;
    path.segments++;
    if (slanted) path.slanted++;
  }

  private paint({ isFilled }: { isFilled: boolean }): void {
    const { fillsWhite, opacity } = this.state;
    const isSeen = !(isFilled && fillsWhite) && opacity >= opacityMin;
    if (this.path !== null && isSeen) this.drawing.stroke(this.path, isFilled);
    this.path = null;
  }
}

/** White by its numbers: one of grey, three of red, green and blue, or four of inks. Names of patterns are none. */
function isWhite(operands: Operands): boolean {
  const numbers = operands.filter((each) => typeof each === 'number');
  if (numbers.length !== operands.length) return false;
  if (numbers.length === 4) return numbers.every((ink) => ink <= 1 - whiteMin);
  return (numbers.length === 1 || numbers.length === 3) && numbers.every((light) => light >= whiteMin);
}

function withNumbers(operands: Operands, count: number, use: (numbers: readonly number[]) => void): void {
  if (operands.length >= count && operands.slice(0, count).every((each) => typeof each === 'number'))
    use(operands.slice(0, count) as number[]);
}

/** Calls back for each operator with its operands. Damaged parts are skipped: the text reader judges them. */
function readOperators(
  bytes: Uint8Array,
  budget: ValueBudget,
  operate: (operator: string, operands: Operands) => void,
): void {
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
    if (bytes[at] !== 0x45 || bytes[at + 1] !== 0x49 || !isPdfSpace(bytes[at - 1]) || isRegular(bytes[at + 2]))
      continue;
    parser.position = at + 2;
    return;
  }
  parser.position = bytes.length;
}

function isHidden(flags: PdfValue): boolean {
  return typeof flags === 'number' && (flags & 0b100010) !== 0; // hidden, no view (ISO 32000-1 table 165)
}

/** The box around some points, as a matrix places them; null where it has no size. */
function boxOf(points: readonly (readonly [number, number])[], matrix: Matrix): Box | null {
  const bounds = new Bounds();
  for (const [x, y] of points) bounds.add(transform(matrix, x, y));
  return bounds.box();
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
