import { findRows } from '../../../format/artefact/row-block.ts';
import { compareToKey, findKey } from '../../../format/artefact/find-row.ts';
import { ServiceError } from '../../../runtime/errors.ts';

/** Rows in which those of some keys were replaced. */
interface MergedRows {
  readonly plain: Buffer;
  /** The delta from the rows before (delta-lines.ts). */
  readonly delta: Buffer;
  /** The rows before that had one of the keys. */
  readonly replaced: Buffer;
}

const newline = 0x0a;

/**
 * Replaces the rows of some keys: `rows` holds their current rows; a key without a row was deleted. All ascend by key.
 * @throws ServiceError `rows_differ` if a row has another key
 */
export function mergeRows(before: Buffer, keys: readonly string[], rows: Buffer): MergedRows {
  const merged: Buffer[] = [];
  const delta: Buffer[] = [];
  const replaced: Buffer[] = [];
  const fresh = findRows(rows);
  let [kept, next] = [0, 0]; // where the rows begin that stay, and the next new row
  for (const key of keys) {
    const start = findKey(before, kept, key);
    const old = rowAt(before, start, key);
    const row = next < fresh.rows ? rowAt(rows, fresh.starts[next]!, key) : undefined;
    if (row !== undefined) next++;
    if (old !== undefined) replaced.push(old);
    if (old === undefined ? row === undefined : row?.equals(old)) continue;
    merged.push(before.subarray(kept, start));
    kept = start + (old?.length ?? 0);
    if (row === undefined) delta.push(Buffer.from(`-\t${key}\n`));
    else {
      merged.push(row);
      delta.push(Buffer.from(old === undefined ? '+\t' : '~\t'), row);
    }
  }
  if (next < fresh.rows)
    throw new ServiceError('rows_differ', {
      operation: 'merge rows',
      problem: 'A row was read that was not asked for.',
    });
  if (delta.length > 0) merged.push(before.subarray(kept));
  return {
    plain: delta.length === 0 ? before : Buffer.concat(merged),
    delta: Buffer.concat(delta),
    replaced: Buffer.concat(replaced),
  };
}

/** The row with its line end that starts there, if it has this key. */
function rowAt(rows: Buffer, start: number, key: string): Buffer | undefined {
  if (start === rows.length || compareToKey(rows, start, key) !== 0) return undefined;
  return rows.subarray(start, rows.indexOf(newline, start) + 1);
}
