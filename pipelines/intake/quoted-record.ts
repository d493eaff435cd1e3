import { parseString } from 'fast-csv';

/** How a line leaves the quotes: all closed, a field still open, or something behind a closing quote. */
export type QuoteState = 'closed' | 'open' | 'invalid';

const quote = 0x22;
const space = 0x20;

/** fast-csv takes one away at the start of a text, where it may be part of the first record. */
const byteOrderMark = '\uFEFF';

/**
 * Follows the quotes of one line, which may begin inside a quoted field. A quote opens a field only at its start;
 * elsewhere in a field that is not quoted it is text.
 */
export function followQuotes(line: string, delimiter: string, openBefore: boolean): QuoteState {
  let at = 0;
  let open = openBefore;
  for (;;) {
    if (!open) {
      while (line.charCodeAt(at) === space) at++;
      open = line.charCodeAt(at) === quote;
      if (open) at++;
    }
    if (open) {
      at = closingQuote(line, at);
      if (at === -1) return 'open';
      for (at++; line.charCodeAt(at) === space; ) at++;
      if (at < line.length && line[at] !== delimiter) return 'invalid';
      open = false;
    } else {
      at = line.indexOf(delimiter, at);
    }
    if (at === -1 || at >= line.length) return 'closed';
    at++;
  }
}

/** Place of the quote that closes a field, from inside the field; two quotes are one that is text. */
function closingQuote(line: string, from: number): number {
  for (let at = line.indexOf('"', from); at !== -1; at = line.indexOf('"', at + 2)) {
    if (line.charCodeAt(at + 1) !== quote) return at;
  }
  return -1;
}

/**
 * Splits records with quoted fields, in one run of fast-csv, the only one that a row with quotes goes through.
 * A record that fast-csv refuses, or reads as other than one row, gives null.
 */
export async function splitQuotedRecords(records: readonly string[], delimiter: string): Promise<(string[] | null)[]> {
  const rows = await parse(byteOrderMark + records.join('\n') + '\n', delimiter);
  if (rows?.length === records.length) return rows;
  if (records.length <= 1) return records.map(() => null);
  const half = records.length >> 1;
  return [...(await splitQuotedRecords(records.slice(0, half), delimiter)), ...(await splitQuotedRecords(records.slice(half), delimiter))];
}

/** The rows of a text, or null if fast-csv refuses it. */
function parse(text: string, delimiter: string): Promise<string[][] | null> {
  return new Promise((resolve) => {
    const rows: string[][] = [];
    parseString<string[], string[]>(text, { delimiter, headers: false })
      .on('data', (row: string[]) => rows.push(row))
      .on('error', () => resolve(null))
      .on('end', () => resolve(rows));
  });
}
