import { joinBytes } from '../base/bytes.ts';
import { ClientError } from '../base/errors.ts';
import { allPhones, sharedLength } from './key-range.ts';

/** The rows of one segment. */
export interface CutSegment {
  readonly prefix: string;
  readonly plain: Uint8Array;
  readonly rows: number;
}

/**
 * Rows of a segment at most. With smaller ones a change touches less and a look-up reads less, but calls of the compressor and
 * the index grow: 5 million rows in segments of 62 take twice as long as in segments of 625 (bench/night.ts).
 */
export const segmentRowsMax = 3000;

/**
 * Cuts the text of an artefact, in chunks of any size, into segments. Holds one segment and one chunk at most.
 * @throws ClientError `rows_differ` unless the rows ascend and the last one has a line end
 */
export async function* cutSegments(
  chunks: AsyncIterable<Uint8Array>,
  rowsMax = segmentRowsMax,
): AsyncGenerator<CutSegment> {
  const cutter = new SegmentCutter(rowsMax);
  let rest: Uint8Array = new Uint8Array(0);
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(newline) + 1;
    if (end === 0) {
      rest = joinBytes([rest, chunk]);
      continue;
    }
    const whole = rest.length === 0 ? chunk.subarray(0, end) : joinBytes([rest, chunk.subarray(0, end)]);
    rest = chunk.slice(end);
    yield* cutter.push(findRows(whole));
  }
  if (rest.length > 0) throw unordered('The last row has no line end.');
  yield* cutter.end();
}

/** Complete rows, each with its line end. */
interface RowBlock {
  readonly plain: Uint8Array;
  readonly rows: number;
  /** Where each row starts in `plain`, then the end of the last: `rows + 1` offsets. The array may be longer. */
  readonly starts: Int32Array;
}

/** The rows of a text that ends with a line end. */
function findRows(plain: Uint8Array): RowBlock {
  let starts = new Int32Array(Math.ceil(plain.length / rowBytesMin) + 1);
  let rows = 0;
  // A third of the time of a loop over the bytes.
  for (let at = plain.indexOf(newline); at !== -1; at = plain.indexOf(newline, at + 1)) {
    if (rows + 1 === starts.length) starts = withRoom(starts);
    starts[++rows] = at + 1;
  }
  return { plain, rows, starts };
}

/** Rows that are shorter than those of an artefact. */
function withRoom(starts: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(starts.length * 2);
  larger.set(starts);
  return larger;
}

/** The rows of a block, from `from` on, that are in no segment yet. */
interface Part {
  readonly block: RowBlock;
  from: number;
}

const tab = 0x09;
const newline = 0x0a;
/** A phone of 8 digits with its plus sign, and a line end. */
const rowBytesMin = 10;

/**
 * Cuts ascending rows into segments: the leaves of the prefix tree in which a prefix with more than `rowsMax` rows is split
 * by its next character. The cuts depend on the rows alone, not on the history, so two databases with the same rows are cut
 * alike, and an insertion moves no border but its own. Holds `rowsMax` rows and one block at most.
 */
class SegmentCutter {
  private readonly rowsMax: number;
  /** The node whose rows are collected; '' before the next row opens one. Its ancestors are split. */
  private node = '';
  /** The last cut segment, or ''. */
  private closed = '';
  private readonly parts: Part[] = [];
  private rowsWaiting = 0;

  constructor(rowsMax: number) {
    this.rowsMax = rowsMax;
  }

  /** Takes the next rows; returns the segments that are complete now. @throws ClientError `rows_differ` */
  push(block: RowBlock): CutSegment[] {
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
      if (rows <= this.rowsMax) {
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
    if (!phone.startsWith(allPhones)) throw unordered('A row has no key.');
    if (phone < this.closed) throw unordered('The rows are not in the order of their phones.');
    this.node = this.closed === '' ? allPhones : phone.slice(0, sharedLength(this.closed, phone) + 1);
  }

  private take(rows: number): CutSegment {
    const segment = { prefix: this.node, rows, plain: this.takeRows(rows) };
    this.rowsWaiting -= rows;
    this.closed = this.node;
    this.node = '';
    return segment;
  }

  private takeRows(rows: number): Uint8Array {
    const slices: Uint8Array[] = [];
    for (let left = rows; left > 0;) {
      const part = this.parts[0]!;
      const { block, from } = part;
      const to = Math.min(block.rows, from + left);
      slices.push(block.plain.subarray(block.starts[from], block.starts[to]));
      left -= to - from;
      part.from = to;
      if (to === block.rows) this.parts.shift();
    }
    return slices.length === 1 ? slices[0]! : joinBytes(slices);
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

function unordered(problem: string): ClientError {
  return new ClientError('rows_differ', { operation: 'cut segments', problem });
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
