import { LetterRefused } from '../../gate/letter-refused.ts';
import type { PdfFile, PdfObject } from '../pdf-file.ts';
import { isArray, isDict, isName, isPdfSpace, PdfParser, PdfSyntaxError, type PdfDict } from '../pdf-syntax.ts';

/** Bounds of the analysis of revisions; a signed contract that went through five hands has some 12 revisions. */
export const revisionLimits = {
  revisionsMax: 64,
  /** Objects that the tables of one file may list, all revisions together. */
  tableEntriesMax: 200_000,
  /** Values that are compared between two revisions. */
  comparedValuesMax: 1_000_000,
} as const;

/** One revision of a file: what an incremental update appended (ISO 32000-1 section 7.5.6), or the first part. */
export interface RevisionSpan {
  readonly start: number;
  /** The byte after its end mark `%%EOF`. */
  readonly mark: number;
  /** The byte after the line break that follows the mark; of the last revision the end of the file. */
  readonly end: number;
  /** Offset of its cross-reference table, by its own `startxref`. */
  readonly tableAt: number;
}

/** An entry of a cross-reference table: a free number, an object at a place, or one in an object stream. */
export type TableEntry =
  | { readonly kind: 'free' }
  | { readonly kind: 'at'; readonly offset: number; readonly generation: number }
  | { readonly kind: 'packed'; readonly container: number; readonly index: number };

/** The cross-reference table of one revision. */
export interface RevisionTable {
  readonly entries: ReadonlyMap<number, TableEntry>;
  readonly trailer: PdfDict;
  /** Ranges of the file that the table and its streams occupy. */
  readonly places: readonly { readonly start: number; readonly end: number }[];
}

/**
 * The revisions of a file in order. A linearized file (annex F) has two end marks in its first revision; it counts as one
 * when the length that it states ends at the second. So does a hybrid file (section 7.5.8.4) of programs that append the trailer which
 * names the stream of its table.
 * @throws LetterRefused `letter_limit_exceeded`
 */
export function splitRevisions(file: PdfFile): RevisionSpan[] {
  const marks = gapsOf(file, 0, file.bytes.length).flatMap(({ start, text }) =>
    [...text.matchAll(/startxref[\0\t\n\f\r ]+(\d{1,10})[\0\t\n\f\r ]+%%EOF(\r\n|\n|\r)?/g)].map((match) => {
      const end = start + match.index + match[0].length;
      return { tableAt: Number(match[1]), end, mark: end - (match[2]?.length ?? 0) };
    }),
  );
  if (marks.length > revisionLimits.revisionsMax)
    throw new LetterRefused('letter_limit_exceeded', `The PDF has more than ${revisionLimits.revisionsMax} revisions.`);
  const [first, second] = marks;
  if (second !== undefined && (isLinearizedTo(file, second) || isHybridEnd(file, first!, second))) marks.shift();
  const spans = marks.map((mark, at) => ({ start: marks[at - 1]?.end ?? 0, ...mark }));
  const [last, size] = [spans.at(-1), file.bytes.length];
  if (last === undefined) return spans;
  const isFilled = /[^\0\t\n\f\r ]/.test(file.text.slice(last.end)); // by what no end mark closes: an update as well, which readers may find
  return isFilled
    ? [...spans, { start: last.end, tableAt: Number.NaN, end: size, mark: size }]
    : [...spans.slice(0, -1), { ...last, end: size }];
}

function isLinearizedTo(file: PdfFile, { mark, end }: { mark: number; end: number }): boolean {
  const first = file.all.find(({ packed }) => packed === null);
  if (!isDict(first?.value) || typeof first.value.entries.get('Linearized') !== 'number') return false;
  const length = first.value.entries.get('L');
  return typeof length === 'number' && length >= mark && length <= end;
}

/** True if what the second end mark closes adds nothing but the name of a stream that the first part has, which is not signed yet. */
function isHybridEnd(
  file: PdfFile,
  first: { tableAt: number; end: number },
  second: { tableAt: number; end: number },
): boolean {
  const hasObjects = file.all.some(({ start }) => start >= first.end && start < second.end);
  const isSigned = file.text.lastIndexOf('/ByteRange', first.end) >= 0;
  if (hasObjects || isSigned || second.tableAt < first.end) return false;
  try {
    const { entries, trailer } = readClassicTable(file, second.tableAt);
    const [stream, previous] = ['XRefStm', 'Prev'].map((key) => trailer.entries.get(key));
    return entries.size === 0 && typeof stream === 'number' && stream < first.end && previous === first.tableAt;
  } catch (error) {
    if (error instanceof TableProblem) return false;
    throw error;
  }
}

/** The bytes between the objects of a part of a file. */
export function gapsOf(file: PdfFile, from: number, to: number): { readonly start: number; readonly text: string }[] {
  const gaps: { start: number; text: string }[] = [];
  const objects = file.all.filter(({ packed, start }) => packed === null && start >= from && start < to);
  let at = from;
  const add = (end: number) => {
    if (end > at) gaps.push({ start: at, text: file.text.slice(at, end) });
  };
  for (const { start, end } of objects.toSorted((a, b) => a.start - b.start)) {
    add(start);
    at = end;
  }
  add(to);
  return gaps;
}

/** The table of a revision is malformed, so that readers may see different objects. */
export class TableProblem extends Error {
  override readonly name = 'TableProblem';
}

/**
 * The cross-reference table of a revision that was appended: a table or a stream, and in a hybrid file both.
 * @throws TableProblem
 */
export function readRevisionTable(file: PdfFile, { tableAt, start, mark }: RevisionSpan): RevisionTable {
  const part = readTablePart(file, tableAt);
  const hybridAt = part.trailer.entries.get('XRefStm');
  const hybrid = typeof hybridAt === 'number' ? readTablePart(file, hybridAt) : null;
  if (hybrid !== null && !agree(part, hybrid)) throw new TableProblem('the two tables of one revision do not agree');
  const parts = hybrid === null ? [part] : [part, hybrid];
  if (parts.some((each) => each.place.start < start || each.place.end > mark))
    throw new TableProblem('the table of objects lies outside of its revision');
  return { entries: mergeEntries(parts), trailer: part.trailer, places: parts.map(({ place }) => place) };
}

/**
 * All that the tables of a first revision list, which may be several: those of a linearized file, or of a file that was
 * saved as a whole with older tables in it.
 * @throws TableProblem
 */
export function readFirstTable(file: PdfFile, { tableAt }: RevisionSpan): RevisionTable {
  const parts: TablePart[] = [];
  const pending = [tableAt];
  const seen = new Set<number>();
  for (let at = pending.shift(); at !== undefined; at = pending.shift()) {
    if (seen.has(at)) throw new TableProblem('the tables of objects lead in a circle');
    seen.add(at);
    const part = readTablePart(file, at);
    parts.push(part);
    for (const key of ['XRefStm', 'Prev']) {
      const next = part.trailer.entries.get(key);
      if (typeof next === 'number') pending.push(next);
    }
  }
  return { entries: mergeEntries(parts), trailer: parts[0]!.trailer, places: parts.map(({ place }) => place) };
}

interface TablePart {
  readonly entries: ReadonlyMap<number, TableEntry>;
  readonly trailer: PdfDict;
  readonly place: { readonly start: number; readonly end: number };
}

/**
 * True if all readers see the same objects in the two tables of a hybrid file, whichever of them they read first: the stream adds
 * objects that the table leaves out or has as free, and leads to no other tables.
 */
function agree(table: TablePart, stream: TablePart): boolean {
  const previous = stream.trailer.entries.get('Prev');
  return (
    (previous === undefined || previous === table.trailer.entries.get('Prev')) &&
    [...stream.entries].every(([number, entry]) => {
      const known = table.entries.get(number);
      return (
        known === undefined ||
        (known.kind === 'free' && entry.kind === 'packed') ||
        JSON.stringify(known) === JSON.stringify(entry)
      );
    })
  );
}

/** Of a number in several tables the first one counts: the newest, and in a hybrid file the table that all readers know. */
function mergeEntries(parts: readonly TablePart[]): Map<number, TableEntry> {
  const entries = new Map<number, TableEntry>();
  for (const part of parts) {
    for (const [number, entry] of part.entries) {
      const known = entries.get(number);
      // A hybrid file hides an object from old readers as a free one, and shows it in the stream.
      if (known === undefined || (known.kind === 'free' && entry.kind === 'packed')) entries.set(number, entry);
    }
    if (entries.size > revisionLimits.tableEntriesMax)
      throw new LetterRefused(
        'letter_limit_exceeded',
        `The tables of the PDF list more than ${revisionLimits.tableEntriesMax} objects.`,
      );
  }
  return entries;
}

/** Some programs point to the line break before the table, and every reader continues from there. */
function readTablePart(file: PdfFile, pointed: number): TablePart {
  const at = [0, 1, 2].map((more) => pointed + more).find((place) => !isPdfSpace(file.bytes[place])) ?? pointed;
  const object = file.all.find(
    ({ start, packed, value }) =>
      start === at && packed === null && isDict(value) && isName(value.entries.get('Type'), 'XRef'),
  );
  try {
    return object === undefined ? readClassicTable(file, at) : readTableStream(file, object);
  } catch (error) {
    if (error instanceof PdfSyntaxError) throw new TableProblem(error.message);
    throw error;
  }
}

const trailerValuesMax = 1_000;

/** A table of rows of 20 bytes (section 7.5.4); readers may differ on any other rows. */
function readClassicTable(file: PdfFile, start: number): TablePart {
  const entries = new Map<number, TableEntry>();
  const sticky = (pattern: RegExp, at: number) => {
    pattern.lastIndex = at;
    return pattern.exec(file.text);
  };
  const head = sticky(/xref[ ]*(?:\r\n|\n|\r)/y, start);
  if (head === null) throw new TableProblem('there is no table of objects where the end of the revision points');
  let at = start + head[0].length;
  for (let section = sticky(sectionHead, at); section !== null; section = sticky(sectionHead, at)) {
    at += section[0].length;
    for (let number = Number(section[1]), end = number + Number(section[2]); number < end; number++) {
      const row = sticky(tableRow, at);
      if (row === null) throw new TableProblem('a row of the table of objects is damaged');
      at += row[0].length;
      if (entries.has(number)) throw new TableProblem('the table lists an object twice');
      entries.set(
        number,
        row[3] === 'f' ? { kind: 'free' } : { kind: 'at', offset: Number(row[1]), generation: Number(row[2]) },
      );
    }
  }
  const word = sticky(/[\0\t\n\f\r ]*trailer/y, at);
  if (word === null) throw new TableProblem('the table of objects has no trailer');
  const parser = new PdfParser(file.bytes, at + word[0].length, { values: trailerValuesMax });
  const trailer = parser.next();
  if (!isDict(trailer)) throw new TableProblem('the trailer is no dictionary');
  return { entries, trailer, place: { start, end: parser.position } };
}

const sectionHead = /[\0\t\n\f\r ]*(\d{1,10}) (\d{1,7})[ ]*(?:\r\n|\n|\r)/y;
const tableRow = /(\d{10}) (\d{5}) ([nf])(?: \r| \n|\r\n)/y;

/** A table as a stream of rows of three fields (section 7.5.8). */
function readTableStream(file: PdfFile, object: PdfObject): TablePart {
  const dict = object.value as PdfDict;
  const numbers = (key: string) => {
    const value = file.entry(dict, key);
    return isArray(value)
      ? value.items.map((each) => (typeof each === 'number' && Number.isInteger(each) && each >= 0 ? each : Number.NaN))
      : null;
  };
  const [widths, size] = [numbers('W'), file.entry(dict, 'Size')];
  if (widths?.length !== 3 || !widths.every((each) => each <= 6))
    throw new TableProblem('a table of objects has no fields');
  const ranges = numbers('Index') ?? [0, typeof size === 'number' ? size : Number.NaN];
  if (ranges.length % 2 !== 0 || ranges.some(Number.isNaN)) throw new TableProblem('a table of objects has no range');
  const bytes = Buffer.from(file.decode(object));
  const rowBytes = widths.reduce((sum, each) => sum + each, 0);
  const entries = new Map<number, TableEntry>();
  let at = 0;
  for (let pair = 0; pair < ranges.length; pair += 2) {
    for (let number = ranges[pair]!, end = number + ranges[pair + 1]!; number < end; number++) {
      if (entries.has(number)) throw new TableProblem('the table lists an object twice');
      if (rowBytes === 0 || at + rowBytes > bytes.length) throw new TableProblem('a table of objects is too short');
      const fields = widths.map((width) => (width === 0 ? 0 : bytes.readUIntBE((at += width) - width, width)));
      entries.set(number, tableEntry(widths[0] === 0 ? 1 : fields[0]!, fields[1]!, fields[2]!));
    }
  }
  return { entries, trailer: dict, place: { start: object.start, end: object.end } };
}

function tableEntry(kind: number, second: number, third: number): TableEntry {
  if (kind === 0) return { kind: 'free' };
  if (kind === 1) return { kind: 'at', offset: second, generation: third };
  if (kind === 2) return { kind: 'packed', container: second, index: third };
  throw new TableProblem('the table has an entry of an unknown kind');
}

/** True if an entry of a table leads to the object. */
export function leadsTo(entry: TableEntry | undefined, { start, generation, packed }: PdfObject): boolean {
  if (entry === undefined || entry.kind === 'free') return false;
  if (entry.kind === 'packed')
    return packed !== null && packed.container === entry.container && packed.index === entry.index;
  return packed === null && entry.offset === start && entry.generation === generation;
}
