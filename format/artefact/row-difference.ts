import {
  added,
  changed,
  closeBoth,
  compareKeys,
  compareLines,
  endOfKeyBytes,
  endOfLine,
  GatheredText,
  Lines,
  loadBoth,
  newline,
  rowForm,
  startOfLine,
  type Chunks,
} from './delta-lines.ts';
import { bufferOf } from '../../runtime/buffer-of.ts';

/**
 * The delta from one stream of rows to another, as chunks of complete lines. Both ascend by phone.
 * @throws ServiceError `delta_invalid` if one of them does not.
 */
export async function* differenceOf(before: Chunks, after: Chunks): AsyncGenerator<Uint8Array> {
  const old = new Lines(before, rowForm);
  const fresh = new Lines(after, rowForm);
  const text = new GatheredText();
  try {
    await loadBoth(old, fresh);
    while (!old.done || !fresh.done) {
      const order = compareLines(old, fresh);
      if (order < 0) text.addRemoval(old);
      else if (order > 0) text.addRow(added, fresh);
      else if (sameRow(old, fresh)) passSameRows(old, fresh);
      else text.addRow(changed, fresh);
      if (order <= 0 && !old.step()) await old.load();
      if (order >= 0 && !fresh.step()) await fresh.load();
      if (text.isFull) yield text.take();
    }
    if (!text.isEmpty) yield text.take();
  } finally {
    await closeBoth(old, fresh);
  }
}

/**
 * The same delta from rows in memory to others, in a third of the time: bytes are compared one by one up to the next that differs.
 * It does not check that the rows ascend: a delta of others does not give the new rows when it is applied.
 */
export function differenceOfRows(before: Uint8Array, after: Uint8Array): Buffer {
  const text = new GatheredText();
  let [old, fresh] = [0, 0];
  for (;;) {
    const same = sameRowsBytes(before.subarray(old), after.subarray(fresh));
    old += same;
    fresh += same;
    if (old === before.length && fresh === after.length) return bufferOf(text.take());
    const row = { block: before, keyStart: old, keyEnd: old === before.length ? old : endOfKeyBytes(before, old) };
    const keyEnd = fresh === after.length ? fresh : endOfKeyBytes(after, fresh);
    const freshRow = { block: after, keyStart: fresh, keyEnd, end: fresh };
    const order = old === before.length ? 1 : fresh === after.length ? -1 : compareKeys(row, freshRow);
    if (order < 0) text.addRemoval(row);
    else {
      freshRow.end = endOfLine(after, keyEnd);
      text.addRow(order > 0 ? added : changed, freshRow);
    }
    if (order <= 0) old = endOfLine(before, row.keyEnd);
    fresh = freshRow.end;
  }
}

/** Bytes of the first rows that both texts have. */
function sameRowsBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  let same = 0;
  while (same < length && a[same] === b[same]) same++;
  return startOfLine(a, same, 0);
}

function sameRow(a: Lines, b: Lines): boolean {
  return (
    a.end - a.start === b.end - b.start && bufferOf(a.block).compare(b.block, b.start, b.end, a.start, a.end) === 0
  );
}

/** Bytes that are compared at a time while rows are equal: most rows of most nights are, and parsing a row costs more than comparing it. */
const comparedBytes = { max: 8192, min: 128 } as const;

/** Skips the next rows that are equal in both blocks. */
function passSameRows(a: Lines, b: Lines): void {
  const block = bufferOf(a.block);
  const reach = Math.min(a.block.length - a.end, b.block.length - b.end);
  let same = 0;
  for (let window: number = comparedBytes.max; window >= comparedBytes.min && same < reach;) {
    const length = Math.min(window, reach - same);
    const [from, to] = [a.end + same, b.end + same];
    if (block.compare(b.block, to, to + length, from, from + length) === 0) same += length;
    else window /= 4;
  }
  const rows = same === 0 ? 0 : a.block.lastIndexOf(newline, a.end + same - 1) + 1 - a.end;
  a.pass(rows);
  b.pass(rows);
}
