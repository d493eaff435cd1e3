import { bufferOf } from '../../../runtime/buffer-of.ts';
import {
  added,
  changed,
  compareKeys,
  endOfKeyBytes,
  endOfLine,
  removed,
  startOfLine,
  type DeltaCounts,
} from '../../../format/artefact/delta-lines.ts';

/** Numbers whose label differs. */
export interface LabelMoves {
  /** From none to one. */
  readonly rises: number;
  /** From one to none. */
  readonly falls: number;
  /** Between SPAM and FRAUD. */
  readonly flips: number;
  /** Another category of the same level; no gate counts these. */
  readonly recategorized: number;
}

/** The difference from one list of rows to another. */
export interface RowDifference extends DeltaCounts, LabelMoves {
  /** The lines of the delta. */
  readonly text: Buffer;
}

const newline = Buffer.from('\n');
const marks = { added: Buffer.of(added, 0x09), changed: Buffer.of(changed, 0x09), removed: Buffer.of(removed, 0x09) };

/**
 * The delta from rows to others, all of which ascend by phone. Bytes are compared one by one up to the next that differs.
 * `hasLevels`: the second and third columns are a reputation level and its category, whose moves are counted.
 */
export function differenceOfRows(before: Uint8Array, after: Uint8Array, hasLevels: boolean): RowDifference {
  const lines: Uint8Array[] = [];
  const counts = { added: 0, changed: 0, removed: 0 };
  const moves = new MoveCounter(hasLevels);
  let [old, fresh] = [0, 0];
  for (;;) {
    const same = sameRowsBytes(before, old, after, fresh);
    old += same;
    fresh += same;
    const order = compareNext(before, old, after, fresh);
    if (order === undefined) return { ...counts, ...moves.counts, text: Buffer.concat(lines) };
    const oldKeyEnd = order > 0 ? old : endOfKeyBytes(before, old);
    const keyEnd = order < 0 ? fresh : endOfKeyBytes(after, fresh);
    moves.add(order > 0 ? undefined : before.subarray(oldKeyEnd), order < 0 ? undefined : after.subarray(keyEnd));
    if (order < 0) {
      counts.removed++;
      lines.push(marks.removed, before.subarray(old, oldKeyEnd), newline);
    } else {
      counts[order > 0 ? 'added' : 'changed']++;
      const end = endOfLine(after, keyEnd);
      lines.push(marks[order > 0 ? 'added' : 'changed'], after.subarray(fresh, end));
      fresh = end;
    }
    if (order <= 0) old = endOfLine(before, oldKeyEnd);
  }
}

/** The order of the keys of the next rows; an ended text sorts last, and two of them are undefined. */
function compareNext(before: Uint8Array, old: number, after: Uint8Array, fresh: number): number | undefined {
  if (old === before.length) return fresh === after.length ? undefined : 1;
  if (fresh === after.length) return -1;
  return compareKeys(
    { block: before, keyStart: old, keyEnd: endOfKeyBytes(before, old) },
    { block: after, keyStart: fresh, keyEnd: endOfKeyBytes(after, fresh) },
  );
}

/** First letter of the level of a number without a label. */
const neutral = 0x4e;

/** Counts moves of labels row by row. */
class MoveCounter {
  readonly counts = { rises: 0, falls: 0, flips: 0, recategorized: 0 };
  readonly #hasLevels: boolean;

  constructor(hasLevels: boolean) {
    this.#hasLevels = hasLevels;
  }

  /** The rows of one number behind its phone; undefined: it has none. */
  add(before: Uint8Array | undefined, after: Uint8Array | undefined): void {
    if (!this.#hasLevels) return;
    const [from, to] = [before?.[1] ?? neutral, after?.[1] ?? neutral];
    if (from !== to) this.counts[from === neutral ? 'rises' : to === neutral ? 'falls' : 'flips']++;
    else if (from !== neutral && labelOf(before!) !== labelOf(after!)) this.counts.recategorized++;
  }
}

/** Level and category. */
function labelOf(row: Uint8Array): string {
  const category = endOfKeyBytes(row, 1) + 1;
  return bufferOf(row).toString('latin1', 0, endOfKeyBytes(row, category));
}

const comparedBytes = 256;

/** Bytes of the first rows that both texts have from there on. */
function sameRowsBytes(a: Uint8Array, atA: number, b: Uint8Array, atB: number): number {
  const [first, second] = [bufferOf(a), bufferOf(b)];
  const length = Math.min(a.length - atA, b.length - atB);
  let same = 0;
  while (
    same + comparedBytes <= length &&
    first.compare(second, atB + same, atB + same + comparedBytes, atA + same, atA + same + comparedBytes) === 0
  )
    same += comparedBytes;
  while (same < length && a[atA + same] === b[atB + same]) same++;
  return startOfLine(a, atA + same, atA) - atA;
}
