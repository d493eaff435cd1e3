import { LetterRefused } from '../gate/letter-refused.ts';

/** A value of PDF syntax (ISO 32000-1 section 7.3). Strings keep the place of their token, for /Contents of a signature. */
export type PdfValue = null | boolean | number | PdfName | PdfString | PdfRef | PdfArray | PdfDict;
interface PdfName {
  readonly kind: 'name';
  readonly name: string;
}
export interface PdfString {
  readonly kind: 'string';
  readonly bytes: Uint8Array;
  readonly hex: boolean;
  /** Offset of the first byte of the token, its bracket, in the bytes that were parsed. */
  readonly start: number;
  /** Offset after its closing bracket. */
  readonly end: number;
}
interface PdfRef {
  readonly kind: 'ref';
  readonly number: number;
  readonly generation: number;
}
interface PdfArray {
  readonly kind: 'array';
  readonly items: readonly PdfValue[];
}
export interface PdfDict {
  readonly kind: 'dict';
  readonly entries: ReadonlyMap<string, PdfValue>;
}

/** A bare word: an operator of a content stream, or `obj`, `stream`, `R`. */
interface PdfWord {
  readonly kind: 'word';
  readonly word: string;
}

type Token = Exclude<PdfValue, PdfArray | PdfDict | PdfRef> | PdfWord | typeof end;
const end = Symbol('end of the bytes');

/** How many values may still be made; shared by all that is parsed of one letter. */
export interface ValueBudget {
  values: number;
}

/** The PDF is not what the grammar allows. */
export class PdfSyntaxError extends Error {
  override readonly name = 'PdfSyntaxError';
}

/** Depth to which arrays and dictionaries may nest. Letters of common programs stay below 12; PDF readers recurse. */
export const nestingMax = 48;

const whitespace = new Uint8Array(256);
const delimiter = new Uint8Array(256);
for (const code of [0, 9, 10, 12, 13, 32]) whitespace[code] = 1;
for (const character of '()<>[]{}/%') delimiter[character.charCodeAt(0)] = 1;

/** True for the six whitespace bytes of PDF. */
export function isPdfSpace(code: number | undefined): boolean {
  return code !== undefined && whitespace[code] === 1;
}

/** True for a byte that can be part of a name, number or word. */
export function isRegular(code: number | undefined): boolean {
  return code !== undefined && whitespace[code] === 0 && delimiter[code] === 0;
}

/**
 * Reads PDF values one after another from bytes. Every value takes one from the budget; when it is used up, the letter is
 * refused with `letter_limit_exceeded`.
 */
export class PdfParser {
  readonly bytes: Uint8Array;
  position: number;
  private readonly budget: ValueBudget;

  constructor(bytes: Uint8Array, position: number, budget: ValueBudget) {
    this.bytes = bytes;
    this.position = position;
    this.budget = budget;
  }

  /**
   * The next value, with references, or the next bare word; undefined at the end of the bytes.
   * @throws PdfSyntaxError, LetterRefused
   */
  next(depth = 0, isFieldList = false): PdfValue | PdfWord | undefined {
    const token = this.token();
    if (token === end) return undefined;
    if (typeof token === 'number') return this.referenceOr(token);
    if (token === null || typeof token !== 'object' || token.kind !== 'word') return token;
    if (token.word === '[') return this.array(depth + 1, isFieldList);
    if (token.word === '<<') return this.dict(depth + 1);
    return token;
  }

  /** The next value. @throws PdfSyntaxError at a word or the end of the bytes */
  value(depth = 0, isFieldList = false): PdfValue {
    const value = this.next(depth, isFieldList);
    if (value === undefined) throw new PdfSyntaxError('the bytes end within a value');
    if (isWord(value)) throw new PdfSyntaxError('there is a word instead of a value');
    return value;
  }

  /** In the list of the fields of a form a bare word is null: a common library damages that list when it signs. */
  private array(depth: number, isFieldList: boolean): PdfArray {
    checkDepth(depth);
    const items: PdfValue[] = [];
    for (;;) {
      const item = this.next(depth);
      if (item === undefined) throw new PdfSyntaxError('an array does not end');
      if (isWord(item)) {
        if (item.word === ']') return { kind: 'array', items };
        if (isFieldList && /^\w+$/.test(item.word)) {
          items.push(null);
          continue;
        }
        throw new PdfSyntaxError('an array contains a bare word');
      }
      items.push(item);
    }
  }

  private dict(depth: number): PdfDict {
    checkDepth(depth);
    const entries = new Map<string, PdfValue>();
    for (;;) {
      const key = this.next(depth);
      if (key === undefined) throw new PdfSyntaxError('a dictionary does not end');
      if (isWord(key) && key.word === '>>') return { kind: 'dict', entries };
      if (!isName(key)) throw new PdfSyntaxError('a key of a dictionary is not a name');
      if (entries.has(key.name)) throw new PdfSyntaxError('a dictionary has a key twice');
      entries.set(key.name, this.value(depth, key.name === 'Fields'));
    }
  }

  /** `12 0 R` is one value; any other number is a value of its own. */
  private referenceOr(number: number): number | PdfRef {
    if (!Number.isInteger(number) || number < 0 || !isDigit(this.peekAfterSpace())) return number;
    const [before, values] = [this.position, this.budget.values];
    const generation = this.token();
    if (typeof generation === 'number' && Number.isInteger(generation) && this.peekAfterSpace() === 0x52 /* R */) {
      const word = this.token();
      if (word !== end && word !== null && typeof word === 'object' && word.kind === 'word' && word.word === 'R')
        return { kind: 'ref', number, generation };
    }
    [this.position, this.budget.values] = [before, values]; // not a reference: the tokens are read again
    return number;
  }

  private peekAfterSpace(): number | undefined {
    let at = this.position;
    while (isPdfSpace(this.bytes[at])) at++;
    return this.bytes[at];
  }

  private token(): Token {
    this.skipSpace();
    const { bytes } = this;
    const code = bytes[this.position];
    if (code === undefined) return end;
    if (--this.budget.values < 0)
      throw new LetterRefused('letter_limit_exceeded', 'The PDF holds more values than a letter needs.');
    if (code === 0x2f /* / */) return this.name();
    if (code === 0x28 /* ( */) return this.literal();
    if (code === 0x3c /* < */ && bytes[this.position + 1] !== 0x3c) return this.hexadecimal();
    if (delimiter[code] === 1) return this.bracket(code);
    return this.regular();
  }

  private skipSpace(): void {
    const { bytes } = this;
    for (;;) {
      const code = bytes[this.position];
      if (isPdfSpace(code)) this.position++;
      else if (code === 0x25 /* % */)
        while (this.position < bytes.length && bytes[this.position] !== 10 && bytes[this.position] !== 13)
          this.position++;
      else return;
    }
  }

  private bracket(code: number): PdfWord {
    const doubled = (code === 0x3c || code === 0x3e) && this.bytes[this.position + 1] === code;
    this.position += doubled ? 2 : 1;
    return { kind: 'word', word: String.fromCharCode(code).repeat(doubled ? 2 : 1) };
  }

  private regular(): number | boolean | null | PdfWord {
    const start = this.position;
    while (isRegular(this.bytes[this.position])) this.position++;
    const word = latin1(this.bytes, start, Math.min(this.position, start + 64));
    if (/^[+-]{0,2}(?:\d+\.?\d*|\.\d+)-*$/.test(word)) return Number.parseFloat(word.replace(/^[+-]*(?=-)|^\+/, ''));
    if (word === 'true') return true;
    if (word === 'false') return false;
    return word === 'null' ? null : { kind: 'word', word };
  }

  private name(): PdfName {
    const start = ++this.position;
    while (isRegular(this.bytes[this.position])) this.position++;
    if (this.position - start > 512) throw new PdfSyntaxError('a name is longer than 512 bytes');
    const raw = latin1(this.bytes, start, this.position);
    return {
      kind: 'name',
      name: raw.includes('#')
        ? raw.replace(/#([0-9a-fA-F]{2})/g, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
        : raw,
    };
  }

  private hexadecimal(): PdfString {
    const start = this.position;
    const close = this.bytes.indexOf(0x3e /* > */, start);
    this.position = close < 0 ? this.bytes.length : close + 1; // moved on in any case: the next token must not search again
    if (close < 0) throw new PdfSyntaxError('a string does not end');
    return {
      kind: 'string',
      hex: true,
      start,
      end: this.position,
      bytes: fromHex(this.bytes.subarray(start + 1, close)),
    };
  }

  private literal(): PdfString {
    const start = this.position++;
    let depth = 1;
    while (depth > 0) {
      const code = this.bytes[this.position++];
      if (code === undefined) throw new PdfSyntaxError('a string does not end');
      if (code === 0x5c /* \ */) this.position++;
      else if (code === 0x28) depth++;
      else if (code === 0x29) depth--;
    }
    return {
      kind: 'string',
      hex: false,
      start,
      end: this.position,
      bytes: unescapeLiteral(this.bytes.subarray(start + 1, this.position - 1)),
    };
  }
}

function checkDepth(depth: number): void {
  if (depth > nestingMax)
    throw new LetterRefused('letter_limit_exceeded', `Values of the PDF nest deeper than ${nestingMax}.`);
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= 0x30 && code <= 0x39;
}

function latin1(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('latin1');
}

/** Bytes that are written as hexadecimal digits, up to a `>`; other signs are skipped, and a missing last digit is 0. */
export function fromHex(digits: Uint8Array): Uint8Array {
  const end = digits.indexOf(0x3e /* > */);
  const text = latin1(digits, 0, end < 0 ? digits.length : end).replace(/[^0-9a-fA-F]+/g, '');
  return Buffer.from(text.length % 2 === 0 ? text : `${text}0`, 'hex');
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** A literal string without its backslashes (table 3): escapes, octal codes, and line ends that do not count. */
function unescapeLiteral(raw: Uint8Array): Uint8Array {
  if (!raw.includes(0x5c)) return raw;
  const text = latin1(raw, 0, raw.length).replace(
    /\\(?:([0-7]{1,3})|\r\n|[\r\n]|([^])|$)/g,
    (_all, octal: string | undefined, escaped: string | undefined) =>
      octal === undefined
        ? (escapes[escaped ?? ''] ?? escaped ?? '')
        : String.fromCharCode(Number.parseInt(octal, 8) & 0xff),
  );
  return Buffer.from(text, 'latin1');
}

/** True for a bare word. */
export function isWord(value: PdfValue | PdfWord | undefined): value is PdfWord {
  return isKind(value, 'word');
}

/** True for a name, of this text if one is given. */
export function isName(value: PdfValue | PdfWord | undefined, name?: string): value is PdfName {
  return isKind(value, 'name') && (name === undefined || value.name === name);
}

/** True for a dictionary. */
export function isDict(value: PdfValue | PdfWord | undefined): value is PdfDict {
  return isKind(value, 'dict');
}

/** True for an array. */
export function isArray(value: PdfValue | PdfWord | undefined): value is PdfArray {
  return isKind(value, 'array');
}

/** True for a reference. */
export function isRef(value: PdfValue | PdfWord | undefined): value is PdfRef {
  return isKind(value, 'ref');
}

/** True for a string. */
export function isString(value: PdfValue | PdfWord | undefined): value is PdfString {
  return isKind(value, 'string');
}

function isKind<Kind extends string>(
  value: PdfValue | PdfWord | undefined,
  kind: Kind,
): value is Extract<PdfValue | PdfWord, { kind: Kind }> {
  return typeof value === 'object' && value !== null && value.kind === kind;
}

/** Calls a function for a value and all values within it, outer ones first, without following references. */
export function visitValues(value: PdfValue, visit: (value: PdfValue) => void): void {
  visit(value);
  if (isArray(value)) for (const item of value.items) visitValues(item, visit);
  if (isDict(value)) for (const each of value.entries.values()) visitValues(each, visit);
}

/** A text string as a person reads it: UTF-16 or UTF-8 with its mark, else PDFDocEncoding, whose letters are Latin-1's. */
export function pdfText(value: PdfString): string {
  const { bytes } = value;
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes.subarray(2));
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return new TextDecoder().decode(bytes.subarray(3));
  return latin1(bytes, 0, bytes.length);
}
