import { ServiceError } from '../../runtime/errors.ts';
import { makeExcerpt } from '../phone/text-cleaning.ts';
import { readAsUtf8, type Encoding } from './feed-encoding.ts';
import { readLines, type BrokenLine, type FeedLine, type LineBlock } from './feed-lines.ts';
import { DELIMITERS, followQuotes, splitQuotedRecords, type Delimiter } from './quoted-record.ts';
import { refuse, type Refusal, type RejectCode } from './reject.ts';

/** A column of a feed, by any of its names in the header, in any letter case. */
interface FeedColumn {
  readonly names: readonly [string, ...string[]];
  readonly required: boolean;
}

/** The format of the rows of a feed. */
export interface RowFormat {
  readonly columns: readonly FeedColumn[];
  /** A file whose first field looks like a phone number has no header, and the columns in this order. */
  readonly headerOptional: boolean;
  /** Other columns have personal data: a row that cannot be split is never shown. */
  readonly personal: boolean;
  /** The sender's options for this file. */
  readonly shape?: FileShape;
}

/** How a file differs from the usual format. Absent fields are detected from the file. */
export interface FileShape {
  readonly encoding?: Encoding | undefined;
  readonly delimiter?: Delimiter | undefined;
  /** Lines that start with this text are skipped, and empty lines too. */
  readonly comment?: string | undefined;
  /** The header's name of a column, by its first name in the format; '' if the file lacks the column. */
  readonly columns?: Readonly<Record<string, string>> | undefined;
  /** Required columns that may be missing because their value is given. */
  readonly given?: readonly string[] | undefined;
}

/** A row with the values of the format's columns in order ('' if absent), or why it is refused. */
export type FeedRow =
  | { readonly line: number; readonly values: readonly string[] }
  | { readonly line: number; readonly refusal: Refusal; readonly excerpt: string };

/** The excerpt of a row that must not be shown. */
const withheldExcerpt = '(withheld)';

/**
 * Lines of a row with quotes. An unclosed quote is detected after this many lines only, and then the next line is tried:
 * without a limit, a file of such lines would take quadratic time.
 */
export const quotedRowLinesMax = 100;

/** Longest row of a feed: fields are shorter than 2 KiB, so a longer line is no row, and it is never held in memory whole. */
const rowBytesMax = 64 * 1024;

/**
 * Reads rows from the plain bytes of a feed, in batches. Each line after the header is a row; a quoted field with line breaks
 * makes several lines one row, which has the number of its first line.
 * @throws ServiceError `feed_header_invalid`, `feed_encoding_invalid`
 */
export async function* readFeedRows(
  chunks: AsyncIterable<Buffer>,
  format: RowFormat,
  lineBytesMax = rowBytesMax,
): AsyncGenerator<FeedRow[]> {
  let reader: RowReader | undefined;
  let separator: Delimiter | undefined;
  for await (const block of readLines(readAsUtf8(chunks, format.shape?.encoding), lineBytesMax)) {
    while (reader === undefined && block.lines.length > 0) {
      const [line] = block.lines as [FeedLine];
      if (isComment(line, format)) block.lines.shift();
      else if (separator === undefined && separatorNamed(line) !== undefined) {
        separator = separatorNamed(line);
        block.lines.shift();
      } else {
        const header = await readHeader(line, format, format.shape?.delimiter ?? separator);
        if (header.named) block.lines.shift();
        reader = new RowReader(format, header, lineBytesMax);
      }
    }
    if (reader !== undefined) yield await reader.read(block, false);
  }
  if (reader === undefined) throw headerInvalid('The feed is empty.');
  yield await reader.read({ lines: [], quotes: true }, true);
}

function isComment(line: FeedLine, { shape }: RowFormat): boolean {
  return (
    shape?.comment !== undefined && 'text' in line && (line.text.startsWith(shape.comment) || line.text.trim() === '')
  );
}

/** The delimiter of a first line `sep=;`, a convention of some spreadsheets. */
function separatorNamed(line: FeedLine): Delimiter | undefined {
  const named = 'text' in line ? /^"?sep=([,;|\t])"?$/i.exec(line.text)?.[1] : undefined;
  return DELIMITERS.find((delimiter) => delimiter === named);
}

/** The header of a file. */
interface Header {
  readonly delimiter: Delimiter;
  /** Number of fields in each row. */
  readonly width: number;
  /** Index of each of the format's columns in a row, -1 if absent. */
  readonly places: readonly number[];
  /** False if the first line is a row. */
  readonly named: boolean;
}

const phoneLike = /^\s*\+?[\d(][-\d ()./]{5,}\s*$/;

/** The header by the given delimiter, else by the first delimiter that gives a valid one. */
async function readHeader(line: FeedLine, format: RowFormat, named: Delimiter | undefined): Promise<Header> {
  if ('refusal' in line) throw headerInvalid(line.refusal.reason);
  if (line.text.includes('\r'))
    throw headerInvalid('The first line has a carriage return in it: lines must end in LF or CRLF.');
  const candidates =
    named === undefined
      ? DELIMITERS.filter((delimiter) => delimiter === ',' || line.text.includes(delimiter))
      : [named];
  let failure: unknown;
  for (const delimiter of candidates) {
    try {
      return await headerUnder(delimiter, line.text, format);
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

async function headerUnder(delimiter: Delimiter, text: string, format: RowFormat): Promise<Header> {
  const fields = text.includes('"') ? (await splitQuotedRecords([text], delimiter))[0] : text.split(delimiter);
  if (!fields) throw headerInvalid('A quoted field of the first line is not closed.');
  const width = fields.length;
  if (format.headerOptional && phoneLike.test(fields[0]!))
    return { delimiter, width, places: defaultPlaces(format, width), named: false };
  return { delimiter, width, places: namedPlaces(format, fields), named: true };
}

const isGiven = ({ shape }: RowFormat, { names }: FeedColumn): boolean =>
  shape?.given?.includes(names[0]) === true || shape?.columns?.[names[0]] === '';

function defaultPlaces(format: RowFormat, width: number): number[] {
  const { columns } = format;
  if (width > columns.length || columns.slice(width).some((column) => column.required && !isGiven(format, column))) {
    throw headerInvalid(
      `A feed without header has the columns ${columns.map(({ names }) => names[0]).join(', ')}; the first line has ${width} fields.`,
    );
  }
  return columns.map((_column, place) => (place < width ? place : -1));
}

function namedPlaces(format: RowFormat, fields: readonly string[]): number[] {
  const given = fields.map((field) => field.trim().toLowerCase());
  return format.columns.map((column) => {
    const [name] = column.names;
    const mapped = format.shape?.columns?.[name];
    const names = mapped === undefined ? column.names : [mapped];
    const places =
      mapped === ''
        ? []
        : given.flatMap((field, place) => (names.some((known) => known.trim().toLowerCase() === field) ? [place] : []));
    if (places.length > 1) throw headerInvalid(`The header names the column ${names[0]} more than once.`);
    if (places.length === 0 && (mapped ? true : column.required && !isGiven(format, column)))
      throw headerInvalid(`The header lacks the column ${names[0]}.`);
    return places[0] ?? -1;
  });
}

function headerInvalid(problem: string): ServiceError {
  return new ServiceError('feed_header_invalid', {
    operation: 'read feed header',
    problem,
    hint: 'docs/feeds.md lists the columns of each feed, and the options for files with others.',
  });
}

/** A row to be split by fast-csv. */
interface QuotedRow {
  readonly line: number;
  readonly record: string;
}

class RowReader {
  private readonly format: RowFormat;
  private readonly header: Header;
  private readonly lineBytesMax: number;
  /** True if the fields of a row are its values. */
  private readonly straight: boolean;
  /** Lines of a row whose quoted field continues in the next block. */
  private waiting: FeedLine[] = [];

  constructor(format: RowFormat, header: Header, lineBytesMax: number) {
    this.format = format;
    this.header = header;
    this.lineBytesMax = lineBytesMax;
    this.straight = header.places.every((place, column) => place === column) && header.width === header.places.length;
  }

  async read({ lines, quotes }: LineBlock, atEnd: boolean): Promise<FeedRow[]> {
    const comments = this.format.shape?.comment !== undefined;
    if (!quotes && this.waiting.length === 0)
      return (comments ? lines.filter((line) => !isComment(line, this.format)) : lines).map((line) =>
        this.unquoted(line),
      );
    const rows = this.assemble(this.waiting.concat(lines), atEnd);
    return this.splitQuoted(rows);
  }

  private unquoted(line: FeedLine): FeedRow {
    return 'refusal' in line
      ? this.unreadable(line)
      : this.row(line.number, splitFields(line.text, this.header.delimiter, this.header.width), line.text);
  }

  private unreadable({ number, refusal, excerpt }: BrokenLine): FeedRow {
    return { line: number, refusal, excerpt: this.format.personal ? withheldExcerpt : excerpt };
  }

  private refused(line: number, code: RejectCode, text: string, reason?: string): FeedRow {
    return { line, refusal: refuse(code, reason), excerpt: this.format.personal ? withheldExcerpt : makeExcerpt(text) };
  }

  private row(line: number, fields: readonly string[], text: string): FeedRow {
    const { width, places } = this.header;
    if (fields.length === width) {
      return { line, values: this.straight ? fields : places.map((place) => (place === -1 ? '' : fields[place]!)) };
    }
    if (text === '') return this.refused(line, 'line_empty', text);
    return this.refused(
      line,
      'field_count',
      text,
      `The row has ${fields.length} fields where the header has ${width}.`,
    );
  }

  /** Joins lines to rows. Lines of an incomplete row wait for the next block. */
  private assemble(lines: readonly FeedLine[], atEnd: boolean): (FeedRow | QuotedRow)[] {
    const rows: (FeedRow | QuotedRow)[] = [];
    this.waiting = [];
    for (let at = 0; at < lines.length;) {
      const first = lines[at]!;
      if (isComment(first, this.format)) {
        at++;
        continue;
      }
      const taken = 'refusal' in first || !first.text.includes('"') ? 0 : this.linesOfRow(lines, at);
      if (taken === 'unfinished' && !atEnd) {
        this.waiting = lines.slice(at);
        break;
      }
      if (taken === 0) rows.push(this.unquoted(first));
      else if (typeof taken === 'number')
        rows.push({ line: first.number, record: textOf(lines.slice(at, at + taken)) });
      else
        rows.push(
          this.refused(first.number, taken === 'invalid' ? 'quote_invalid' : 'quote_unterminated', textOf([first])),
        );
      at += typeof taken === 'number' && taken > 0 ? taken : 1;
    }
    return rows;
  }

  /** The number of lines of a row that starts with a line with quotes, or why it is not a row. */
  private linesOfRow(lines: readonly FeedLine[], at: number): number | 'invalid' | 'too long' | 'unfinished' {
    let bytes = 0;
    let open = false;
    for (let end = at; end < lines.length; end++) {
      const line = lines[end]!;
      if ('refusal' in line || end - at === quotedRowLinesMax) return 'too long';
      bytes += Buffer.byteLength(line.text) + (end > at ? 1 : 0);
      if (bytes > this.lineBytesMax) return 'too long';
      const state = followQuotes(line.text, this.header.delimiter, open);
      if (state === 'invalid') return 'invalid';
      if (state === 'closed') return end - at + 1;
      open = true;
    }
    return 'unfinished';
  }

  private async splitQuoted(rows: readonly (FeedRow | QuotedRow)[]): Promise<FeedRow[]> {
    const records = rows.flatMap((row) => ('record' in row ? [row.record] : []));
    if (records.length === 0) return rows as FeedRow[]; // none is a QuotedRow
    const split = await splitQuotedRecords(records, this.header.delimiter);
    let next = 0;
    return rows.map((row) => ('record' in row ? this.quoted(row, split[next++]!) : row));
  }

  private quoted({ line, record }: QuotedRow, fields: string[] | null): FeedRow {
    return fields === null ? this.refused(line, 'quote_invalid', record) : this.row(line, fields, record);
  }
}

/**
 * The fields of a line without quotes, which usually are `width`. `String.split` takes twice the time, and an array that grows
 * twice the memory (bench/feed.ts).
 */
function splitFields(text: string, delimiter: Delimiter, width: number): string[] {
  const fields = new Array<string>(width);
  let count = 0;
  let start = 0;
  for (let end = text.indexOf(delimiter); end !== -1; end = text.indexOf(delimiter, start)) {
    fields[count++] = text.slice(start, end);
    start = end + 1;
  }
  fields[count++] = text.slice(start);
  fields.length = count;
  return fields;
}

function textOf(lines: readonly FeedLine[]): string {
  return lines.map((line) => ('text' in line ? line.text : '')).join('\n');
}
