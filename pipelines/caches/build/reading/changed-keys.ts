import { findRows, type RowBlock } from '../../../../format/artefact/row-block.ts';
import { endOfPrefix } from '../../../../format/artefact/key-range.ts';
import type { Patch } from '../plan/dirty-regions.ts';

/** Keys of one statement: their rows are held in memory until their segments are patched. */
const keysAtOnceMax = 8192;

/** Reads the rows of ascending keys. Returns their number. */
type ReadKeys = (keys: readonly string[], take: (block: RowBlock) => Promise<void>) => Promise<number>;

/** The rows of the patches up to `end`, exclusive. */
interface Batch {
  readonly end: number;
  readonly block: RowBlock;
}

/** The present rows of changed keys, patch by patch: a statement reads thousands of keys while earlier patches are merged. */
export class ChangedKeys {
  readonly #patches: readonly Patch[];
  readonly #read: ReadKeys;
  #nextPatch = 0;
  #batch: Batch = { end: 0, block: findRows(Buffer.alloc(0)) };
  #nextBatch: Promise<Batch> | undefined;
  #nextRow = 0;
  /** Rows so far. */
  rows = 0;

  constructor(patches: readonly Patch[], read: ReadKeys) {
    this.#patches = patches;
    this.#read = read;
  }

  /** The rows of the next patch, in a buffer of their own. */
  async rowsOf(region: string): Promise<Buffer> {
    if (this.#patches[this.#nextPatch]?.region !== region) throw new Error(`${region} is not the next patch`);
    if (this.#nextPatch === this.#batch.end) await this.#takeBatch();
    this.#nextPatch++;
    const { plain, starts, rows } = this.#batch.block;
    const from = this.#nextRow;
    const end = Buffer.from(endOfPrefix(region));
    while (
      this.#nextRow < rows &&
      Buffer.compare(plain.subarray(starts[this.#nextRow], starts[this.#nextRow + 1]), end) < 0
    )
      this.#nextRow++;
    return Buffer.from(plain.subarray(starts[from], starts[this.#nextRow]));
  }

  async #takeBatch(): Promise<void> {
    this.#batch = await (this.#nextBatch ?? this.#readBatch(this.#batch.end));
    this.#nextRow = 0;
    this.#nextBatch = this.#batch.end < this.#patches.length ? this.#readBatch(this.#batch.end) : undefined;
    this.#nextBatch?.catch(() => {}); // awaited when the batch is taken
  }

  async #readBatch(from: number): Promise<Batch> {
    const keys: string[] = [];
    let end = from;
    while (end < this.#patches.length && (keys.length === 0 || keys.length < keysAtOnceMax))
      keys.push(...this.#patches[end++]!.keys);
    const read: Uint8Array[] = [];
    const rows = await this.#read(keys, async ({ plain }) => void read.push(plain));
    this.rows += rows;
    return { end, block: findRows(Buffer.concat(read)) };
  }
}
