import { findRows, type RowBlock } from '../format/row-block.ts';
import { endOfPrefix } from '../format/key-range.ts';
import type { Patch } from './dirty-regions.ts';

/** Keys of one statement: their rows are held in memory until their segments are patched. */
const keysAtOnceMax = 8192;

/** Reads the rows of ascending keys. Returns their number. */
type ReadKeys = (keys: readonly string[], take: (block: RowBlock) => Promise<void>) => Promise<number>;

/** The present rows of changed keys, patch by patch, read with a statement for thousands of keys. */
export class ChangedKeys {
  readonly #patches: readonly Patch[];
  readonly #read: ReadKeys;
  #nextPatch = 0;
  #batch: RowBlock = findRows(Buffer.alloc(0));
  #nextRow = 0;
  /** The patches before this one are in the batch. */
  #batchEnd = 0;
  /** Rows so far. */
  rows = 0;

  constructor(patches: readonly Patch[], read: ReadKeys) {
    this.#patches = patches;
    this.#read = read;
  }

  /** The rows of the next patch, in a buffer of their own. */
  async rowsOf(region: string): Promise<Buffer> {
    if (this.#patches[this.#nextPatch]?.region !== region) throw new Error(`${region} is not the next patch`);
    if (this.#nextPatch === this.#batchEnd) await this.#readBatch();
    this.#nextPatch++;
    const { plain, starts, rows } = this.#batch;
    const from = this.#nextRow;
    const end = Buffer.from(endOfPrefix(region));
    while (
      this.#nextRow < rows &&
      Buffer.compare(plain.subarray(starts[this.#nextRow], starts[this.#nextRow + 1]), end) < 0
    )
      this.#nextRow++;
    return Buffer.from(plain.subarray(starts[from], starts[this.#nextRow]));
  }

  async #readBatch(): Promise<void> {
    const keys: string[] = [];
    while (this.#batchEnd < this.#patches.length && (keys.length === 0 || keys.length < keysAtOnceMax))
      keys.push(...this.#patches[this.#batchEnd++]!.keys);
    const read: Buffer[] = [];
    this.rows += await this.#read(keys, async ({ plain }) => void read.push(plain));
    this.#batch = findRows(Buffer.concat(read));
    this.#nextRow = 0;
  }
}
