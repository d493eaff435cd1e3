import { parseString } from 'fast-csv';

/** The quotes at the end of a line: all closed, a field open, or other text after a closing quote. */
type QuoteState = 'closed' | 'open' | 'invalid';

const quote = 0x22;

/** Added because fast-csv removes one from the start of a text, where it may belong to the first record. */
const byteOrderMark = '\uFEFF';

/** White space around quotes, as fast-csv skips it: all but line ends and the delimiter. */
const spaces = { ',': /[^\S\r\n]*/y, '\t': /[^\S\r\n\t]*/y, ';': /[^\S\r\n]*/y, '|': /[^\S\r\n]*/y } as const;

/** The rest of a field without quotes. */
const plainField = { ',': /[^,\r]*/y, '\t': /[^\t\r]*/y, ';': /[^;\r]*/y, '|': /[^|\r]*/y } as const;

/** Separators of fields. */
export const DELIMITERS = ['\t', ';', '|', ','] as const;

export type Delimiter = (typeof DELIMITERS)[number];

/**
 * Scans the quotes of a line, which may start inside a quoted field. A quote opens a field only at its start; elsewhere in an
 * unquoted field it is text. Finds the same fields as fast-csv, except that a carriage return outside quotes, at which fast-csv
 * would end the row, makes the line invalid.
 */
export function followQuotes(line: string, delimiter: Delimiter, openBefore: boolean): QuoteState {
  let open = openBefore;
  for (let at = 0; ; at++) {
    if (!open) {
      at = skip(spaces[delimiter], line, at);
      open = line.charCodeAt(at) === quote;
      if (open) at++;
    }
    const end = open ? closingQuote(line, at) : at;
    if (end === -1) return 'open';
    const next = open ? skip(spaces[delimiter], line, end + 1) : skip(plainField[delimiter], line, at);
    if (next < line.length && line[next] !== delimiter) return 'invalid';
    if (next >= line.length) return 'closed';
    open = false;
    at = next;
  }
}

function skip(pattern: RegExp, line: string, at: number): number {
  pattern.lastIndex = at;
  pattern.exec(line); // matches everywhere, possibly the empty text
  return pattern.lastIndex;
}

/** Index of the quote that closes a field, from inside the field; a double quote is text. */
function closingQuote(line: string, from: number): number {
  for (let at = line.indexOf('"', from); at !== -1; at = line.indexOf('"', at + 2)) {
    if (line.charCodeAt(at + 1) !== quote) return at;
  }
  return -1;
}

/**
 * Splits records with quoted fields, in one run of fast-csv if possible.
 * Null for a record that fast-csv refuses or does not read as one row.
 */
export async function splitQuotedRecords(
  records: readonly string[],
  delimiter: Delimiter,
): Promise<(string[] | null)[]> {
  const rows = await parse(byteOrderMark + records.join('\n') + '\n', delimiter);
  if (rows?.length === records.length) return rows;
  if (records.length <= 1) return records.map(() => null);
  const half = records.length >> 1;
  return [
    ...(await splitQuotedRecords(records.slice(0, half), delimiter)),
    ...(await splitQuotedRecords(records.slice(half), delimiter)),
  ];
}

/** The rows of a text, or null if fast-csv refuses it. */
function parse(text: string, delimiter: Delimiter): Promise<string[][] | null> {
  return new Promise((resolve) => {
    const rows: string[][] = [];
    parseString<string[], string[]>(text, { delimiter, headers: false })
      .on('data', (row: string[]) => rows.push(row))
      .on('error', () => resolve(null))
      .on('end', () => resolve(rows));
  });
}
