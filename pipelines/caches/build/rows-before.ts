import { endOfKey, endOfPrefix, firstNotBefore } from '../../../clients/typescript/format/key-range.ts';
import type { CutSegment } from '../../../clients/typescript/format/segment-cutter.ts';
import type { Segment } from '../../../clients/typescript/format/segment-index.ts';
import type { RowsBefore } from '../format/segment-work.ts';
import type { OpenBasis } from './basis.ts';

const tab = 0x09;

/**
 * Finds for each segment of a range that is read what the basis had in its place: the keys after those of the segment before it, up
 * to its own last one. So every row of the basis within the range has one place, wherever that was cut.
 */
export class RowsBeforeFinder {
  readonly #basis: Pick<OpenBasis, 'segments' | 'read'>;
  #from: string;

  /** `from`: the first key of the range. */
  constructor(basis: Pick<OpenBasis, 'segments' | 'read'>, from: string) {
    this.#basis = basis;
    this.#from = from;
  }

  /** Rows of the basis for the next segment; null if they are damaged. */
  inPlaceOf({ prefix, rows, plain }: CutSegment): Promise<RowsBefore | null> {
    const isPrefixOfOthers = rows === 1 && plain.indexOf(tab) === prefix.length; // or could be: then they have the next place
    return this.upTo(isPrefixOfOthers ? endOfKey(prefix) : endOfPrefix(prefix));
  }

  /** Rows from there to a key, exclusive; null if they are damaged. */
  async upTo(to: string): Promise<RowsBefore | null> {
    const from = this.#from;
    this.#from = to;
    const segments = segmentsBetween(this.#basis.segments, from, to);
    const reading = Promise.all(segments.map((segment) => this.#basis.read([segment])));
    const blocks = await reading.catch(() => null); // the new rows do not depend on them
    return blocks && { from, to, segments, deflated: blocks.length === 1 ? blocks[0]! : Buffer.concat(blocks) };
  }
}

/** The segments that may have rows between two keys. */
function segmentsBetween(segments: readonly Segment[], from: string, to: string): Segment[] {
  const at = (key: string) => firstNotBefore(segments, ({ prefix }) => prefix < key);
  const within = segments.slice(at(from), at(to));
  for (let length = from.length - 1; length > 0; length--) {
    const prefix = from.slice(0, length);
    const around = segments[at(prefix)];
    if (around?.prefix === prefix && endOfPrefix(prefix) > from) within.unshift(around);
  }
  return within;
}
