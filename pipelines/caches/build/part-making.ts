import { createHash } from 'node:crypto';
import type { OpenBasis } from './plan/basis.ts';
import { BlockQueue, Backlog } from './block-queue.ts';
import type { RowCounts } from './plan/build-plan.ts';
import { ChangedKeys } from './reading/changed-keys.ts';
import type { BuildStep, Patch } from './plan/dirty-regions.ts';
import type { KeyRange } from './plan/key-ranges.ts';
import type { RowReader, RowReaders } from './reading/row-reader.ts';
import { RowsBeforeFinder } from './reading/rows-before.ts';
import { findCache, type ArtefactName } from '../definition.ts';
import { endOfKey } from '../../../format/artefact/key-range.ts';
import { sumLevels } from '../../../format/artefact/level-counts.ts';
import type { BuildProfile } from '../format/row-deflate.ts';
import { SegmentCutter, type CutSegment } from '../../../format/artefact/segment-cutter.ts';
import { inThread } from '../format/segment-threads.ts';
import type { SegmentBlock } from '../format/segment-work.ts';
import { freeUsedBytes } from '../format/used-buffers.ts';
import { copySegments } from '../format/segment-writer.ts';

/** A part of an artefact: rows that are read, or segments of the basis as they are or with changes. */
export type BuildPart = Exclude<BuildStep, { kind: 'read' }> | { readonly kind: 'read'; readonly range: KeyRange };

interface PartMakingOptions {
  /** In the order of their keys. */
  readonly parts: readonly BuildPart[];
  readonly basis: OpenBasis | null;
  readonly readers: RowReaders;
  readonly artefact: ArtefactName;
  readonly settings: {
    readonly segmentRowsMax: number;
    readonly buildProfile: BuildProfile;
    readonly buildStreams: number;
  };
  /** Ends the work of the readers after an error. */
  readonly stop: () => void;
  /** Takes the blocks, in order. */
  readonly write: (block: SegmentBlock) => Promise<void>;
  /** Absent: all ranges are read here. */
  readonly shared?: SharedRanges | undefined;
}

/** Ranges that other workers may make as well, a share at a time. */
export interface SharedRanges {
  /** Ranges of each share, in their order. */
  readonly sizes: readonly number[];
  /** The blocks that another worker has made of a share; undefined if its ranges are to be read here. */
  take(share: number): Promise<AsyncIterable<SegmentBlock> | undefined>;
}

/** What parts were made of. */
export interface MadeParts {
  /** Rows of ranges. */
  readonly rowsRead: number;
  /** Rows of changed keys. */
  readonly changedRows: number;
  /** The same, counted by SQL. */
  readonly counted: RowCounts;
  /** Rows of the basis that had one of these keys. */
  readonly replaced: RowCounts;
  /** Digest of the whole text, if all rows were read as one range. */
  readonly plainSha256: string | null;
}

/**
 * Makes the parts of an artefact and writes them in order: several streams read ranges, another producer takes from the basis, and
 * threads compress what they give, while SQL counts the rows of changed keys. Each waits when it is far ahead of the writing, so
 * memory does not grow with the rows.
 * @throws the first error of any of them, when all have ended
 */
export async function makeParts(options: PartMakingOptions): Promise<MadeParts> {
  const { parts, settings, stop, write, shared } = options;
  const queue = new BlockQueue(parts.length);
  const making = new PartMaking(queue, options);
  const fail = (error: unknown) => {
    queue.fail(error);
    stop();
    throw error;
  };
  const ranges = [...parts.entries()].flatMap(([at, part]) => (part.kind === 'read' ? [{ at, ...part.range }] : []));
  const streams = Math.min(ranges.length, settings.buildStreams);
  const waiting = shared === undefined ? ranges.values() : takeShares(ranges, shared); // each stream takes the next one
  const work = [
    ...Array.from({ length: streams }, () => making.readRanges(waiting)),
    making.takeFromBasis(),
    making.countKeys(),
    queue.drain(write),
  ].map((each) => each.catch(fail));
  try {
    await Promise.all(work);
  } finally {
    await Promise.allSettled(work);
    await queue.whenIdle(); // before the file may be discarded
  }
  return making.made();
}

type RangeAt = KeyRange & { readonly at: number };

/** The blocks of adjacent ranges; `at` is the part of the first. */
interface MadeRanges {
  readonly at: number;
  readonly ranges: number;
  readonly blocks: AsyncIterable<SegmentBlock>;
}

/** The ranges that are left, and what others have made, in the order of their keys. A share is taken when its turn has come. */
async function* takeShares(
  ranges: readonly RangeAt[],
  { sizes, take }: SharedRanges,
): AsyncGenerator<RangeAt | MadeRanges> {
  let from = 0;
  for (const [share, size] of sizes.entries()) {
    const blocks = await take(share);
    if (blocks === undefined) yield* ranges.slice(from, from + size);
    else yield { at: ranges[from]!.at, ranges: size, blocks };
    from += size;
  }
}

class PartMaking {
  readonly #queue: BlockQueue;
  readonly #options: PartMakingOptions;
  readonly #hasLevels: boolean;
  readonly #plainHash: ReturnType<typeof createHash> | null;
  #rowsRead = 0;
  #changedRows = 0;
  #counted: RowCounts = { rows: 0, levels: {} };
  #replaced: RowCounts = { rows: 0, levels: {} };

  constructor(queue: BlockQueue, options: PartMakingOptions) {
    const { parts, artefact } = options;
    this.#queue = queue;
    this.#options = options;
    this.#hasLevels = findCache(artefact.cache).columns.some(({ type }) => type === 'level');
    this.#plainHash = parts.length === 1 && parts[0]!.kind === 'read' ? createHash('sha256') : null;
  }

  made(): MadeParts {
    return {
      rowsRead: this.#rowsRead,
      changedRows: this.#changedRows,
      counted: this.#counted,
      replaced: this.#replaced,
      plainSha256: this.#plainHash?.digest('hex') ?? null,
    };
  }

  /** Reads one range after the other. */
  async readRanges(ranges: Iterable<RangeAt> | AsyncIterable<RangeAt | MadeRanges>): Promise<void> {
    const reader = await this.#options.readers.open();
    const backlog = new Backlog();
    for await (const range of ranges) {
      if ('blocks' in range) await this.#join(range, backlog);
      else {
        await this.#readRange(range, { reader, backlog });
        this.#queue.complete(range.at);
      }
    }
  }

  async #join({ at, ranges, blocks }: MadeRanges, backlog: Backlog): Promise<void> {
    for await (const block of blocks) {
      for (const { rows } of block.segments) this.#rowsRead += rows;
      const plainBytes = block.plainBytes + (block.delta?.length ?? 0);
      await this.#queue.push(at, { block: Promise.resolve(block), plainBytes }, backlog);
    }
    for (let nth = 0; nth < ranges; nth++) this.#queue.complete(at + nth);
  }

  async #readRange(range: RangeAt, { reader, backlog }: { reader: RowReader; backlog: Backlog }): Promise<void> {
    const { basis, settings } = this.#options;
    const { segmentRowsMax: rowsMax, buildProfile: profile } = settings;
    const finder = basis === null ? null : new RowsBeforeFinder(basis, range.from);
    const cutter = new SegmentCutter({ ...range, rowsMax, hasLevels: this.#hasLevels });
    const add = async (cut: CutSegment) => {
      this.#plainHash?.update(cut.plain);
      const plainBytes = cut.plain.length;
      const before = (await finder?.inPlaceOf(cut)) ?? null;
      const block = inThread({ kind: 'compress', cut, before, profile }); // takes the bytes away
      await this.#queue.push(range.at, { block, plainBytes }, backlog);
    };
    const rows = await reader.read(range, async (block) => {
      for (const cut of cutter.push(block)) await add(cut);
      freeUsedBytes(3 * block.plain.length); // from the connection, joined to a block, cut
    });
    this.#rowsRead += rows;
    for (const cut of cutter.end()) await add(cut);
    if (finder === null) return;
    const before = await finder.upTo(range.to);
    if (before?.segments.length === 0) return;
    const block = inThread({ kind: 'compress', cut: null, before, profile });
    await this.#queue.push(range.at, { block, plainBytes: 0 }, backlog);
  }

  /** Makes the parts that are copied or patched, one after the other. */
  async takeFromBasis(): Promise<void> {
    const { parts, basis, readers } = this.#options;
    const backlog = new Backlog();
    const patches = this.#patches();
    const reader = patches.length === 0 ? undefined : await readers.open();
    const changed = new ChangedKeys(patches, (keys, take) =>
      reader!.read({ from: keys[0]!, to: endOfKey(keys.at(-1)!), keys }, take),
    );
    for (const [at, part] of parts.entries()) {
      if (part.kind === 'read') continue;
      const blocks = part.segments.length === 0 ? Buffer.alloc(0) : await basis!.read(part.segments);
      if (part.kind === 'copy') {
        const copied = async () => copySegments(part.segments, blocks);
        await this.#queue.push(at, { block: copied(), plainBytes: blocks.length }, backlog);
      } else await this.#patch({ ...part, at, blocks }, { changed, backlog });
      this.#queue.complete(at);
    }
    this.#changedRows = changed.rows;
  }

  /** Counts the rows of the changed keys by SQL. */
  async countKeys(): Promise<void> {
    const keys = this.#patches().flatMap((patch) => patch.keys);
    if (keys.length > 0) this.#counted = await (await this.#options.readers.open()).count(keys);
  }

  #patches(): Patch[] {
    return this.#options.parts.flatMap((part) => (part.kind === 'patch' ? part.patches : []));
  }

  /** Replaces the rows of the changed keys in adjacent segments of the basis. */
  async #patch(
    { segments, patches, at, blocks }: Extract<BuildPart, { kind: 'patch' }> & { at: number; blocks: Buffer },
    { changed, backlog }: { changed: ChangedKeys; backlog: Backlog },
  ): Promise<void> {
    const { segmentRowsMax: rowsMax, buildProfile: profile } = this.#options.settings;
    for (const { region, keys } of patches) {
      const segment = segments.find(({ prefix }) => prefix === region) ?? null;
      const from = segment === null ? 0 : segment.offset - segments[0]!.offset;
      const deflated = Buffer.from(blocks.subarray(from, from + (segment?.bytes ?? 0)));
      const rows = await changed.rowsOf(region);
      const plainBytes = (segment?.plainBytes ?? 0) + rows.length;
      const how = { rowsMax, hasLevels: this.#hasLevels, profile };
      const block = inThread({ kind: 'patch', region, segment, deflated, keys, rows, ...how }).then((patched) => {
        this.#replaced = {
          rows: this.#replaced.rows + patched.replaced.rows,
          levels: sumLevels([this.#replaced.levels, patched.replaced.levels]),
        };
        return patched;
      });
      await this.#queue.push(at, { block, plainBytes }, backlog);
    }
  }
}
