import { endOfPrefix, firstNotBefore, sharedLength } from '../../../../format/artefact/key-range.ts';
import type { Segment } from '../../../../format/artefact/segment-index.ts';
import { rowsUnder, segmentsUnder } from './dirty-regions.ts';

/**
 * How the rows of a build are divided into ranges of keys, which are read with a COPY each, several at a time. A range begins at a
 * border: a prefix whose every ancestor has more rows than a segment and is therefore split. So the segments of a range depend
 * on its rows alone, and those of all ranges are the segments of a build that reads all rows at once.
 * Pure: from keys and row counts to ranges.
 */

/** Rows that are read with one COPY: those from a key to another, in adjacent regions. */
export interface KeyRange {
  readonly from: string;
  /** Exclusive. */
  readonly to: string;
  readonly regions: readonly string[];
  /** The ends (`from`, `to`) that another range adjoins. */
  readonly borders: readonly string[];
}

/** Segment prefixes of some regions, about `plainBytes` of text apart, starting with the first. */
export function keysApart(segments: readonly Segment[], regions: readonly string[], plainBytes: number): string[] {
  const keys: string[] = [];
  let bytes = plainBytes;
  for (const region of regions) {
    const { from, to } = segmentsUnder(segments, region);
    for (const segment of segments.slice(from, to)) {
      if (bytes >= plainBytes) {
        keys.push(segment.prefix);
        bytes = 0;
      }
      bytes += segment.plainBytes;
    }
  }
  return keys;
}

/**
 * Divides adjacent regions between each of these ascending keys and the one before, at the shortest border there. The parent of
 * that border then contains all rows between the two keys; {@link areSplit} says whether these are more than a segment's.
 */
export function divide(regions: readonly string[], keys: readonly string[]): KeyRange[] {
  const borders = keys.slice(1).map((key, at) => key.slice(0, sharedLength(keys[at]!, key) + 1));
  return [regions[0]!, ...borders].map((from, at) => {
    const to = borders[at] ?? endOfPrefix(regions.at(-1)!);
    const first = firstNotBefore(regions, (region) => endOfPrefix(region) <= from);
    const after = firstNotBefore(regions, (region) => region < to);
    return { from, to, regions: regions.slice(first, after), borders: borders.slice(Math.max(0, at - 1), at + 1) };
  });
}

/** True if the parent of each border between ranges has more rows than a segment, by the segments of the build itself. */
export function areSplit(segments: readonly Segment[], borders: readonly string[], rowsMax: number): boolean {
  return borders.every((border) => rowsUnder(segments, border.slice(0, -1)) > rowsMax);
}

/** Ranges of a share: 32 MiB of text at the usual size of a range, some 6 MiB in the store. */
const rangesOfShare = 8;

/** Adjacent ranges as the shares that several workers make. */
export function sharesOf(ranges: readonly KeyRange[]): KeyRange[][] {
  const shares = Array.from({ length: Math.ceil(ranges.length / rangesOfShare) }, (_, at) => at * rangesOfShare);
  return shares.map((from) => ranges.slice(from, from + rangesOfShare));
}
