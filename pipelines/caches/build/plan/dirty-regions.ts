import { allPhones, endOfPrefix, firstNotBefore, sharedLength } from '../../../../format/artefact/key-range.ts';
import type { Segment } from '../../../../format/artefact/segment-index.ts';

/**
 * Which parts of an artefact must be read again. The segments are the leaves of a prefix tree (segment-cutter.ts), and a
 * region is a node of that tree: a segment, an empty place, or an inner node that must be cut again. All rows of a region are
 * read, or, where few of a segment have changed, those of the changed keys.
 * Pure: from prefixes and row counts to prefixes.
 */

/** A segment, or an empty region, in which only the rows of some keys are read. Keys ascend. */
export interface Patch {
  readonly region: string;
  readonly keys: readonly string[];
}

/** What has changed since a basis, ascending and disjoint. */
export interface Changes {
  /** Regions that are read in full. */
  readonly regions: readonly string[];
  readonly patches: readonly Patch[];
}

/** A statement that changes many rows leaves prefixes of at most this length as marks; longer marks are whole keys. */
const prefixMarkLength = 8;

/** Share of a segment's rows. With more changed keys all of its rows are read, which saves decompressing it. */
const keysShareMax = 0.25;

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

/** The regions and keys that contain all rows that have changed. */
export function findChanges(segments: readonly Segment[], changed: readonly string[]): Changes {
  const whole: string[] = [];
  const keys = new Map<string, string[]>();
  for (const prefix of [...new Set(changed)].sort()) {
    const region = regionOf(segments, prefix);
    const { from, to } = segmentsUnder(segments, region);
    const isPlace = to === from || (to === from + 1 && segments[from]!.prefix === region);
    if (prefix.length <= prefixMarkLength || prefix === region || !isPlace) {
      whole.push(region);
      continue;
    }
    const its = keys.get(region) ?? [];
    its.push(prefix);
    keys.set(region, its);
  }
  const patches: Patch[] = [];
  for (const [region, its] of keys) {
    const rows = rowsUnder(segments, region);
    if (rows > 0 && its.length > rows * keysShareMax) whole.push(region);
    else patches.push({ region, keys: its });
  }
  const regions = outermost(whole);
  return { regions, patches: patches.filter(({ region }) => !liesWithin(regions, region)).sort(byRegion) };
}

function byRegion(a: Patch, b: Patch): number {
  return a.region < b.region ? -1 : 1;
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
interface CountedRegion {
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
  const before = sums(segments);
  const ascending = [...regions].sort((a, b) => (a.prefix < b.prefix ? -1 : 1));
  const gained = sums(ascending.map(({ prefix, rows }) => ({ rows: rows - rowsUnder(segments, prefix) })));
  const rowsNow = (node: string) => {
    const end = endOfPrefix(node);
    const { from, to } = segmentsUnder(segments, node);
    const first = firstNotBefore(ascending, ({ prefix }) => prefix < node);
    const after = firstNotBefore(ascending, ({ prefix }) => prefix < end);
    return before[to]! - before[from]! + gained[after]! - gained[first]!;
  };
  return outermost(regions.map(({ prefix }) => smallestDepth(prefix, (node) => rowsNow(node) <= rowsMax)));
}

/** The sum of rows before each item, and of all. */
function sums(items: readonly { readonly rows: number }[]): number[] {
  const totals = [0];
  for (const { rows } of items) totals.push(totals.at(-1)! + rows);
  return totals;
}

/**
 * Patches that may leave a segment so small that it merges with its neighbours, as too many of their keys may have been deleted:
 * their regions must be counted and read in full.
 */
export function findShrinking(
  segments: readonly Segment[],
  { counted, patches }: { readonly counted: readonly CountedRegion[]; readonly patches: readonly Patch[] },
  rowsMax: number,
): Patch[] {
  const least = patches
    .map(({ region, keys }) => ({ prefix: region, rows: Math.max(0, rowsUnder(segments, region) - keys.length) }))
    .filter(({ prefix }) => rowsUnder(segments, prefix) > 0);
  const widened = widenRegions(segments, [...counted, ...least], rowsMax);
  const own = new Set(widened);
  return patches.filter(({ region }) => liesWithin(widened, region) && !own.has(region));
}

/** Regions that one statement counts: it looks for the region of each row among them. */
const neighboursMax = 64;
/** Share of the rows between the first and the last region: in the order of the table a row costs a tenth of its cost by index. */
const neighboursShareMin = 1 / 8;

/** Divides regions into runs with few other rows between them, each to be counted by one statement; ascending. */
export function neighbouringRegions(segments: readonly Segment[], regions: readonly string[]): string[][] {
  const runs: string[][] = [];
  let run: string[] = [];
  let rows = 0;
  for (const region of [...regions].sort()) {
    const own = rowsUnder(segments, region);
    const { from } = segmentsUnder(segments, run[0] ?? region);
    const { to } = segmentsUnder(segments, region);
    const rowsBetween = segments.slice(from, to).reduce((sum, segment) => sum + segment.rows, 0);
    if (run.length === 0 || run.length === neighboursMax || rows + own < rowsBetween * neighboursShareMin) {
      runs.push((run = []));
      rows = 0;
    }
    run.push(region);
    rows += own;
  }
  return runs;
}

/** The highest ancestor of a prefix that passes, or the prefix itself. */
function smallestDepth(prefix: string, passes: (node: string) => boolean): string {
  for (let length = allPhones.length; length < prefix.length; length++) {
    const node = prefix.slice(0, length);
    if (passes(node)) return node;
  }
  return prefix;
}

/** A step of a build: copy adjacent segments of the basis, read the rows of regions, or change adjacent segments. */
export type BuildStep =
  | { readonly kind: 'copy'; readonly segments: readonly Segment[] }
  | { readonly kind: 'read'; readonly regions: readonly string[] }
  /** The segments are those of the patches, which may also be of places without one. */
  | { readonly kind: 'patch'; readonly segments: readonly Segment[]; readonly patches: readonly Patch[] };

/** Plain bytes of the segments of one step, unless a single segment is larger: they are read from the basis at once. */
const stepBytesMax = 2 * 1024 * 1024;

/** The steps of an incremental build in the order of the keys; neighbours of one kind are one step. */
export function stepsOf(segments: readonly Segment[], { regions, patches }: Changes): BuildStep[] {
  const steps: BuildStep[] = [];
  let at = 0;
  let regionsRead: string[] | undefined;
  let patching: { segments: Segment[]; patches: Patch[] } | undefined;
  let patchingBytes = 0;
  const copyUntil = (to: number) => {
    if (at < to) regionsRead = patching = undefined;
    while (at < to) {
      const end = endOfRun(segments, at, to);
      steps.push({ kind: 'copy', segments: segments.slice(at, end) });
      at = end;
    }
  };
  const patchOf = new Map(patches.map((patch) => [patch.region, patch]));
  for (const region of [...regions, ...patchOf.keys()].sort()) {
    const { from, to } = segmentsUnder(segments, region);
    copyUntil(from);
    const patch = patchOf.get(region);
    if (patch === undefined) {
      patching = undefined;
      if (regionsRead === undefined) steps.push({ kind: 'read', regions: (regionsRead = []) });
      regionsRead.push(region);
    } else {
      regionsRead = undefined;
      const patched = segments.slice(from, to);
      const bytes = patched.reduce((sum, { plainBytes }) => sum + plainBytes, 0);
      if (patching === undefined || patchingBytes + bytes > stepBytesMax) {
        patching = { segments: [], patches: [] };
        patchingBytes = 0;
        steps.push({ kind: 'patch', ...patching });
      }
      patching.segments.push(...patched);
      patching.patches.push(patch);
      patchingBytes += bytes;
    }
    at = to;
  }
  copyUntil(segments.length);
  return steps;
}

/** The exclusive end of the copy step that starts at `at`: one segment at least. */
function endOfRun(segments: readonly Segment[], at: number, to: number): number {
  let bytes = segments[at]!.plainBytes;
  for (at++; at < to && bytes + segments[at]!.plainBytes <= stepBytesMax; at++) bytes += segments[at]!.plainBytes;
  return at;
}

/** True if a prefix lies within one of the regions, which are ascending and disjoint. */
function liesWithin(regions: readonly string[], prefix: string): boolean {
  const region = regions[firstNotBefore(regions, (each) => each <= prefix) - 1]; // only the last region up to the prefix can contain it
  return region !== undefined && prefix.startsWith(region);
}

/**
 * Number of segments that differ between two indexes, or are in one of them only, outside of regions and of what has become one
 * segment with them.
 */
export function countDiffering(
  before: readonly Segment[],
  after: readonly Segment[],
  changed: readonly string[],
): number {
  const regions = outermost(changed.map((region) => segmentAround(after, region)));
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

/** The prefix of the segment that a region lies within, or the region if it lies within none. */
function segmentAround(segments: readonly Segment[], region: string): string {
  return smallestDepth(
    region,
    (node) => segments[firstNotBefore(segments, ({ prefix }) => prefix < node)]?.prefix === node,
  );
}
