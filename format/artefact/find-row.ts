import { fromUtf8 } from '../base/bytes.ts';
import { ClientError } from '../base/errors.ts';

/** A row by its columns; an absent value is the empty string. */
export type Row = Readonly<Record<string, string>>;

const tab = 0x09;
const newline = 0x0a;

/**
 * The row of a key among ascending rows, by halving; null if there is none.
 * @throws ClientError `download_damaged` if it has other columns
 */
export function findRow(rows: Uint8Array, key: string, columns: readonly { readonly name: string }[]): Row | null {
  const start = findKey(rows, 0, key);
  if (start === rows.length || compareToKey(rows, start, key) !== 0) return null;
  const end = rows.indexOf(newline, start);
  const values = fromUtf8(rows.subarray(start, end === -1 ? rows.length : end)).split('\t');
  if (values.length !== columns.length)
    throw new ClientError('download_damaged', {
      operation: 'look number up',
      problem: 'The row does not have the columns of the manifest.',
    });
  return Object.fromEntries(columns.map(({ name }, at) => [name, values[at]!]));
}

/** Start of the first row from `from` on whose key is not below this one; the length of the rows if there is none. */
export function findKey(rows: Uint8Array, from: number, key: string): number {
  let [low, high] = [from, rows.length]; // rows that start before `low` are below it, the one at `high` is not
  while (low < high) {
    const middle = (low + high) >>> 1;
    const row = middle === 0 ? 0 : Math.max(low, rows.lastIndexOf(newline, middle - 1) + 1);
    if (compareToKey(rows, row, key) < 0) low = rows.indexOf(newline, row) + 1;
    else high = row;
  }
  return low;
}

/** Negative, zero or positive as the key of the row that starts there is below, equal to or above a key. */
export function compareToKey(rows: Uint8Array, start: number, key: string): number {
  for (let at = 0; at < key.length; at++) {
    const difference = rows[start + at]! - key.charCodeAt(at); // a tab, which ends a key, is below all digits
    if (difference !== 0) return difference;
  }
  return rows[start + key.length] === tab ? 0 : 1;
}
