import { allPhones, endOfPrefix, firstNotBefore, sharedLength } from '../format/key-range.ts';
import type { Segment } from '../format/segment-index.ts';

/**
 * Which parts of an artefact must be read again. The segments are the leaves of a prefix tree (segment-cutter.ts), and a
 * region is a node of that tree: a segment, an empty place, or an inner node that must be cut again.
 * Pure: from prefixes and row counts to prefixes.
 */

/** The segments under a prefix, as indexes in the list; `to` is exclusive. */
export function segmentsUnder(
  segments: readonly Segment[],
  prefix: string,
): { readonly from: number; readonly to: number } {
  const end = endOfPrefix(prefix);
  return {
    from: firstNotBefore(segments, (segment) => segment.prefix < prefix),
    to: firstNotBefore(segments, (segment) => segment.prefix < end),
  };
}

/** Rows of the segments under a prefix. */
export function rowsUnder(segments: readonly Segment[], prefix: string): number {
  const { from, to } = segmentsUnder(segments, prefix);
  let rows = 0;
  for (let at = from; at < to; at++) rows += segments[at]!.rows;
  return rows;
}

/** The regions that contain all rows under the changed prefixes; ascending and disjoint. */
export function regionsOf(segments: readonly Segment[], changedPrefixes: readonly string[]): string[] {
  return outermost(changedPrefixes.map((prefix) => regionOf(segments, prefix)));
}

function regionOf(segments: readonly Segment[], changed: string): string {
  const at = firstNotBefore(segments, ({ prefix }) => prefix < changed);
  const next = segments[at]?.prefix ?? '';
  if (next.startsWith(changed)) return changed; // an inner node, or a segment of exactly this prefix
  const before = segments[at - 1]?.prefix ?? '';
  // A segment with a shorter prefix is either the previous one, or separated from `changed` by segments below it. In the second
  // case those segments make it an inner node, and the longest common prefix leads to the node below.
  if (before !== '' && changed.startsWith(before)) return before;
  const shared = Math.max(sharedLength(changed, next), sharedLength(changed, before), allPhones.length - 1);
  return changed.slice(0, shared + 1);
}

/** Sorted, without prefixes that lie within another. */
function outermost(prefixes: readonly string[]): string[] {
  const kept: string[] = [];
  for (const prefix of [...new Set(prefixes)].sort()) {
    const last = kept.at(-1);
    if (last === undefined || !prefix.startsWith(last)) kept.push(prefix);
  }
  return kept;
}

/** A region and its present rows. */
export interface CountedRegion {
  readonly prefix: string;
  readonly rows: number;
}

/**
 * Replaces a region by its highest ancestor that has become small enough for one segment, so that the rows are cut as in a
 * full build.
 */
export function widenRegions(
  segments: readonly Segment[],
  regions: readonly CountedRegion[],
  rowsMax: number,
): string[] {
  const gained = regions.map(({ prefix, rows }) => ({ prefix, rows: rows - rowsUnder(segments, prefix) }));
  const rowsNow = (node: string) => {
    const end = endOfPrefix(node);
    let rows = rowsUnder(segments, node);
    for (
      let at = firstNotBefore(gained, ({ prefix }) => prefix < node);
      at < gained.length && gained[at]!.prefix < end;
      at++
    )
      rows += gained[at]!.rows;
    return rows;
  };
  return outermost(regions.map(({ prefix }) => smallestDepth(prefix, (node) => rowsNow(node) <= rowsMax)));
}

/** The highest ancestor of a prefix that passes, or the prefix itself. */
function smallestDepth(prefix: string, passes: (node: string) => boolean): string {
  for (let length = allPhones.length; length < prefix.length; length++) {
    const node = prefix.slice(0, length);
    if (passes(node)) return node;
  }
  return prefix;
}

/** A step of a build: copy adjacent segments of the basis, or read the rows of regions. */
export type BuildStep =
  | { readonly kind: 'copy'; readonly segments: readonly Segment[] }
  | { readonly kind: 'read'; readonly regions: readonly string[] };

/** Plain bytes of a copy step, unless a single segment is larger: each task for another thread has a fixed cost. */
const copyBytesMax = 2 * 1024 * 1024;

/** The steps of an incremental build in the order of the keys; regions without a copied segment between them are one step. */
export function stepsOf(segments: readonly Segment[], regions: readonly string[]): BuildStep[] {
  const steps: BuildStep[] = [];
  let reading: string[] | undefined;
  let at = 0;
  const copyUntil = (to: number) => {
    if (at < to) reading = undefined;
    while (at < to) {
      const end = endOfRun(segments, at, to);
      steps.push({ kind: 'copy', segments: segments.slice(at, end) });
      at = end;
    }
  };
  for (const region of regions) {
    const { from, to } = segmentsUnder(segments, region);
    copyUntil(from);
    if (reading === undefined) {
      reading = [];
      steps.push({ kind: 'read', regions: reading });
    }
    reading.push(region);
    at = to;
  }
  copyUntil(segments.length);
  return steps;
}

/** The exclusive end of the copy step that starts at `at`: one segment at least. */
function endOfRun(segments: readonly Segment[], at: number, to: number): number {
  let bytes = segments[at]!.plainBytes;
  for (at++; at < to && bytes + segments[at]!.plainBytes <= copyBytesMax; at++) bytes += segments[at]!.plainBytes;
  return at;
}

/** True if a prefix lies within one of the regions, which are ascending and disjoint. */
export function liesWithin(regions: readonly string[], prefix: string): boolean {
  const region = regions[firstNotBefore(regions, (each) => each <= prefix) - 1]; // only the last region up to the prefix can contain it
  return region !== undefined && prefix.startsWith(region);
}

/** Number of segments outside the regions that differ between two indexes, or are in one of them only. */
export function countDiffering(
  before: readonly Segment[],
  after: readonly Segment[],
  regions: readonly string[],
): number {
  const outside = ({ prefix }: Segment) => !liesWithin(regions, prefix);
  const known = new Map(before.filter(outside).map((segment) => [segment.prefix, segment]));
  let differing = 0;
  for (const segment of after.filter(outside)) {
    const same = known.get(segment.prefix);
    known.delete(segment.prefix);
    if (
      same?.crc !== segment.crc ||
      same.rows !== segment.rows ||
      same.plainBytes !== segment.plainBytes ||
      same.bytes !== segment.bytes
    )
      differing++;
  }
  return differing + known.size;
}
