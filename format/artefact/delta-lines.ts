import { joinBytes } from '../base/bytes.ts';
import { ClientError } from '../base/errors.ts';

/** How many rows a delta adds, changes and removes. */
export interface DeltaCounts {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/**
 * Deltas as text: a line for each row that differs, ascending by phone. `+<tab>row` adds a row, `~<tab>row` replaces the row
 * of its number, `-<tab>phone` removes a row. A delta over several versions is the concatenation of the deltas of its steps:
 * a step starts where the phones do not ascend.
 *
 * All functions work on streams with arbitrary chunk limits, hold one chunk of each in memory, and compare rows as bytes: a
 * tab and a line feed sort before every digit, so the order by phone is the byte order of complete rows.
 */

/** A stream of lines with arbitrary chunk limits. */
export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Bytes of a line; the columns allow rows of about 2,250. */
export const deltaLineBytesMax = 64 * 1024;

/** Bytes of the output buffer. */
const gatheredBytes = 256 * 1024;

export const added = 0x2b;
export const changed = 0x7e;
export const removed = 0x2d;
const tab = 0x09;
const newline = 0x0a;
const zero = 0x30;
const nine = 0x39;

/** Bytes of a key with its plus sign: a phone, or a range, which is three digits shorter. */
const keyBytes = { min: 6, max: 16 } as const;

/**
 * Composes two successive deltas into one. A number that was changed and changed back, or removed and added again, stays in
 * it as a change to the same row.
 * @throws ClientError `delta_invalid` if one is not well formed, or the second cannot follow the first.
 */
export async function* composeDeltas(first: Chunks, second: Chunks): AsyncGenerator<Uint8Array> {
  const earlier = new Lines(first);
  const later = new Lines(second);
  const text = new GatheredText();
  try {
    await loadBoth(earlier, later);
    while (!earlier.done || !later.done) {
      const order = compareLines(earlier, later);
      if (order < 0) text.addLine(earlier);
      else if (order > 0) text.addLine(later);
      else addBoth(text, earlier, later);
      if (order <= 0 && !earlier.step()) await earlier.load();
      if (order >= 0 && !later.step()) await later.load();
      if (text.isFull) yield text.take();
    }
    if (!text.isEmpty) yield text.take();
  } finally {
    await closeBoth(earlier, later);
  }
}

function addBoth(text: GatheredText, earlier: Lines, later: Lines): void {
  const [first, second] = [earlier.operation, later.operation];
  if ((first === removed) !== (second === added))
    throw invalidDelta(`Line ${later.number} of the second delta cannot follow line ${earlier.number} of the first.`);
  if (second === removed) {
    if (first === changed) text.addLine(later); // an added and removed row needs no line
  } else if (first === added) text.addRow(added, later);
  else text.addRow(changed, later);
}

/**
 * Applies a delta to the rows of its basis. Yields chunks of complete rows.
 * @throws ClientError `delta_invalid` if the delta is not well formed, adds a number that is present, or changes or removes
 * one that is missing. Only the digest of the result shows whether the rows were those of the delta's basis.
 */
export async function* applyDelta(rows: Chunks, delta: Chunks): AsyncGenerator<Uint8Array> {
  const lines = new Lines(delta);
  const text = new GatheredText();
  try {
    await lines.load();
    for await (const block of wholeLines(rows, 'rows')) {
      let at = 0;
      while (!lines.done) {
        const place = findRow(block, at, lines);
        if (place === block.length) break; // the line's row comes after this block
        text.addBytes(block, at, place);
        at = applyLine(text, lines, { block, place });
        if (!lines.step()) await lines.load();
        if (text.isFull) yield text.take();
      }
      text.addBytes(block, at, block.length);
      if (text.isFull) yield text.take();
    }
    for (; !lines.done;) {
      applyLine(text, lines, undefined);
      if (!lines.step()) await lines.load();
      if (text.isFull) yield text.take();
    }
    if (!text.isEmpty) yield text.take();
  } finally {
    await lines.close();
  }
}

/** Writes the result of a line of a delta; returns the place after the row that it replaces or removes. */
function applyLine(text: GatheredText, lines: Lines, at: { block: Uint8Array; place: number } | undefined): number {
  const { operation } = lines;
  const isThere = at !== undefined && compareRow(at.block, at.place, lines) === 0;
  if (isThere === (operation === added))
    throw invalidDelta(
      `Line ${lines.number} ${isThere ? 'adds a number that is there already' : 'changes or removes a number that is not there'}.`,
    );
  if (operation !== removed) text.addBytes(lines.block, lines.keyStart, lines.end);
  if (at === undefined || !isThere) return at?.place ?? 0;
  return endOfLine(at.block, at.place);
}

/** Complete lines of one step of a delta; steps count from 0. */
interface StepChunk {
  readonly step: number;
  readonly text: Uint8Array;
}

/**
 * Divides a delta over several versions into the deltas of its steps.
 * @throws ClientError `delta_invalid` if a line is not well formed
 */
export async function* divideSteps(delta: Chunks): AsyncGenerator<StepChunk> {
  const lines = new Lines(delta, { hasOneStep: false });
  let step = 0;
  try {
    await lines.load();
    while (!lines.done) {
      const { block, start } = lines;
      let end = start;
      let begins = false;
      do {
        begins = lines.beginsStep && end > start;
        if (begins) break;
        if (lines.beginsStep) step++;
        end = lines.end;
      } while (lines.step());
      yield { step, text: block.subarray(start, end) };
      if (!begins) await lines.load();
    }
  } finally {
    await lines.close();
  }
}

/** Counts the operations of a delta while its text is read. */
export class OperationCounter implements DeltaCounts {
  added = 0;
  changed = 0;
  removed = 0;
  #atStart = true;

  /** Passes the chunks through. */
  async *watch(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#add(chunk);
      yield chunk;
    }
  }

  #add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length;) {
      if (this.#atStart) this.#countOne(chunk[at]!);
      const end = chunk.indexOf(newline, at);
      this.#atStart = end !== -1;
      at = end === -1 ? chunk.length : end + 1;
    }
  }

  #countOne(operation: number): void {
    if (operation === added) this.added++;
    else if (operation === changed) this.changed++;
    else this.removed++;
  }
}

/** Bytes before the phone of a line. */
const operationBytes = 2;

function isDeltaLine({ block, start, keyStart, keyEnd, end, operation }: Lines): boolean {
  const length = keyEnd - keyStart;
  if (length < keyBytes.min || length > keyBytes.max || block[start + 1] !== tab || block[keyStart] !== added)
    return false;
  for (let at = keyStart + 1; at < keyEnd; at++) if (block[at]! < zero || block[at]! > nine) return false;
  if (operation === removed) return keyEnd === end - 1;
  return (operation === added || operation === changed) && block[keyEnd] === tab;
}

/**
 * A cursor over the lines of a stream: the current line is `block` from `start` to `end`, its phone from `keyStart` to
 * `keyEnd`. There is no current line before the first {@link load}. The reader must close it.
 */
class Lines {
  block: Uint8Array = new Uint8Array(0);
  start = 0;
  keyStart = 0;
  keyEnd = 0;
  /** After the line feed. */
  end = 0;
  /** Counts from 1. */
  number = 0;
  done = false;
  /** The line does not sort after the previous one. */
  beginsStep = false;
  readonly #blocks: AsyncGenerator<Uint8Array>;
  readonly #hasOneStep: boolean;
  #keyBefore: Uint8Array | undefined;

  constructor(chunks: Chunks, { hasOneStep = true } = {}) {
    this.#blocks = wholeLines(chunks, 'delta');
    this.#hasOneStep = hasOneStep;
  }

  /** The first byte of a line of a delta. */
  get operation(): number {
    return this.block[this.start]!;
  }

  /** Moves to the next line of the block; false if there is none: then {@link load} the next block. */
  step(): boolean {
    if (this.end >= this.block.length) return false;
    const { block, keyStart, keyEnd } = this;
    this.#moveTo(this.end);
    this.#requireOrder(block, keyStart, keyEnd);
    return true;
  }

  /** Moves to the first line of the next block; `done` becomes true if there is none. */
  async load(): Promise<void> {
    this.#keyBefore = this.block.slice(this.keyStart, this.keyEnd);
    const { done, value } = await this.#blocks.next();
    this.done = done === true;
    if (done === true) return;
    this.block = value;
    this.#moveTo(0);
    this.#requireOrder(this.#keyBefore, 0, this.#keyBefore.length);
  }

  /** Ends the stream early, so that its source, usually a file, is closed. */
  async close(): Promise<void> {
    await this.#blocks.return(undefined);
  }

  #moveTo(start: number): void {
    this.number++;
    this.start = start;
    this.end = endOfLine(this.block, start);
    this.keyStart = Math.min(start + operationBytes, this.end - 1);
    this.keyEnd = endOfKeyBytes(this.block, this.keyStart);
    if (!isDeltaLine(this)) throw invalidDelta(`Line ${this.number} of the delta is not well formed.`);
  }

  #requireOrder(block: Uint8Array, keyStart: number, keyEnd: number): void {
    this.beginsStep = this.number > 1 && compareKeys({ block, keyStart, keyEnd }, this) >= 0;
    if (this.beginsStep && this.#hasOneStep)
      throw invalidDelta(`Line ${this.number} of the delta does not sort after the line before it.`);
  }
}

/** Sequential: if the first is refused, the second is not opened. */
async function loadBoth(first: Lines, second: Lines): Promise<void> {
  await first.load();
  await second.load();
}

async function closeBoth(first: Lines, second: Lines): Promise<void> {
  await Promise.all([first.close(), second.close()]);
}

/** Chunks of complete lines. Only lines across two chunks are copied. */
async function* wholeLines(chunks: Chunks, name: 'rows' | 'delta'): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(newline) + 1;
    if (end === 0) {
      rest = joinBytes([rest, chunk]);
      if (rest.length > deltaLineBytesMax)
        throw invalidDelta(`A line of the ${name} is longer than ${deltaLineBytesMax} bytes.`);
      continue;
    }
    const begin = rest.length === 0 ? 0 : chunk.indexOf(newline) + 1;
    if (begin > 0) yield joinBytes([rest, chunk.subarray(0, begin)]);
    if (begin < end) yield chunk.subarray(begin, end);
    rest = chunk.subarray(end);
  }
  if (rest.length > 0) throw invalidDelta(`The last line of the ${name} has no end.`);
}

interface Key {
  readonly block: Uint8Array;
  readonly keyStart: number;
  readonly keyEnd: number;
}

/** Order of the current lines of two streams; an ended stream sorts last. */
function compareLines(a: Lines, b: Lines): number {
  if (a.done) return 1;
  return b.done ? -1 : compareKeys(a, b);
}

export function compareKeys(a: Key, b: Key): number {
  const [lengthOfA, lengthOfB] = [a.keyEnd - a.keyStart, b.keyEnd - b.keyStart];
  const length = Math.min(lengthOfA, lengthOfB);
  for (let at = 0; at < length; at++) {
    const difference = a.block[a.keyStart + at]! - b.block[b.keyStart + at]!;
    if (difference !== 0) return difference;
  }
  return lengthOfA - lengthOfB;
}

/** Order of the row that starts at a place and the phone of a line. */
function compareRow(block: Uint8Array, start: number, lines: Key): number {
  return compareKeys({ block, keyStart: start, keyEnd: endOfKeyBytes(block, start) }, lines);
}

/** First step of the exponential search for a row, in bytes. */
const firstJumpBytes = 128;

/** Start of the first row, from a place on, that does not sort before the phone of a line; the length of the block if there is none. */
function findRow(block: Uint8Array, from: number, lines: Lines): number {
  let low = from; // rows that start before it sort before the phone
  let high = block.length; // the row that starts there does not
  for (let jump = firstJumpBytes, found = false; low < high; jump *= 2) {
    const probe = found ? (low + high) >>> 1 : Math.min(low + jump, high - 1);
    const row = startOfLine(block, probe, low);
    if (compareRow(block, row, lines) < 0) low = endOfLine(block, probe);
    else {
      high = row;
      found = true;
    }
  }
  return low;
}

/** Start of the line of a byte, not before `from`. */
export function startOfLine(block: Uint8Array, byte: number, from: number): number {
  let at = byte;
  while (at > from && block[at - 1] !== newline) at--;
  return at;
}

export function endOfLine(block: Uint8Array, byte: number): number {
  let at = byte;
  while (block[at] !== newline) at++;
  return at + 1;
}

/** A block ends with a line feed, so this ends within it. */
export function endOfKeyBytes(block: Uint8Array, start: number): number {
  let at = start;
  while (block[at] !== tab && block[at] !== newline) at++;
  return at;
}

/** An output buffer. */
class GatheredText {
  #buffer = new Uint8Array(gatheredBytes);
  #filled = 0;

  get isFull(): boolean {
    return this.#filled >= gatheredBytes / 2;
  }

  get isEmpty(): boolean {
    return this.#filled === 0;
  }

  /** Returns the text and gives up its buffer. */
  take(): Uint8Array {
    const text = this.#buffer.subarray(0, this.#filled);
    this.#buffer = new Uint8Array(gatheredBytes);
    this.#filled = 0;
    return text;
  }

  addBytes(block: Uint8Array, start: number, end: number): void {
    this.#makeRoom(end - start);
    this.#buffer.set(block.subarray(start, end), this.#filled);
    this.#filled += end - start;
  }

  addRow(operation: number, { block, keyStart, end }: Key & { readonly end: number }): void {
    this.#addOperation(operation);
    this.addBytes(block, keyStart, end);
  }

  addLine({ block, start, end }: Pick<Lines, 'block' | 'start' | 'end'>): void {
    this.addBytes(block, start, end);
  }

  #addOperation(operation: number): void {
    this.#makeRoom(2);
    this.#buffer[this.#filled++] = operation;
    this.#buffer[this.#filled++] = tab;
  }

  /** Grows if a copied block is longer than the buffer. */
  #makeRoom(bytes: number): void {
    if (this.#filled + bytes <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.max(this.#filled + bytes, 2 * this.#buffer.length));
    larger.set(this.#buffer.subarray(0, this.#filled));
    this.#buffer = larger;
  }
}

function invalidDelta(problem: string): ClientError {
  return new ClientError('delta_invalid', { operation: 'read delta', problem });
}
