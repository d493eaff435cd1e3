import { joinBytes } from '../base/bytes.ts';
import { ClientError } from '../base/errors.ts';
import type { RowBlock } from './row-block.ts';
import { sharedLength } from './key-range.ts';
import { countLevels, sumLevels } from './level-counts.ts';
import type { LevelCounts } from './levels.ts';

/** The rows of one segment. */
export interface CutSegment {
  readonly prefix: string;
  readonly plain: Uint8Array;
  readonly rows: number;
  readonly levels: LevelCounts;
}

/** The rows of a block, from `from` on, that are in no segment yet. */
interface Part {
  readonly block: RowBlock;
  from: number;
}

interface SegmentCutterOptions {
  readonly regions: readonly string[];
  readonly rowsMax: number;
  /** The second column is a reputation level, which is counted for each segment. */
  readonly hasLevels: boolean;
  /** Prefixes at which the rows start or end because others lie beyond; every ancestor of one is split (key-ranges.ts). */
  readonly borders?: readonly string[];
}

const tab = 0x09;

/**
 * Cuts ascending rows into segments: the leaves of the prefix tree in which a prefix with more than `rowsMax` rows is split
 * by its next character. The cuts depend on the rows alone, not on the history, so an incremental build and a full one give
 * the same bytes. Holds `rowsMax` rows and one block at most.
 *
 * A region is a prefix whose parent is known to be split (or all phones); its rows are cut as in a full build.
 */
export class SegmentCutter {
  private readonly rowsMax: number;
  private readonly hasLevels: boolean;
  private readonly borders: readonly string[];
  private readonly regions: string[];
  private region = '';
  /** The node whose rows are collected; '' before the next row opens one. Its ancestors within the region are split. */
  private node = '';
  /** The last cut segment of this region, or ''. */
  private closed = '';
  private readonly parts: Part[] = [];
  private rowsWaiting = 0;

  constructor({ regions, rowsMax, hasLevels, borders = [] }: SegmentCutterOptions) {
    this.regions = [...regions];
    this.hasLevels = hasLevels;
    this.borders = borders;
    this.rowsMax = rowsMax;
  }

  /** Takes the next rows; returns the segments that are complete now. */
  push(block: RowBlock): CutSegment[] {
    if (block.rows === 0) return [];
    this.parts.push({ block, from: 0 });
    this.rowsWaiting += block.rows;
    return this.cut(false);
  }

  /** Returns the last segments. */
  end(): CutSegment[] {
    return this.cut(true);
  }

  private cut(ended: boolean): CutSegment[] {
    const done: CutSegment[] = [];
    while (this.rowsWaiting > 0) {
      const phone = this.firstPhone();
      if (this.node === '') this.open(phone);
      const rows = this.countUnder(this.node);
      if (rows <= this.rowsMax && !this.contains(this.node)) {
        if (rows === this.rowsWaiting && !ended) break; // more of its rows may follow
        done.push(this.take(rows));
      } else if (phone.length === this.node.length) {
        done.push(this.take(1)); // a phone that is the prefix of others
      } else {
        this.node = phone.slice(0, this.node.length + 1);
      }
    }
    return done;
  }

  /** Opens the node of the next row: the highest one that is not split yet. */
  private open(phone: string): void {
    while (this.region === '' || !phone.startsWith(this.region)) {
      const next = this.regions.shift();
      if (next === undefined)
        throw new ClientError('rows_differ', {
          operation: 'cut segments',
          problem: 'A row lies outside the requested ranges.',
        });
      this.region = next;
      this.closed = '';
    }
    if (phone < this.closed)
      throw new ClientError('rows_differ', {
        operation: 'cut segments',
        problem: 'The rows are not in the order of their phones.',
      });
    this.node = this.closed === '' ? this.region : phone.slice(0, sharedLength(this.closed, phone) + 1);
  }

  /** True if a border lies within a node. */
  private contains(node: string): boolean {
    return this.borders.some((border) => border.length > node.length && border.startsWith(node));
  }

  private take(rows: number): CutSegment {
    const segment = { prefix: this.node, rows, ...this.takeRows(rows) };
    this.rowsWaiting -= rows;
    this.closed = this.node;
    this.node = '';
    return segment;
  }

  private takeRows(rows: number): Pick<CutSegment, 'plain' | 'levels'> {
    const slices: Uint8Array[] = [];
    const levels: LevelCounts[] = [];
    for (let left = rows; left > 0;) {
      const part = this.parts[0]!;
      const { block, from } = part;
      const to = Math.min(block.rows, from + left);
      slices.push(block.plain.subarray(block.starts[from], block.starts[to]));
      if (this.hasLevels) levels.push(countLevels(block, { from, to }));
      left -= to - from;
      part.from = to;
      if (to === block.rows) this.parts.shift();
    }
    return { plain: joinBytes(slices), levels: sumLevels(levels) };
  }

  private firstPhone(): string {
    const { block, from } = this.parts[0]!;
    return phoneAt(block, from);
  }

  /** Waiting rows with a prefix; since rows ascend, they are the first ones. */
  private countUnder(prefix: string): number {
    let rows = 0;
    for (const { block, from } of this.parts) {
      if (beginsWith(block, block.rows - 1, prefix)) {
        rows += block.rows - from;
        continue;
      }
      let low = from;
      let high = block.rows - 1;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (beginsWith(block, middle, prefix)) low = middle + 1;
        else high = middle;
      }
      return rows + low - from;
    }
    return rows;
  }
}

function phoneAt({ plain, starts }: RowBlock, row: number): string {
  const start = starts[row]!;
  let phone = '';
  for (let at = start; plain[at] !== tab && at < starts[row + 1]!; at++) phone += String.fromCharCode(plain[at]!);
  return phone;
}

function beginsWith({ plain, starts }: RowBlock, row: number, prefix: string): boolean {
  const start = starts[row]!;
  for (let at = 0; at < prefix.length; at++) if (plain[start + at] !== prefix.charCodeAt(at)) return false;
  return true;
}
