import { ServiceError } from '../../../runtime/errors.ts';
import type { Graph } from '../inference/graph.ts';
import type { ModelManifest } from '../models/manifest.ts';
import { InputMaker } from '../signal/frames.ts';
import { outputColumns, readLogits, type Logits } from './score-decision.ts';

/** Most numbers in one batch: 16 MB. Models with larger windows are run with fewer at a time than they allow. */
const batchValuesMax = 4_194_304;

/**
 * Windows in one run of the graph, if its manifest allows more and the operator sets nothing else: on one thread more are not
 * faster (digital/v3, ms a window in runs of 1, 4 and 16: 3.5, 2.2, 2.5), and 16 take 40 MiB more than 4, which the process keeps.
 */
const windowsAtOnceMax = 4;

/**
 * Windows in the smallest run: a single window is run twice in one batch. A product with one row is summed in another order than
 * one with several, so a window alone got logits that differ by 1e-5 from those in a batch, and a stream, which scores each window
 * alone, got scores that differ from its file's. Runs of 2 to 4 give the same (except phone/v3, up to 4e-5), and one of 2 takes
 * little longer: phone/v8 3.5 ms against 2.3.
 */
const windowsAtOnceMin = 2;

/** Collects windows, runs the graph when the batch is full, and passes the logits of each to its callback. */
export class WindowBatch {
  private readonly manifest: ModelManifest;
  private readonly graph: Graph;
  private readonly maker: InputMaker;
  private readonly size: number;
  private values = new Float32Array(0);
  private waiting: ((logits: Logits) => void)[] = [];

  constructor({
    manifest,
    graph,
    windowsMax = windowsAtOnceMax,
  }: {
    readonly manifest: ModelManifest;
    readonly graph: Graph;
    readonly windowsMax?: number | undefined;
  }) {
    this.manifest = manifest;
    this.graph = graph;
    this.maker = new InputMaker(manifest.input);
    this.size = Math.max(
      1,
      Math.min(manifest.limits.batchMax, windowsMax, Math.floor(batchValuesMax / this.maker.values)),
    );
  }

  /** @throws ServiceError `model_invalid` if the graph does not answer as its manifest says */
  async add(samples: Float32Array, onLogits: (logits: Logits) => void): Promise<void> {
    this.makeRoom(this.waiting.length + 1);
    this.maker.write(samples, this.values, this.waiting.length * this.maker.values);
    this.waiting.push(onLogits);
    if (this.waiting.length === this.size) await this.flush();
  }

  /**
   * Runs the graph on the pending windows.
   * @throws ServiceError `model_invalid`, as `add`
   */
  async flush(): Promise<void> {
    const waiting = this.waiting.splice(0);
    if (waiting.length === 0) return;
    const [columns, rows] = [outputColumns(this.manifest), this.fillUp(waiting.length)];
    const output = await this.graph.run(this.values.subarray(0, rows * this.maker.values), [rows, ...this.maker.shape]);
    if (output.length !== rows * columns) {
      const problem = `The graph answered ${output.length} numbers for ${rows} windows; output.layout and output.activation make ${columns} for each.`;
      throw new ServiceError('model_invalid', { operation: 'run model', object: this.manifest.model, problem });
    }
    for (const [place, onLogits] of waiting.entries())
      onLogits(readLogits(output.subarray(place * columns, (place + 1) * columns), this.manifest));
  }

  /** Drops the pending windows of a recording that could not be read to its end. */
  clear(): void {
    this.waiting = [];
  }

  /** Copies the first window behind the others up to the smallest run; returns the number of windows. */
  private fillUp(windows: number): number {
    const rows = Math.max(windows, Math.min(this.size, windowsAtOnceMin));
    this.makeRoom(rows);
    for (let row = windows; row < rows; row++) this.values.copyWithin(row * this.maker.values, 0, this.maker.values);
    return rows;
  }

  /** Grows by doubling, so that short recordings do not need the memory of a full batch. */
  private makeRoom(windows: number): void {
    const needed = windows * this.maker.values;
    if (needed <= this.values.length) return;
    const room = new Float32Array(Math.min(this.size * this.maker.values, Math.max(needed, this.values.length * 2)));
    room.set(this.values);
    this.values = room;
  }
}
