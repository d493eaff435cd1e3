import { endOfKey, endOfPrefix, firstNotBefore } from '../../../../format/artefact/key-range.ts';
import type { CutSegment } from '../../../../format/artefact/segment-cutter.ts';
import type { Segment } from '../../../../format/artefact/segment-index.ts';
import type { RowsBefore } from '../../format/segment-work.ts';
import type { OpenBasis } from '../plan/basis.ts';

const tab = 0x09;

/**
 * Finds for each new segment of a range the rows of the basis that it replaces: those with keys after the previous segment, up to
 * its own last key. So each row of the basis within the range belongs to one segment, wherever the basis was cut.
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
    const isPrefixOfOthers = rows === 1 && plain.indexOf(tab) === prefix.length; // or may be: then those belong to the next segment
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
