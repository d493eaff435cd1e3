import { LetterRefused } from '../gate/letter-refused.ts';
import { decodeFilters, filtersMax, type StreamFilter } from './pdf-filters.ts';
import {
  isArray,
  isDict,
  isName,
  isPdfSpace,
  isRef,
  isWord,
  PdfParser,
  PdfSyntaxError,
  type PdfDict,
  type PdfValue,
  type ValueBudget,
} from './pdf-syntax.ts';

/** One numbered object of a PDF, found by its own header and not by the cross-reference table. */
export interface PdfObject {
  readonly number: number;
  readonly value: PdfValue;
  /** Its raw stream, if it has one, as offsets in the file. */
  readonly stream: { readonly start: number; readonly end: number } | null;
  readonly generation: number;
  /** Where its bytes begin, and the byte after them; of a packed object those of the stream that holds it. */
  readonly start: number;
  readonly end: number;
  /** For an object out of an object stream: number of that stream, and its place in it from 0. */
  readonly packed: { readonly container: number; readonly index: number } | null;
}

/** Left, bottom, right and top. */
export type Rectangle = readonly [number, number, number, number];

export const emptyDict: PdfDict = { kind: 'dict', entries: new Map() };

/** A letter of 20 pages out of a word processor with tags has some 10,000 objects. */
const objectsMax = 50_000;

/** Values (names, numbers, brackets) that all objects together may have; a tagged letter of 20 pages has some 200,000. */
const valuesMax = 1_000_000;

/** Most bytes of a decoded object stream or page content. */
export const decodedBytesMax = 16 * 1024 * 1024;

/** References to references: two are strange, this many a loop. */
const hopsMax = 16;

/** PDF readers look for the end mark in the last 1024 bytes. */
const tailBytes = 1024;

const space = '[\\0\\t\\n\\f\\r ]';
const gap = `(?:${space}|%[^\\r\\n]{0,200}[\\r\\n])`;
const header = new RegExp(`(?<![0-9])(\\d{1,10})${gap}{1,64}(\\d{1,10})${gap}{0,64}obj`, 'g');

/**
 * Finds all objects of a PDF by their headers, so that nothing depends on a cross-reference table that may lie. Objects
 * out of object streams are included. An object inside the bytes of another one is refused: it is only there for a reader
 * that follows another table.
 * @throws LetterRefused `letter_damaged`, `letter_encrypted`, `letter_polyglot`, `letter_limit_exceeded`
 */
export function readPdfFile(bytes: Uint8Array): PdfFile {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  checkTail(text);
  try {
    return new PdfFile(bytes, text).read();
  } catch (error) {
    if (error instanceof PdfSyntaxError) throw pdfDamaged(`${error.message}`);
    throw error;
  }
}

function pdfDamaged(what: string): LetterRefused {
  return new LetterRefused('letter_damaged', `The structure of the PDF is damaged: ${what}.`);
}

/** The file ends with its end mark; white space and zeros may follow it. */
function checkTail(text: string): void {
  const tail = text.slice(-tailBytes);
  const mark = tail.lastIndexOf('%%EOF');
  const rest = mark < 0 ? /^(?!)/ : /^[\0\s]*$/;
  if (mark >= 0 && rest.test(tail.slice(mark + 5))) return;
  if (mark >= 0 || text.lastIndexOf('%%EOF') > text.length / 2)
    throw new LetterRefused('letter_polyglot', 'Other bytes follow the end mark of the PDF.');
  throw pdfDamaged('it has no end mark');
}

interface RawObject {
  readonly value: PdfValue;
  readonly stream: PdfObject['stream'];
}

/** The objects of one PDF. */
export class PdfFile {
  readonly bytes: Uint8Array;
  /** Every object of the file, also those that a later revision replaces. */
  readonly all: PdfObject[] = [];
  readonly trailers: PdfDict[] = [];
  /** The bytes as Latin-1, so that a place in the one is a place in the other. */
  readonly text: string;
  private readonly newest = new Map<number, PdfObject>();
  private readonly budget: ValueBudget = { values: valuesMax };

  constructor(bytes: Uint8Array, text: string) {
    this.bytes = bytes;
    this.text = text;
  }

  /** @throws LetterRefused, PdfSyntaxError as {@link readPdfFile} */
  read(): PdfFile {
    this.readObjects();
    if (this.all.length === 0) throw pdfDamaged('it has no objects');
    this.checkEncryption();
    this.checkLengths();
    this.unpackObjects();
    return this;
  }

  /** The newest object of a number. */
  object(number: number): PdfObject | undefined {
    return this.newest.get(number);
  }

  /** Follows references to the value; null where there is none. */
  resolve(value: PdfValue | undefined): PdfValue {
    let result = value ?? null;
    for (let hops = 0; isRef(result); hops++) {
      if (hops > hopsMax) throw pdfDamaged('a reference leads in a circle');
      result = this.newest.get(result.number)?.value ?? null;
    }
    return result;
  }

  /** The entry of a dictionary, references followed. */
  entry(dict: PdfDict, key: string): PdfValue {
    return this.resolve(dict.entries.get(key));
  }

  /** True if the entry of a dictionary is this name. */
  hasName(dict: PdfDict, key: string, name: string): boolean {
    return isName(this.entry(dict, key), name);
  }

  /** The dictionary that an entry is or refers to, else {@link emptyDict}. */
  dictAt(dict: PdfDict, key: string): PdfDict {
    return this.dictOf(dict.entries.get(key));
  }

  /** The items of the array that an entry is or refers to, else none. */
  itemsAt(dict: PdfDict, key: string): readonly PdfValue[] {
    return this.itemsOf(dict.entries.get(key));
  }

  dictOf(value: PdfValue | undefined): PdfDict {
    const dict = this.resolve(value);
    return isDict(dict) ? dict : emptyDict;
  }

  itemsOf(value: PdfValue | undefined): readonly PdfValue[] {
    const list = this.resolve(value);
    return isArray(list) ? list.items : [];
  }

  /** The first four numbers of an array; null if it has fewer. */
  fourNumbersOf(value: PdfValue | undefined): Rectangle | null {
    const numbers = this.itemsOf(value)
      .slice(0, 4)
      .map((item) => this.resolve(item));
    const isWhole = numbers.length === 4 && numbers.every((each) => Number.isFinite(each));
    return isWhole ? (numbers as unknown as Rectangle) : null;
  }

  /** The rectangle that a value is or refers to, from any two opposite corners (ISO 32000-1 section 7.9.5). */
  rectangleOf(value: PdfValue | undefined): Rectangle | null {
    const corners = this.fourNumbersOf(value);
    if (corners === null) return null;
    const [x1, y1, x2, y2] = corners;
    return [Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2)];
  }

  /** The filters of a stream, first to last. @throws LetterRefused */
  filtersOf(dict: PdfDict): readonly StreamFilter[] {
    const filter = this.entry(dict, dict.entries.has('Filter') ? 'Filter' : 'F');
    const parameters = this.parametersOf(dict);
    const filters = (isArray(filter) ? filter.items : [filter]).flatMap((item, at) => {
      const name = this.resolve(item);
      const own = parameters[at] ?? emptyDict;
      return isName(name) ? [{ name: name.name, isLate: this.entry(own, 'EarlyChange') === 0 }] : [];
    });
    if (filters.length > filtersMax)
      throw new LetterRefused(
        'letter_limit_exceeded',
        `A stream of the PDF has more than ${filtersMax} filters in a row.`,
      );
    return filters;
  }

  /** The parameters of each filter of a stream; {@link emptyDict} for one without. */
  private parametersOf(dict: PdfDict): PdfDict[] {
    const parameters = this.entry(dict, 'DecodeParms');
    return (isArray(parameters) ? parameters.items : [parameters]).map((each) => this.dictOf(each));
  }

  /** The bytes of an object's stream before its filters; none for an object without a stream. */
  rawStream({ stream }: PdfObject): Buffer {
    const { start, end } = stream ?? { start: 0, end: 0 };
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + start, end - start);
  }

  /** The bytes of an object's stream after its filters. @throws LetterRefused */
  decode(object: PdfObject): Uint8Array {
    if (object.stream === null || !isDict(object.value)) throw pdfDamaged('a stream is missing');
    const decoded = decodeFilters(
      this.bytes.subarray(object.stream.start, object.stream.end),
      this.filtersOf(object.value),
      decodedBytesMax,
    );
    return this.unpredict(object.value, decoded);
  }

  /** Undoes the PNG predictors (ISO 32000-1 section 7.4.4.4), which object streams of some programs have. */
  private unpredict(dict: PdfDict, decoded: Uint8Array): Uint8Array {
    const parms = this.parametersOf(dict).at(-1) ?? emptyDict;
    if (Number(this.entry(parms, 'Predictor') ?? 1) < 10) return decoded;
    const number = (key: string, other: number) => {
      const value = this.entry(parms, key);
      return typeof value === 'number' ? value : other;
    };
    const pixel = Math.max(1, Math.ceil((number('Colors', 1) * number('BitsPerComponent', 8)) / 8));
    const row = Math.ceil((number('Columns', 1) * number('Colors', 1) * number('BitsPerComponent', 8)) / 8);
    if (!(row >= 1 && row <= decodedBytesMax && pixel <= 64)) throw pdfDamaged('a predictor has no size');
    return undoPngPredictor(decoded, row, pixel);
  }

  private readObjects(): void {
    let covered = 0;
    header.lastIndex = 0;
    for (let match = header.exec(this.text); match !== null; match = header.exec(this.text)) {
      if (match.index < covered) throw pdfDamaged('an object is inside another one');
      this.readTrailers(covered, match.index);
      const body = match.index + match[0].length;
      const { raw, end } = this.readObject(body);
      covered = end;
      this.keep({
        number: Number(match[1]),
        generation: Number(match[2]),
        ...raw,
        start: match.index,
        end,
        packed: null,
      });
      header.lastIndex = body;
    }
    this.readTrailers(covered, this.bytes.length);
  }

  /** Of two objects with one number the later one in the file counts. */
  private keep(object: PdfObject): void {
    this.all.push(object);
    if (this.all.length > objectsMax)
      throw new LetterRefused('letter_limit_exceeded', `The PDF has more than ${objectsMax} objects.`);
    const other = this.newest.get(object.number);
    if (other === undefined || other.start <= object.start) this.newest.set(object.number, object);
  }

  /** The revision of the file that ended at this byte, with this trailer. */
  asOf(end: number, trailer: PdfDict): PdfFile {
    const earlier = new PdfFile(this.bytes.subarray(0, end), this.text);
    for (const object of this.all) if (object.start < end) earlier.keep(object);
    earlier.trailers.push(trailer);
    return earlier;
  }

  private readObject(body: number): { raw: RawObject; end: number } {
    const parser = new PdfParser(this.bytes, body, this.budget);
    const first = parser.next();
    if (first === undefined) throw pdfDamaged('an object has no value');
    if (isWord(first)) {
      if (first.word !== 'endobj') throw pdfDamaged('an object has no value');
      return { raw: { value: null, stream: null }, end: parser.position };
    }
    const valueEnd = parser.position;
    const word = this.wordAt(parser);
    if (word !== 'stream' || !isDict(first))
      return { raw: { value: first, stream: null }, end: word === 'endobj' ? parser.position : valueEnd };
    const stream = this.findStream(first, parser.position);
    return { raw: { value: first, stream }, end: stream.end };
  }

  private wordAt(parser: PdfParser): string | undefined {
    while (isPdfSpace(this.bytes[parser.position])) parser.position++;
    const word = /[a-z]{0,16}/y;
    word.lastIndex = parser.position;
    const found = word.exec(this.text)![0];
    parser.position += found.length;
    return found;
  }

  private findStream(dict: PdfDict, afterWord: number): { start: number; end: number } {
    const { bytes } = this;
    const start =
      afterWord + (bytes[afterWord] === 13 ? (bytes[afterWord + 1] === 10 ? 2 : 1) : bytes[afterWord] === 10 ? 1 : 0);
    const length = dict.entries.get('Length');
    if (typeof length === 'number' && this.endsAt(start + length)) return { start, end: start + length };
    const end = this.text.indexOf('endstream', start);
    if (end < 0) throw pdfDamaged('a stream does not end');
    return { start, end };
  }

  private endsAt(place: number): boolean {
    const mark = /[\0\t\n\f\r ]{0,4}endstream/y;
    mark.lastIndex = place;
    return Number.isInteger(place) && mark.test(this.text);
  }

  /** A length in another object must agree with the end that was found; readers differ in which they use. */
  private checkLengths(): void {
    for (const { value, stream } of this.all) {
      if (stream === null || !isDict(value) || !isRef(value.entries.get('Length'))) continue;
      const length = this.entry(value, 'Length');
      if (typeof length === 'number' && length > stream.end - stream.start && this.endsAt(stream.start + length))
        throw pdfDamaged('a stream has two ends');
    }
  }

  private readTrailers(from: number, to: number): void {
    const between = this.text.slice(from, to);
    if (/(?<!end)obj(?![a-z])/.test(between)) throw pdfDamaged('an object has no number');
    for (const match of between.matchAll(/trailer/g)) {
      const value = new PdfParser(this.bytes, from + match.index + match[0].length, this.budget).next();
      if (!isDict(value)) throw pdfDamaged('a trailer is no dictionary');
      this.trailers.push(value);
    }
  }

  private checkEncryption(): void {
    for (const { value, stream } of this.all)
      if (stream !== null && isDict(value) && isName(value.entries.get('Type'), 'XRef')) this.trailers.push(value);
    if (this.trailers.some(({ entries }) => entries.has('Encrypt')))
      throw new LetterRefused('letter_encrypted', 'The PDF is encrypted.');
  }

  private unpackObjects(): void {
    const containers = this.all.filter(
      ({ value, stream }) => stream !== null && isDict(value) && isName(value.entries.get('Type'), 'ObjStm'),
    );
    for (const container of containers) this.unpack(container, container.value as PdfDict);
  }

  private unpack(container: PdfObject, dict: PdfDict): void {
    const [count, first] = [this.entry(dict, 'N'), this.entry(dict, 'First')];
    const bytes = this.decode(container);
    if (typeof count !== 'number' || typeof first !== 'number' || !(count >= 0 && first >= 0 && first <= bytes.length))
      throw pdfDamaged('an object stream has no head');
    const head = new PdfParser(bytes.subarray(0, first), 0, this.budget);
    for (let each = 0; each < count; each++) {
      const [number, offset] = [head.next(), head.next()];
      if (typeof number !== 'number' || typeof offset !== 'number' || first + offset > bytes.length)
        throw pdfDamaged('an object stream is damaged');
      const value = new PdfParser(bytes, first + offset, this.budget).value();
      const { start, end } = container;
      this.keep({
        number,
        generation: 0,
        value,
        stream: null,
        start,
        end,
        packed: { container: container.number, index: each },
      });
    }
  }
}

function undoPngPredictor(data: Uint8Array, row: number, pixel: number): Uint8Array {
  const rows = Math.floor(data.length / (row + 1));
  const result = new Uint8Array(rows * row);
  for (let y = 0; y < rows; y++) {
    const line = result.subarray(y * row, (y + 1) * row);
    line.set(data.subarray(y * (row + 1) + 1, (y + 1) * (row + 1)));
    const above = y === 0 ? new Uint8Array(row) : result.subarray((y - 1) * row, y * row);
    undoPngFilter(data[y * (row + 1)]!, line, above, pixel);
  }
  return result;
}

/** Undoes the filter of one row of a PNG (W3C PNG section 9) in place; `pixel` is the bytes of a pixel, at least 1. */
export function undoPngFilter(filter: number, line: Uint8Array, above: Uint8Array, pixel: number): void {
  if (filter === 0) return;
  for (let x = 0; x < line.length; x++) {
    const left = x >= pixel ? line[x - pixel]! : 0;
    const up = above[x]!;
    const corner = x >= pixel ? above[x - pixel]! : 0;
    line[x]! += predict(filter, left, up, corner);
  }
}

function predict(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) throw pdfDamaged('a row has a filter that does not exist');
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
